//! Finds the words of a query again in stored text, and the place where most of them stand together.
//!
//! An index may be stale, so what it claims is only a hint: a hit is proven by its words in the text as it is
//! now, and a phrase or a name only where its words stand next to each other. Function words count only where nothing
//! else was asked for.

use std::ops::Range;

use crate::scalars;
use crate::words::{Language, language_of};

mod wanted;

pub use wanted::Wanted;

/// Words this near to each other are shown together.
const NEAR_CHARS: usize = 200;

/// Where a query's words stand in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// In coordinates of the whole text: the place where most different words stand together first, the others
    /// in their order. A phrase is one match. Never empty.
    pub matches: Vec<Range<usize>>,
    /// How many different clauses of the query they are.
    pub clauses: usize,
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
    let mut places = wanted.find(stretch, language);
    for (range, _) in &mut places {
        *range = start + range.start..start + range.end;
    }
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
        check_instead(query, &[], text, expected);
    }

    #[track_caller]
    fn check_instead(query: &str, instead: &[&str], text: &str, expected: Expect) {
        let instead: Vec<_> = instead.iter().map(|used| (*used).to_owned()).collect();
        let wanted = Wanted::of(&parse(query), &instead);
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

    /// S1-R5-S1: what is shown for a phrase is the phrase.
    #[test]
    fn a_phrase_is_proven_where_its_words_stand_together() {
        let text =
            format!("The report is attached. {}Here is the Annual\nReports.", "Nothing yet. ".repeat(50));
        check("\"the annual report\"", &text, expect!["the Annual\nReports of 1"]);
        check("\"report the annual\"", &text, expect!["nothing"]);
        check("\"annual report\" attached", &text, expect!["attached | Annual\nReports of 2"]);
        check(
            "\"to be or not to be\"",
            "Not to be: or TO BE, or not to be?",
            expect!["TO BE, or not to be of 1"],
        );
        check("\"a a\"", "a a a", expect!["a a | a a of 1"]);
        check("\"寿司が好き\"", "彼は寿司が好きだ、寿司", expect!["寿司が好き of 1"]);
        check("+\"annual report\"", "The report is annual", expect!["nothing"]);
    }

    /// S1-R5-S1: and for an address, a number or a name with signs, that one.
    #[test]
    fn a_name_is_proven_whole_or_by_its_parts_together() {
        let text = "An example: b, c and a. Bob <bob@example.com>, bob at example com, Bob Example, com";
        check("bob@example.com", text, expect!["bob@example.com | Bob Example, com of 1"]);
        check("https://example.com/a?b=c", "a b c example.com/a", expect!["nothing"]);
        check(
            "https://example.com/a?b=c",
            "a: https://example.com/a?b=c",
            expect!["https://example.com/a?b=c of 1"],
        );
        check("INV-2034", "INV-2035 of 2034, inv 2034", expect!["inv 2034 of 1"]);
        check("C++ #tag", "c, C++ and a tag", expect!["C++ | tag of 2"]);
    }

    #[test]
    fn what_was_looked_for_word_by_word_is_proven_so() {
        let text = "The report, annual and the like";
        check_instead("\"the annual report\"", &["the annual report"], text, expect!["report | annual of 2"]);
        check_instead("\"to the\"", &["to the"], "the end", expect!["the of 1"]);
        check_instead("foo-bar", &["foo bar"], "a bar", expect!["bar of 1"]);
        check_instead("\"annual report\"", &["other words"], text, expect!["nothing"]);
        check_instead("anual", &["annual"], text, expect!["annual of 1"]);
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
