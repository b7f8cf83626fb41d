//! The boundaries of plain text: ASCII, in which every byte but a line end of two is a character of its own.
//!
//! Most texts are plain around their match, and Unicode's rules for words come down to a few of their bytes there.
//! A test compares every decision with the general segmentation.

use super::layout::Boundary;

/// What a byte is to the rules for words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Space,
    /// Joins letters and digits, and itself.
    Underscore,
    /// Stands between letters.
    Colon,
    /// Stands between digits.
    Comma,
    /// Stands between letters and between digits.
    Point,
    Other,
}

fn kind(byte: u8) -> Kind {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Kind::Letter,
        b'0'..=b'9' => Kind::Digit,
        b' ' => Kind::Space,
        b'_' => Kind::Underscore,
        b':' => Kind::Colon,
        b',' | b';' => Kind::Comma,
        b'.' | b'\'' => Kind::Point,
        _ => Kind::Other,
    }
}

/// Whether the boundaries in `region`, which stands in a text behind `before`, are those of its bytes.
pub(super) fn is_plain(before: &str, region: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii() && byte != b'\r';
    !region.is_empty()
        && before.bytes().next_back().is_none_or(is_plain)
        && region.is_ascii()
        && !region.as_bytes().contains(&b'\r')
}

/// The boundaries in a plain `region` that starts after `start` characters of its text.
pub(super) fn boundaries(region: &str, start: usize, ends_text: bool) -> Vec<Boundary> {
    let bytes = region.as_bytes();
    let mut boundaries = Vec::with_capacity(bytes.len() + 1);
    // The edges count as those of words only where the text itself ends there.
    boundaries.push(Boundary { chars: start, byte: 0, word: start == 0 });
    let mut before = None;
    let (mut here, mut rest) = (kind(bytes[0]), bytes.iter().map(|byte| kind(*byte)).skip(1).peekable());
    let mut byte = 1;
    while let Some(next) = rest.next() {
        let word = !are_joined(before, here, next, rest.peek().copied());
        boundaries.push(Boundary { chars: start + byte, byte, word });
        (before, here, byte) = (Some(here), next, byte + 1);
    }
    if ends_text {
        boundaries.push(Boundary { chars: start + bytes.len(), byte: bytes.len(), word: true });
    }
    boundaries
}

/// Whether `left` and `right`, which stand next to each other, are of one word.
fn are_joined(before: Option<Kind>, left: Kind, right: Kind, after: Option<Kind>) -> bool {
    use Kind::{Colon, Comma, Digit, Letter, Point, Space, Underscore};
    match (left, right) {
        (Space, Space) | (Letter | Digit | Underscore, Letter | Digit | Underscore) => true,
        (Letter, Colon | Point) => after == Some(Letter),
        (Colon | Point, Letter) => before == Some(Letter),
        (Digit, Comma | Point) => after == Some(Digit),
        (Comma | Point, Digit) => before == Some(Digit),
        _ => false,
    }
}
