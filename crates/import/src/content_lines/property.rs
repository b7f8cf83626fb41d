//! One content line, cut into its parts.

use super::text::{charset_text, decode_quoted_printable};

/// A property: its name, its parameters, and its value with transfer encodings undone but escapes kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Property {
    /// `item1` in `item1.TEL`.
    pub(crate) group: Option<String>,
    /// In capitals.
    pub(crate) name: String,
    /// Names in capitals; a name may come more than once.
    pub(crate) parameters: Vec<(String, String)>,
    pub(crate) value: String,
    pub(crate) line: u64,
}

impl Property {
    /// Reads a logical line; `None` when it has no name or no colon.
    pub(super) fn parse(line: u64, bytes: &[u8]) -> Option<Self> {
        let colon = if is_time(bytes) { last_colon(bytes)? } else { header_end(bytes)? };
        let (header, mut value) = (&bytes[..colon], &bytes[colon + 1..]);
        let header = charset_text(header, None);
        let mut parts = split_header(&header);
        let full_name = parts.remove(0);
        let (group, name) = match full_name.rsplit_once('.') {
            Some((group, name)) => (Some(group.to_owned()), name),
            None => (None, full_name.as_str()),
        };
        let named = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if name.is_empty() || !name.bytes().all(named) {
            return None;
        }
        let name = name.to_ascii_uppercase();
        let parameters: Vec<(String, String)> = parts.iter().map(|part| parameter(part)).collect();
        let mut property = Self { group, name, parameters, value: String::new(), line };
        let decoded;
        if property.parameter("ENCODING").is_some_and(|said| said.eq_ignore_ascii_case("QUOTED-PRINTABLE")) {
            decoded = decode_quoted_printable(value);
            value = &decoded;
        }
        property.value = charset_text(value, property.parameter("CHARSET"));
        Some(property)
    }

    /// The first parameter of a name.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every word of a parameter that may list several, in lower case and once each.
    pub(crate) fn words(&self, name: &str) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let values = self.parameters.iter().filter(|(known, _)| known == name);
        for word in values.flat_map(|(_, value)| value.split(',')) {
            let word = word.trim().to_ascii_lowercase();
            if !word.is_empty() && !words.contains(&word) {
                words.push(word);
            }
        }
        words
    }

    /// Whether its value is base64.
    pub(crate) fn is_base64(&self) -> bool {
        self.parameter("ENCODING")
            .is_some_and(|said| ["B", "BASE64"].iter().any(|known| said.eq_ignore_ascii_case(known)))
    }
}

/// Outlook writes zones such as `(UTC+01:00) Berlin` without the quotes they need; a time itself holds no colon.
fn is_time(line: &[u8]) -> bool {
    let name = line.split(|byte| matches!(byte, b';' | b':')).next().unwrap_or_default();
    ["DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "EXDATE", "RDATE"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

fn last_colon(line: &[u8]) -> Option<usize> {
    line.iter().rposition(|byte| *byte == b':')
}

/// The colon before the value: the first one outside quotes.
fn header_end(bytes: &[u8]) -> Option<usize> {
    let mut quoted = false;
    let end = bytes.iter().position(|byte| {
        quoted ^= *byte == b'"';
        *byte == b':' && !quoted
    });
    // A quote that is never closed hides no value.
    end.or_else(|| bytes.iter().position(|byte| *byte == b':'))
}

/// The name and the parameters, cut at semicolons outside quotes. Never empty.
fn split_header(header: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for letter in header.chars() {
        quoted ^= letter == '"';
        match letter {
            ';' if !quoted => parts.push(String::new()),
            _ => {
                if let Some(last) = parts.last_mut() {
                    last.push(letter);
                }
            }
        }
    }
    parts
}

fn parameter(part: &str) -> (String, String) {
    const ENCODINGS: [&str; 4] = ["QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT"];
    let (name, value) = match part.split_once('=') {
        Some((name, value)) => (name.trim().to_ascii_uppercase(), value),
        // The oldest contacts write the value alone.
        None if ENCODINGS.iter().any(|known| part.eq_ignore_ascii_case(known)) => {
            ("ENCODING".to_owned(), part)
        }
        None => ("TYPE".to_owned(), part),
    };
    (name, undo_carets(&value.replace('"', "")))
}

/// Parameters cannot hold a line break or a quote and write them with a caret.
fn undo_carets(value: &str) -> String {
    if !value.contains('^') {
        return value.trim().to_owned();
    }
    let (mut plain, mut letters) = (String::new(), value.chars().peekable());
    while let Some(letter) = letters.next() {
        let meant = match (letter, letters.peek()) {
            ('^', Some('n')) => Some('\n'),
            ('^', Some('\'')) => Some('"'),
            ('^', Some('^')) => Some('^'),
            _ => None,
        };
        if meant.is_some() {
            letters.next();
        }
        plain.push(meant.unwrap_or(letter));
    }
    plain
}
