//! Pieces of text for models: quoted values that cannot end their own line, and bounded lists.

use std::borrow::Cow;
use std::fmt::{Arguments, Write as _};

use pdpp_evidence::neutralise;
use serde_json::Value;

/// A value in double quotes on one line, at most `max_chars` of it. Whatever it contains, the quotes end it.
pub(crate) fn quoted(text: &str, max_chars: usize) -> String {
    let neutral = neutralise(text).text;
    let mut shown: String = neutral.chars().take(max_chars).collect();
    if shown.len() < neutral.len() {
        shown.push('…');
    }
    Value::from(shown).to_string()
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
