//! Positions in text, counted in Unicode scalar values.
//!
//! A field may hold tens of megabytes, so nothing here copies a text into a list of characters.

/// Splits `text` after its first `count` scalar values, or at its end when it is shorter.
pub(crate) fn split(text: &str, count: usize) -> (&str, &str) {
    match text.char_indices().nth(count) {
        Some((byte, _)) => text.split_at(byte),
        None => (text, ""),
    }
}

/// The scalar values `start..end` of `text`, as far as they exist.
pub(crate) fn slice(text: &str, start: usize, end: usize) -> &str {
    let (_, rest) = split(text, start);
    split(rest, end.saturating_sub(start)).0
}

/// How many scalar values `text` has.
pub(crate) fn count(text: &str) -> usize {
    text.chars().count()
}
