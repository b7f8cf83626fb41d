//! Finds the words of a query again in stored text, and the place where most of them stand together.
//!
//! An index may be stale, so what it claims is only a hint: a hit is proven by its words in the text as it is
//! now. Function words count only where nothing else was asked for.

use std::ops::Range;

use crate::query::{Need, Query, What};
use crate::scalars;
use crate::words::{Finder, Language, WantedTerm, forms, language_of};

/// The most matches that are looked at in one passage.
const MAX_MATCHES: usize = 4_096;
/// Words this near to each other are shown together.
const NEAR_CHARS: usize = 200;

/// The terms of a query, each with the clause it belongs to, ready to be looked for in many texts.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    finder: Finder,
    /// The clause of each term.
    clauses: Vec<usize>,
}

/// Where a query's words stand in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// In coordinates of the whole text: the place where most different words stand together first, the others
    /// in their order. Never empty.
    pub matches: Vec<Range<usize>>,
    /// How many different clauses of the query they are.
    pub clauses: usize,
}

impl Wanted {
    /// What a query wants to see. `instead` are words that were looked for in place of mistyped ones.
    pub fn of<'q>(query: &'q Query, instead: &[String]) -> Self {
        let mut terms: Vec<(WantedTerm<'_>, usize)> = Vec::new();
        let asked = || query.clauses.iter().enumerate().filter(|(_, clause)| clause.need != Need::Without);
        let content_alone = asked().any(|(_, clause)| !clause.stop);
        for (index, clause) in asked().filter(|(_, clause)| !(content_alone && clause.stop)) {
            let mut exact = |forms: &'q [String]| {
                terms.extend(forms.iter().map(|term| (WantedTerm::Exact(term), index)));
            };
            match &clause.what {
                What::Word { forms } => exact(forms),
                What::Phrase(slots) => slots.iter().for_each(|slot| exact(slot)),
                What::Compound { whole, parts } => {
                    exact(std::slice::from_ref(whole));
                    for part in parts {
                        exact(part);
                    }
                }
                What::Prefix { folded } => terms.push((WantedTerm::Prefix(folded), index)),
            }
        }
        let instead: Vec<Vec<String>> = instead.iter().map(|word| forms(word)).collect();
        for (forms, index) in instead.iter().zip(query.clauses.len()..) {
            terms.extend(forms.iter().map(|form| (WantedTerm::Exact(form), index)));
        }
        Self {
            finder: Finder::new(terms.iter().map(|(term, _)| *term)),
            clauses: terms.iter().map(|(_, clause)| *clause).collect(),
        }
    }
}

/// Looks for the words in a stretch of a text, read as the index reads it; `None` when none is there.
///
/// Which language that is takes longer to find out than anything else here, so an index may say what it was. It is
/// found out all the same where nothing is proven by it: the text may be another one by now.
pub fn prove(text: &str, passage: Range<usize>, known: Option<Language>, wanted: &Wanted) -> Option<Proof> {
    let end = passage.end.min(scalars::count(text));
    let start = passage.start.min(end);
    let stretch = scalars::slice(text, start, end);
    let proven = known.and_then(|language| prove_in(stretch, start, language, wanted));
    proven.or_else(|| {
        let language = language_of(stretch);
        if known == Some(language) { None } else { prove_in(stretch, start, language, wanted) }
    })
}

fn prove_in(stretch: &str, start: usize, language: Language, wanted: &Wanted) -> Option<Proof> {
    let found = wanted.finder.find(stretch, language, MAX_MATCHES);
    let mut places: Vec<(Range<usize>, usize)> = found
        .iter()
        .map(|one| {
            let range = start + one.start_chars as usize..start + one.end_chars as usize;
            (range, wanted.clauses[one.term_index])
        })
        .collect();
    places.sort_by_key(|(range, _)| (range.start, range.end));
    places.dedup();
    let (best, clauses) = densest(&places)?;
    let mut matches: Vec<_> = places.iter().map(|(range, _)| range.clone()).collect();
    let anchor = matches.remove(best);
    matches.insert(0, anchor);
    Some(Proof { matches, clauses })
}

/// The match where most different clauses stand near each other, and how many clauses matched at all.
fn densest(places: &[(Range<usize>, usize)]) -> Option<(usize, usize)> {
    if let [_] = places {
        return Some((0, 1));
    }
    let (mut best, mut most) = (None, 0);
    for (index, (range, _)) in places.iter().enumerate() {
        let near = places[index..].iter().take_while(|(other, _)| other.end <= range.start + NEAR_CHARS);
        let mut clauses: Vec<_> = near.take(64).map(|(_, clause)| *clause).collect();
        clauses.sort_unstable();
        clauses.dedup();
        // A word longer than what counts as near still stands by itself.
        let count = clauses.len().max(1);
        if count > most {
            (best, most) = (Some(index), count);
        }
    }
    let mut all: Vec<_> = places.iter().map(|(_, clause)| *clause).collect();
    all.sort_unstable();
    all.dedup();
    best.map(|best| (best, all.len()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::query::parse;

    #[track_caller]
    fn check(query: &str, text: &str, expected: Expect) {
        let wanted = Wanted::of(&parse(query), &[]);
        let shown = match prove(text, 0..usize::MAX, None, &wanted) {
            None => "nothing".to_owned(),
            Some(proof) => {
                let words: Vec<_> =
                    proof.matches.iter().map(|range| scalars::slice(text, range.start, range.end)).collect();
                format!("{} of {}", words.join(" | "), proof.clauses)
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn words_are_found_in_any_form() {
        check("running late", "She RAN, then was running lately.", expect!["running | lately of 2"]);
        check("café", "The cafe\u{301} was full of cafés 🎉", expect!["cafe\u{301} | cafés of 1"]);
        check("prefix pre*", "a prepaid preamble", expect!["prepaid | preamble of 1"]);
    }

    #[test]
    fn function_words_prove_nothing_beside_others() {
        check("what is the invoice", "This is the thing", expect!["nothing"]);
        check("to be or not to be", "to be or not", expect!["to | be | or | not of 4"]);
    }

    #[test]
    fn excluded_words_prove_nothing() {
        check("invoice -draft", "a draft", expect!["nothing"]);
    }

    #[test]
    fn the_place_where_most_words_meet_comes_first() {
        let text = format!("boat {} the boat to Malta", "x ".repeat(200));
        check("boat malta", &text, expect!["boat | boat | Malta of 2"]);
        let proof = prove(&text, 0..usize::MAX, None, &Wanted::of(&parse("boat malta"), &[])).unwrap();
        assert!(proof.matches[0].start > 100, "{:?}", proof.matches);
    }

    #[test]
    fn a_wrong_language_proves_what_the_right_one_does() {
        let (wanted, place) = (Wanted::of(&parse("running"), &[]), 21..25);
        for known in [None, Some(Language::English), Some(Language::Turkish), Some(Language::Unstemmed)] {
            let proof = prove("She was there and he runs with the dog", 0..usize::MAX, known, &wanted);
            assert_eq!(proof.map(|proof| proof.matches), Some(vec![place.clone()]), "{known:?}");
        }
    }

    #[test]
    fn offsets_are_those_of_the_whole_text() {
        let text = "😀 שלום boat, 寿司が好き";
        let proof = prove(text, 2..usize::MAX, None, &Wanted::of(&parse("boat 寿司"), &[])).unwrap();
        let words: Vec<_> =
            proof.matches.iter().map(|range| scalars::slice(text, range.start, range.end)).collect();
        assert_eq!(words, ["boat", "寿司"]);
    }
}
