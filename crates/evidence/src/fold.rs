//! Finding text the way people type it: ignoring case and accents.
//!
//! Folding changes lengths, and offsets must be exact in the original, so the search folds one scalar at a
//! time and remembers where each came from. It is a Knuth-Morris-Pratt automaton: linear in the text whatever
//! the query, with memory for the query only.
//!
//! An accent is dropped, but a mark that spells something is kept: vowel signs and viramas of Indic scripts,
//! Thai vowels and tones, the voicing of kana. Without them a match would be another word.

use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, decompose_canonical, is_combining_mark};

/// The text as [`find_folded`] compares it: decomposed, without accents, in lower case.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for scalar in text.chars() {
        fold_scalar(scalar, |c| folded.push(c));
    }
    folded
}

/// The first place where `query` stands in `text`, ignoring case and accents, in scalar values of `text`.
///
/// A match starts and ends between scalars of the original and includes the marks that follow its last base.
/// A query of nothing but accents is looked up as it is written; an empty one is never found.
pub fn find_folded(text: &str, query: &str) -> Option<Range<usize>> {
    let needle: Vec<char> = fold(query).chars().collect();
    if needle.is_empty() {
        return find_verbatim(text, query);
    }
    let fallback = fallbacks(&needle);
    let length = needle.len();
    // Where the last `length` folded scalars came from; `None` marks one that starts inside its original.
    let mut origins: Vec<Option<usize>> = vec![None; length];
    let mut newest = 0;
    let mut matched = 0;
    let mut folded = Vec::with_capacity(4);
    let mut scalars = text.chars().enumerate();
    while let Some((index, scalar)) = scalars.next() {
        folded.clear();
        fold_scalar(scalar, |c| folded.push(c));
        for (position, c) in folded.iter().enumerate() {
            origins[newest] = (position == 0).then_some(index);
            newest = (newest + 1) % length;
            while matched > 0 && needle[matched] != *c {
                matched = fallback[matched - 1];
            }
            if needle[matched] == *c {
                matched += 1;
            }
            if matched == length {
                matched = fallback[length - 1];
                let ends_whole = position + 1 == folded.len();
                if let (true, Some(start)) = (ends_whole, origins[newest]) {
                    let marks = scalars.take_while(|(_, c)| is_combining_mark(*c)).count();
                    return Some(start..index + 1 + marks);
                }
            }
        }
    }
    None
}

fn find_verbatim(text: &str, query: &str) -> Option<Range<usize>> {
    if query.is_empty() {
        return None;
    }
    let byte = text.find(query)?;
    let start = text[..byte].chars().count();
    Some(start..start + query.chars().count())
}

/// For each prefix of the needle, the length of its longest proper prefix that is also its suffix.
fn fallbacks(needle: &[char]) -> Vec<usize> {
    let mut table = vec![0; needle.len()];
    let mut length = 0;
    for index in 1..needle.len() {
        while length > 0 && needle[index] != needle[length] {
            length = table[length - 1];
        }
        if needle[index] == needle[length] {
            length += 1;
        }
        table[index] = length;
    }
    table
}

fn fold_scalar(scalar: char, mut emit: impl FnMut(char)) {
    if scalar.is_ascii() {
        return emit(scalar.to_ascii_lowercase());
    }
    decompose_canonical(scalar, |part| {
        if !is_accent(part) {
            lower(part, &mut emit);
        }
    });
}

fn lower(scalar: char, emit: &mut impl FnMut(char)) {
    match scalar {
        // The final form of sigma is the same letter.
        'ς' => emit('σ'),
        _ => scalar.to_lowercase().filter(|c| !is_accent(*c)).for_each(emit),
    }
}

/// Whether readers leave this mark out when they type: the combining classes of accents, points and nuktas,
/// and not those of viramas, kana voicing, and the vowels of Thai, Lao and Tibetan. Indic vowel signs have
/// class zero.
fn is_accent(scalar: char) -> bool {
    matches!(canonical_combining_class(scalar), 1 | 7 | 10..=36 | 200..=240)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::{random::Random, scalars};

    #[track_caller]
    fn check(text: &str, query: &str, expected: Expect) {
        let found = find_folded(text, query).map(|range| {
            let matched = scalars::slice(text, range.start, range.end);
            format!("{}..{} {}", range.start, range.end, matched.escape_unicode_marks())
        });
        expected.assert_eq(&found.unwrap_or_else(|| "none".to_owned()));
    }

    trait EscapeMarks {
        fn escape_unicode_marks(&self) -> String;
    }

    impl EscapeMarks for str {
        fn escape_unicode_marks(&self) -> String {
            let mut out = String::new();
            for c in self.chars() {
                if is_combining_mark(c) {
                    out.extend(c.escape_unicode());
                } else {
                    out.push(c);
                }
            }
            out
        }
    }

    #[test]
    fn case_is_ignored() {
        check("Your INVOICE for March", "invoice", expect!["5..12 INVOICE"]);
        check("straße", "STRASSE", expect!["none"]);
        check("ΟΔΟΣ και οδός", "οδος", expect!["0..4 ΟΔΟΣ"]);
        check("οδός", "ΟΔΟΣ", expect!["0..4 οδός"]);
        check("ПРИВЕТ", "привет", expect!["0..6 ПРИВЕТ"]);
        check("İstanbul", "istanbul", expect!["0..8 İstanbul"]);
        check("5 \u{212A}elvin", "kelvin", expect!["2..8 \u{212A}elvin"]);
    }

    #[test]
    fn accents_are_ignored_on_either_side() {
        check("un café noir", "cafe", expect!["3..7 café"]);
        check("un cafe noir", "café", expect!["3..7 cafe"]);
        check("un cafe\u{301} noir", "café", expect![[r"3..8 cafe\u{301}"]]);
        check("un café noir", "cafe\u{301} noir", expect!["3..12 café noir"]);
        check("Tiếng Việt", "tieng viet", expect!["0..10 Tiếng Việt"]);
        check("ёлка", "елка", expect!["0..4 ёлка"]);
        check("שָׁלוֹם", "שלום", expect![[r"0..7 ש\u{5b8}\u{5c1}לו\u{5b9}ם"]]);
        check("مَرْحَبًا", "مرحبا", expect![[r"0..9 م\u{64e}ر\u{652}ح\u{64e}ب\u{64b}ا"]]);
    }

    #[test]
    fn marks_after_the_last_base_belong_to_the_match() {
        check("e\u{301}\u{302}x", "e", expect![[r"0..3 e\u{301}\u{302}"]]);
        check("ae\u{301}", "ae", expect![[r"0..3 ae\u{301}"]]);
    }

    #[test]
    fn marks_that_spell_a_word_are_kept() {
        check("की", "का", expect!["none"]);
        check("がき", "かき", expect!["none"]);
        check("มา", "มี", expect!["none"]);
    }

    #[test]
    fn a_match_never_ends_inside_a_scalar() {
        check("각", "가", expect!["none"]);
        check("가각", "각", expect!["1..2 각"]);
        check("한국어", "국어", expect!["1..3 국어"]);
    }

    #[test]
    fn offsets_count_scalars_not_bytes() {
        check("😀😀 ok", "OK", expect!["3..5 ok"]);
        check("漢字かな", "かな", expect!["2..4 かな"]);
        check("👩‍👩‍👧 family", "family", expect!["6..12 family"]);
    }

    #[test]
    fn overlapping_prefixes_are_not_lost() {
        check("aaab", "aab", expect!["1..4 aab"]);
        check("abababac", "ababac", expect!["2..8 ababac"]);
        check("aabaabaaab", "aabaaab", expect!["3..10 aabaaab"]);
    }

    #[test]
    fn odd_queries_are_answered() {
        check("abc", "", expect!["none"]);
        check("", "a", expect!["none"]);
        check("abc", "abcd", expect!["none"]);
        check("ae\u{301}", "\u{301}", expect![[r"2..3 \u{301}"]]);
        check("abc", "\u{301}", expect!["none"]);
    }

    #[test]
    fn a_hostile_query_stays_linear() {
        let text = "a".repeat(2_000_000);
        let query = format!("{}b", "a".repeat(100_000));
        assert_eq!(find_folded(&text, &query), None);
    }

    #[test]
    fn every_piece_of_a_text_is_found_in_it() {
        let mut random = Random::new(7);
        for _ in 0..3_000 {
            let text = random.text(30);
            let total = scalars::count(&text);
            if total == 0 {
                continue;
            }
            let start = random.below(total);
            let piece = scalars::slice(&text, start, start + 1 + random.below(5));
            let found = find_folded(&text, piece).unwrap_or_else(|| panic!("{piece:?} in {text:?}"));
            assert!(
                found.start <= start + scalars::count(piece) && found.end <= total,
                "{piece:?} in {text:?}"
            );
            assert_eq!(find_folded(&fold(&text), &fold(piece)).is_some(), !fold(piece).is_empty());
        }
    }
}
