//! One record that is too big for a result: long strings are cut, and every cut is listed with the call that
//! reads on.

use pdpp_evidence::{Extent, RecordHandle, json_bytes};
use serde_json::{Map, Value, json};

use crate::record;
use crate::tokens::estimate_json;

/// How many cuts are listed one by one; the rest are counted.
const LISTED: usize = 20;
/// Lengths to which strings are cut, one after the other, until the record fits.
const CAPS: [usize; 8] = [8_192, 4_096, 2_048, 1_024, 512, 256, 128, 64];

/// Something that is not shown whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cut {
    pub(crate) handle: Option<RecordHandle>,
    /// Inside the payload of the record; empty when it stands in the envelope.
    pub(crate) field_path: String,
    pub(crate) shown_chars: usize,
    pub(crate) total_chars: usize,
}

/// Whose strings are being cut.
struct Place {
    handle: Option<RecordHandle>,
    path: Vec<String>,
    depth: usize,
}

/// The most members that are cut one by one; a row with more is shown by the head of its JSON.
const MEMBERS: usize = 200;

/// Cuts every string of `value` at `cap` characters.
pub(crate) fn cut_strings(value: &mut Value, cap: usize, handle: Option<&RecordHandle>) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let mut place = Place { handle: handle.cloned(), path: Vec::new(), depth: 0 };
    visit(value, cap, &mut place, &mut cuts);
    cuts
}

/// Cuts a row until it costs at most `tokens`.
pub(crate) fn fit_row(row: &mut Value, tokens: usize, handle: Option<&RecordHandle>) -> Vec<Cut> {
    let fits = |row: &Value| estimate_json(row) <= tokens;
    if fits(row) {
        return Vec::new();
    }
    let mut cuts = Vec::new();
    for cap in CAPS {
        let mut shorter = row.clone();
        cuts = cut_strings(&mut shorter, cap, handle);
        if fits(&shorter) {
            *row = shorter;
            return cuts;
        }
        if cap == 64 {
            *row = shorter;
        }
    }
    // Many short values: whole members become the head of their JSON, the largest first.
    let mut spent = estimate_json(row);
    for (pointer, name) in members(row).into_iter().take(MEMBERS) {
        if spent <= tokens {
            break;
        }
        let Some(member) = row.pointer_mut(&pointer) else { continue };
        let (head, extent) = head_of(member, 64);
        if extent.truncated {
            let saved = estimate_json(member);
            *member = head.into();
            spent = spent.saturating_sub(saved) + estimate_json(member);
            cuts.retain(|cut| cut.field_path != name && !cut.field_path.starts_with(&format!("{name}.")));
            cuts.push(Cut {
                handle: handle
                    .cloned()
                    .filter(|_| pointer.starts_with("/data/") || !pointer.contains("expanded")),
                field_path: name,
                shown_chars: extent.shown_chars,
                total_chars: extent.total_chars.unwrap_or(0),
            });
        }
    }
    if !fits(row) {
        let (head, extent) = head_of(row, tokens);
        *row = json!({ "record_json_head": head });
        let total_chars = extent.total_chars.unwrap_or(0);
        cuts = vec![Cut {
            handle: handle.cloned(),
            field_path: String::new(),
            shown_chars: extent.shown_chars,
            total_chars,
        }];
    }
    cuts
}

/// The cuts as they stand beside `data`.
pub(crate) fn report(mut cuts: Vec<Cut>, structured: &mut Map<String, Value>) {
    if cuts.is_empty() {
        return;
    }
    if cuts.len() > LISTED {
        structured.insert("truncated_field_count".to_owned(), cuts.len().into());
        cuts.sort_by_key(|cut| std::cmp::Reverse(cut.total_chars));
        cuts.truncate(LISTED);
    }
    let listed: Vec<Value> = cuts.iter().map(Cut::describe).collect();
    structured.insert("truncated_fields".to_owned(), listed.into());
}

impl Cut {
    /// The call that reads on, when there is one.
    pub(crate) fn read(&self) -> Option<Value> {
        let handle = self.handle.as_ref()?;
        if self.field_path.is_empty() {
            let id = record::usable_id(handle)?;
            return Some(json!({"tool": "fetch", "args": {"id": id}}));
        }
        record::field_read(handle, &self.field_path, 0)
    }

    fn describe(&self) -> Value {
        let id = self.handle.as_ref().and_then(record::usable_id);
        let field_path = pdpp_evidence::neutralise(&self.field_path).text;
        let mut described = json!({
            "id": id,
            "field_path": field_path,
            "shown_chars": self.shown_chars,
            "total_chars": self.total_chars,
        });
        match self.read() {
            Some(read) => described["read"] = read,
            None => described["narrow"] = "repeat the call with `fields` or a smaller `expand_limit`".into(),
        }
        described
    }
}

fn visit(value: &mut Value, cap: usize, place: &mut Place, cuts: &mut Vec<Cut>) {
    match value {
        Value::String(text) => {
            let (head, extent) = Extent::head(text, cap);
            if extent.truncated {
                let head = format!("{head}…");
                cuts.push(Cut {
                    handle: place.handle.clone(),
                    field_path: place.path.join("."),
                    shown_chars: extent.shown_chars,
                    total_chars: extent.total_chars.unwrap_or(0),
                });
                *text = head;
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                within(index.to_string(), item, cap, place, cuts);
            }
        }
        Value::Object(members) => {
            let envelope = record::is_envelope(members);
            let nested =
                if envelope && place.depth > 0 { record::identity(members, None, None) } else { None };
            let outer = nested.map(|handle| (place.handle.replace(handle), std::mem::take(&mut place.path)));
            for (name, member) in members.iter_mut() {
                let is_payload = envelope && name == "data" && (place.depth == 0 || outer.is_some());
                if is_payload {
                    place.depth += 1;
                    visit(member, cap, place, cuts);
                    place.depth -= 1;
                } else if envelope && (place.depth == 0 || outer.is_some()) {
                    // What stands in an envelope is no field, so no field read reaches it.
                    let handle = place.handle.take();
                    within(name.clone(), member, cap, place, cuts);
                    place.handle = handle;
                } else {
                    within(name.clone(), member, cap, place, cuts);
                }
            }
            if let Some((handle, path)) = outer {
                place.handle = handle;
                place.path = path;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn within(segment: String, value: &mut Value, cap: usize, place: &mut Place, cuts: &mut Vec<Cut>) {
    place.path.push(segment);
    place.depth += 1;
    visit(value, cap, place, cuts);
    place.depth -= 1;
    place.path.pop();
}

/// The members of the payload and of the envelope around it, as pointer and name, largest first.
fn members(row: &Value) -> Vec<(String, String)> {
    let Some(envelope) = row.as_object() else { return Vec::new() };
    let inside = record::is_envelope(envelope);
    let pointer =
        |prefix: &str, name: &str| format!("{prefix}/{}", name.replace('~', "~0").replace('/', "~1"));
    let outer = envelope.iter().filter(|(name, _)| !(inside && *name == "data"));
    let inner = envelope.get("data").and_then(Value::as_object).filter(|_| inside).into_iter().flatten();
    let mut members: Vec<(usize, String, String)> = outer
        .map(|(name, value)| (json_bytes(value), pointer("", name), name.clone()))
        .chain(inner.map(|(name, value)| (json_bytes(value), pointer("/data", name), name.clone())))
        .collect();
    members.sort_by_key(|(bytes, _, _)| std::cmp::Reverse(*bytes));
    members.into_iter().map(|(_, pointer, name)| (pointer, name)).collect()
}

fn head_of(value: &Value, max_chars: usize) -> (String, Extent) {
    let json = value.to_string();
    let (head, extent) = Extent::head(&json, max_chars);
    (format!("{head}…"), extent)
}
