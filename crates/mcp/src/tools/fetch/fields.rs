//! The text of a document: the record's own text, else its JSON, and how much of either is shown.

use pdpp_evidence::{Extent, redact};
use serde_json::{Map, Value};

use super::document::Found;
use crate::record;

/// How much JSON stands in for a text, in characters.
const JSON_CHARS: usize = 1_024;
const POINTER: &str = "\n… cut; read the rest with fetch(fields) or query_records(fields), see metadata.";

/// The text, and what it covers.
pub(super) struct Body<'v> {
    pub(super) shown: String,
    /// The field it is; none for JSON.
    pub(super) field: Option<&'v str>,
    pub(super) shown_chars: usize,
    pub(super) total_chars: usize,
    /// The fields that are seen whole in it.
    pub(super) covers: Vec<&'v str>,
}

impl<'v> Body<'v> {
    pub(super) fn text(found: Found<'v>, cap: usize) -> Self {
        let (head, extent) = Extent::head(found.value, cap);
        let covers = if extent.truncated { Vec::new() } else { vec![found.field] };
        Self {
            shown: head.to_owned(),
            field: Some(found.field),
            shown_chars: extent.shown_chars,
            total_chars: extent.total_chars.unwrap_or(0),
            covers,
        }
    }

    pub(super) fn json(row: &'v Map<String, Value>, cap: usize) -> Self {
        let payload = record::payload(row);
        let (redacted, _) = redact(&Value::Object(payload.clone()));
        let pretty = serde_json::to_string_pretty(&redacted).unwrap_or_default();
        let (_, whole) = Extent::head(&pretty, JSON_CHARS.min(cap));
        if !whole.truncated {
            let chars = whole.shown_chars;
            let covers = payload.keys().map(String::as_str).collect();
            return Self { shown: pretty, field: None, shown_chars: chars, total_chars: chars, covers };
        }
        let room = JSON_CHARS.min(cap).saturating_sub(POINTER.chars().count());
        let (head, extent) = Extent::head(&pretty, room);
        Self {
            shown: format!("{head}{POINTER}"),
            field: None,
            shown_chars: extent.shown_chars,
            total_chars: extent.total_chars.unwrap_or(0),
            covers: covered(payload, &redacted, extent.shown_chars),
        }
    }

    pub(super) fn is_cut(&self) -> bool {
        self.shown_chars < self.total_chars
    }
}

/// The fields whose JSON ends within the first `shown` characters.
fn covered<'v>(payload: &'v Map<String, Value>, redacted: &Value, shown: usize) -> Vec<&'v str> {
    let mut so_far = Map::new();
    let mut covers = Vec::new();
    for name in payload.keys() {
        let Some(value) = redacted.get(name) else { break };
        so_far.insert(name.clone(), value.clone());
        let length = serde_json::to_string_pretty(&so_far).map_or(0, |json| json.chars().count());
        // The closing brace and its line break come after the last field.
        if length.saturating_sub(2) > shown {
            break;
        }
        covers.push(name.as_str());
    }
    covers
}
