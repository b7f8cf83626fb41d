//! The calls that read on in a record, and what may stand in one.

use pdpp_evidence::{RecordHandle, json_bytes, neutralise, percent_encode_segment, safe_name};
use serde_json::{Value, json};

use super::usable_id;

/// How much of a field a continuation reads.
const READ_CHARS: usize = 4_096;
/// How much JSON `fetch` shows of a record that has no text, in characters.
pub(crate) const JSON_CHARS: usize = 1_024;
/// The longest name of a field that stands in a call, in bytes. Declared names are far shorter, and calls name many.
pub(crate) const NAME_BYTES: usize = 200;
/// The most fields a request for an export names.
const EXPORTED: usize = 3;

/// Whether the name of a field can stand in a call as it is: no path could be walked with it, none of its characters
/// acts unseen, and it leaves room for others.
pub(crate) fn is_callable(name: &str) -> bool {
    name.len() <= NAME_BYTES && is_safe(name)
}

/// The same for a name of any length.
pub(crate) fn is_safe(name: &str) -> bool {
    safe_name("name", name).is_ok() && neutralise(name).replaced == 0
}

/// Whether `fields` can name a field: it is a list of names, which servers take apart at commas.
pub(crate) fn is_projectable(name: &str) -> bool {
    let listed = !name.is_empty() && name.trim() == name && !name.contains(',');
    listed && name.len() <= NAME_BYTES && neutralise(name).replaced == 0
}

/// Whether `fetch` shows all of a field when it is asked for nothing else, by the length of the field's JSON.
pub(crate) fn fits_alone(name: &str, json_chars: usize) -> bool {
    // Braces and a colon.
    json_bytes(&name) + json_chars + 3 <= JSON_CHARS
}

/// The call that reads a field from an offset. Without a connection only `fetch` takes the id, and of a field that it
/// cannot be asked for it shows the record.
pub(crate) fn field_read(handle: &RecordHandle, path: &str, offset: usize) -> Option<Value> {
    let id = usable_id(handle)?;
    if handle.connection_id.is_some() && is_callable(path) {
        let args = json!({"id": id, "field_path": path, "offset_chars": offset, "limit_chars": READ_CHARS});
        return Some(json!({"tool": "read_record_field", "args": args}));
    }
    if handle.connection_id.is_none() && is_projectable(path) {
        return Some(field_fetch(&id, &[path]));
    }
    Some(json!({"tool": "fetch", "args": {"id": id}}))
}

/// The call that fetches some fields of a record.
pub(crate) fn field_fetch(id: &str, fields: &[&str]) -> Value {
    json!({"tool": "fetch", "args": {"id": id, "fields": fields}})
}

/// The call that says where a stream is, and what it has.
pub(crate) fn schema_call(handle: &RecordHandle) -> Value {
    json!({"tool": "schema", "args": {"stream": neutralise(&handle.stream).text}})
}

/// The request that hands out fields of a record outside of a conversation; the whole record where they cannot be
/// named.
pub(crate) fn export(handle: &RecordHandle, fields: &[&str]) -> String {
    let listed = |name: &&str| name.len() <= NAME_BYTES && name.trim() == *name && !name.contains(',');
    let fields = if fields.len() <= EXPORTED && fields.iter().all(listed) { fields } else { &[] };
    let of = |name: &str, value: &str| format!("{name}={}", percent_encode_segment(value));
    let query: Vec<String> = fields
        .iter()
        .map(|field| of("fields", field))
        .chain(handle.connection_id.as_deref().map(|id| of("connection_id", id)))
        .collect();
    let path = [handle.stream.as_str(), &handle.record_id].map(percent_encode_segment).join("/records/");
    let mark = if query.is_empty() { "" } else { "?" };
    format!("GET /v1/streams/{path}{mark}{}", query.join("&"))
}

/// A call on one line of text, as `tool args={…}`.
pub(crate) fn call_text(call: &Value) -> String {
    format!("{} args={}", call["tool"].as_str().unwrap_or(""), call["args"])
}
