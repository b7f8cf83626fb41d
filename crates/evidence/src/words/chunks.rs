//! Cuts a text into what people would call one word, with the parts of it.
//!
//! `bob@example.com`, `INV-2034`, `1,200` and `don't` are one chunk each, because that is how they are typed
//! again; their parts are found as well. Everything that is indexed or asked for goes through this cut, so the
//! two sides cannot disagree. Word breaks follow Unicode's default rules for letters, digits, marks and
//! invisible characters; joints inside a chunk are wider than those rules, hence the own scanner.
//!
//! ASCII is passed by its bytes: there is nothing in it that depends on a table of characters.

use unicode_segmentation::UnicodeSegmentation;

use super::script::{Class, class, continues};

/// A chunk ends after this many joints, so that a megabyte joined by hyphens is not one word.
const MAX_JOINTS: usize = 64;
/// Punctuation that can stand between two parts of an address on the web.
const MAX_URL_JOINT: usize = 8;

/// A place between two scalars of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) byte: usize,
    pub(crate) chars: u32,
}

impl Place {
    /// The place after so many ASCII characters.
    fn ahead(self, count: usize) -> Self {
        let chars = u32::try_from(count).unwrap_or(u32::MAX);
        Self { byte: self.byte + count, chars: self.chars.saturating_add(chars) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: Place,
    pub(crate) end: Place,
}

impl Span {
    pub(crate) fn of(self, text: &str) -> &str {
        &text[self.start.byte..self.end.byte]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One run of letters and digits.
    Word,
    /// Several parts, or one with a sign that belongs to it: `#tag`, `C++`.
    Compound,
    /// A run of clusters written without spaces.
    Spaceless,
    Emoji,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// The chunks of a text in order. [`Chunks::parts`] holds those of the chunk given last.
#[derive(Debug)]
pub(crate) struct Chunks<'t> {
    text: &'t str,
    at: Place,
    parts: Vec<Span>,
}

impl<'t> Chunks<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: Place { byte: 0, chars: 0 }, parts: Vec::new() }
    }

    /// The parts of the last chunk: one span per word of it, per cluster of a run, or the chunk itself.
    pub(crate) fn parts(&self) -> &[Span] {
        &self.parts
    }

    fn rest(&self, from: Place) -> &'t str {
        &self.text[from.byte..]
    }

    fn spaceless(&mut self, start: Place) -> Chunk {
        let end = run(self.rest(start), start, Class::Spaceless);
        let mut at = start;
        for cluster in self.text[start.byte..end.byte].graphemes(true) {
            let next = after(at, cluster);
            self.parts.push(Span { start: at, end: next });
            at = next;
        }
        Chunk { kind: Kind::Spaceless, span: Span { start, end } }
    }

    fn emoji(&mut self, start: Place) -> Chunk {
        let cluster = self.rest(start).graphemes(true).next().unwrap_or_default();
        let span = Span { start, end: after(start, cluster) };
        self.parts.push(span);
        Chunk { kind: Kind::Emoji, span }
    }

    /// A word or compound whose first letter or digit is at `first`; a sign at `start` belongs to it.
    fn word(&mut self, start: Place, first: Place) -> Chunk {
        let mut end = run(self.rest(first), first, Class::Word);
        self.parts.push(Span { start: first, end });
        let mut rules = Joins::default();
        for _ in 0..MAX_JOINTS {
            let before = &self.text[first.byte..end.byte];
            let Some(joint) = rules.find(before, self.rest(end)) else { break };
            let next = after(end, joint);
            end = run(self.rest(next), next, Class::Word);
            self.push_part(joint, Span { start: next, end });
        }
        let sign = if rules.any { "" } else { suffix(end.byte - first.byte, self.rest(end)) };
        end = after(end, sign);
        let kind = if start == first && !rules.any && sign.is_empty() { Kind::Word } else { Kind::Compound };
        Chunk { kind, span: Span { start, end } }
    }

    /// Whether the character at `at` starts a chunk because of the word after it: `#tag`, `@bob`, `.NET`.
    fn is_sigil(&self, at: Place, c: char, next: Place) -> bool {
        let follows = |next: char| class(next) == Class::Word && (c != '.' || !next.is_numeric());
        let stands_apart = |before: char| class(before) == Class::Other && before != c;
        is_sign(c)
            && self.rest(next).chars().next().is_some_and(follows)
            && self.text[..at.byte].chars().next_back().is_none_or(stands_apart)
    }

    fn push_part(&mut self, joint: &str, part: Span) {
        let word = part.of(self.text);
        let last = self.parts.last_mut();
        // The s of a possessive is no word, and takes no position: "Bob's house" stands as "Bob house".
        if matches!(joint, "'" | "’") && word.eq_ignore_ascii_case("s") {
            return;
        }
        if joint == ","
            && let Some(last) = last
            && is_group(last.of(self.text), word)
        {
            last.end = part.end;
            return;
        }
        // The T of a timestamp separates the day from the hour.
        if let [b'0'..=b'9', b'0'..=b'9', b'T' | b't', b'0'..=b'9', b'0'..=b'9'] = word.as_bytes() {
            let at = |count: u32| Place {
                byte: part.start.byte + count as usize,
                chars: part.start.chars.saturating_add(count),
            };
            self.parts.push(Span { start: part.start, end: at(2) });
            self.parts.push(Span { start: at(3), end: part.end });
            return;
        }
        self.parts.push(without_zone(word, part));
    }
}

impl Iterator for Chunks<'_> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        self.parts.clear();
        loop {
            let at = self.at.ahead(separators(self.rest(self.at)));
            self.at = at;
            let c = self.rest(at).chars().next()?;
            let next = Place { byte: at.byte + c.len_utf8(), chars: at.chars.saturating_add(1) };
            let chunk = match class(c) {
                Class::Word => self.word(at, at),
                Class::Spaceless => self.spaceless(at),
                Class::Emoji => self.emoji(at),
                Class::Other if self.is_sigil(at, c, next) => self.word(at, next),
                Class::Other => {
                    self.at = next;
                    continue;
                }
            };
            self.at = chunk.span.end;
            return Some(chunk);
        }
    }
}

/// What joins the parts of one chunk, as far as it depends on the joints before.
#[derive(Default)]
struct Joins {
    any: bool,
    dot: bool,
    url: bool,
}

impl Joins {
    /// The joint at the start of `rest`, when a part follows it. `before` is the chunk so far.
    fn find<'t>(&mut self, before: &str, rest: &'t str) -> Option<&'t str> {
        let first = rest.chars().next()?;
        if class(first) != Class::Other || first.is_whitespace() {
            return None;
        }
        let length = match first {
            _ if self.url => url_joint(rest),
            ':' if rest.starts_with("://") => {
                self.url = true;
                3
            }
            '_' => rest.bytes().take(4).take_while(|byte| *byte == b'_').count(),
            '/' if self.dot => {
                self.url = true;
                1
            }
            ',' | ':' | '/' if is_digit(before.chars().next_back()) && is_digit(rest[1..].chars().next()) => {
                1
            }
            '-' | '.' | '@' | '\'' | '&' | '+' | '’' | '‐' | '‑' | '·' | '״' | '׳' => {
                first.len_utf8()
            }
            _ => return None,
        };
        let (joint, part) = rest.split_at(length);
        if part.chars().next().is_none_or(|c| class(c) != Class::Word) {
            return None;
        }
        self.any = true;
        self.dot |= first == '.';
        self.url |= first == '.' && before.eq_ignore_ascii_case("www");
        Some(joint)
    }
}

fn url_joint(rest: &str) -> usize {
    let is_joint = |byte: &u8| b"-._~:/?#[]@!$&'()*+,;=%".contains(byte);
    rest.bytes().take(MAX_URL_JOINT).take_while(is_joint).count()
}

/// What can stand before a word and belong to it.
fn is_sign(c: char) -> bool {
    matches!(c, '#' | '@' | '.')
}

/// How many ASCII characters at the start of `rest` start nothing, whatever stands around them.
fn separators(rest: &str) -> usize {
    let starts_nothing =
        |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !is_sign(char::from(*byte));
    rest.bytes().take_while(starts_nothing).count()
}

/// The sign after a single word that belongs to it: `C++`, `Disney+`, `C#`.
fn suffix(length: usize, rest: &str) -> &str {
    if !rest.starts_with(['+', '#']) {
        return "";
    }
    let sign = ["++", "+", "#"].into_iter().find(|sign| rest.starts_with(sign)).unwrap_or_default();
    let next = rest[sign.len()..].chars().next();
    let alone = next.is_none_or(|next| class(next) != Class::Word && !matches!(next, '+' | '#'));
    if alone && (sign != "#" || length == 1) { &rest[..sign.len()] } else { "" }
}

/// The seconds of a timestamp without the Z that ends it.
fn without_zone(word: &str, mut part: Span) -> Span {
    if let [seconds @ .., b'Z' | b'z'] = word.as_bytes()
        && !seconds.is_empty()
        && seconds.iter().all(u8::is_ascii_digit)
    {
        part.end = Place { byte: part.end.byte - 1, chars: part.end.chars.saturating_sub(1) };
    }
    part
}

/// Whether `1` or `1,200` before a comma and `200` after it are one number.
fn is_group(before: &str, group: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let first = before.split(',').next().unwrap_or_default();
    group.len() == 3
        && before.len() < 32
        && digits(group)
        && first.len() <= 3
        && before.split(',').all(digits)
}

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(char::is_numeric)
}

/// Where the run of `kind` at the start of `rest` ends.
fn run(rest: &str, start: Place, kind: Class) -> Place {
    let letters = match kind {
        Class::Word => rest.bytes().take_while(u8::is_ascii_alphanumeric).count(),
        _ => 0,
    };
    run_on(&rest[letters..], start.ahead(letters), kind)
}

/// The same, one character after the other.
fn run_on(rest: &str, start: Place, kind: Class) -> Place {
    let mut end = start;
    for c in rest.chars() {
        if class(c) != kind && !continues(c) {
            break;
        }
        end = Place { byte: end.byte + c.len_utf8(), chars: end.chars.saturating_add(1) };
    }
    end
}

fn after(place: Place, text: &str) -> Place {
    let chars = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    Place { byte: place.byte + text.len(), chars: place.chars.saturating_add(chars) }
}

#[cfg(test)]
mod tests;
