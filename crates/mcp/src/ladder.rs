//! The content ladder of records: for each record which fields are text, which are structures, which are bytes,
//! how large they are, and the call that reads each.
//!
//! Kinds go by the shape of the value, never by the name of the field.

mod binary;

pub(crate) use binary::{binary_among, binary_fields};

use std::borrow::Cow;

use pdpp_evidence::{Content, Extent, RecordHandle, classify, neutralise, redact};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Adapter;
use crate::record::{self, field_fetch, field_read};
use crate::row::{Named, Row};
use crate::tokens::{self, Scale};

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
    record::payload(row).iter().filter(move |(name, _)| is_content(name, flat))
}

/// Whether a member of this name is content, in a payload or in a row that is `flat`.
pub(crate) fn is_content(name: &str, flat: bool) -> bool {
    !OPERATIONAL.contains(&name) && (!flat || !ENVELOPE.contains(&name))
}

/// The ladder of a page as JSON and what it costs: the first records that can be named, each within its share of the cost.
pub(crate) fn record_set(adapter: &Adapter, rows: &[Named<'_>]) -> Option<(String, usize)> {
    let live = rows.iter().filter(|named| !named.row.is_deleted());
    let named: Vec<_> = live
        .filter_map(|named| Some((named.handle.as_ref()?, named.id.as_deref()?, named.row)))
        .take(RECORDS)
        .collect();
    let listed: Vec<String> =
        named.iter().map(|(handle, id, row)| entry(adapter, handle, id, *row, LISTED).json()).collect();
    let costs = tokens::estimate_written_rows(&listed);
    let mut entries = String::with_capacity(listed.iter().map(|entry| entry.len() + 1).sum());
    let mut spent = 0;
    for (index, ((mut found, mut cost), (handle, id, row))) in
        listed.into_iter().zip(costs).zip(&named).enumerate()
    {
        if spent + cost > TOKENS * (index + 1) / named.len() {
            found = entry(adapter, handle, id, *row, LARGE).json();
            cost = Scale::Close.cost(&found) + 1;
        }
        if spent + cost > TOKENS && !entries.is_empty() {
            break;
        }
        spent += cost;
        if !entries.is_empty() {
            entries.push(',');
        }
        entries.push_str(&found);
    }
    let ladder =
        || format!(r#"{{"kind":"record_set","read_tool":"read_record_field","records":[{entries}]}}"#);
    (!entries.is_empty()).then(|| (ladder(), FRAME + spent))
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
    let row = Row::Tree(row);
    let mut inlined = entry(adapter, handle, id, row, full);
    if Scale::Close.cost(&inlined.json()) > TOKENS {
        inlined = entry(adapter, handle, id, row, LISTED);
    }
    let mut ladder = json!({"kind": "record", "read_tool": "read_record_field"});
    if let (Some(ladder), Ok(Value::Object(mut inlined))) =
        (ladder.as_object_mut(), serde_json::to_value(&inlined))
    {
        ladder.append(&mut inlined);
    }
    ladder
}

/// One record: what it is called, and its fields by kind.
#[derive(Serialize)]
struct Entry<'r> {
    id: &'r str,
    connection_id: Option<Cow<'r, str>>,
    stream: Cow<'r, str>,
    record_id: Cow<'r, str>,
    handle_semantics: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    field_windows: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    json_fields: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    binary_fields: Vec<Value>,
}

impl Entry<'_> {
    fn json(&self) -> String {
        // Texts and values are nothing that JSON cannot write.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn entry<'r>(
    adapter: &Adapter,
    handle: &'r RecordHandle,
    id: &'r str,
    row: Row<'_>,
    detail: Detail<'_>,
) -> Entry<'r> {
    let content = row.fields();
    let fields: Vec<_> = content.iter().filter(|(name, _)| record::is_callable(name)).collect();
    let texts = fields.iter().filter_map(|(name, value)| text_field(handle, name, value, detail));
    let structures = fields.iter().filter_map(|(name, value)| json_field(id, name, value, detail));
    Entry {
        id,
        connection_id: handle.connection_id.as_deref().map(|id| neutralise(id).text),
        stream: neutralise(&handle.stream).text,
        record_id: neutralise(&handle.record_id).text,
        handle_semantics: "live_lookup",
        field_windows: texts.take(TEXT_FIELDS).collect(),
        json_fields: structures.take(JSON_FIELDS).collect(),
        binary_fields: binary_among(&content).iter().map(|field| field.describe(adapter, handle)).collect(),
    }
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
