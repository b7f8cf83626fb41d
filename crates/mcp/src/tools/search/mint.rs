//! Which id a hit is shown under: the self-contained handle wherever one can be formed.
//!
//! Ids are minted from the server's own values and never rewritten or cut. What is no record handle (a URL, a
//! server's private id) is kept as it is, is never wrapped with a connection, and is never offered to `fetch`.

use pdpp_evidence::{RecordHandle, neutralise, percent_encode_segment, safe_name};
use serde_json::Value;

use super::value::{clip, harmless, raw};

/// No tool takes a longer argument, so a longer id would be no handle.
const MAX_HANDLE_BYTES: usize = 8 * 1024;

/// The id of a hit, and what it names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Minted {
    /// The id as it is shown, complete.
    pub(super) id: String,
    /// What `fetch` takes: the id itself, or, where the server's own id is none of ours, the record's handle.
    pub(super) handle: Option<String>,
    /// The record, when the server told which one it is.
    pub(super) record: Option<RecordHandle>,
    /// The connection that the id could not embed, to be sent beside it.
    pub(super) beside: Option<String>,
}

/// The connection of a hit, under any of its names.
pub(super) fn connection_of(hit: &Value) -> Option<String> {
    const NAMES: [&str; 2] = ["connection_id", "connector_instance_id"];
    raw(hit, &NAMES).or_else(|| raw(hit.get("source")?, &NAMES))
}

/// The stream of a hit, under any of its names.
fn stream_of(hit: &Value) -> Option<String> {
    const NAMES: [&str; 2] = ["stream", "stream_name"];
    raw(hit, &NAMES).or_else(|| raw(hit.get("source")?, &NAMES))
}

/// Mints the id of the hit at this position, counted from one.
pub(super) fn mint(hit: &Value, position: usize) -> Minted {
    let named = named(hit);
    let foreign = raw(hit, &["result_id"]).filter(|id| RecordHandle::parse(id).is_err());
    match (foreign, named) {
        (Some(id), Some(record)) => Minted { id: opaque(&id).id, ..identified(record) },
        (Some(id), None) => opaque(&id),
        (None, Some(record)) => identified(record),
        (None, None) => fallback(hit, position),
    }
}

/// The record that a hit names by a handle or by its parts, with its connection when that is known.
fn named(hit: &Value) -> Option<RecordHandle> {
    let stream = stream_of(hit);
    let by_handle = || raw(hit, &["result_id"]).and_then(|id| RecordHandle::parse(&id).ok());
    let by_uri = || {
        ["record_uri", "recordUri", "id"].iter().find_map(|name| {
            let uri = raw(hit, &[name]).filter(|id| id.starts_with("pdpp://record/"))?;
            RecordHandle::parse(&uri).ok()
        })
    };
    let by_parts = || {
        let stream = stream.clone()?;
        if let Some(record_id) = raw(hit, &["record_key", "record_id"]) {
            return Some(RecordHandle { connection_id: None, stream, record_id });
        }
        let id = raw(hit, &["id"])?;
        // Some servers put the whole handle there.
        let whole = RecordHandle::parse(&id).ok().filter(|handle| handle.stream == stream);
        Some(whole.unwrap_or(RecordHandle { connection_id: None, stream, record_id: id }))
    };
    let mut record = by_handle().or_else(by_uri).or_else(by_parts)?;
    if record.connection_id.is_none() {
        record.connection_id = connection_of(hit);
    }
    Some(record)
}

fn identified(record: RecordHandle) -> Minted {
    let connection = record.connection_id.clone();
    let older = RecordHandle { connection_id: None, ..record.clone() };
    // A connection with a colon has no place in the grammar; it travels beside the older form of the id.
    let embeds = |connection: &String| {
        !connection.contains(':') && safe_name("connection_id", connection).is_ok() && harmless(connection)
    };
    let (id, beside) = match connection {
        None => (usable(&older), None),
        Some(connection) if embeds(&connection) => (usable(&record), None),
        Some(connection) => match usable(&older) {
            Some(id) => (Some(id), Some(connection)),
            None => (usable(&record), None),
        },
    };
    match id {
        Some(id) => Minted { handle: Some(id.clone()), id, record: Some(record), beside },
        None => Minted { beside, ..opaque(&format!("{}:{}", record.stream, record.record_id)) },
    }
}

/// The shortest form that reads back as this record and hides nothing.
fn usable(record: &RecordHandle) -> Option<String> {
    let plain = record.id();
    let other = if record.connection_id.is_some() {
        record.uri()
    } else {
        format!("pdpp://record/{}", percent_encode_segment(&plain))
    };
    let sound = |id: &String| {
        id.len() <= MAX_HANDLE_BYTES
            && harmless(id)
            && !id.contains(char::is_whitespace)
            && RecordHandle::parse(id).is_ok_and(|read| read == *record)
    };
    [plain, other].into_iter().find(sound)
}

/// A hit that names no record: its own id or address, as it stands.
fn fallback(hit: &Value, position: usize) -> Minted {
    match raw(hit, &["id", "url"]) {
        Some(id) => {
            let record =
                RecordHandle::parse(&id).ok().filter(|_| harmless(&id) && id.len() <= MAX_HANDLE_BYTES);
            let beside = record
                .as_ref()
                .filter(|record| record.connection_id.is_none())
                .and_then(|_| connection_of(hit));
            Minted { handle: record.is_some().then(|| id.clone()), record, beside, ..opaque(&id) }
        }
        None => opaque(&format!("result:{position}")),
    }
}

fn opaque(id: &str) -> Minted {
    Minted { id: clip(&neutralise(id).text, MAX_HANDLE_BYTES / 4), handle: None, record: None, beside: None }
}
