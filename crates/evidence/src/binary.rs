//! Recognises binary content inside JSON, so that readers get metadata instead of a wall of base64.
//!
//! Recognition goes by the shape of the value, never by the name of its field: a `data:` URL, a long string that
//! can only be base64, or the protocol's blob reference. It leans towards text, because hiding prose is worse
//! than showing noise: digests in hex, URLs, slugs, word lists and JSON Web Tokens (whose parts are joined by
//! dots) are text.

use serde_json::{Map, Value, json};

mod base64;

use crate::size::json_bytes;

/// Containers nested deeper than this are withheld whole. JSON parsers stop at a similar depth.
const MAX_DEPTH: usize = 64;
/// A path names its fields; a field name longer than this many characters is cut in it.
const MAX_SEGMENT_CHARS: usize = 64;

/// What kind of content a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A string for reading.
    Text,
    /// Bytes written as base64 or base64url, bare or in a `data:` URL.
    Base64 {
        /// What the URL declares, or what the first bytes show.
        media_type: Option<String>,
        /// How many bytes the string stands for.
        decoded_bytes: usize,
    },
    /// A reference to a stored blob: a `blob_id` beside a media type, a digest or a size.
    BlobRef {
        /// The handle that reads the blob.
        blob_id: String,
        /// Its media type, when given.
        mime_type: Option<String>,
        /// Its size, when given.
        size_bytes: Option<u64>,
    },
    /// Any other object or array.
    Json,
    /// A number, a boolean or null.
    Scalar,
}

/// What kind of content `value` itself is; what an object or array holds is not looked at.
pub fn classify(value: &Value) -> Content {
    match value {
        Value::String(text) => base64::recognise(text).map_or(Content::Text, |found| Content::Base64 {
            media_type: found.media_type,
            decoded_bytes: found.decoded_bytes,
        }),
        Value::Object(members) => blob_ref(members).unwrap_or(Content::Json),
        Value::Array(_) => Content::Json,
        Value::Null | Value::Bool(_) | Value::Number(_) => Content::Scalar,
    }
}

/// The value with every binary body, at any depth, replaced by an object that describes it, and the dotted paths
/// of the bodies. The path of the value itself is empty.
///
/// A blob reference stays as it is: it holds no bytes, and its `blob_id` is the way to them. Bytes that stand
/// beside the reference are replaced like any others.
pub fn redact(value: &Value) -> (Value, Vec<String>) {
    let mut redaction = Redaction::default();
    let shown = redaction.visit(value);
    (shown, redaction.found)
}

fn blob_ref(members: &Map<String, Value>) -> Option<Content> {
    let text = |name| members.get(name).and_then(Value::as_str);
    let blob_id = text("blob_id").filter(|id| !id.is_empty())?.to_owned();
    let mime_type = text("mime_type").map(str::to_owned);
    let size_bytes = members.get("size_bytes").and_then(Value::as_u64);
    let described = mime_type.is_some() || size_bytes.is_some() || text("sha256").is_some();
    described.then_some(Content::BlobRef { blob_id, mime_type, size_bytes })
}

#[derive(Default)]
struct Redaction {
    path: Vec<String>,
    found: Vec<String>,
}

impl Redaction {
    fn visit(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => match base64::recognise(text) {
                Some(found) => self.replace(describe(text, &found)),
                None => value.clone(),
            },
            Value::Array(_) | Value::Object(_) if self.path.len() >= MAX_DEPTH => {
                self.replace(json!({ "withheld": "too_deep", "size_bytes": json_bytes(value) }))
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(index, item)| self.within(index.to_string(), item)).collect()
            }
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (name.clone(), self.within(segment(name), member)))
                .collect::<Map<_, _>>()
                .into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn within(&mut self, segment: String, value: &Value) -> Value {
        self.path.push(segment);
        let shown = self.visit(value);
        self.path.pop();
        shown
    }

    fn replace(&mut self, description: Value) -> Value {
        self.found.push(self.path.join("."));
        description
    }
}

fn describe(text: &str, found: &base64::Found) -> Value {
    let mut description = json!({
        "binary_field": true,
        "preview_status": "binary-only",
        "encoding": "base64",
        "size_bytes": found.decoded_bytes,
        "size_chars": text.chars().count(),
    });
    if let Some(media_type) = &found.media_type {
        description["mime_type"] = media_type.as_str().into();
    }
    description
}

fn segment(name: &str) -> String {
    match name.char_indices().nth(MAX_SEGMENT_CHARS) {
        Some((byte, _)) => format!("{}…", &name[..byte]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
