//! Cuts a query at its white space and quotes, and reads the signs before its pieces.
//!
//! A quote opens a phrase only where one can begin and only if it is closed again; any other quote is
//! punctuation, as in `27" monitor`.

use super::Need;
use crate::words::is_word_start;

/// A part of the query: one word or phrase with its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'q> {
    pub(super) need: Need,
    pub(super) quoted: bool,
    pub(super) text: &'q str,
}

/// Each quote with those that close it, the likeliest first: a curly quote inside straight ones is a nested one.
const QUOTES: &[(char, &[char])] = &[
    ('"', &['"', '”']),
    ('“', &['”', '"']),
    ('”', &['”']),
    ('„', &['“', '”', '"']),
    ('«', &['»']),
    ('»', &['«']),
    ('‹', &['›']),
    ('「', &['」']),
    ('『', &['』']),
    ('＂', &['＂']),
];

pub(super) fn pieces(query: &str) -> Vec<Piece<'_>> {
    let mut reader = Reader { query, at: 0, unclosed: Vec::new() };
    let mut pieces = Vec::new();
    while let Some(piece) = reader.next() {
        pieces.push(piece);
    }
    pieces
}

struct Reader<'q> {
    query: &'q str,
    at: usize,
    /// Quotes known to be open to the end, so that each kind is looked for once.
    unclosed: Vec<char>,
}

impl<'q> Reader<'q> {
    fn next(&mut self) -> Option<Piece<'q>> {
        let query = self.query;
        self.at += query[self.at..].len() - query[self.at..].trim_start().len();
        let rest = &query[self.at..];
        let first = rest.chars().next()?;
        let need = self.sign(first, &rest[first.len_utf8()..]);
        if need != Need::Should {
            self.at += first.len_utf8();
        }
        if let Some(text) = self.quoted() {
            return Some(Piece { need, quoted: true, text });
        }
        Some(Piece { need, quoted: false, text: self.bare() })
    }

    /// The sign at the start of a piece, if what follows is what it can apply to.
    fn sign(&mut self, sign: char, after: &str) -> Need {
        let need = match sign {
            '-' => Need::Without,
            '+' => Need::Must,
            _ => return Need::Should,
        };
        let mut following = after.chars();
        let applies = match following.next() {
            // A number has a sign of its own.
            Some(c) if c.is_numeric() => false,
            Some('#' | '@') => following.next().is_some_and(is_word_start),
            Some(c) if is_word_start(c) => true,
            Some(c) => self.closing(c, after).is_some(),
            None => false,
        };
        if applies { need } else { Need::Should }
    }

    fn quoted(&mut self) -> Option<&'q str> {
        let rest = &self.query[self.at..];
        let open = rest.chars().next()?;
        let (end, after) = self.closing(open, rest)?;
        self.at += after;
        Some(&rest[open.len_utf8()..end])
    }

    /// Where the phrase that starts `rest` with the quote `open` ends, and where the text after it begins.
    fn closing(&mut self, open: char, rest: &str) -> Option<(usize, usize)> {
        let (_, closers) = QUOTES.iter().find(|(quote, _)| *quote == open)?;
        if self.unclosed.contains(&open) {
            return None;
        }
        let after = &rest[open.len_utf8()..];
        let Some(length) = closers.iter().find_map(|closer| after.find(*closer)) else {
            self.unclosed.push(open);
            return None;
        };
        let end = open.len_utf8() + length;
        let closer = rest[end..].chars().next().map_or(0, char::len_utf8);
        Some((end, end + closer))
    }

    /// Text up to white space, or up to a quote that opens a phrase inside it: straight quotes only after a bracket
    /// or the sign of a field (`from:"Bob Smith"`), because after a letter they are inches, and the others anywhere.
    fn bare(&mut self) -> &'q str {
        let start = self.at;
        let rest = &self.query[start..];
        let mut before = None;
        for (byte, c) in rest.char_indices() {
            let opens = match c {
                '"' | '”' | '»' => matches!(before, Some('(' | '[' | '{' | ':' | '=')),
                _ => before.is_some() && QUOTES.iter().any(|(open, _)| *open == c),
            };
            if c.is_whitespace() || (opens && self.closing(c, &rest[byte..]).is_some()) {
                self.at = start + byte;
                return &rest[..byte];
            }
            before = Some(c);
        }
        self.at = self.query.len();
        rest
    }
}
