//! Encoded words: `=?utf-8?Q?Gr=C3=BC=C3=9Fe?=` in a header is `Grüße`.
//!
//! Words that follow each other are decoded together, because programs cut them in the middle of a letter.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::transfer;
use crate::charset;

/// Longest text of one word.
const LONGEST: usize = 4096;
/// How many things that only begin like a word a structured field may hold.
const MOST_FALSE: usize = 64;

/// A header's text with its words decoded.
pub(super) fn decode(value: &str) -> String {
    walk(value, |text, out| out.push_str(text), usize::MAX)
}

/// The same field with every run of words as one word in UTF-8, for a parser that decodes each by itself. What only
/// begins like a word costs that parser the rest of the field, so after a few of them the beginning is broken.
pub(super) fn unify(value: &str) -> String {
    let word = |text: &str, out: &mut String| {
        out.push_str("=?UTF-8?B?");
        STANDARD.encode_string(text, out);
        out.push_str("?=");
    };
    walk(value, word, MOST_FALSE)
}

fn walk(value: &str, mut emit: impl FnMut(&str, &mut String), most_false: usize) -> String {
    let mut out = String::with_capacity(value.len());
    let (mut rest, mut false_starts) = (value, 0);
    while let Some(at) = rest.find("=?") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some((first, mut after)) = Word::parse(rest) else {
            false_starts += 1;
            out.push_str(if false_starts > most_false { "= ?" } else { "=?" });
            rest = &rest[2..];
            continue;
        };
        let (mut charset, mut bytes, mut text) = (first.charset, first.bytes(), String::new());
        // Blanks between words belong to the encoding, not to the text.
        while let Some((next, beyond)) = Word::parse(after.trim_start()) {
            if !next.charset.eq_ignore_ascii_case(charset) {
                text.push_str(&charset::decode(&bytes, Some(charset)));
                bytes.clear();
                charset = next.charset;
            }
            bytes.extend(next.bytes());
            after = beyond;
        }
        text.push_str(&charset::decode(&bytes, Some(charset)));
        emit(&text, &mut out);
        rest = after;
    }
    out.push_str(rest);
    out
}

struct Word<'v> {
    charset: &'v str,
    is_base64: bool,
    data: &'v str,
}

impl<'v> Word<'v> {
    /// A word at the very beginning, and what follows it.
    fn parse(value: &'v str) -> Option<(Self, &'v str)> {
        let rest = value.strip_prefix("=?")?;
        let (charset, rest) = rest.split_at(rest.bytes().take(64).position(|byte| byte == b'?')?);
        let mut kind = rest[1..].chars();
        let is_base64 = match kind.next()? {
            'b' | 'B' => true,
            'q' | 'Q' => false,
            _ => return None,
        };
        let data = kind.as_str().strip_prefix('?')?;
        let end = data.as_bytes().windows(2).take(LONGEST).position(|pair| pair == b"?=")?;
        // A language may follow the charset: `utf-8*en`.
        let charset = charset.split('*').next().unwrap_or(charset);
        Some((Self { charset, is_base64, data: &data[..end] }, &data[end + 2..]))
    }

    fn bytes(&self) -> Vec<u8> {
        let data = self.data.as_bytes();
        if self.is_base64 { transfer::base64(data) } else { transfer::q_word(data) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expected: &str) {
        assert_eq!(decode(value), expected);
        // A field that was unified says the same.
        assert_eq!(decode(&unify(value)), expected);
    }

    #[test]
    fn words_are_decoded_and_joined() {
        check("=?utf-8?Q?Gr=C3=BC=C3=9Fe?= aus =?ISO-8859-1?Q?K=F6ln?=", "Grüße aus Köln");
        check("=?utf-8?B?R3LDvA==?= =?utf-8?B?w59l?=", "Grüße");
        check("=?UTF-8?Q?a_b?= =?utf-8*en?q?c?=", "a bc");
        check("=?shift_jis?B?g26DjYFb?=", "ハロー");
        check("=?utf-8?Q?is_it_you??=", "is it you?");
    }

    #[test]
    fn a_letter_cut_between_two_words_is_put_together() {
        check("=?utf-8?B?R3LD?= =?utf-8?B?vMOfZQ==?=", "Grüße");
        check("=?utf-8?Q?Gr=C3?=\t=?utf-8?Q?=BC=C3=9Fe?=", "Grüße");
    }

    #[test]
    fn what_is_no_word_stays() {
        for plain in ["", "plain", "a=?b", "=?utf-8?Q?never closed", "=?utf-8?X?no?=", "=??Q", "1 =? 2"] {
            check(plain, plain);
        }
        check("=?no-such-charset?Q?plain?=", "plain");
    }

    #[test]
    fn work_is_bounded() {
        let hostile = "=?ab?q?x".repeat(30_000);
        assert_eq!(decode(&hostile), hostile);
        assert!(unify(&hostile).matches("=?").count() <= MOST_FALSE);
    }
}
