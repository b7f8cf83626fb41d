//! The metadata of a document: where the record is, its short values, what is not shown, and the calls that show
//! it. It stands inside the document, so that both halves have it.

use pdpp_evidence::{Content, Extent, classify, neutralise};
use serde_json::{Map, Value};

use super::document::{Found, Record};
use super::fields::Body;
use super::payload::Field;
use super::room::Room;
use super::{left_out, notes};
use crate::shown::shown;
use crate::text::clipped;

/// How many members of the record's own `metadata` are taken over.
const OWN: usize = 20;

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

/// The metadata, and the fields that the document then shows whole.
pub(super) fn metadata<'v>(
    record: &Record<'v>,
    document: &Map<String, Value>,
    title: Option<Found<'v>>,
    body: &Body<'v>,
    room: Room,
) -> (Map<String, Value>, Vec<&'v str>) {
    let mut metadata = source(record, document, room);
    let mut whole: Vec<&str> = body.covers.iter().copied().chain(title.map(|title| title.field)).collect();
    let rendered = whole.len();
    let mut rest: Vec<&Field<'v>> = Vec::new();
    for field in &record.payload.fields {
        let repeated = metadata.get(field.name).is_some_and(|shown| shown == field.value);
        if whole[..rendered].contains(&field.name) {
            continue;
        }
        if repeated { whole.push(field.name) } else { rest.push(field) }
    }
    let own = record.payload.own_metadata.iter();
    rest.extend(own.filter(|own| !whole.contains(&own.name) && is_hidden(own.value, room)));
    let short = left_out::short_values(&rest, room);
    let (taken, left): (Vec<_>, Vec<_>) = rest.into_iter().partition(|field| short.contains_key(field.name));
    whole.extend(taken.iter().map(|field| field.name));
    if !short.is_empty() {
        metadata.insert("fields".to_owned(), shown(&Value::Object(short)).value);
    }
    if body.is_cut() {
        metadata.insert("text_truncated".to_owned(), true.into());
        metadata.insert("text_shown_chars".to_owned(), body.shown_chars.into());
        metadata.insert("text_total_chars".to_owned(), body.total_chars.into());
    }
    omitted(record, &left, room, &mut metadata);
    let continuations = left_out::continuations(record, body, &left, room);
    if !continuations.is_empty() {
        metadata.insert("continuations".to_owned(), continuations.into());
    }
    record.related.show(room, &mut metadata);
    notes::warnings(record, room, &mut metadata);
    notes::boundary(record, room, &mut metadata);
    (metadata, whole)
}

/// The names of what is left out, and how many there are when not all are named.
fn omitted(record: &Record<'_>, left: &[&Field<'_>], room: Room, metadata: &mut Map<String, Value>) {
    let count = left.len() + record.payload.more;
    if count == 0 {
        return;
    }
    let names: Vec<Value> =
        left.iter().take(room.listed).map(|field| clipped(field.name, room.value).into()).collect();
    metadata.insert("omitted_fields".to_owned(), names.into());
    if count > room.listed.min(left.len()) {
        metadata.insert("omitted_field_count".to_owned(), count.into());
    }
}

/// Where the record is, and what its envelope says in one word each.
fn source(record: &Record<'_>, document: &Map<String, Value>, room: Room) -> Map<String, Value> {
    let mut metadata = Map::new();
    let payload = record.payload.members;
    let add = |metadata: &mut Map<String, Value>, name: &str, value: &Value| {
        let scalar = value.is_number() || value.is_boolean() || value.is_string();
        let repeats = ["id", "title", "url"].iter().any(|member| document.get(*member) == Some(value));
        if scalar
            && !repeats
            && !metadata.contains_key(name)
            && !matches!(classify(value), Content::Base64 { .. })
        {
            metadata.insert(name.to_owned(), of_value(value, room));
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
        let own = own.take(OWN.min(room.listed)).filter(|(name, _)| fits(name, room));
        for (name, value) in own.filter(|(name, _)| !OURS.contains(&name.as_str())) {
            add(&mut metadata, &neutralise(name).text, value);
        }
    }
    metadata
}

fn of_value(value: &Value, room: Room) -> Value {
    value.as_str().map_or_else(|| value.clone(), |text| clipped(text, room.value).into())
}

/// Whether a record's own `metadata` has more than the document takes over from it.
fn is_hidden(value: &Value, room: Room) -> bool {
    let shown = |(name, value): (&String, &Value)| {
        fits(name, room)
            && match value {
                Value::String(text) => fits(text, room),
                other => !other.is_array() && !other.is_object(),
            }
    };
    let Some(members) = value.as_object() else { return false };
    members.len() > OWN.min(room.listed) || !members.iter().all(shown)
}

fn fits(text: &str, room: Room) -> bool {
    !Extent::head(text, room.value).1.truncated
}
