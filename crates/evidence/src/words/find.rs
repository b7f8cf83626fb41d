//! Finds the terms of a query again in stored text.
//!
//! An index says that a passage matches; this proves it in the words the reader will see, with their places.
//! It reads the text by the same rules as the index did, so it needs the language the passage was read in.

use std::collections::HashMap;

use super::{Language, for_each_token_like};

/// What a token has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WantedTerm<'a> {
    /// Exactly this term.
    Exact(&'a str),
    /// A term, or a word before it was stemmed, that starts with this.
    Prefix(&'a str),
}

/// One token that is a wanted term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermMatch {
    /// Which of the wanted terms.
    pub term_index: usize,
    /// Where the token starts in the text, in scalar values.
    pub start_chars: u32,
    /// Where it ends.
    pub end_chars: u32,
    /// Its position among the words, for phrases.
    pub position: u32,
}

/// Where the wanted terms stand in the text, in its order; at most `limit` of them.
///
/// A token that is several of them is reported once for each, in their order.
pub fn find_terms(text: &str, language: Language, wanted: &[WantedTerm<'_>], limit: usize) -> Vec<TermMatch> {
    let mut exact: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut prefixes = Vec::new();
    for (index, term) in wanted.iter().enumerate() {
        match term {
            WantedTerm::Exact(term) => exact.entry(term).or_default().push(index),
            WantedTerm::Prefix(prefix) => prefixes.push((index, *prefix)),
        }
    }
    let mut matches = Vec::new();
    if wanted.is_empty() {
        return matches;
    }
    let likely = |word: &str| language != Language::English || may_be_any(word, wanted);
    for_each_token_like(text, language, likely, |token| {
        let of_prefix = prefixes
            .iter()
            .filter(|(_, prefix)| token.term.starts_with(prefix) || token.surface.starts_with(prefix))
            .map(|(index, _)| *index);
        let mut found: Vec<usize> =
            exact.get(token.term).into_iter().flatten().copied().chain(of_prefix).collect();
        found.sort_unstable();
        matches.extend(found.into_iter().take(limit.saturating_sub(matches.len())).map(|term_index| {
            TermMatch {
                term_index,
                start_chars: token.start_chars,
                end_chars: token.end_chars,
                position: token.position,
            }
        }));
    });
    matches
}

/// Whether an English word may be one of the terms. A stem is the beginning of its word with at most one other letter
/// behind it, and an `i` where the word has a `y`; so nearly all words of a text need no stemming to be told apart from
/// those that are wanted.
fn may_be_any(word: &str, wanted: &[WantedTerm<'_>]) -> bool {
    let is_plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    !is_plain
        || wanted.iter().any(|term| {
            let (WantedTerm::Exact(term) | WantedTerm::Prefix(term)) = term;
            let same =
                word.bytes().zip(term.bytes()).take_while(|(one, other)| letter(*one) == letter(*other));
            same.count() + 1 >= term.len()
        })
}

fn letter(byte: u8) -> u8 {
    match byte.to_ascii_lowercase() {
        b'y' => b'i',
        letter => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{for_each_token, forms};

    #[test]
    fn passing_unlikely_words_over_changes_nothing() {
        let text =
            "They're dying; skies, ties and LYING spies ran early, only an INV-20 idly 'quoted' Übung 1,200";
        let mut all = Vec::new();
        for_each_token(text, Language::English, |token| all.push((token.term.to_owned(), token.position)));
        for (term, position) in &all {
            let found = find_terms(text, Language::English, &[WantedTerm::Exact(term)], 99);
            assert!(found.iter().any(|one| one.position == *position), "{term} {found:?}");
            let same = all.iter().filter(|(other, _)| other == term).count();
            assert_eq!(found.len(), same, "{term}");
        }
    }

    #[test]
    fn an_english_stem_begins_as_its_word_does() {
        const BEGINNINGS: &str = "a ab ag am ar arsen be by commun cry die do dy emb exc eye fly free gener gr hop hopp \
            ic id in inn kn l li lov ly man mat mod ne o on ow pl proc qu r rat relat sens sky st succ t ti tr ty un \
            univers us v val y yes z";
        const ENDINGS: &str = "  s es ies ied ed edly ing ingly eed eedly y ly li e able ably ibility ability ational \
            tional ation ator alism ality alli fulness ful ousli ously ousness iveness ivity ive ization izer ize \
            ogist ogi ology enci ency anci ance ant ement ment ent ion sion tion al ic ical icate iciti ness less lessly \
            ite iti ate ative er or est ism ist ist's 's ss sses us";
        let words = include_str!("stop.rs").split(|c: char| !c.is_ascii_alphabetic()).map(str::to_owned);
        let made = BEGINNINGS
            .split(' ')
            .flat_map(|one| ENDINGS.split(' ').map(move |other| format!("{one}{other}")));
        let mut checked = 0;
        for word in words.chain(made).filter(|word| !word.is_empty()) {
            for_each_token(&word, Language::English, |token| {
                assert!(may_be_any(&word, &[WantedTerm::Exact(token.term)]), "{word} {:?}", forms(&word));
                checked += 1;
            });
        }
        assert!(checked > 4_000);
        assert!(!may_be_any("harbour", &[WantedTerm::Exact("harvest"), WantedTerm::Prefix("hob")]));
    }
}
