//! Text from bytes whose encoding nobody declared.
//!
//! Notes and tables written by people come as UTF-8, as UTF-16 with a byte order mark, or in the code page of an
//! older Windows. The last has no mark of its own: it is what is left when the bytes are nothing else.

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The text, without a byte order mark, and the encoding that had to be assumed, if one had to.
pub(crate) fn decode(bytes: &[u8]) -> (String, Option<&'static str>) {
    for encoding in [UTF_8, UTF_16LE, UTF_16BE] {
        let mark: &[u8] = match encoding.name() {
            "UTF-8" => b"\xef\xbb\xbf",
            "UTF-16LE" => b"\xff\xfe",
            _ => b"\xfe\xff",
        };
        if let Some(rest) = bytes.strip_prefix(mark) {
            return (encoding.decode_without_bom_handling(rest).0.into_owned(), None);
        }
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (text.to_owned(), None);
    }
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
    (text.into_owned(), Some("windows-1252"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_decide_and_the_rest_is_utf8_or_assumed() {
        for (bytes, text, assumed) in [
            (b"".as_slice(), "", None),
            (b"caf\xc3\xa9", "caf\u{e9}", None),
            (b"\xef\xbb\xbfcaf\xc3\xa9", "caf\u{e9}", None),
            (b"\xff\xfec\0a\0f\0\xe9\0", "caf\u{e9}", None),
            (b"\xfe\xff\0c\0a\0f\0\xe9", "caf\u{e9}", None),
            (b"caf\xe9 \x80", "caf\u{e9} \u{20ac}", Some("windows-1252")),
            (b"\xff\xfec", "\u{fffd}", None),
        ] {
            assert_eq!(decode(bytes), (text.to_owned(), assumed), "{bytes:?}");
        }
    }
}
