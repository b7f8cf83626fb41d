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

/// Whether an English word may be one of the terms. A stem begins with its word's first letter, so most words of
/// a text need no stemming to be told apart from those that are wanted.
fn may_be_any(word: &str, wanted: &[WantedTerm<'_>]) -> bool {
    let Some(first) = word.bytes().next().filter(|_| word.is_ascii()) else { return true };
    wanted.iter().any(|term| {
        let (WantedTerm::Exact(term) | WantedTerm::Prefix(term)) = term;
        term.bytes().next().is_none_or(|byte| byte == first.to_ascii_lowercase())
    })
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
        for word in
            include_str!("stop.rs").split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty())
        {
            let first = word.to_ascii_lowercase().chars().next();
            for_each_token(word, Language::English, |token| {
                assert_eq!(token.term.chars().next(), first, "{word} {:?}", forms(word));
            });
        }
    }
}
