//! Proven windows: text that the server itself attached to a hit, together with the field it came from.
//!
//! Names of fields, titles and bare snippets prove nothing, and an array that holds only metadata does not hide
//! another that holds text.

use serde_json::{Map, Value};

use super::marked::Marked;
use super::value::{harmless, raw};

/// The most windows of one hit that are kept.
const MAX_WINDOWS: usize = 3;
/// A longer field path is no path of a schema.
const MAX_PATH_CHARS: usize = 256;

/// One proven window.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Window {
    pub(super) field_path: String,
    pub(super) text: Marked,
    /// Whether the server says that the text is the whole field.
    pub(super) complete: bool,
    /// What the text proves, when it is not the match itself.
    pub(super) provenance: Option<String>,
    /// Where the server says that reading on starts.
    pub(super) place: Map<String, Value>,
}

/// The windows of a hit, from the first array with a usable element.
pub(super) fn windows(hit: &Value, query: &str) -> Vec<Window> {
    const OWN: [&str; 4] = ["match_windows", "field_windows", "matches", "evidence_excerpts"];
    const NESTED: [&str; 3] = ["match_windows", "field_windows", "evidence_excerpts"];
    let own = OWN.iter().filter_map(|name| hit.get(*name));
    let nested = NESTED.iter().filter_map(|name| hit.get("data")?.get(*name));
    own.chain(nested)
        .filter_map(Value::as_array)
        .map(|elements| {
            elements.iter().filter_map(|element| window(element, query)).take(MAX_WINDOWS).collect::<Vec<_>>()
        })
        .find(|windows| !windows.is_empty())
        .unwrap_or_default()
}

fn window(element: &Value, query: &str) -> Option<Window> {
    let text = raw(element, &["text", "preview_text", "preview", "snippet"])
        .or_else(|| raw(element.get("window")?, &["text"]))?;
    let field_path = raw(element, &["field_path", "fieldPath", "path"])
        .or_else(|| raw(element.get("field")?, &["path"]))
        .filter(|path| sound_path(path))?;
    let flag =
        |name: &str| element.get(name).or_else(|| element.get("window")?.get(name)).and_then(Value::as_bool);
    Some(Window {
        field_path,
        text: Marked::read(&text, query)?,
        complete: flag("complete") == Some(true) || flag("truncated") == Some(false),
        provenance: other_provenance(element.get("provenance")),
        place: place(element),
    })
}

/// Whether a text can name a field in a call and in a line of text.
pub(super) fn sound_path(path: &str) -> bool {
    !path.is_empty()
        && path.chars().count() <= MAX_PATH_CHARS
        && harmless(path)
        && !path.contains(['\n', '\t'])
}

/// A kind of evidence, unless it is the ordinary one.
pub(super) fn other_provenance(kind: Option<&Value>) -> Option<String> {
    let kind = kind?.as_str()?;
    let word =
        !kind.is_empty() && kind.len() <= 40 && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (word && kind != "lexical_match").then(|| kind.to_owned())
}

/// The server's own selector of the read that continues, in the terms of `read_record_field`.
fn place(element: &Value) -> Map<String, Value> {
    let Some(read) = element.get("read") else { return Map::new() };
    let given = read.get("args").unwrap_or(read);
    let number = |name: &str, range: std::ops::RangeInclusive<u64>| {
        given.get(name)?.as_u64().map(|number| number.clamp(*range.start(), *range.end()))
    };
    let mut place = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        let found = value.is_some();
        if let Some(value) = value {
            place.insert(name.to_owned(), value);
        }
        found
    };
    let digits = |text: &String| text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit());
    let at = put("offset_chars", number("offset_chars", 0..=u64::MAX).map(Value::from))
        || put("cursor", raw(given, &["cursor"]).filter(digits).map(Value::from));
    if !at {
        let words = raw(given, &["q"]).filter(|q| q.len() <= 500 && harmless(q));
        if !put("q", words.map(Value::from)) {
            return Map::new();
        }
        put("before_chars", number("before_chars", 0..=8_192).map(Value::from));
        put("after_chars", number("after_chars", 0..=8_192).map(Value::from));
    }
    put("limit_chars", number("limit_chars", 1..=16_384).map(Value::from));
    place
}
