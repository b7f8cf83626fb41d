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
    let mut shown = value.clone();
    let found = redact_in_place(&mut shown);
    (shown, found)
}

/// The same for a value that is not needed as it was.
pub fn redact_in_place(value: &mut Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(value, None, &mut found);
    found
}

fn blob_ref(members: &Map<String, Value>) -> Option<Content> {
    let text = |name| members.get(name).and_then(Value::as_str);
    let blob_id = text("blob_id").filter(|id| !id.is_empty())?.to_owned();
    let mime_type = text("mime_type").map(str::to_owned);
    let size_bytes = members.get("size_bytes").and_then(Value::as_u64);
    let described = mime_type.is_some() || size_bytes.is_some() || text("sha256").is_some();
    described.then_some(Content::BlobRef { blob_id, mime_type, size_bytes })
}

/// Where a value stands: its name in what holds it, and where that stands. Names are only joined when a path is
/// listed, which is rare.
struct Place<'p> {
    outer: Option<&'p Self>,
    depth: usize,
    segment: Segment<'p>,
}

enum Segment<'p> {
    Name(&'p str),
    Index(usize),
}

impl Place<'_> {
    fn path(&self) -> String {
        let own = match self.segment {
            Segment::Name(name) => segment(name),
            Segment::Index(index) => index.to_string(),
        };
        match self.outer {
            Some(outer) => format!("{}.{own}", outer.path()),
            None => own,
        }
    }
}

fn visit(value: &mut Value, place: Option<&Place<'_>>, found: &mut Vec<String>) {
    let depth = place.map_or(0, |place| place.depth);
    let mut replace = |value: &mut Value, description: Value| {
        found.push(place.map(Place::path).unwrap_or_default());
        *value = description;
    };
    match value {
        Value::String(text) => {
            if let Some(bytes) = base64::recognise(text) {
                let description = describe(text, &bytes);
                replace(value, description);
            }
        }
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => {
            let description = json!({ "withheld": "too_deep", "size_bytes": json_bytes(value) });
            replace(value, description);
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let inner = Place { outer: place, depth: depth + 1, segment: Segment::Index(index) };
                visit(item, Some(&inner), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let inner = Place { outer: place, depth: depth + 1, segment: Segment::Name(name) };
                visit(member, Some(&inner), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
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
