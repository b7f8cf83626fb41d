//! What a row of an answer is: where a page keeps its rows, which record a row stands for, and where its payload
//! is. Servers differ in all three.

mod calls;

use pdpp_evidence::{RecordHandle, neutralise};
use serde_json::{Map, Value};

pub(crate) use calls::{
    JSON_CHARS, NAME_BYTES, call_text, export, field_fetch, field_read, fits_alone, is_callable,
    is_projectable, is_safe, schema_call,
};

/// Where the rows of a page stand, as a JSON pointer.
pub(crate) fn rows_pointer(body: &Value) -> Option<&'static str> {
    ["/records", "/data", "/data/records", "/data/data", ""]
        .into_iter()
        .find(|pointer| body.pointer(pointer).is_some_and(Value::is_array))
}

/// The rows of a page.
pub(crate) fn rows(body: &Value) -> &[Value] {
    let rows = rows_pointer(body).and_then(|pointer| body.pointer(pointer)).and_then(Value::as_array);
    rows.map_or(&[], Vec::as_slice)
}

/// The one record of an answer, without the layer some servers put around it.
pub(crate) fn single(body: &Value) -> Option<&Map<String, Value>> {
    let record = body.as_object()?;
    let inner = ["record", "data"].iter().find_map(|name| {
        let inner = record.get(*name)?.as_object()?;
        let whole = inner.contains_key("data") || *name == "record";
        (whole && !KEYS.iter().any(|key| record.contains_key(*key))).then_some(inner)
    });
    Some(inner.unwrap_or(record))
}

const KEYS: [&str; 4] = ["record_key", "record_id", "recordId", "id"];

/// Members of an envelope that mark it as one, beside its keys.
const MARKS: [&str; 6] = ["object", "stream", "emitted_at", "result_id", "connection_id", "record_uri"];

/// Whether the payload stands in `data`, inside an envelope.
pub(crate) fn is_envelope(row: &Map<String, Value>) -> bool {
    // A row has few members, and finding one by its hash takes longer than looking at them.
    let marked = || row.keys().any(|name| KEYS.contains(&name.as_str()) || MARKS.contains(&name.as_str()));
    row.get("data").is_some_and(Value::is_object) && (row.len() == 1 || marked())
}

/// The record's own fields.
pub(crate) fn payload(row: &Map<String, Value>) -> &Map<String, Value> {
    if !is_envelope(row) {
        return row;
    }
    row.get("data").and_then(Value::as_object).unwrap_or(row)
}

/// Whether the row says that its record is gone.
pub(crate) fn is_deleted(row: &Map<String, Value>) -> bool {
    row.get("deleted").is_some_and(|deleted| deleted == true)
        || row.get("object").is_some_and(|object| object == "tombstone")
        || (!is_envelope(row) && row.get("op").is_some_and(|op| op == "delete"))
}

/// Which record a row stands for. The envelope speaks first; the payload's own `id` only when it is silent.
pub(crate) fn identity(
    row: &Map<String, Value>,
    stream: Option<&str>,
    connection_id: Option<&str>,
) -> Option<RecordHandle> {
    let connection_id = connection_of(row).or(connection_id).map(str::to_owned);
    let named = ["result_id", "record_uri", "recordUri"].iter().filter_map(|name| text(row, name));
    let uri = text(row, "id").filter(|id| id.starts_with("pdpp://record/"));
    if let Some(mut handle) = named.chain(uri).find_map(|id| RecordHandle::parse(id).ok()) {
        handle.connection_id = handle.connection_id.or(connection_id);
        return Some(handle);
    }
    let key = |members: &Map<String, Value>| {
        KEYS.iter().find_map(|name| match members.get(*name) {
            Some(Value::String(key)) if !key.is_empty() => Some(key.clone()),
            Some(Value::Number(key)) => Some(key.to_string()),
            _ => None,
        })
    };
    let record_id = key(row).or_else(|| key(payload(row)))?;
    let stream = text(row, "stream").or_else(|| text(row, "stream_name")).or(stream)?.to_owned();
    Some(RecordHandle { connection_id, stream, record_id })
}

/// Whether an id is a whole handle of which nothing could be read otherwise: connection, stream and key, in letters that
/// stand anywhere.
pub(crate) fn is_plain_id(id: &str) -> bool {
    let plain = |text: &str| text.bytes().all(|byte| OF_PLAIN_ID[usize::from(byte)]);
    plain_parts(id).is_some_and(|(connection, stream, key)| {
        let parts = [connection, stream, key];
        !parts.contains(&"") && parts.into_iter().all(plain)
    })
}

/// Bytes of which the parts of a plain id are made.
static OF_PLAIN_ID: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':');
        byte += 1;
    }
    table
};

/// The handle that a plain id is.
pub(crate) fn plain_handle(id: &str) -> Option<RecordHandle> {
    let (connection, stream, key) = plain_parts(id)?;
    let connection_id = Some(connection.to_owned());
    Some(RecordHandle { connection_id, stream: stream.to_owned(), record_id: key.to_owned() })
}

fn plain_parts(id: &str) -> Option<(&str, &str, &str)> {
    let (connection, rest) = id.split_once('/')?;
    let (stream, key) = rest.split_once(':')?;
    Some((connection, stream, key))
}

/// The connection a row came through, under any of its names.
pub(crate) fn connection_of(row: &Map<String, Value>) -> Option<&str> {
    let source = || row.get("source").and_then(Value::as_object).and_then(|it| text(it, "connection_id"));
    text(row, "connection_id").or_else(|| text(row, "connector_instance_id")).or_else(source)
}

/// A member that is a text and says something.
pub(crate) fn text<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v str> {
    members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The handle a model can pass on; none when no tool would take it.
pub(crate) fn usable_id(handle: &RecordHandle) -> Option<String> {
    let plain = handle.id();
    // The URI is plain letters, whatever the parts are made of.
    let id = if neutralise(&plain).replaced == 0 { plain } else { handle.uri() };
    RecordHandle::parse(&id).is_ok_and(|parsed| parsed == *handle).then_some(id)
}
