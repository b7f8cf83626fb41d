//! The boundary for record text that a model or a terminal will read.
//!
//! Mail and chat are written by strangers. Characters that move the cursor, reorder or hide text, or carry
//! instructions nobody sees, are made visible: each becomes exactly one visible character, so offsets into the
//! text still hold, and the number of replacements is reported.
//!
//! Two invisible characters stay where they only build an emoji: a joiner between two pictographs, and the
//! emoji variation selector right after one. Elsewhere they could spell a hidden message.

use std::borrow::Cow;

/// Text without characters that act unseen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neutral<'t> {
    /// The text, with as many scalar values as the original.
    pub text: Cow<'t, str>,
    /// How many of them were replaced.
    pub replaced: usize,
}

/// Replaces each character that acts unseen by a visible one.
pub fn neutralise(text: &str) -> Neutral<'_> {
    // Most text is plain. All of its bytes are looked at, because without an early end many are looked at together.
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().fold(true, |so_far, byte| so_far & plain(byte)) {
        return Neutral { text: Cow::Borrowed(text), replaced: 0 };
    }
    let mut out = String::new();
    let mut replaced = 0;
    // Everything before this byte is already in `out`.
    let mut copied = 0;
    let mut before = Before::Other;
    for (byte, c) in text.char_indices() {
        let next = byte + c.len_utf8();
        let harmless = !acts_unseen(c) || builds_emoji(c, before, &text[next..]);
        if !harmless {
            out.push_str(&text[copied..byte]);
            out.push(stand_in(c));
            copied = next;
            replaced += 1;
        }
        before = before.then(c, harmless);
    }
    if replaced == 0 {
        return Neutral { text: Cow::Borrowed(text), replaced };
    }
    out.push_str(&text[copied..]);
    Neutral { text: Cow::Owned(out), replaced }
}

/// What stands before the current character, as far as emoji sequences care.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A pictograph, or one with its skin tone.
    Pictograph,
    /// A pictograph followed by its variation selector.
    Presented,
    /// A digit, `#` or `*`, which may start a keycap.
    KeycapBase,
    Other,
}

impl Before {
    fn then(self, c: char, harmless: bool) -> Self {
        match c {
            '\u{FE0F}' if harmless && self == Self::Pictograph => Self::Presented,
            '0'..='9' | '#' | '*' => Self::KeycapBase,
            c if is_pictograph(c) => Self::Pictograph,
            _ => Self::Other,
        }
    }
}

fn builds_emoji(c: char, before: Before, rest: &str) -> bool {
    let next = rest.chars().next();
    match c {
        '\u{200D}' => {
            matches!(before, Before::Pictograph | Before::Presented) && next.is_some_and(is_pictograph)
        }
        '\u{FE0F}' => {
            before == Before::Pictograph || (before == Before::KeycapBase && next == Some('\u{20E3}'))
        }
        _ => false,
    }
}

/// Control pictures name their control; anything else becomes the replacement character.
fn stand_in(c: char) -> char {
    match c {
        '\0'..='\u{1F}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\u{7F}' => '␡',
        _ => char::REPLACEMENT_CHARACTER,
    }
}

/// Controls, bidirectional controls, and everything that is drawn as nothing.
fn acts_unseen(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && c != '\n' && c != '\t';
    }
    matches!(c,
        '\u{80}'..='\u{9F}'            // C1 controls
        | '\u{AD}'                     // soft hyphen
        | '\u{34F}'                    // combining grapheme joiner
        | '\u{61C}'                    // Arabic letter mark
        | '\u{115F}'..='\u{1160}'      // Hangul fillers
        | '\u{17B4}'..='\u{17B5}'      // Khmer inherent vowels
        | '\u{180B}'..='\u{180F}'      // Mongolian selectors and vowel separator
        | '\u{200B}'..='\u{200F}'      // zero-width characters, direction marks
        | '\u{2028}'..='\u{202E}'      // line and paragraph separators, embeddings and overrides
        | '\u{2060}'..='\u{206F}'      // word joiner, invisible operators, isolates, deprecated controls
        | '\u{3164}' | '\u{FFA0}'      // Hangul fillers
        | '\u{FE00}'..='\u{FE0F}'      // variation selectors
        | '\u{FEFF}'                   // byte order mark
        | '\u{FFF0}'..='\u{FFFB}'      // interlinear annotation and its unassigned neighbours
        | '\u{1BCA0}'..='\u{1BCA3}'    // shorthand format controls
        | '\u{1D173}'..='\u{1D17A}'    // musical format controls
        | '\u{E0000}'..='\u{E0FFF}'    // tags and the variation selectors supplement
    )
}

/// A close superset of the pictographs that emoji sequences are built from.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '↔'..='↪' | '⌚'..='⏿' | 'Ⓜ' | '▪'..='◾' | '☀'..='➿'
        | '⤴' | '⤵' | '⬅'..='⭕' | '〰' | '〽' | '㊗' | '㊙' | '\u{1F000}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::random::Random;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let neutral = neutralise(text);
        assert_eq!(neutral.text.chars().count(), text.chars().count());
        expected.assert_eq(&format!("{:?} {}", neutral.text, neutral.replaced));
    }

    #[test]
    fn ordinary_text_is_untouched() {
        for text in
            ["", "Hello,\n\tworld", "žluťoučký", "漢字かな", "שלום", "مرحبا", "नमस्ते", "e\u{301}", "…‹›"]
        {
            let neutral = neutralise(text);
            assert!(matches!(neutral.text, Cow::Borrowed(same) if same == text));
            assert_eq!(neutral.replaced, 0);
        }
    }

    #[test]
    fn controls_become_pictures() {
        check("a\u{1B}[31mred", expect![[r#""a␛[31mred" 1"#]]);
        check("a\0b\u{7}\u{8}\r\u{7F}", expect![[r#""a␀b␇␈␍␡" 5"#]]);
        check("a\u{85}b\u{9B}31m", expect![[r#""a�b�31m" 2"#]]);
    }

    #[test]
    fn reordering_is_made_visible() {
        check("user\u{202E}txt.exe", expect![[r#""user�txt.exe" 1"#]]);
        check("\u{2066}a\u{2069}\u{200E}\u{200F}\u{61C}", expect![[r#""�a����" 5"#]]);
    }

    #[test]
    fn hidden_text_is_made_visible() {
        check("a\u{200B}b\u{200C}c\u{200D}d\u{2060}\u{FEFF}", expect![[r#""a�b�c�d��" 5"#]]);
        check("hi\u{E0001}\u{E0049}\u{E007F}", expect![[r#""hi���" 3"#]]);
        check("x\u{E0100}\u{E01EF}\u{FE00}\u{FE0F}", expect![[r#""x����" 4"#]]);
        check("a\u{2028}b\u{2029}\u{FFF9}c\u{FFFA}\u{FFFB}", expect![[r#""a�b��c��" 5"#]]);
        check("a\u{AD}b\u{3164}\u{115F}\u{34F}", expect![[r#""a�b���" 4"#]]);
    }

    #[test]
    fn emoji_sequences_survive() {
        for text in ["👩‍👩‍👧", "❤️", "❤️‍🔥", "👩🏽‍🚀", "🏳️‍🌈", "1️⃣", "#️⃣", "🇫🇷", "🙋‍♀️", "©️"]
        {
            assert_eq!(neutralise(text).replaced, 0, "{text}");
        }
    }

    #[test]
    fn emoji_parts_elsewhere_are_made_visible() {
        check("👩\u{200D}", expect![[r#""👩�" 1"#]]);
        check("👩\u{200D}a", expect![[r#""👩�a" 1"#]]);
        check("\u{200D}👩", expect![[r#""�👩" 1"#]]);
        check("❤\u{FE0F}\u{FE0F}", expect![[r#""❤\u{fe0f}�" 1"#]]);
        check("👩\u{200D}\u{200D}👩", expect![[r#""👩��👩" 2"#]]);
        check("1\u{FE0F}", expect![[r#""1�" 1"#]]);
        check("🏴\u{E0067}\u{E007F}", expect![[r#""🏴��" 2"#]]);
    }

    #[test]
    fn the_number_of_characters_never_changes() {
        let mut random = Random::new(5);
        for _ in 0..5_000 {
            let text = random.text(50);
            let neutral = neutralise(&text);
            assert_eq!(neutral.text.chars().count(), text.chars().count());
            let changed = text.chars().zip(neutral.text.chars()).filter(|(a, b)| a != b).count();
            assert_eq!(changed, neutral.replaced);
            assert_eq!(neutralise(&neutral.text).replaced, 0, "{text:?}");
        }
    }
}
