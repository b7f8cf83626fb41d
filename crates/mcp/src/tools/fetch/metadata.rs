//! The metadata of a document: where the record is, its short values, what is not shown, and the calls that show
//! it. It stands inside the document, so that both halves have it.

use pdpp_evidence::{Content, Extent, classify, neutralise};
use serde_json::{Map, Value};

use super::document::{Found, Record};
use super::fields::Body;
use super::{left_out, notes};
use crate::ladder::content_fields;
use crate::shown::shown;

/// The longest value that counts as short, in characters.
pub(super) const SHORT_CHARS: usize = 200;
/// How many members of the record's own `metadata` are taken over.
const OWN: usize = 20;
const OMITTED: usize = 40;

const SOURCE: [&str; 5] = ["stream", "connection_id", "connector_key", "connector_id", "display_name"];
const ENVELOPE: [&str; 10] = [
    "object",
    "record_id",
    "record_key",
    "emitted_at",
    "sent_at",
    "created_at",
    "updated_at",
    "deleted",
    "deleted_at",
    "result_id",
];

/// Names that only we give.
const OURS: [&str; 12] = [
    "fields",
    "text_truncated",
    "text_shown_chars",
    "text_total_chars",
    "omitted_fields",
    "omitted_field_count",
    "continuations",
    "expanded",
    "warnings",
    "unsafe_chars_replaced",
    "binary_fields",
    "binary_redacted",
];

pub(super) fn metadata(
    record: &Record<'_>,
    document: &Map<String, Value>,
    title: Option<Found<'_>>,
    body: &Body<'_>,
) -> Map<String, Value> {
    let mut metadata = source(record, document);
    let rendered = |name: &str| body.covers.contains(&name) || title.is_some_and(|title| title.field == name);
    let rest: Vec<(&String, &Value)> = content_fields(record.row)
        .filter(|(name, value)| !rendered(name) && !value.is_null() && !repeated(&metadata, name, value))
        .collect();
    let hidden = record.payload().get_key_value("metadata").filter(|(_, value)| is_hidden(value));
    let rest: Vec<(&String, &Value)> = rest.into_iter().chain(hidden).collect();
    let short = left_out::short_values(record, &rest);
    let left: Vec<(&String, &Value)> =
        rest.into_iter().filter(|(name, _)| !short.contains_key(name.as_str())).collect();
    if !short.is_empty() {
        metadata.insert("fields".to_owned(), shown(&Value::Object(short)).value);
    }
    if body.is_cut() {
        metadata.insert("text_truncated".to_owned(), true.into());
        metadata.insert("text_shown_chars".to_owned(), body.shown_chars.into());
        metadata.insert("text_total_chars".to_owned(), body.total_chars.into());
    }
    if !left.is_empty() {
        let names: Vec<Value> =
            left.iter().take(OMITTED).map(|(name, _)| neutralise(name).text.into()).collect();
        metadata.insert("omitted_fields".to_owned(), names.into());
        if left.len() > OMITTED {
            metadata.insert("omitted_field_count".to_owned(), left.len().into());
        }
    }
    let continuations = left_out::continuations(record, body, &left);
    if !continuations.is_empty() {
        metadata.insert("continuations".to_owned(), continuations.into());
    }
    notes::expanded(record, &mut metadata);
    notes::warnings(record, &mut metadata);
    notes::boundary(record, &mut metadata);
    metadata
}

/// Where the record is, and what its envelope says in one word each.
fn source(record: &Record<'_>, document: &Map<String, Value>) -> Map<String, Value> {
    let mut metadata = Map::new();
    let payload = record.payload();
    let add = |metadata: &mut Map<String, Value>, name: &str, value: &Value| {
        let scalar = value.is_number() || value.is_boolean() || value.is_string();
        let repeats = ["id", "title", "url"].iter().any(|member| document.get(*member) == Some(value));
        if scalar
            && !repeats
            && !metadata.contains_key(name)
            && !matches!(classify(value), Content::Base64 { .. })
        {
            metadata.insert(name.to_owned(), clipped(value));
        }
    };
    add(&mut metadata, "stream", &record.handle.stream.as_str().into());
    if let Some(connection) = &record.handle.connection_id {
        add(&mut metadata, "connection_id", &connection.as_str().into());
    }
    for name in SOURCE {
        let value = record.row.get(name).or_else(|| payload.get(name)).filter(|value| !value.is_null());
        if let Some(value) = value {
            add(&mut metadata, name, value);
        }
    }
    for name in ENVELOPE {
        if let Some(value) = record.row.get(name) {
            add(&mut metadata, name, value);
        }
    }
    add(&mut metadata, "record_id", &record.handle.record_id.as_str().into());
    if metadata.get("result_id").is_some_and(|id| *id == record.read_id.as_str()) {
        metadata.remove("result_id");
    }
    // Last, because a record's own words must not pass for ours.
    for members in [payload, record.row] {
        let own = members.get("metadata").and_then(Value::as_object).into_iter().flatten();
        for (name, value) in own.take(OWN).filter(|(name, _)| !OURS.contains(&name.as_str())) {
            add(&mut metadata, &neutralise(name).text, value);
        }
    }
    metadata
}

pub(super) fn clipped(value: &Value) -> Value {
    match value.as_str() {
        Some(text) => {
            let (head, extent) = Extent::head(text, SHORT_CHARS);
            let shown = if extent.truncated { format!("{head}…") } else { head.to_owned() };
            neutralise(&shown).text.into()
        }
        None => value.clone(),
    }
}

/// Whether a record's own `metadata` has more than the document takes over from it.
fn is_hidden(value: &Value) -> bool {
    let shown = |value: &Value| match value {
        Value::String(text) => !Extent::head(text, SHORT_CHARS).1.truncated,
        other => !other.is_array() && !other.is_object(),
    };
    value.as_object().is_some_and(|members| members.len() > OWN || !members.values().all(shown))
}

/// Whether the metadata says this already.
fn repeated(metadata: &Map<String, Value>, name: &str, value: &Value) -> bool {
    metadata.get(name).is_some_and(|shown| shown == value)
}
