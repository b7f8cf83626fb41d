//! A text inside of JSON: where it ends, and whether it is one for reading.

use pdpp_evidence::{Content, classify, neutralise};
use serde_json::Value;

/// What a byte means inside of quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Plain,
    Quote,
    Escape,
    /// Part of a character that must be looked at.
    Wide,
    /// A control, which is either no JSON or not for showing.
    Refused,
}

static BYTES: [Byte; 256] = {
    let mut table = [Byte::Wide; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte {
            0x22 => Byte::Quote,
            0x5C => Byte::Escape,
            0x20..=0x7E => Byte::Plain,
            _ => Byte::Refused,
        };
        byte += 1;
    }
    table
};

/// Where the text that starts here ends; none where it is not written as our writer writes it, or where a character in
/// it acts unseen.
pub(super) fn end(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    let mut wide = false;
    loop {
        at += bytes[at..].iter().position(|byte| BYTES[usize::from(*byte)] != Byte::Plain)?;
        match BYTES[usize::from(bytes[at])] {
            Byte::Quote => break,
            // Other escapes are written for nothing or stand for characters that are not shown.
            Byte::Escape if matches!(bytes.get(at + 1), Some(b'"' | b'\\' | b'n' | b't')) => at += 2,
            Byte::Wide => {
                wide = true;
                at += 1;
            }
            Byte::Plain | Byte::Escape | Byte::Refused => return None,
        }
    }
    // An escape is made of letters that change nothing about the characters beside them, as what it stands for would.
    (!wide || neutralise(&rest[..at]).replaced == 0).then_some(at)
}

/// Whether a text stands for bytes.
pub(super) fn is_bytes(text: &str) -> bool {
    /// Shorter texts stand for bytes only where they say so at their beginning.
    const SHORT: usize = 256;
    let first = text.as_bytes().first().copied().unwrap_or(b'a');
    if text.len() < SHORT && first.is_ascii_graphic() && !matches!(first, b'd' | b'D' | b'\\') {
        return false;
    }
    let read = if text.contains('\\') {
        serde_json::from_str(&format!("\"{text}\"")).ok()
    } else {
        Some(Value::from(text))
    };
    // What cannot be read is not shown as it is.
    read.is_none_or(|value| matches!(classify(&value), Content::Base64 { .. }))
}
