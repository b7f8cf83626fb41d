//! What a document leaves out: the values short enough to be taken along, and the calls that show the rest.

use pdpp_evidence::{Content, Extent, classify, json_bytes, neutralise};
use serde_json::{Map, Value, json};

use super::document::Record;
use super::fields::Body;
use super::metadata::SHORT_CHARS;
use crate::ladder::binary_fields;
use crate::record::{field_fetch, field_read, is_callable};
use crate::tokens;

/// What the short values may cost.
const SHORT_TOKENS: usize = 400;
const SHORT_FIELDS: usize = 24;
const FETCHED: usize = 8;
/// A text longer than this is read by window, not fetched again.
const LONG_CHARS: usize = 900;
const LONG_TEXTS: usize = 3;

/// The first short values; they cost less than a call that would fetch them.
pub(super) fn short_values(record: &Record<'_>, rest: &[(&String, &Value)]) -> Map<String, Value> {
    let mut short = Map::new();
    let mut spent = 0;
    for (name, value) in rest {
        let fits = match value {
            Value::String(text) => {
                classify(value) == Content::Text && !Extent::head(text, SHORT_CHARS).1.truncated
            }
            Value::Array(_) | Value::Object(_) => {
                json_bytes(value) <= SHORT_CHARS && !holds_bytes(record, name)
            }
            other => other.is_number() || other.is_boolean(),
        };
        let cost = tokens::estimate(name) + tokens::estimate_json(value) + 2;
        if !fits || short.len() == SHORT_FIELDS || spent + cost > SHORT_TOKENS {
            continue;
        }
        spent += cost;
        short.insert((*name).clone(), (*value).clone());
    }
    short
}

fn holds_bytes(record: &Record<'_>, name: &str) -> bool {
    binary_fields(record.row).iter().any(|field| field.field == name)
}

/// The calls that show what is not shown here.
pub(super) fn continuations(record: &Record<'_>, body: &Body<'_>, left: &[(&String, &Value)]) -> Vec<Value> {
    let mut calls = Vec::new();
    if let (true, Some(field)) = (body.is_cut(), body.field) {
        calls.extend(read(record, field, body.shown_chars));
    }
    let long = |value: &Value| value.as_str().is_some_and(|text| Extent::head(text, LONG_CHARS).1.truncated);
    let whole_json = body.field.is_none();
    let (windows, fetched): (Vec<_>, Vec<_>) = left
        .iter()
        .filter(|(name, value)| {
            body.field != Some(name.as_str())
                && !matches!(classify(value), Content::Base64 { .. } | Content::BlobRef { .. })
        })
        .partition(|(_, value)| long(value) || (whole_json && is_large(value)));
    calls.extend(windows.iter().take(LONG_TEXTS).filter_map(|(name, _)| read(record, name, 0)));
    let callable = fetched.iter().map(|(name, _)| name.as_str()).filter(|name| is_callable(name));
    let mut names: Vec<&str> = callable.take(FETCHED).collect();
    // The text of a record that has none is its JSON, and asking for all of it again would show the same.
    if whole_json && names.len() > 1 && names.len() == record.payload().len() {
        names.truncate(names.len() / 2);
    }
    if !names.is_empty() {
        calls.push(field_fetch(&record.read_id, &names));
    }
    let blobs = binary_fields(record.row);
    calls.extend(blobs.iter().filter_map(|field| field.read(record.adapter, record.handle)).take(LONG_TEXTS));
    calls
}

/// A read by window. Without a connection it is the schema that leads on, because windows need one.
fn read(record: &Record<'_>, field: &str, offset: usize) -> Option<Value> {
    if record.handle.connection_id.is_none() {
        return Some(json!({"tool": "schema", "args": {"stream": neutralise(&record.handle.stream).text}}));
    }
    let mut call = field_read(record.handle, field, offset)?;
    if let Some(id) = call.pointer_mut("/args/id") {
        *id = record.read_id.clone().into();
    }
    Some(call)
}

/// A structure too large to be shown in place of a text.
fn is_large(value: &Value) -> bool {
    json_bytes(value) > LONG_CHARS
}
