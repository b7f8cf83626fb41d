//! Tells base64 from text, in one pass over the string, and looks at the first bytes.

/// Shorter strings are never taken for bare base64: identifiers, digests and keys look the same.
const MIN_BARE_CHARS: usize = 256;
/// Encoders that break lines break them all alike, at 64 or 76 characters. Word lists do not.
const MIN_LINE_CHARS: usize = 32;
/// The longest `data:` URL header that is considered; it holds a media type and its parameters.
const MAX_HEADER_BYTES: usize = 512;
const MAX_MEDIA_TYPE_BYTES: usize = 127;

/// Bytes written as text.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) media_type: Option<String>,
    pub(super) decoded_bytes: usize,
}

/// Recognises a base64 `data:` URL of any length, or a long string that can only be base64.
///
/// A URL says what it holds, so a body that was cut short still counts; a bare string must be sound.
pub(super) fn recognise(text: &str) -> Option<Found> {
    let text = text.trim();
    if let Some((media_type, body)) = data_url(text) {
        let shape = Shape::read(body)?;
        return Some(Found {
            media_type: media_type.or_else(|| sniff(&shape.head).map(str::to_owned)),
            decoded_bytes: shape.decoded_bytes(),
        });
    }
    if text.len() < MIN_BARE_CHARS {
        return None;
    }
    let shape = Shape::read(text)?;
    shape.can_only_be_base64().then(|| Found {
        media_type: sniff(&shape.head).map(str::to_owned),
        decoded_bytes: shape.decoded_bytes(),
    })
}

/// Splits `data:<media type>;base64,<body>`.
fn data_url(text: &str) -> Option<(Option<String>, &str)> {
    let scheme = text.get(..5)?;
    if !scheme.eq_ignore_ascii_case("data:") {
        return None;
    }
    let comma = text.bytes().take(MAX_HEADER_BYTES).position(|byte| byte == b',')?;
    let header = &text[5..comma];
    let declared = header.len().checked_sub(7).and_then(|at| header.split_at_checked(at));
    let (declared, _) = declared.filter(|(_, marker)| marker.eq_ignore_ascii_case(";base64"))?;
    let name = declared.split(';').next().unwrap_or_default().trim();
    let is_name = |name: &&str| {
        name.contains('/')
            && name.len() <= MAX_MEDIA_TYPE_BYTES
            && name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    Some((Some(name).filter(is_name).map(str::to_ascii_lowercase), &text[comma + 1..]))
}

/// What one pass over a base64-like string shows. It exists only for strings in the alphabet.
#[derive(Default)]
struct Shape {
    digits: usize,
    upper: usize,
    lower: usize,
    /// Signs (`+`, `/`, `-`, `_`), where a run of one sign counts once.
    signs: usize,
    symbols: usize,
    padding: usize,
    /// Signs of the standard alphabet, and of the one for URLs.
    standard: usize,
    url_safe: usize,
    even_lines: bool,
    /// Whether length and padding agree, and only one alphabet is used.
    sound: bool,
    /// The first decoded bytes.
    head: Vec<u8>,
}

impl Shape {
    fn read(body: &str) -> Option<Self> {
        let mut shape = Self::default();
        let mut lines = Lines::default();
        let mut bits = 0u32;
        let mut previous = 0;
        let mut bytes = body.bytes();
        while let Some(byte) = bytes.next() {
            let byte = if byte == b'%' { percent_decoded(&mut bytes)? } else { byte };
            match byte {
                b'\r' => {}
                b'\n' => lines.end(),
                b'=' => shape.padding += 1,
                _ if shape.padding > 0 => return None,
                _ => {
                    let value = shape.tally(byte, previous)?;
                    previous = byte;
                    shape.symbols += 1;
                    lines.current += 1;
                    bits = (bits << 6) | u32::from(value);
                    if shape.head.len() < 16 && shape.symbols.is_multiple_of(4) {
                        shape.head.extend(&bits.to_be_bytes()[1..]);
                        bits = 0;
                    }
                }
            }
        }
        shape.even_lines = lines.are_even();
        let complete = match shape.padding {
            0 => shape.symbols % 4 != 1,
            1 | 2 => (shape.symbols + shape.padding).is_multiple_of(4),
            _ => false,
        };
        shape.sound = complete && (shape.standard == 0 || shape.url_safe == 0);
        Some(shape)
    }

    /// Counts one symbol and gives its six bits, or refuses it.
    fn tally(&mut self, byte: u8, previous: u8) -> Option<u8> {
        Some(match byte {
            b'A'..=b'Z' => {
                self.upper += 1;
                byte - b'A'
            }
            b'a'..=b'z' => {
                self.lower += 1;
                byte - b'a' + 26
            }
            b'0'..=b'9' => {
                self.digits += 1;
                byte - b'0' + 52
            }
            b'+' | b'/' | b'-' | b'_' => {
                self.signs += usize::from(byte != previous);
                self.standard += usize::from(matches!(byte, b'+' | b'/'));
                self.url_safe += usize::from(matches!(byte, b'-' | b'_'));
                if matches!(byte, b'+' | b'-') { 62 } else { 63 }
            }
            _ => return None,
        })
    }

    /// Whether a bare string of this shape is base64 beyond doubt. Bytes give both cases and digits; hex and
    /// sequences of letters do not, and paths and slugs have a sign every few letters.
    fn can_only_be_base64(&self) -> bool {
        self.sound
            && self.symbols + self.padding >= MIN_BARE_CHARS
            && self.upper > 0
            && self.lower > 0
            && self.digits > 0
            && self.signs <= self.symbols / 8
            && self.even_lines
    }

    fn decoded_bytes(&self) -> usize {
        self.symbols / 4 * 3 + self.symbols % 4 * 6 / 8
    }
}

/// Some writers escape `+`, `/`, `=` and line breaks inside a URL.
fn percent_decoded(bytes: &mut std::str::Bytes<'_>) -> Option<u8> {
    let high = char::from(bytes.next()?).to_digit(16)?;
    let low = char::from(bytes.next()?).to_digit(16)?;
    u8::try_from(high * 16 + low).ok()
}

/// Watches whether lines are of one length, except the last.
#[derive(Default)]
struct Lines {
    width: Option<usize>,
    current: usize,
    uneven: bool,
}

impl Lines {
    fn end(&mut self) {
        let width = *self.width.get_or_insert(self.current);
        self.uneven |= self.current != width;
        self.current = 0;
    }

    fn are_even(&self) -> bool {
        self.width.is_none_or(|width| !self.uneven && width >= MIN_LINE_CHARS && self.current <= width)
    }
}

/// The media type that the first bytes of a file show, for the kinds people keep.
fn sniff(head: &[u8]) -> Option<&'static str> {
    let riff = head.starts_with(b"RIFF");
    match head {
        _ if head.starts_with(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        _ if head.starts_with(b"\xff\xd8\xff") => Some("image/jpeg"),
        _ if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") => Some("image/gif"),
        _ if riff && head.get(8..12) == Some(b"WEBP") => Some("image/webp"),
        _ if riff && head.get(8..12) == Some(b"WAVE") => Some("audio/wav"),
        _ if head.starts_with(b"%PDF-") => Some("application/pdf"),
        _ if head.starts_with(b"PK\x03\x04") => Some("application/zip"),
        _ if head.starts_with(b"\x1f\x8b\x08") => Some("application/gzip"),
        _ if head.starts_with(b"ID3") => Some("audio/mpeg"),
        _ if head.get(4..8) == Some(b"ftyp") => Some("video/mp4"),
        _ => None,
    }
}
