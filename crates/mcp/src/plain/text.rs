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
        at += run(&bytes[at..], not_plain, |byte| BYTES[usize::from(byte)] == Byte::Plain);
        match BYTES[usize::from(*bytes.get(at)?)] {
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

/// Writes a text as JSON.
pub(crate) fn write(json: &mut String, text: &str) {
    json.push('"');
    let mut rest = text;
    loop {
        let (run, after) =
            rest.split_at(run(rest.as_bytes(), escaped, |byte| byte >= b' ' && !b"\"\\".contains(&byte)));
        json.push_str(run);
        let Some(c) = after.chars().next() else { break };
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            // How controls are escaped, the writer knows.
            c => json.push_str(serde_json::to_string(&c).unwrap_or_default().trim_matches('"')),
        }
        rest = &after[c.len_utf8()..];
    }
    json.push('"');
}

/// How many bytes there are up to the first of which `marked` marks its place among eight, or `one` says that it ends.
fn run(bytes: &[u8], marked: impl Fn(u64) -> u64, one: impl Fn(u8) -> bool) -> usize {
    let mut at = 0;
    while let Some(eight) = bytes[at..].first_chunk::<8>() {
        let marks = marked(u64::from_le_bytes(*eight));
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + bytes[at..].iter().take_while(|byte| one(**byte)).count()
}

const EACH: u64 = u64::from_le_bytes([1; 8]);
const HIGHEST: u64 = EACH << 7;

/// Marks the bytes of a number that JSON escapes, by the highest bit of each. Above the first mark, which is right, there may
/// be others that are not: a subtraction borrows from the bytes above.
fn escaped(eight: u64) -> u64 {
    (below(eight, 0x20) | is(eight, 0x22) | is(eight, 0x5C)) & HIGHEST
}

/// The same for the bytes that are not plain.
fn not_plain(eight: u64) -> u64 {
    escaped(eight) | (eight | is(eight, 0x7F)) & HIGHEST
}

fn below(eight: u64, bound: u64) -> u64 {
    eight.wrapping_sub(EACH * bound) & !eight
}

fn is(eight: u64, byte: u64) -> u64 {
    below(eight ^ (EACH * byte), 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_the_json_writer_writes_it_and_ends_where_it_ends() {
        // Every character of one byte, at every place among eight, alone and beside others.
        for place in 0..17 {
            for c in (0..=0x80_u8).map(char::from).chain(['é', '漢', '👩', '\u{2028}']) {
                for around in ["a", "é", "\n", "\u{7f}"] {
                    let text = format!("{}{c}{around}tail{c}", "x".repeat(place));
                    let mut written = String::new();
                    write(&mut written, &text);
                    assert_eq!(written, Value::from(text.as_str()).to_string());
                    let escapes = text.contains(|c: char| c < ' ' && !"\n\t".contains(c));
                    let sound = !escapes && neutralise(&text).replaced == 0;
                    assert_eq!(end(&written[1..]), sound.then_some(written.len() - 2), "{text:?}");
                }
            }
        }
    }
}
