//! Finds the terms of a query again in stored text.
//!
//! An index says that a passage matches; this proves it in the words the reader will see, with their places.
//! It reads the text by the same rules as the index did, so it needs the language the passage was read in.

use super::{Language, TokenRef, beginning::Beginnings, for_each_token_like};

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
    Finder::new(wanted.iter().copied()).find(text, language, limit)
}

/// Wanted terms, made ready once to be looked for in many texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    /// In order of the terms, each with its place among those that are wanted.
    exact: Vec<(String, usize)>,
    prefixes: Vec<(String, usize)>,
    beginnings: Beginnings,
}

impl Finder {
    pub(crate) fn new<'a>(wanted: impl Iterator<Item = WantedTerm<'a>>) -> Self {
        let mut finder = Self::default();
        for (index, term) in wanted.enumerate() {
            match term {
                WantedTerm::Exact(term) => finder.exact.push((term.to_owned(), index)),
                WantedTerm::Prefix(prefix) => finder.prefixes.push((prefix.to_owned(), index)),
            }
        }
        finder.exact.sort_unstable();
        let terms = finder.exact.iter().chain(&finder.prefixes);
        finder.beginnings = Beginnings::of(terms.map(|(term, _)| term.as_str()));
        finder
    }

    /// What [`find_terms`] finds.
    pub(crate) fn find(&self, text: &str, language: Language, limit: usize) -> Vec<TermMatch> {
        let mut matches = Vec::new();
        if self.exact.is_empty() && self.prefixes.is_empty() {
            return matches;
        }
        let likely = |word: &str| self.beginnings.may_have(word, language);
        for_each_token_like(text, language, likely, |token| self.compare(token, limit, &mut matches));
        matches
    }

    fn compare(&self, token: TokenRef<'_>, limit: usize, matches: &mut Vec<TermMatch>) {
        let before = matches.len();
        let mut note = |term_index: usize| {
            let TokenRef { start_chars, end_chars, position, .. } = token;
            matches.push(TermMatch { term_index, start_chars, end_chars, position });
        };
        let first = self.exact.partition_point(|(term, _)| term.as_str() < token.term);
        self.exact[first..]
            .iter()
            .take_while(|(term, _)| term == token.term)
            .for_each(|(_, index)| note(*index));
        self.prefixes
            .iter()
            .filter(|(prefix, _)| {
                token.term.starts_with(prefix.as_str()) || token.surface.starts_with(prefix.as_str())
            })
            .for_each(|(_, index)| note(*index));
        matches[before..].sort_unstable_by_key(|found| found.term_index);
        matches.truncate(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::scalars;
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

    /// Every token compared with every wanted term.
    fn find_slowly(
        text: &str,
        language: Language,
        wanted: &[WantedTerm<'_>],
        limit: usize,
    ) -> Vec<TermMatch> {
        let mut matches = Vec::new();
        for_each_token(text, language, |token| {
            for (term_index, term) in wanted.iter().enumerate() {
                let is_it = match term {
                    WantedTerm::Exact(term) => token.term == *term,
                    WantedTerm::Prefix(prefix) => {
                        token.term.starts_with(prefix) || token.surface.starts_with(prefix)
                    }
                };
                if is_it {
                    let TokenRef { start_chars, end_chars, position, .. } = token;
                    matches.push(TermMatch { term_index, start_chars, end_chars, position });
                }
            }
        });
        matches.truncate(limit);
        matches
    }

    #[test]
    fn what_is_found_is_what_every_comparison_finds() {
        const WORDS: &str = "Invoices storage yearly Gewerkt gearbeitet Häuser courant parlerions ciudades città \
            arbejdede kirjoissa książkami evlerimizden házakban casele Running don't it's C++ inv-2034 10-20T30 a I y";
        let words: Vec<_> = WORDS.split_ascii_whitespace().collect();
        let mut random = Random::new(31);
        for round in 0..4_000 {
            let language = Language::from_number(round % 23).unwrap_or(Language::English);
            let text: String = (0..8)
                .map(|_| match random.below(4) {
                    0 => random.text(2),
                    1 => random.ascii(2),
                    _ => format!(" {} ", random.pick(&words)),
                })
                .collect();
            let mut terms = Vec::new();
            for_each_token(&text, language, |token| terms.push(token.term.to_owned()));
            terms.extend(words.iter().flat_map(|word| forms(word)).filter(|_| random.below(9) == 0));
            let wanted: Vec<_> = terms
                .iter()
                .filter_map(|term| match random.below(4) {
                    0 => Some(WantedTerm::Exact(term)),
                    1 => Some(WantedTerm::Prefix(scalars::slice(term, 0, 1 + random.below(4)))),
                    _ => None,
                })
                .collect();
            let limit = if random.below(3) == 0 { random.below(4) } else { 999 };
            assert_eq!(
                find_terms(&text, language, &wanted, limit),
                find_slowly(&text, language, &wanted, limit),
                "{language:?} {text:?} {wanted:?}"
            );
        }
    }
}
