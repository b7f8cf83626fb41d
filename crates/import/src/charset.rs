//! Bytes to text, whatever they say about themselves.
//!
//! Labels lie: mail marked as ASCII holds Windows text, mail marked as Latin holds UTF-8. A label is believed unless
//! the bytes disprove it, and bytes without a label are guessed at. Nothing is refused: a byte that fits nowhere
//! becomes the replacement character.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, WINDOWS_1252};
use mail_parser::decoders::charsets::map::charset_decoder;

/// How much of a text is looked at to guess its charset.
const LOOKED_AT: usize = 256 * 1024;

/// The text in some bytes, with the charset they were labelled with, if any.
pub(crate) fn decode(bytes: &[u8], label: Option<&str>) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned();
    }
    let label = label.map(|label| label.trim().trim_matches(['"', '\'']).to_ascii_lowercase());
    let Some(label) = label.filter(|label| !promises_nothing(label)) else {
        return guess(bytes);
    };
    match Encoding::for_label_no_replacement(label.as_bytes()) {
        Some(encoding) if encoding == UTF_8 => guess(bytes),
        Some(encoding) => labelled(bytes, encoding),
        // Charsets of mail that the web does not know: UTF-7, code pages of DOS.
        None => match charset_decoder(label.as_bytes()) {
            Some(decoder) if Encoding::for_label(label.as_bytes()) != Some(REPLACEMENT) => decoder(bytes),
            _ => guess(bytes),
        },
    }
}

/// ASCII is what many programs write for "I did not look".
fn promises_nothing(label: &str) -> bool {
    matches!(
        label,
        "" | "us-ascii"
            | "ascii"
            | "ansi_x3.4-1968"
            | "utf8"
            | "utf-8"
            | "unknown"
            | "unknown-8bit"
            | "x-unknown"
            | "binary"
            | "8bit"
            | "default"
    )
}

fn labelled(bytes: &[u8], encoding: &'static Encoding) -> String {
    let (text, faulty) = encoding.decode_without_bom_handling(bytes);
    // Text of one byte per letter is practically never valid UTF-8 by chance; text of two bytes may be, so there the
    // label has to fail first.
    let disproved = encoding.is_single_byte() || faulty;
    if disproved
        && !bytes.is_ascii()
        && let Ok(utf8) = std::str::from_utf8(bytes)
    {
        return utf8.to_owned();
    }
    text.into_owned()
}

/// UTF-8 if it is that, otherwise what it most looks like.
fn guess(bytes: &[u8]) -> String {
    // ISO-2022-JP is ASCII with escapes, so it passes for UTF-8.
    if bytes.windows(2).take(LOOKED_AT).any(|pair| pair == b"\x1b$") {
        let (text, faulty) = ISO_2022_JP.decode_without_bom_handling(bytes);
        if !faulty {
            return text.into_owned();
        }
    }
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => text.to_owned(),
        // A text that was cut, or has one bad byte in a long stretch, is still UTF-8.
        Cow::Owned(text) if mostly_utf8(&text) => text,
        Cow::Owned(_) => detect(bytes).decode_without_bom_handling(bytes).0.into_owned(),
    }
}

fn mostly_utf8(text: &str) -> bool {
    let bad = text.chars().filter(|letter| *letter == char::REPLACEMENT_CHARACTER).count();
    let good = text.chars().filter(|letter| !letter.is_ascii()).count() - bad;
    good > bad * 2
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(LOOKED_AT)], true);
    let guessed = detector.guess(None, Utf8Detection::Deny);
    // A few letters are too little to tell Turkish from Hebrew; most mail of that age was Western.
    let letters = bytes.iter().take(LOOKED_AT).filter(|byte| !byte.is_ascii()).count();
    if letters < 6 && guessed.is_single_byte() { WINDOWS_1252 } else { guessed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], label: Option<&str>, expected: &str) {
        assert_eq!(decode(bytes, label), expected, "{label:?}");
    }

    #[test]
    fn a_label_is_believed() {
        check(b"Gr\xfc\xdfe", Some("ISO-8859-1"), "Grüße");
        check(b"\x83n\x83\x8d\x81[", Some("Shift_JIS"), "ハロー");
        check(b"\x1b$B%O%m!<\x1b(B", Some("iso-2022-jp"), "ハロー");
        check(b"\xf0\xd2\xc9\xd7\xc5\xd4", Some("\"koi8-r\""), "Привет");
        check(b"caf\x82", Some("ibm850"), "café");
        check(b"Item 3 is +AKM-1.", Some("utf-7"), "Item 3 is £1.");
    }

    #[test]
    fn a_label_that_the_bytes_disprove_is_not() {
        check("Grüße".as_bytes(), Some("iso-8859-1"), "Grüße");
        check(b"It\x92s 5 \x80", Some("us-ascii"), "It’s 5 €");
        check(b"Gr\xfc\xdfe", Some("utf-8"), "Grüße");
        check(b"It\x92s", Some("x-no-such-charset"), "It’s");
        check("日本".as_bytes(), Some("euc-jp"), "日本");
    }

    #[test]
    fn bytes_without_a_label_are_guessed_at() {
        check(b"plain", None, "plain");
        check("\u{feff}marked".as_bytes(), None, "marked");
        check(b"\xff\xfeh\0i\0", None, "hi");
        check(b"\x1b$B%O%m!<\x1b(B", None, "ハロー");
        check(b"caf\xe9", None, "café");
        check(
            "ein langer Satz mit Umläuten äöü, und dann bricht er a\u{e4}".as_bytes().split_last().unwrap().1,
            None,
            "ein langer Satz mit Umläuten äöü, und dann bricht er a\u{fffd}",
        );
        check(
            "Привет, как дела? Давно не виделись."
                .chars()
                .map(|c| match c {
                    'А'..='я' => u8::try_from(u32::from(c) - 0x410 + 0xc0).unwrap(),
                    other => u8::try_from(other).unwrap(),
                })
                .collect::<Vec<u8>>()
                .as_slice(),
            None,
            "Привет, как дела? Давно не виделись.",
        );
        check(b"a\0b", None, "a\0b");
        check(b"", None, "");
    }
}
