//! How a word is spelled in the index.
//!
//! A term is folded: no case, no accents, no width, no invisible characters. A stem is taken from the accented
//! word, because endings such as `-é` and `-ción` are told by their accents, and folded afterwards. Readers
//! who type without accents must meet the same term, so a word whose folded spelling has another stem is
//! indexed under both.

use std::borrow::Cow;

use snowball_stemmers_rs::Stemmer;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

use super::{
    ending::is_kept,
    language::Language,
    script::{is_ignorable, script_of},
};
use crate::fold;

/// The longest term. The hexadecimal form of a SHA-256 digest just fits.
pub(crate) const MAX_TERM_CHARS: usize = 64;
/// What an overlong term keeps of its word: all but a separator and sixteen hexadecimal digits.
const BEGINNING_CHARS: usize = MAX_TERM_CHARS - 17;
/// No natural word is longer; what is longer is data, and data has no stem.
const MAX_STEMMED_BYTES: usize = 48;
const MAX_FORMS: usize = 12;

/// The term of a word or compound as it is written.
pub(crate) fn surface(text: &str) -> String {
    bounded(spelled(text))
}

/// What the terms of words that start with `text` start with.
pub(crate) fn prefix(text: &str) -> String {
    let mut prefix = spelled(text);
    prefix.truncate(byte_of(&prefix, BEGINNING_CHARS));
    prefix
}

fn spelled(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut spelled = String::with_capacity(text.len());
    for c in composed(&fold(&visible(text))).chars() {
        match plain(c) {
            Some(letters) => spelled.push_str(letters),
            None => spelled.push(c),
        }
    }
    // Nothing but marks: what was written is then the only name the word has.
    if spelled.is_empty() { text.to_owned() } else { spelled }
}

/// The text without invisible characters and without differences of width and style.
fn visible(text: &str) -> Cow<'_, str> {
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes && !text.contains(is_ignorable) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfkc().filter(|c| !is_ignorable(*c)).collect())
}

fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// Letters that people type as others, and that have no accent to drop.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ł' => "l",
        'ħ' => "h",
        'ı' => "i",
        '’' => "'",
        '‐' | '‑' => "-",
        _ => return None,
    })
}

/// The term of an emoji: the picture without its colour, its style and the sign of its gender.
pub(crate) fn picture(cluster: &str) -> String {
    let is_style = |c: char| matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}');
    let plain: String = cluster.chars().filter(|c| !is_style(*c)).collect();
    let plain = plain.replace("\u{200D}♂", "").replace("\u{200D}♀", "");
    let plain = plain.trim_end_matches('\u{200D}');
    bounded(if plain.is_empty() { cluster.to_owned() } else { plain.to_owned() })
}

/// A word of the index, with the one or two stems of it.
pub(super) struct Stems {
    pub(super) term: String,
    /// The stem of the spelling without accents, where it is another one.
    pub(super) plain: Option<String>,
}

/// The stems of a word whose surface is given. Numbers, ids and words of another script keep their surface.
pub(super) fn stems(word: &str, surface: &str, language: Language) -> Option<Stems> {
    let script = script_of(word).filter(|_| surface.len() <= MAX_STEMMED_BYTES)?;
    let language = language.for_words_of(script)?;
    let lowered = lowered(word);
    if *lowered == *surface && is_kept(&lowered, language) {
        return None;
    }
    Some(stems_by(&language.stemmer()?, &lowered, surface))
}

fn stems_by(stemmer: &Stemmer, lowered: &str, surface: &str) -> Stems {
    let term = stemmed(stemmer, lowered, surface);
    let plain = (*lowered != *surface).then(|| stemmed(stemmer, surface, surface));
    Stems { plain: plain.filter(|plain| *plain != term), term }
}

fn stemmed(stemmer: &Stemmer, lowered: &str, otherwise: &str) -> String {
    let stem = stemmer.stem(lowered);
    let stem = if stem.is_ascii() { stem.into_owned() } else { surface(&stem) };
    if stem.is_empty() { otherwise.to_owned() } else { stem }
}

/// The word as the stemmers expect it: composed, in lower case, its accents kept.
fn lowered(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    if word.is_ascii() {
        return Cow::Owned(word.to_ascii_lowercase());
    }
    let visible = visible(word);
    // A capital İ becomes an i with a dot of its own, which no stemmer knows.
    let lower = visible.chars().flat_map(char::to_lowercase).filter(|c| *c != '\u{307}');
    let lower: String = lower.map(|c| if c == 'ς' { 'σ' } else { c }).collect();
    Cow::Owned(composed(&lower).into_owned())
}

/// Every term a word may be indexed as: its surface, then its stem in each language of its script.
///
/// The stems of the word as it is typed are all given, one per language at most, or a passage in the last of
/// the languages would not be found; those of its plain spelling fill the room that is left.
pub(super) fn word_forms(word: &str) -> Vec<String> {
    let surface = surface(word);
    let Some(script) = script_of(word).filter(|_| surface.len() <= MAX_STEMMED_BYTES) else {
        return vec![surface];
    };
    let lowered = lowered(word);
    let mut forms = vec![surface.clone()];
    let is_plain = *lowered == *surface;
    let changes = |language: &Language| !(is_plain && is_kept(&lowered, *language));
    for stemmer in Language::of_script(script).filter(changes).filter_map(Language::stemmer) {
        add(&mut forms, &stemmer.stem(&lowered));
    }
    if !is_plain {
        for stemmer in Language::of_script(script).filter_map(Language::stemmer) {
            if forms.len() < MAX_FORMS {
                add(&mut forms, &stemmer.stem(&surface));
            }
        }
    }
    forms
}

/// Adds a stem as it is spelled in the index, unless it is there or the word has none.
fn add(forms: &mut Vec<String>, stem: &str) {
    let spelled = if stem.is_ascii() { Cow::Borrowed(stem) } else { Cow::Owned(surface(stem)) };
    if !spelled.is_empty() && forms.iter().all(|form| *form != *spelled) {
        forms.push(spelled.into_owned());
    }
}

/// A term no longer than [`MAX_TERM_CHARS`]: a longer one keeps its beginning and the hash of the whole.
fn bounded(term: String) -> String {
    if byte_of(&term, MAX_TERM_CHARS) == term.len() {
        return term;
    }
    format!("{}~{:016x}", &term[..byte_of(&term, BEGINNING_CHARS)], fnv(&term))
}

fn byte_of(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(byte, _)| byte)
}

/// FNV-1a: the same on every machine and in every version, which the standard hasher does not promise.
fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Every stem of every language made and kept, and those that are there already dropped afterwards.
    fn word_forms_slowly(word: &str) -> Vec<String> {
        let surface = surface(word);
        let mut forms = vec![surface.clone()];
        let Some(script) = script_of(word).filter(|_| surface.len() <= MAX_STEMMED_BYTES) else {
            return forms;
        };
        let mut plain = Vec::new();
        for language in Language::of_script(script) {
            let Some(stemmer) = language.stemmer() else { continue };
            let stems = stems_by(&stemmer, &lowered(word), &surface);
            if !forms.contains(&stems.term) {
                forms.push(stems.term);
            }
            plain.extend(stems.plain);
        }
        for term in plain {
            if forms.len() < MAX_FORMS && !forms.contains(&term) {
                forms.push(term);
            }
        }
        forms
    }

    #[test]
    fn each_form_is_made_once() {
        let letters = [
            "a", "e", "i", "o", "u", "y", "s", "n", "t", "r", "ed", "ing", "ies", "lich", "É", "é", "è", "ü",
            "ß", "ç", "ó", "ą", "ě", "ő", "ı", "İ", "e\u{301}", "\u{AD}", "Ge", "qu", "mente", "lar", "b",
            "d", "f", "g", "h", "k", "l", "m", "p", "w", "x", "z",
        ];
        let others =
            ["д", "ова", "ть", "Й", "є", "ς", "ΟΣ", "ία", "كتاب", "ون", "ة", "ि", "क", "ते", "ம்", "கள்", "x"];
        let mut random = Random::new(47);
        for round in 0..6_000 {
            let pieces: &[&str] = if round % 3 == 0 { &others } else { &letters };
            let word: String = (0..=random.below(8)).map(|_| random.pick(pieces)).collect();
            assert_eq!(word_forms(&word), word_forms_slowly(&word), "{word:?}");
        }
    }
}
