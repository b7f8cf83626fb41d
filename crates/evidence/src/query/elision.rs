//! Parts words that are written together because one of them lost its vowel: `l'appartement`, `dell'arte`.
//!
//! Whoever types `l'appartement` asks for the flat, and wants `mon appartement` as well. So the function word is
//! taken off, where it surely is one: in `O'Neill` and `Bob's` the apostrophe is part of a name or ends it, and
//! `D'Angelo` with two capitals is a name too.

use crate::words::{ChunkKind, ChunkSpan, WordChunk, stop_languages, whole_term};

/// What stands before an apostrophe in French, Italian and Catalan.
const ELIDED: [&str; 26] = [
    "l", "d", "j", "m", "t", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "dell", "all",
    "nell", "sull", "dall", "coll", "un", "quell", "quest", "bell", "gl", "degl", "negl",
];

/// The function word a chunk of a text begins with, and the text that follows its apostrophe; `None` where nothing is
/// elided, or the chunk is nothing but function words, as `qu'est-ce` is.
pub(super) fn split<'t>(text: &'t str, chunk: WordChunk, parts: &[ChunkSpan]) -> Option<(&'t str, &'t str)> {
    let (ChunkKind::Compound, [first, rest @ ..]) = (chunk.kind, parts) else { return None };
    let next = rest.first()?;
    let (word, after) = (first.of(text), next.of(text));
    let is_joined = matches!(&text[first.end.byte..next.start.byte], "'" | "’");
    if first.start != chunk.span.start || !is_joined || !ELIDED.contains(&whole_term(word).as_str()) {
        return None;
    }
    let is_name = word.starts_with(char::is_uppercase) && after.starts_with(char::is_uppercase);
    if is_name || rest.iter().all(|part| stop_languages(&whole_term(part.of(text))) != 0) {
        return None;
    }
    Some((word, &text[next.start.byte..]))
}
