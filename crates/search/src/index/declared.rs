//! What the index needs to know of a stream's declaration.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdpp_access::{Catalogue, ConnectionStatus};
use pdpp_wire::manifest::{FieldDeclaration, StreamDeclaration};
use sha2::{Digest as _, Sha256};

use crate::place::StreamPlace;

/// One stream of one connection, as it is searched.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// The search fields: path, and the top-level field it lives under.
    pub(crate) fields: Vec<(String, String)>,
    /// Whether records have neighbours.
    pub(crate) is_threaded: bool,
    /// Another digest means that the stream's passages have to be made again.
    pub(crate) digest: String,
}

impl Declared {
    pub(crate) fn new(declaration: &StreamDeclaration) -> Self {
        let fields = declaration.lexical_fields().iter().map(|path| {
            let is_whole = declaration.find_field(path).is_some();
            let top = if is_whole { path } else { path.split('.').next().unwrap_or(path) };
            (path.clone(), top.to_owned())
        });
        let fields: Vec<_> = fields.collect();
        let of_role = |role| declaration.fields().iter().filter(move |field| field.role() == Some(role));
        let threads: Vec<_> = of_role("thread").map(FieldDeclaration::name).collect();
        let is_threaded = !threads.is_empty() && declaration.cursor_field().is_some();
        // Paths through lists were once not followed; streams that have one are read again.
        let is_nested = fields.iter().any(|(path, top)| path != top);
        let told = format!(
            "{fields:?} {threads:?} {:?} {:?}{}",
            declaration.cursor_field(),
            declaration.consent_time_field(),
            if is_nested { " each" } else { "" }
        );
        let digest = Sha256::digest(told.as_bytes());
        let digest = URL_SAFE_NO_PAD.encode(&digest[..9]);
        Self { fields, is_threaded, digest }
    }
}

/// Every stream of every connection of a subject that is not being removed.
pub(crate) fn declared_streams(catalogue: &Catalogue) -> BTreeMap<StreamPlace, Declared> {
    let mut streams = BTreeMap::new();
    for source in &catalogue.sources {
        for declaration in source.manifest.streams() {
            let declared = Declared::new(declaration);
            let live = source.connections.iter().filter(|one| one.status != ConnectionStatus::Removed);
            for connection in live {
                let place = StreamPlace {
                    subject_id: catalogue.subject_id.clone(),
                    connection_id: connection.connection_id.clone(),
                    stream: declaration.name().clone(),
                };
                streams.insert(place, declared.clone());
            }
        }
    }
    streams
}
