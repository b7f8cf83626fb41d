//! Text with `<mark>` around its matches, and short previews of it.
//!
//! The tags are taken out and become ranges, so that a preview is cut in the text and never in a tag; they are
//! written again when it is shown. What else looks like a tag belongs to the record and is broken.

use std::cell::RefCell;
use std::ops::Range;

use pdpp_evidence::{PreviewBudget, find_folded, neutralise, preview, render_marked};

use super::value::readable;

const OPEN: &str = "<mark>";
const CLOSE: &str = "</mark>";
/// The longest literal that a continuation asks for.
const MAX_LITERAL_CHARS: usize = 120;

/// The most text, in bytes, that is looked at for a preview; a foreign server may attach whole documents.
const MAX_BYTES: usize = 16 * 1024;

/// A text and its matches, in scalar values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Marked {
    text: String,
    matches: Vec<Range<usize>>,
    /// Where the query stands, whoever says so.
    place: Option<Range<usize>>,
    literal: Option<String>,
    /// Whether the server sent more than was looked at.
    cut: bool,
    /// The previews so far: a page is written in several sizes, and in each both as text and as data.
    pieces: RefCell<Vec<(usize, Piece)>>,
}

/// A preview as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// Whether anything of the text is missing.
    pub(super) cut: bool,
}

impl Marked {
    /// Reads a server's text; none when there is nothing to read in it, or bytes.
    pub(super) fn read(raw: &str, query: &str) -> Option<Self> {
        let part = nearest(raw);
        let mut text = String::with_capacity(part.len());
        let mut matches = Vec::new();
        let (mut rest, mut chars) = (part, 0);
        while let Some((before, after)) = rest.split_once(OPEN) {
            let Some((inside, after)) = after.split_once(CLOSE) else { break };
            chars += before.chars().count();
            let length = inside.chars().count();
            text.push_str(before);
            text.push_str(inside);
            matches.push(chars..chars + length);
            (rest, chars) = (after, chars + length);
        }
        text.push_str(rest);
        if !readable(&text) || !readable(raw) {
            return None;
        }
        let text = neutralise(&text).text.into_owned();
        let whole = find_folded(&text, query.trim());
        let literal = whole.as_ref().or(matches.first()).and_then(|range| literal(&text, range));
        let word = || {
            let words = query.split_whitespace().filter(|word| word.chars().count() > 1).take(32);
            words.into_iter().find_map(|word| find_folded(&text, word))
        };
        let place = if matches.is_empty() { whole.or_else(word) } else { None };
        let cut = part.len() < raw.len();
        Some(Self { matches, place, literal, cut, text, pieces: RefCell::default() })
    }

    /// A preview of at most so many characters around the first match: a marked one, else where the query
    /// stands, else its first word that does.
    pub(super) fn piece(&self, max_chars: usize) -> Piece {
        let mut pieces = self.pieces.borrow_mut();
        if let Some((_, piece)) = pieces.iter().find(|(chars, _)| *chars == max_chars) {
            return piece.clone();
        }
        let piece = self.new_piece(max_chars);
        pieces.push((max_chars, piece.clone()));
        piece
    }

    fn new_piece(&self, max_chars: usize) -> Piece {
        let budget = PreviewBudget::at_most(max_chars);
        let piece = if self.matches.is_empty() {
            // Only the server knows what matched, so this place is shown but not marked.
            let mut piece = preview(&self.text, self.place.as_slice(), budget);
            piece.matches.clear();
            piece
        } else {
            preview(&self.text, &self.matches, budget)
        };
        Piece { text: render_marked(&piece), cut: piece.truncated || self.cut }
    }

    /// Words that stand in the text letter by letter and lead a reader to the match: the query as the text spells
    /// it, else the first marked words.
    pub(super) fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }
}

/// The text itself, or as much of it as is looked at, around its first mark.
fn nearest(raw: &str) -> &str {
    if raw.len() <= MAX_BYTES {
        return raw;
    }
    let mark = raw.find(OPEN).unwrap_or(0);
    let start = raw.floor_char_boundary(mark.saturating_sub(MAX_BYTES / 2));
    &raw[start..raw.floor_char_boundary(start + MAX_BYTES)]
}

fn literal(text: &str, range: &Range<usize>) -> Option<String> {
    let literal: String = text.chars().skip(range.start).take(range.len()).collect();
    // A character that was made visible is another one in the record.
    let verbatim = |c: char| !matches!(c, '\u{2400}'..='\u{2421}' | '\n' | char::REPLACEMENT_CHARACTER);
    let sound =
        !literal.trim().is_empty() && range.len() <= MAX_LITERAL_CHARS && literal.chars().all(verbatim);
    sound.then_some(literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(raw: &str, query: &str) -> String {
        Marked::read(raw, query).unwrap().piece(96).text
    }

    #[test]
    fn short_text_is_shown_whole_with_its_marks() {
        assert_eq!(piece("we use <mark>Hyperlane</mark> here", "x"), "we use <mark>Hyperlane</mark> here");
    }

    #[test]
    fn the_preview_stands_around_the_first_mark() {
        let raw =
            format!("{} before <mark>needle</mark> after {}", "a b c ".repeat(200), "d e f ".repeat(200));
        let shown = piece(&raw, "needle");
        assert!(shown.contains("before <mark>needle</mark> after"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
    }

    #[test]
    fn without_marks_the_query_or_its_first_word_found_is_the_centre() {
        let raw = format!("{} the lost KEY was {}", "a b c ".repeat(200), "d e f ".repeat(200));
        assert!(piece(&raw, "lost key").contains("the lost KEY was"));
        assert!(piece(&raw, "copper key").contains("lost KEY was"));
    }

    #[test]
    fn tags_of_the_record_are_broken_and_lone_tags_are_text() {
        assert_eq!(piece("a <mark>b", "x"), "a ‹mark>b");
        assert_eq!(piece("a</mark> <mark>b</mark>", "x"), "a‹/mark> <mark>b</mark>");
    }

    #[test]
    fn bytes_are_no_text() {
        let bytes = "QUJDRGVmZ2hpamtsbW5vcHFyc3R1dnd4eXowMTIzNDU2Nzg5Kysv".repeat(10);
        assert_eq!(Marked::read(&bytes, "x"), None);
        assert_eq!(Marked::read("  ", "x"), None);
    }

    #[test]
    fn a_literal_is_spelt_as_in_the_text() {
        let literal = |query: &str| {
            let marked = Marked::read("Re: HYPERLANE and <mark>bridge</mark>", query).unwrap();
            marked.literal().map(str::to_owned)
        };
        assert_eq!(literal("hyperlane").as_deref(), Some("HYPERLANE"));
        assert_eq!(literal("bridge fees").as_deref(), Some("bridge"));
    }

    #[test]
    fn whole_documents_are_looked_at_around_their_mark() {
        let raw = format!("{}the <mark>needle</mark> is{}", "字 ".repeat(500_000), " 字".repeat(500_000));
        let marked = Marked::read(&raw, "needle").unwrap();
        assert!(marked.text.len() <= MAX_BYTES);
        let piece = marked.piece(96);
        assert!(piece.cut && piece.text.contains("the <mark>needle</mark> is"), "{}", piece.text);
    }
}
