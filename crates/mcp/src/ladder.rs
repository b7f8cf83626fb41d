//! The content ladder of records: for each record which fields are text, which are structures, which are bytes,
//! how large they are, and the call that reads each.
//!
//! Kinds go by the shape of the value, never by the name of the field.

mod binary;

pub(crate) use binary::binary_fields;

use pdpp_evidence::{Content, Extent, RecordHandle, classify, neutralise, redact};
use serde_json::{Map, Value, json};

use crate::Adapter;
use crate::record::{self, Named, field_fetch, field_read};
use crate::tokens;

const RECORDS: usize = 5;
const TEXT_FIELDS: usize = 5;
const JSON_FIELDS: usize = 8;
/// What a ladder may cost. Pages are made of records, and the ladder must not crowd them out.
const TOKENS: usize = 1_200;

/// What stands around its records.
const FRAME: usize = 25;

/// Members that say where a record is, not what it says.
const OPERATIONAL: [&str; 9] = [
    "id",
    "record_id",
    "recordId",
    "connection_id",
    "connector_instance_id",
    "connector_key",
    "stream",
    "metadata",
    "_meta",
];
/// Members of an envelope, which stand beside the fields where there is no `data`.
const ENVELOPE: [&str; 9] = [
    "object",
    "record_key",
    "emitted_at",
    "display_name",
    "result_id",
    "record_uri",
    "links",
    "meta",
    "expanded",
];

/// What an entry lists, and how much of each value it repeats.
#[derive(Clone, Copy, Debug)]
struct Detail<'r> {
    /// Of a text; zero where the text stands whole beside the ladder.
    text_chars: usize,
    /// Of a structure's JSON.
    json_chars: usize,
    /// Values up to this size are not listed; they stand whole beside the ladder.
    least_chars: usize,
    /// Fields that are not repeated, because the document has them.
    rendered: &'r [&'r str],
}

/// Everything there is, beside the data itself.
const LISTED: Detail<'static> = Detail { text_chars: 0, json_chars: 80, least_chars: 0, rendered: &[] };
/// Only what is large enough to need a call of its own.
const LARGE: Detail<'static> = Detail { least_chars: 200, ..LISTED };

/// The fields of a record that are content.
pub(crate) fn content_fields(row: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let flat = !record::is_envelope(row);
    record::payload(row).iter().filter(move |(name, _)| {
        let name = name.as_str();
        !OPERATIONAL.contains(&name) && (!flat || !ENVELOPE.contains(&name))
    })
}

/// The ladder of a page and what it costs: the first records that can be named, each within its share of the cost.
pub(crate) fn record_set(adapter: &Adapter, rows: &[Named<'_>]) -> Option<(Value, usize)> {
    let live = rows.iter().filter(|named| !record::is_deleted(named.row));
    let named: Vec<_> = live
        .filter_map(|named| Some((named.handle.as_ref()?, named.id.as_deref()?, named.row)))
        .take(RECORDS)
        .collect();
    let listed: Vec<Value> =
        named.iter().map(|(handle, id, row)| entry(adapter, handle, id, row, LISTED)).collect();
    let costs = tokens::estimate_rows(&listed);
    let mut entries: Vec<Value> = Vec::new();
    let mut spent = 0;
    for (index, ((mut found, mut cost), (handle, id, row))) in
        listed.into_iter().zip(costs).zip(&named).enumerate()
    {
        if spent + cost > TOKENS * (index + 1) / named.len() {
            found = entry(adapter, handle, id, row, LARGE);
            cost = tokens::estimate_json(&found) + 1;
        }
        if spent + cost > TOKENS && !entries.is_empty() {
            break;
        }
        spent += cost;
        entries.push(found);
    }
    let cost = FRAME + spent;
    (!entries.is_empty())
        .then(|| (json!({"kind": "record_set", "read_tool": "read_record_field", "records": entries}), cost))
}

/// The ladder of one record, whose document shows the `rendered` fields.
pub(crate) fn single(
    adapter: &Adapter,
    handle: &RecordHandle,
    id: &str,
    row: &Map<String, Value>,
    rendered: &[&str],
) -> Value {
    let full = Detail { text_chars: 160, json_chars: 512, rendered, ..LISTED };
    let mut inlined = entry(adapter, handle, id, row, full);
    if tokens::estimate_json(&inlined) > TOKENS {
        inlined = entry(adapter, handle, id, row, LISTED);
    }
    let mut ladder = json!({"kind": "record", "read_tool": "read_record_field"});
    if let (Some(ladder), Some(inlined)) = (ladder.as_object_mut(), inlined.as_object_mut()) {
        ladder.append(inlined);
    }
    ladder
}

/// One record: what it is called, and its fields by kind.
fn entry(
    adapter: &Adapter,
    handle: &RecordHandle,
    id: &str,
    row: &Map<String, Value>,
    detail: Detail<'_>,
) -> Value {
    let mut entry = Map::new();
    entry.insert("id".to_owned(), id.into());
    entry.insert(
        "connection_id".to_owned(),
        handle.connection_id.as_deref().map(|id| neutralise(id).text).into(),
    );
    entry.insert("stream".to_owned(), neutralise(&handle.stream).text.into());
    entry.insert("record_id".to_owned(), neutralise(&handle.record_id).text.into());
    entry.insert("handle_semantics".to_owned(), "live_lookup".into());
    let fields: Vec<_> = content_fields(row).filter(|(name, _)| record::is_callable(name)).collect();
    let texts = fields.iter().filter_map(|(name, value)| text_field(handle, name, value, detail));
    let texts: Vec<Value> = texts.take(TEXT_FIELDS).collect();
    let structures = fields.iter().filter_map(|(name, value)| json_field(id, name, value, detail));
    let structures: Vec<Value> = structures.take(JSON_FIELDS).collect();
    let bytes: Vec<Value> = binary_fields(row).iter().map(|field| field.describe(adapter, handle)).collect();
    for (name, list) in [("field_windows", texts), ("json_fields", structures), ("binary_fields", bytes)] {
        if !list.is_empty() {
            entry.insert(name.to_owned(), list.into());
        }
    }
    entry.into()
}

/// Text for reading: words, or anything longer than a name or a number would be.
fn text_field(handle: &RecordHandle, name: &str, value: &Value, detail: Detail<'_>) -> Option<Value> {
    let text = value.as_str().filter(|text| !text.trim().is_empty())?;
    let repeated = if detail.rendered.contains(&name) { 0 } else { detail.text_chars };
    let (head, extent) = Extent::head(text, repeated);
    let total = extent.total_chars.unwrap_or(0);
    let prose = total > 64 || text.contains(char::is_whitespace);
    if !prose || total <= detail.least_chars || classify(value) != Content::Text {
        return None;
    }
    let mut field = json!({"field_path": neutralise(name).text, "text_like": true});
    let shown = repeated > 0;
    if shown {
        field["preview_text"] = neutralise(head).text.into();
    }
    field["preview_status"] = if shown && extent.truncated { "truncated" } else { "complete" }.into();
    field["size_chars"] = total.into();
    field["read"] = field_read(handle, name, 0)?;
    Some(field)
}

fn json_field(id: &str, name: &str, value: &Value, detail: Detail<'_>) -> Option<Value> {
    let empty = match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => true,
    };
    if empty || classify(value) != Content::Json {
        return None;
    }
    let json = redact(value).0.to_string();
    let (head, extent) = Extent::head(&json, detail.json_chars);
    if extent.total_chars.unwrap_or(0) <= detail.least_chars {
        return None;
    }
    Some(json!({
        "field_path": neutralise(name).text,
        "json_field": true,
        "text_like": false,
        "preview_status": if extent.truncated { "truncated" } else { "complete" },
        "size_chars": extent.total_chars,
        "preview_text": neutralise(head).text,
        "read": field_fetch(id, &[name]),
    }))
}
