//! The kinds of characters whose runs cost alike.

/// One kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Space,
    Newline,
    Latin,
    Digit,
    /// The marks of JSON, which come in well-known groups.
    Brace,
    /// Every other ASCII mark.
    Mark,
    /// Dashes, quotes and other typographic signs.
    Sign,
    /// Alphabets of which whole words are in the vocabulary: Cyrillic, Arabic, Devanagari.
    Words,
    /// Scripts of which short pieces are in the vocabulary: Greek, Hebrew, Thai.
    Pieces,
    Hangul,
    /// Ideographs and kana, with their punctuation.
    Ideograph,
    Emoji,
    /// Everything else: one token per byte.
    Bytes,
}

impl Class {
    pub(super) fn of(c: char) -> Self {
        match c {
            '\n' | '\r' => Self::Newline,
            ' ' | '\t' => Self::Space,
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{17f}' => Self::Latin,
            '0'..='9' => Self::Digit,
            '"' | '{' | '}' | '[' | ']' | ',' | ':' => Self::Brace,
            '!'..='~' => Self::Mark,
            '\u{a0}'..='\u{bf}' | '\u{2010}'..='\u{2027}' => Self::Sign,
            '\u{400}'..='\u{45f}' | '\u{60c}'..='\u{64a}' | '\u{900}'..='\u{97f}' => Self::Words,
            '\u{386}'..='\u{3ce}' | '\u{5d0}'..='\u{5ea}' | '\u{e01}'..='\u{e4e}' => Self::Pieces,
            '\u{ac00}'..='\u{d7a3}' => Self::Hangul,
            '\u{3001}'..='\u{30ff}' | '\u{4e00}'..='\u{9fa5}' | '\u{ff01}'..='\u{ff1f}' => Self::Ideograph,
            '\u{1f300}'..='\u{1faff}' | '\u{200d}' | '\u{fe0f}' => Self::Emoji,
            _ => Self::Bytes,
        }
    }

    /// What a run of this length costs, in hundredths of a token. The numbers are measured.
    pub(super) fn cost(self, length: usize, next: Self) -> usize {
        match self {
            // One space belongs to the word behind it.
            Self::Space if length == 1 => {
                if matches!(next, Self::Digit | Self::Newline | Self::Bytes) {
                    100
                } else {
                    0
                }
            }
            Self::Space | Self::Newline => 100 + length / 16 * 100,
            Self::Latin => match length {
                0..=3 => 100,
                4..=8 => 100 + (length - 3) * 14,
                9..=14 => 170 + (length - 8) * 20,
                _ => 290 + (length - 14) * 30,
            },
            Self::Digit => length.div_ceil(3) * 100,
            Self::Brace => 100 + length.saturating_sub(3) * 35,
            Self::Mark => 100 + (length - 1) * 70,
            Self::Sign => length * 100,
            Self::Words => 60 + length * 30,
            Self::Pieces => 100 + length * 45,
            // A single one among other scripts is rarely a word.
            Self::Hangul => {
                if length == 1 {
                    300
                } else {
                    130 + length * 70
                }
            }
            Self::Ideograph => 200 + length * 105,
            Self::Emoji => length * 280,
            Self::Bytes => 0,
        }
    }
}
