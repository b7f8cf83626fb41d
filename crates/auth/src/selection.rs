//! Reads `[CONNECTION/]NAME[:FIELD,...]` as the owner types it into selection requests.
//!
//! CONNECTION is a connection's id, its display name, or a connector key. A name that could mean
//! several things is refused with the spellings to choose from; nothing is guessed, because what is
//! guessed here would be consented to.

mod connection;
mod group;

use std::sync::Arc;

use pdpp_access::{Catalogue, Denial, Source};
use pdpp_wire::{AccessMode, AvailableConnection, Code, ConnectionId, Instant, SelectionRequest, TimeRange};

use connection::Place;

/// The purpose when nobody says otherwise.
pub const DEFAULT_PURPOSE: &str = "https://pdpp.dev/purpose/agent_context";

/// What the owner typed.
#[derive(Clone, Debug)]
pub struct SelectionArgs<'a> {
    /// `[CONNECTION/]NAME[:FIELD,...]`, each; NAME may be `*`.
    pub streams: &'a [String],
    /// The connection of streams that name none themselves.
    pub connection: Option<&'a str>,
    /// Only records from this time on.
    pub since: Option<&'a str>,
    /// Only records before this time.
    pub until: Option<&'a str>,
    /// What for, as an absolute URI.
    pub purpose_code: &'a str,
    /// What for, in words.
    pub purpose_description: Option<&'a str>,
    /// Once, or until it ends.
    pub access_mode: AccessMode,
}

/// One stream of one source, as the owner meant it.
#[derive(Debug)]
struct Chosen<'c> {
    source: &'c Arc<Source>,
    connection_id: ConnectionId,
    name: String,
    fields: Option<Vec<String>>,
}

/// Reads the owner's words against what the owner has. Streams of one source share a request, unless
/// they ask for different fields of one stream under different connections.
pub fn parse_selections(
    catalogue: &Catalogue,
    args: &SelectionArgs<'_>,
) -> Result<Vec<SelectionRequest>, Denial> {
    if args.streams.is_empty() {
        return Err(refused("Name at least one stream."));
    }
    let time_range = time_range(args)?;
    let chosen = args.streams.iter().map(|typed| choose(catalogue, typed, args.connection));
    group::requests(&chosen.collect::<Result<Vec<_>, _>>()?, args, time_range.as_ref())
}

fn choose<'c>(catalogue: &'c Catalogue, typed: &str, default: Option<&str>) -> Result<Chosen<'c>, Denial> {
    let (place, rest) = split_connection(catalogue, typed, default)?;
    let (name, fields) = match rest.split_once(':') {
        None => (rest, None),
        Some((name, fields)) => (name, Some(field_names(typed, fields)?)),
    };
    let (source, connection_id) = match place {
        None => only_connection(catalogue.sources.iter(), name)?,
        Some(Place::Source(source)) => only_connection(std::iter::once(source), name)?,
        Some(Place::Connection(source, connection)) => {
            check_declared(std::iter::once(source), name)?;
            (source, connection.connection_id.clone())
        }
    };
    Ok(Chosen { source, connection_id, name: name.to_owned(), fields })
}

/// Splits off CONNECTION. Display names may hold `/` and `:`, so every `/` is tried, the last
/// first; a stream's name never holds either, so a `/` after a `:` can also belong to a field.
fn split_connection<'c, 't>(
    catalogue: &'c Catalogue,
    typed: &'t str,
    default: Option<&str>,
) -> Result<(Option<Place<'c>>, &'t str), Denial> {
    for (at, _) in typed.rmatch_indices('/') {
        if let Some(place) = connection::find(catalogue, &typed[..at])? {
            return Ok((Some(place), &typed[at + 1..]));
        }
    }
    let before_fields = typed.split(':').next().unwrap_or(typed);
    if let Some((unknown, _)) = before_fields.split_once('/') {
        return Err(unknown_connection(catalogue, unknown));
    }
    let place = match default {
        None => None,
        Some(text) => {
            Some(connection::find(catalogue, text)?.ok_or_else(|| unknown_connection(catalogue, text))?)
        }
    };
    Ok((place, typed))
}

fn field_names(typed: &str, fields: &str) -> Result<Vec<String>, Denial> {
    let mut names: Vec<String> = Vec::new();
    for name in fields.split(',').map(str::trim) {
        if name.is_empty() {
            return Err(refused(format!("'{typed}' names an empty field.")));
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// The one connection that can mean this stream, if there is exactly one.
fn only_connection<'c>(
    sources: impl Iterator<Item = &'c Arc<Source>> + Clone,
    name: &str,
) -> Result<(&'c Arc<Source>, ConnectionId), Denial> {
    check_declared(sources.clone(), name)?;
    let declaring = sources.filter(|source| declares(source, name));
    let places: Vec<_> = declaring
        .flat_map(|source| source.connections.iter().map(move |connection| (source, connection)))
        .filter(|(_, connection)| connection.is_readable())
        .collect();
    match places.as_slice() {
        [(source, connection)] => Ok((source, connection.connection_id.clone())),
        [] => Err(refused(format!("No active connection has the stream '{name}' yet."))),
        several => Err(ambiguous(
            name,
            several.iter().map(|(source, connection)| AvailableConnection {
                connector_key: Some(source.key().clone()),
                ..connection.offered()
            }),
        )),
    }
}

fn ambiguous(name: &str, offered: impl Iterator<Item = AvailableConnection>) -> Denial {
    let offered: Vec<_> = offered.collect();
    // A label that two of them bear tells them apart no better than the stream did.
    let is_clear =
        |label: &str| offered.iter().filter(|one| one.display_name.as_deref() == Some(label)).count() == 1;
    let spellings: Vec<_> = offered
        .iter()
        .map(|one| {
            let source = one.connector_key.as_ref().map(ToString::to_string).unwrap_or_default();
            match one.display_name.as_deref() {
                Some(label) if is_clear(label) => format!("{label}/{name} ({source})"),
                Some(label) => format!("{}/{name} ({source}, {label})", one.connection_id),
                None => format!("{}/{name} ({source})", one.connection_id),
            }
        })
        .collect();
    refused(format!("Several connections have the stream '{name}'. Write one of: {}.", spellings.join(", ")))
        .choose_from(offered)
}

fn check_declared<'c>(
    sources: impl Iterator<Item = &'c Arc<Source>> + Clone,
    name: &str,
) -> Result<(), Denial> {
    if sources.clone().any(|source| declares(source, name)) {
        return Ok(());
    }
    let known: Vec<_> =
        sources.flat_map(|source| source.manifest.streams()).map(|stream| stream.name().as_str()).collect();
    Err(refused(match known.as_slice() {
        [] => "Nothing has been imported yet.".to_owned(),
        known => format!("No stream is called '{name}'. There are: {}.", known.join(", ")),
    }))
}

fn declares(source: &Source, name: &str) -> bool {
    name == "*" || source.manifest.find_stream(name).is_some()
}

fn time_range(args: &SelectionArgs<'_>) -> Result<Option<TimeRange>, Denial> {
    for (bound, param) in [(args.since, "since"), (args.until, "until")] {
        if let Some(text) = bound
            && Instant::parse(text).is_none()
        {
            return Err(refused(format!("'{text}' is no date or date-time.")).param(param));
        }
    }
    let owned = |bound: Option<&str>| bound.map(str::to_owned);
    let bounded = args.since.is_some() || args.until.is_some();
    Ok(bounded.then(|| TimeRange { since: owned(args.since), until: owned(args.until) }))
}

fn unknown_connection(catalogue: &Catalogue, text: &str) -> Denial {
    let known: Vec<_> = catalogue
        .sources
        .iter()
        .flat_map(|source| source.connections.iter().filter(|connection| connection.is_readable()))
        .map(|connection| connection.display_name.as_deref().unwrap_or(connection.connection_id.as_str()))
        .collect();
    let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
    refused(format!("No connection is called '{text}'. There are: {known}."))
}

fn refused(message: impl Into<String>) -> Denial {
    Denial::new(Code::InvalidAuthorizationDetails, message).param("stream")
}

#[cfg(test)]
mod tests;
