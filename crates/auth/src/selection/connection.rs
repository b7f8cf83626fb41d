//! Which connection, or which source, a word means.

use std::sync::Arc;

use pdpp_access::{Catalogue, Connection, Denial, Source};

use super::refused;

/// What a word in front of a stream's name stands for.
#[derive(Debug)]
pub(super) enum Place<'c> {
    /// One connection.
    Connection(&'c Arc<Source>, &'c Connection),
    /// A connector, by its key.
    Source(&'c Arc<Source>),
}

/// An id comes before a display name, and that before a connector key.
pub(super) fn find<'c>(catalogue: &'c Catalogue, text: &str) -> Result<Option<Place<'c>>, Denial> {
    if let Some((source, connection)) = catalogue.find_connection(text).filter(|(_, c)| c.is_readable()) {
        return Ok(Some(Place::Connection(source, connection)));
    }
    let named: Vec<_> = catalogue
        .sources
        .iter()
        .flat_map(|source| source.connections.iter().map(move |connection| (source, connection)))
        .filter(|(_, connection)| {
            connection.is_readable() && connection.display_name.as_deref() == Some(text)
        })
        .collect();
    match named.as_slice() {
        [(source, connection)] => Ok(Some(Place::Connection(source, connection))),
        [] => Ok(catalogue.find_source(text).map(Place::Source)),
        several => {
            let ids: Vec<_> =
                several.iter().map(|(_, connection)| connection.connection_id.as_str()).collect();
            let message =
                format!("Several connections are called '{text}'. Write one of: {}.", ids.join(", "));
            Err(refused(message).choose_from(several.iter().map(|(_, c)| c.offered()).collect()))
        }
    }
}
