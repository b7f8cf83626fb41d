//! Tells plain words that a stemmer leaves as they are by their last letter.
//!
//! A typed word is stemmed in every language of its script, and most of those stemmers do nothing to it: no ending they
//! know ends in its last letter. The letters stand here by language, after the stemmers' own tables of endings; a
//! language that changes words elsewhere too (`ge-`, `ue`, doubled letters) has none. A test goes through all endings
//! of up to four letters.

use super::Language;

/// Whether the stemmer of the language gives back this word, which is in lower case and composed.
pub(super) fn is_kept(word: &str, language: Language) -> bool {
    let bytes = word.as_bytes();
    let is_free = |last: &u8| last.is_ascii_lowercase() && free(language) & bit(*last) != 0;
    bytes.last().is_some_and(is_free) && bytes.iter().all(u8::is_ascii_lowercase)
}

/// The letters that end no ending the language's stemmer knows, one bit each.
const fn free(language: Language) -> u32 {
    match language {
        Language::English => bits(b"ahjkoquvwx"),
        Language::French => bits(b"bdghjkmoquwy"),
        Language::Spanish => bits(b"bfghijkmpqtuwxyz"),
        Language::Italian => bits(b"bdfgjkmnpqtwxyz"),
        Language::Portuguese => bits(b"bfghjknpqtwxyz"),
        Language::Swedish => bits(b"cfijlopquvwxyz"),
        Language::Norwegian => bits(b"bcfhijloquwxyz"),
        Language::Polish => bits(b"bdfgklnpqrstvx"),
        Language::Czech => bits(b"dfgjpqwxz"),
        Language::Romanian => bits(b"bfghjknopqwxy"),
        Language::Hungarian => bits(b"hquwx"),
        Language::Turkish => bits(b"fhjlopqstvwxy"),
        _ => 0,
    }
}

const fn bits(letters: &[u8]) -> u32 {
    let (mut bits, mut at) = (0, 0);
    while at < letters.len() {
        bits |= bit(letters[at]);
        at += 1;
    }
    bits
}

const fn bit(letter: u8) -> u32 {
    1 << (letter - b'a')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::script::Script;

    /// What stands before an ending, and the letters of the ending before its last.
    const BEFORE: [(&str, u32); 7] =
        [("", 2), ("b", 2), ("ba", 2), ("kerab", 3), ("obanu", 2), ("strayeb", 2), ("gequi", 2)];

    #[test]
    fn a_stemmer_gives_back_what_is_said_to_be_kept() {
        for language in Language::of_script(Script::Latin) {
            let stemmer = language.stemmer().expect("a language of the script has a stemmer");
            let mut word = String::new();
            for last in (b'a'..=b'z').filter(|last| free(language) & bit(*last) != 0) {
                for (before, letters) in BEFORE {
                    for number in 0..27_usize.pow(letters) {
                        word.clear();
                        word.push_str(before);
                        // Up to so many letters: the first of each 27 stands for none.
                        let digits = [number / 729, number / 27 % 27, number % 27];
                        word.extend(
                            digits.into_iter().filter_map(|digit| ('a'..='z').nth(digit.checked_sub(1)?)),
                        );
                        word.push(char::from(last));
                        assert!(is_kept(&word, language));
                        assert_eq!(stemmer.stem(&word), word, "{language:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_words_are_stemmed() {
        assert!(is_kept("invoiceo", Language::English));
        for word in ["", "invoices", "Zoo", "zo2o", "cafeo\u{301}", "übo", "don'o"] {
            assert!(!is_kept(word, Language::English), "{word}");
        }
        assert!(!is_kept("gebo", Language::Dutch));
        assert!(!is_kept("zoo", Language::Russian));
    }
}
