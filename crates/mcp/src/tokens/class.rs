//! The kinds of characters whose runs cost alike.

/// One kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Space,
    Newline,
    Latin,
    Digit,
    /// Every ASCII mark.
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

/// The kinds of ASCII, which most text is made of.
static ASCII: [Class; 128] = {
    let mut table = [Class::Bytes; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte {
            0x0A | 0x0D => Class::Newline,
            0x20 | 0x09 => Class::Space,
            0x30..=0x39 => Class::Digit,
            0x41..=0x5A | 0x61..=0x7A => Class::Latin,
            0x21..=0x7E => Class::Mark,
            _ => Class::Bytes,
        };
        byte += 1;
    }
    table
};

impl Class {
    /// The kind of the character that starts at this byte, and where it ends.
    #[inline]
    pub(super) fn at(text: &str, byte: usize) -> Option<(Self, usize)> {
        let first = *text.as_bytes().get(byte)?;
        if let Some(class) = ASCII.get(usize::from(first)) {
            return Some((*class, byte + 1));
        }
        let c = text[byte..].chars().next()?;
        Some((Self::of(c), byte + c.len_utf8()))
    }

    /// Where a run of this kind ends that goes on at this byte. A capital after a small letter starts another word.
    pub(super) fn run_end(self, text: &str, mut byte: usize) -> usize {
        let bytes = text.as_bytes();
        while let Some(next) = bytes.get(byte) {
            let camel =
                || self == Self::Latin && next.is_ascii_uppercase() && bytes[byte - 1].is_ascii_lowercase();
            byte = match ASCII.get(usize::from(*next)) {
                Some(class) if *class == self && !camel() => byte + 1,
                Some(_) => return byte,
                None => match Self::at(text, byte) {
                    Some((class, after)) if class == self => after,
                    _ => return byte,
                },
            };
        }
        byte
    }

    fn of(c: char) -> Self {
        match c {
            '\u{c0}'..='\u{17f}' => Self::Latin,
            '\u{a0}'..='\u{bf}' | '\u{2010}'..='\u{2027}' => Self::Sign,
            '\u{400}'..='\u{45f}' | '\u{60c}'..='\u{64a}' | '\u{900}'..='\u{97f}' => Self::Words,
            '\u{386}'..='\u{3ce}' | '\u{5d0}'..='\u{5ea}' | '\u{e01}'..='\u{e4e}' => Self::Pieces,
            '\u{ac00}'..='\u{d7a3}' => Self::Hangul,
            '\u{3001}'..='\u{30ff}' | '\u{4e00}'..='\u{9fa5}' | '\u{ff01}'..='\u{ff1f}' => Self::Ideograph,
            '\u{1f300}'..='\u{1faff}' | '\u{200d}' | '\u{fe0f}' => Self::Emoji,
            _ => Self::Bytes,
        }
    }

    /// What a run of so many characters costs, in hundredths of a token. The numbers are measured. Words and marks
    /// are looked at more closely elsewhere.
    pub(super) fn cost(self, length: usize, bytes: usize, next: Option<Self>) -> usize {
        let before_digit = next == Some(Self::Digit);
        match self {
            // One space belongs to the word behind it.
            Self::Space if length == 1 => {
                let alone = before_digit || matches!(next, None | Some(Self::Newline | Self::Bytes));
                if alone { 100 } else { 0 }
            }
            Self::Space => 100 + length / 16 * 100 + if before_digit { 100 } else { 0 },
            Self::Newline => 100 + length / 16 * 100,
            Self::Digit => length.div_ceil(3) * 100,
            Self::Sign | Self::Latin | Self::Mark => length * 100,
            Self::Words => 60 + length * 30,
            Self::Pieces => 100 + length * 45,
            // A single one among other scripts is rarely a word.
            Self::Hangul if length == 1 => 300,
            Self::Hangul => 130 + length * 70,
            Self::Ideograph => 200 + length * 105,
            Self::Emoji => length * 280,
            Self::Bytes => bytes * 100,
        }
    }
}
