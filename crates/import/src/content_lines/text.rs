//! Values as text: charsets, transfer encodings and escapes.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, GeneralPurposeConfig};

/// Bytes as text: in the charset that is named, else as UTF-8, else as Windows writes Western letters. A zero byte
/// is no letter of any text and goes.
pub(super) fn charset_text(bytes: &[u8], charset: Option<&str>) -> String {
    let named = charset.and_then(|name| encoding_rs::Encoding::for_label(name.trim().as_bytes()));
    let text = match (named, std::str::from_utf8(bytes)) {
        (None, Ok(text)) => text.to_owned(),
        (named, _) => {
            named.unwrap_or(encoding_rs::WINDOWS_1252).decode_without_bom_handling(bytes).0.into_owned()
        }
    };
    if text.contains('\0') { text.replace('\0', "") } else { text }
}

/// Undoes quoted-printable; what is no code of it stays as it is.
pub(super) fn decode_quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|code| *first == b'=' && code.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            plain.push(byte);
            rest = &after[2..];
        } else {
            plain.push(*first);
            rest = after;
        }
    }
    plain
}

/// Bytes from base64 with or without padding; `None` when it is none.
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let packed: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    LENIENT.decode(packed).ok().filter(|bytes| !bytes.is_empty())
}

/// A text value without its escapes.
pub(crate) fn unescape(value: &str) -> String {
    let (mut plain, mut letters) = (String::with_capacity(value.len()), value.chars());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('n' | 'N') => plain.push('\n'),
            Some(escaped @ ('\\' | ';' | ',' | ':' | '"')) => plain.push(escaped),
            Some(other) => plain.extend(['\\', other]),
            None => plain.push('\\'),
        }
    }
    plain
}

/// The parts of a value between separators that are not escaped, each without its escapes.
pub(crate) fn split_list(value: &str, separator: char) -> Vec<String> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, letter) in value.char_indices() {
        if letter == separator && !escaped {
            parts.push(unescape(&value[start..at]));
            start = at + letter.len_utf8();
        }
        escaped = letter == '\\' && !escaped;
    }
    parts.push(unescape(&value[start..]));
    parts
}

/// `YYYYMMDD` and `YYYY-MM-DD` alike, as numbers.
pub(crate) fn date_text(text: &str) -> Option<(i16, i8, i8)> {
    let digits: String = match text.len() {
        8 => text.to_owned(),
        10 => {
            let mut parts = text.split('-');
            let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
            (year.len() == 4 && month.len() == 2 && day.len() == 2).then(|| format!("{year}{month}{day}"))?
        }
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((digits[..4].parse().ok()?, digits[4..6].parse().ok()?, digits[6..].parse().ok()?))
}
