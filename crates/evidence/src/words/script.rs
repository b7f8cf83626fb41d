//! What a character can be part of: a word, a run of text written without spaces, an emoji, or nothing.
//!
//! The ranges are blocks, not scripts: a table of every script would be longer and change no answer, because
//! unassigned places in a block hold no text. Hangul counts as written without spaces although it has them:
//! Korean glues particles to nouns, and pieces of a word find it where the whole would not.

use unicode_normalization::char::is_combining_mark;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A letter or a digit.
    Word,
    /// A character of a script that puts no space between words.
    Spaceless,
    Emoji,
    /// White space, punctuation, symbols, and marks with nothing to stand on.
    Other,
}

pub(super) fn class(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Word } else { Class::Other };
    }
    if is_spaceless(c) {
        Class::Spaceless
    } else if is_emoji(c) {
        Class::Emoji
    } else if c.is_alphanumeric() && !is_combining_mark(c) {
        Class::Word
    } else {
        Class::Other
    }
}

/// Whether a word, a run or an emoji can start with the character.
pub(crate) fn is_word_start(c: char) -> bool {
    class(c) != Class::Other
}

/// Whether the character belongs to whatever stands before it: an accent, a vowel sign, or a character that
/// shows nothing.
pub(super) fn continues(c: char) -> bool {
    !c.is_ascii() && (is_combining_mark(c) || is_ignorable(c))
}

/// Characters that show nothing of their own, so that a word with them is the same word: soft hyphens,
/// joiners, marks of direction, variation selectors, the frame of a keycap.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{180B}'..='\u{180F}' | '\u{200C}'..='\u{200F}'
        | '\u{2060}' | '\u{20E3}' | '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

fn is_spaceless(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Myanmar, Khmer, without their digits and signs of punctuation.
        '\u{E01}'..='\u{E3A}' | '\u{E40}'..='\u{E4E}'
        | '\u{E81}'..='\u{ECF}' | '\u{EDC}'..='\u{EDF}'
        | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{108F}' | '\u{109A}'..='\u{109D}'
        | '\u{A9E0}'..='\u{A9EF}' | '\u{A9FA}'..='\u{A9FE}' | '\u{AA60}'..='\u{AA7F}'
        | '\u{1780}'..='\u{17D3}' | '\u{17D7}' | '\u{17DC}'..='\u{17DD}'
        // Hangul, as syllables and as letters.
        | '\u{1100}'..='\u{11FF}' | '\u{3131}'..='\u{318E}' | '\u{A960}'..='\u{A97C}' | '\u{AC00}'..='\u{D7FB}'
        | '\u{FFA0}'..='\u{FFDC}'
        // Kana and Bopomofo, without the middle dot.
        | '\u{3041}'..='\u{309F}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{312F}' | '\u{31A0}'..='\u{31BF}'
        | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9F}' | '\u{1B000}'..='\u{1B16F}'
        // Han.
        | '\u{2E80}'..='\u{2FD5}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303B}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFD}')
}

/// Pictures people search for. Arrows and boxes are left out: in text they are punctuation.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{231A}' | '\u{231B}' | '\u{2328}' | '\u{23CF}' | '\u{23E9}'..='\u{23F3}'
        | '\u{23F8}'..='\u{23FA}' | '\u{2600}'..='\u{27BF}' | '\u{2B1B}' | '\u{2B1C}' | '\u{2B50}' | '\u{2B55}'
        | '\u{1F000}'..='\u{1FAFF}')
}

/// The scripts whose words are stemmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Devanagari,
    Tamil,
}

/// The script of a word, when all of its letters are of one that is stemmed. A word with a digit is an id or
/// a number and has none.
pub(super) fn script_of(word: &str) -> Option<Script> {
    let mut script = None;
    for c in word.chars().filter(|c| !continues(*c)) {
        let found = script_of_letter(c)?;
        if script.is_some_and(|script| script != found) {
            return None;
        }
        script = Some(found);
    }
    script
}

pub(super) fn script_of_letter(c: char) -> Option<Script> {
    let script = match c {
        'a'..='z' | 'A'..='Z' => return Some(Script::Latin),
        '\u{AA}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' | '\u{FF21}'..='\u{FF5A}' => Script::Latin,
        '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Script::Greek,
        '\u{400}'..='\u{52F}' => Script::Cyrillic,
        '\u{600}'..='\u{6FF}' | '\u{750}'..='\u{77F}' | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' => {
            Script::Arabic
        }
        '\u{900}'..='\u{97F}' => Script::Devanagari,
        '\u{B80}'..='\u{BFF}' => Script::Tamil,
        _ => return None,
    };
    c.is_alphabetic().then_some(script)
}
