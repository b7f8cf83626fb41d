//! The text of a document: the record's own text, else its JSON, and how much of either is shown.

use pdpp_evidence::Extent;
use serde_json::{Map, Value};

use super::document::Found;
use super::payload::Payload;
use crate::record::JSON_CHARS;

/// The longest text that is inlined, in characters.
const TEXT_CHARS: usize = 12_000;
const POINTER: &str = "\n… cut; read the rest with fetch(fields) or query_records(fields), see metadata.";

/// What the text is made from.
pub(super) enum Source<'v> {
    Text(Found<'v>),
    Json(Json<'v>),
}

/// A payload as JSON: over several lines where all of it can be shown so, else on one.
pub(super) struct Json<'v> {
    /// The beginning, and how long all of it is.
    pretty: String,
    pretty_chars: usize,
    /// None when it is too long as well.
    minified: Option<String>,
    /// Where the first fields end in the pretty form.
    ends: Vec<(&'v str, usize)>,
    /// All fields, if all could be shown.
    fields: Vec<&'v str>,
}

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

impl<'v> Source<'v> {
    pub(super) fn of(text: Option<Found<'v>>, payload: &Payload<'v>) -> Self {
        text.map_or_else(|| Self::Json(Json::of(payload)), Self::Text)
    }

    /// The most of it that is shown.
    pub(super) fn most_chars(&self) -> usize {
        match self {
            Self::Text(_) => TEXT_CHARS,
            Self::Json(_) => JSON_CHARS,
        }
    }

    pub(super) fn body(&self, cap: usize) -> Body<'v> {
        match self {
            Self::Text(found) => Body::text(*found, cap),
            Self::Json(json) => json.body(cap),
        }
    }
}

impl<'v> Json<'v> {
    fn of(payload: &Payload<'v>) -> Self {
        let pretty = serde_json::to_string_pretty(&payload.redacted).unwrap_or_default();
        let (head, extent) = Extent::head(&pretty, JSON_CHARS);
        let minified = Some(payload.redacted.to_string());
        Self {
            pretty: head.to_owned(),
            pretty_chars: extent.total_chars.unwrap_or(0),
            minified: minified.filter(|json| !Extent::head(json, JSON_CHARS).1.truncated),
            ends: ends(payload.members, &payload.redacted),
            // Each takes more than a character.
            fields: payload.members.keys().take(JSON_CHARS).map(String::as_str).collect(),
        }
    }

    fn body(&self, cap: usize) -> Body<'v> {
        let pretty = Some(&self.pretty).filter(|_| self.pretty_chars <= JSON_CHARS);
        for json in [pretty, self.minified.as_ref()].into_iter().flatten() {
            let chars = json.chars().count();
            if chars <= cap {
                let covers = self.fields.clone();
                return Body {
                    shown: json.clone(),
                    field: None,
                    shown_chars: chars,
                    total_chars: chars,
                    covers,
                };
            }
        }
        let (head, extent) = Extent::head(&self.pretty, cap.saturating_sub(POINTER.chars().count()));
        let seen = self.ends.iter().take_while(|(_, end)| *end <= extent.shown_chars);
        Body {
            shown: format!("{head}{POINTER}"),
            field: None,
            shown_chars: extent.shown_chars,
            total_chars: self.pretty_chars,
            covers: seen.map(|(name, _)| *name).collect(),
        }
    }
}

impl<'v> Body<'v> {
    fn text(found: Found<'v>, cap: usize) -> Self {
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

    pub(super) fn is_cut(&self) -> bool {
        self.shown_chars < self.total_chars
    }
}

/// Where each field ends in the pretty JSON, as far as any of that is shown.
fn ends<'v>(payload: &'v Map<String, Value>, redacted: &Value) -> Vec<(&'v str, usize)> {
    let mut so_far = Map::new();
    let mut ends = Vec::new();
    for name in payload.keys() {
        let Some(value) = redacted.get(name) else { break };
        so_far.insert(name.clone(), value.clone());
        let length = serde_json::to_string_pretty(&so_far).map_or(0, |json| json.chars().count());
        // The closing brace and its line break come after the last field.
        let end = length.saturating_sub(2);
        if end > JSON_CHARS {
            break;
        }
        ends.push((name.as_str(), end));
    }
    ends
}
