//! One record of a ladder: what it is called, and its fields by kind.

use std::borrow::Cow;

use pdpp_evidence::{Content, Extent, RecordHandle, classify, neutralise, redact};
use serde::Serialize;
use serde_json::{Value, json};

use super::binary::binary_among;
use crate::Adapter;
use crate::record::{field_fetch, field_read, fits_alone, is_callable, is_projectable, schema_call};
use crate::row::Row;
use crate::tokens::Scale;

const TEXT_FIELDS: usize = 5;
const JSON_FIELDS: usize = 8;

/// What an entry lists, and how much of each value it repeats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail<'r> {
    /// Of a text.
    pub(super) text_chars: usize,
    /// Of a structure's JSON.
    pub(super) json_chars: usize,
    /// Values up to this size are not listed; they stand whole beside the ladder.
    pub(super) least_chars: usize,
    /// Whether every value stands whole beside the ladder.
    pub(super) beside: bool,
    /// Fields that are not repeated, because the document has them in whole or in part.
    pub(super) rendered: &'r [&'r str],
    /// What `fetch` was just asked for, which no call asks for again; everything, where no field was named.
    pub(super) asked: Option<&'r [&'r str]>,
}

/// Everything there is, beside the data itself.
pub(super) const LISTED: Detail<'static> =
    Detail { text_chars: 0, json_chars: 80, least_chars: 0, beside: true, rendered: &[], asked: None };
/// Only what is large enough to need a call of its own.
pub(super) const LARGE: Detail<'static> = Detail { least_chars: 200, ..LISTED };

#[derive(Serialize)]
pub(super) struct Entry<'r> {
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
    /// How many more would be listed if there were room.
    #[serde(skip_serializing_if = "is_zero")]
    fields_left_out: usize,
}

impl Entry<'_> {
    pub(super) fn json(&self) -> String {
        // Texts and values are nothing that JSON cannot write.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As many of the fields as cost no more than this.
    pub(super) fn within(mut self, tokens: usize) -> Self {
        while Scale::Close.cost(&self.json()) + 1 > tokens {
            let lists = [&mut self.json_fields, &mut self.binary_fields, &mut self.field_windows];
            let Some(longest) = lists.into_iter().max_by_key(|list| list.len()) else { break };
            if longest.pop().is_none() {
                break;
            }
            self.fields_left_out += 1;
        }
        self
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub(super) fn entry<'r>(
    adapter: &Adapter,
    handle: &'r RecordHandle,
    id: &'r str,
    row: Row<'_>,
    detail: Detail<'_>,
) -> Entry<'r> {
    let content = row.fields();
    let record = Record { handle, id, detail };
    let fields: Vec<_> = content.iter().filter(|(name, _)| is_callable(name)).collect();
    let texts = fields.iter().filter_map(|(name, value)| record.text(name, value));
    let structures = fields.iter().filter_map(|(name, value)| record.json(name, value));
    Entry {
        id,
        connection_id: handle.connection_id.as_deref().map(|id| neutralise(id).text),
        stream: neutralise(&handle.stream).text,
        record_id: neutralise(&handle.record_id).text,
        handle_semantics: "live_lookup",
        field_windows: texts.take(TEXT_FIELDS).collect(),
        json_fields: structures.take(JSON_FIELDS).collect(),
        binary_fields: binary_among(&content).iter().map(|field| field.describe(adapter, handle)).collect(),
        fields_left_out: 0,
    }
}

/// The record whose fields are described.
struct Record<'r> {
    handle: &'r RecordHandle,
    id: &'r str,
    detail: Detail<'r>,
}

impl Record<'_> {
    /// Text for reading: words, or anything longer than a name or a number would be.
    fn text(&self, name: &str, value: &Value) -> Option<Value> {
        let text = value.as_str().filter(|text| !text.trim().is_empty())?;
        let repeated = if self.detail.rendered.contains(&name) { 0 } else { self.detail.text_chars };
        let (head, extent) = Extent::head(text, repeated);
        let total = extent.total_chars.unwrap_or(0);
        let prose = total > 64 || text.contains(char::is_whitespace);
        if !prose || total <= self.detail.least_chars || classify(value) != Content::Text {
            return None;
        }
        let mut field = json!({"field_path": neutralise(name).text, "text_like": true});
        if repeated > 0 {
            field["preview_text"] = neutralise(head).text.into();
        }
        field["preview_status"] = status(self.detail.beside || !extent.truncated);
        field["size_chars"] = total.into();
        field["read"] = self.other_than_asked(field_read(self.handle, name, 0)?, name)?;
        Some(field)
    }

    fn json(&self, name: &str, value: &Value) -> Option<Value> {
        let empty = match value {
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => true,
        };
        if empty || classify(value) != Content::Json {
            return None;
        }
        let json = redact(value).0.to_string();
        let (head, extent) = Extent::head(&json, self.detail.json_chars);
        let total = extent.total_chars.unwrap_or(0);
        if total <= self.detail.least_chars {
            return None;
        }
        let in_list = is_projectable(name) && fits_alone(name, total);
        let fetched = in_list.then(|| field_fetch(self.id, &[name]));
        let read = fetched.or_else(|| field_read(self.handle, name, 0))?;
        Some(json!({
            "field_path": neutralise(name).text,
            "json_field": true,
            "text_like": false,
            "preview_status": status(!extent.truncated),
            "size_chars": total,
            "preview_text": neutralise(head).text,
            "read": self.other_than_asked(read, name)?,
        }))
    }

    /// The call, unless it is the one that was just made: then a window leads on, and without a connection the
    /// schema, which may know one.
    fn other_than_asked(&self, call: Value, name: &str) -> Option<Value> {
        let same = |asked: &[&str]| match call["args"].get("fields") {
            Some(_) => asked == [name],
            None => asked.is_empty(),
        };
        if call["tool"] != "fetch" || !self.detail.asked.is_some_and(same) {
            return Some(call);
        }
        match self.handle.connection_id {
            Some(_) => field_read(self.handle, name, 0),
            None => Some(schema_call(self.handle)),
        }
    }
}

fn status(complete: bool) -> Value {
    if complete { "complete" } else { "truncated" }.into()
}
