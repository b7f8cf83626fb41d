//! Pieces of text for models: quoted values that cannot end their own line, and bounded lists.

use std::borrow::Cow;
use std::fmt::{Arguments, Write as _};

use pdpp_evidence::neutralise;
use serde_json::Value;

/// The beginning of a text, at most `max_chars` of it, with `…` where something is missing. A cut may leave half of an
/// emoji, and what held it together with the other half acts unseen by itself: so the text is cut first.
pub(crate) fn clipped(text: &str, max_chars: usize) -> String {
    let end = text.char_indices().nth(max_chars).map_or(text.len(), |(end, _)| end);
    let mut shown = neutralise(&text[..end]).text.into_owned();
    if end < text.len() {
        shown.push('…');
    }
    shown
}

/// A value in double quotes on one line, at most `max_chars` of it. Whatever it contains, the quotes end it.
pub(crate) fn quoted(text: &str, max_chars: usize) -> String {
    Value::from(clipped(text, max_chars)).to_string()
}

/// A value that must come back letter by letter: in double quotes, with what must not be shown as an escape.
pub(crate) fn exact(text: &str) -> String {
    let json = Value::from(text).to_string();
    if neutralise(&json).replaced == 0 {
        return json;
    }
    let mut escaped = String::new();
    for c in json.chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                append(&mut escaped, format_args!("\\u{unit:04x}"));
            }
        }
    }
    escaped
}

/// Bytes that stand in a plain word.
static PLAIN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = b'!';
    while byte <= b'~' {
        table[byte as usize] = !matches!(byte, b'"' | b'\\' | b'`' | b'<' | b'>');
        byte += 1;
    }
    table
};

/// A handle as it stands in text: bare when it is one plain word, else as a JSON string. It is never cut.
pub(crate) fn handle(id: &str) -> Cow<'_, str> {
    if !id.is_empty() && id.bytes().all(|byte| PLAIN[usize::from(byte)]) {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(Value::from(id).to_string())
    }
}

/// A label inside braces or flags: separators and whitespace become `_`.
pub(crate) fn flag(text: &str, max_chars: usize) -> String {
    let neutral = neutralise(text).text;
    let plain = |c: char| if c.is_whitespace() || ";,[]{}|".contains(c) { '_' } else { c };
    neutral.chars().take(max_chars).map(plain).collect()
}

/// Appends formatted text.
pub(crate) fn append(text: &mut String, piece: Arguments<'_>) {
    text.write_fmt(piece).expect("writing to a string cannot fail");
}

/// Adds a name and its value.
pub(crate) fn put(text: &mut String, name: &str, value: &str) {
    text.push_str(name);
    text.push_str(value);
}
