//! The content ladder of records: for each record which fields are text, which are structures, which are bytes,
//! how large they are, and the call that reads each.
//!
//! Kinds go by the shape of the value, never by the name of the field.

mod binary;
mod entry;

pub(crate) use binary::{BinaryField, binary_among, binary_fields};

use pdpp_evidence::RecordHandle;
use serde_json::{Map, Value, json};

use self::entry::{Detail, LARGE, LISTED, entry};
use crate::Adapter;
use crate::bounded::Cut;
use crate::record;
use crate::row::{Named, Row};
use crate::tokens::{self, Scale};

const RECORDS: usize = 5;
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
        if spent + cost > TOKENS && entries.is_empty() {
            found = entry(adapter, handle, id, *row, LARGE).within(TOKENS).json();
            cost = Scale::Close.cost(&found) + 1;
        }
        if spent + cost > TOKENS {
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

/// The ladder of one record, whose document shows the `rendered` fields in whole or in part, and for which `asked`
/// was asked for. What the document shows whole is only known once it is written: see [`settled`].
pub(crate) fn single(
    adapter: &Adapter,
    handle: &RecordHandle,
    id: &str,
    row: &Map<String, Value>,
    rendered: &[&str],
    asked: &[&str],
) -> Value {
    let listed = Detail { beside: false, rendered, asked: Some(asked), ..LISTED };
    let full = Detail { text_chars: 160, json_chars: 512, ..listed };
    let row = Row::Tree(row);
    let mut inlined = entry(adapter, handle, id, row, full);
    if Scale::Close.cost(&inlined.json()) > TOKENS {
        inlined = entry(adapter, handle, id, row, listed).within(TOKENS);
    }
    let mut ladder = json!({"kind": "record", "read_tool": "read_record_field"});
    if let (Some(ladder), Ok(Value::Object(mut inlined))) =
        (ladder.as_object_mut(), serde_json::to_value(&inlined))
    {
        ladder.append(&mut inlined);
    }
    ladder
}

/// The ladder of one record, which says of each field whether it is shown whole. What stands whole beside the ladder
/// need not be repeated; of the others nothing is complete but what the ladder itself shows.
pub(crate) fn settled(mut ladder: Value, stands_whole: impl Fn(&str) -> bool) -> Value {
    settle(&mut ladder, stands_whole);
    ladder
}

fn settle(entry: &mut Value, stands_whole: impl Fn(&str) -> bool) {
    for kind in ["field_windows", "json_fields"] {
        for field in entry.get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(members) = field.as_object_mut() else { continue };
            let whole = members.get("field_path").and_then(Value::as_str).is_some_and(&stands_whole);
            if whole {
                members.shift_remove("preview_text");
            }
            if whole || !members.contains_key("preview_text") {
                let status = if whole { "complete" } else { "truncated" };
                members.insert("preview_status".to_owned(), status.into());
            }
        }
    }
}

/// The ladder of a page whose only record had to be `cut`.
pub(crate) fn with_cuts(record_set: &str, record: Option<&RecordHandle>, cuts: &[Cut]) -> String {
    // We wrote it ourselves.
    let mut ladder: Value = serde_json::from_str(record_set).unwrap_or_default();
    let is_cut = |name: &str| {
        let inside =
            |path: &str| path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        // A cut without a path is one of the whole record.
        let touches = |cut: &Cut| cut.field_path.is_empty() || inside(&cut.field_path);
        cuts.iter().any(|cut| cut.handle.as_ref() == record && touches(cut))
    };
    for entry in ladder.get_mut("records").and_then(Value::as_array_mut).into_iter().flatten() {
        settle(entry, |name| !is_cut(name));
    }
    ladder.to_string()
}
