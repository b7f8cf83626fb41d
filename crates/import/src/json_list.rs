//! Files that are one JSON array of objects, read one element at a time.
//!
//! Exports of chats cut texts in the middle of a character now and then, which leaves half a surrogate pair behind;
//! such a character is replaced, so that a whole conversation is not lost for it.

use pdpp_wire::Code;
use serde_json::Value;

use crate::json_elements::{Elements, Found};
use crate::tree::open_buffered;
use crate::{Complaint, Sink, Stop, Tree};

/// What is done with an element: its place, the element, and where to put what it holds.
pub(crate) type Take<'a> = dyn FnMut(&str, &Value, &mut dyn Sink) -> Result<(), Stop> + 'a;

/// A file that is an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JsonList<'a> {
    /// The entry.
    pub(crate) index: usize,
    /// What an element is called in a place: `conversation`.
    pub(crate) element: &'a str,
    /// Most bytes of one element.
    pub(crate) longest: usize,
}

impl JsonList<'_> {
    /// Hands over the objects of the array, and complains about what is none.
    pub(crate) fn read(
        self,
        tree: &mut dyn Tree,
        sink: &mut dyn Sink,
        take: &mut Take<'_>,
    ) -> Result<(), Stop> {
        let path = tree.entries()[self.index].path.clone();
        let reader = match open_buffered(tree, self.index) {
            Ok(reader) => reader,
            Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
        };
        let mut elements = Elements::new(reader, &[], self.longest);
        loop {
            match elements.next() {
                Ok(None) => return Ok(()),
                Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
                Ok(Some(Found::Broken { at })) => {
                    let message = format!("From byte {at} on it is no JSON, or it ends too early.");
                    return sink.complain(Complaint::damaged(path, message));
                }
                Ok(Some(Found::TooLong { number })) => {
                    let message = format!("It is longer than {} MiB.", self.longest >> 20);
                    let place = format!("{path} {} {number}", self.element);
                    sink.complain(Complaint::new(place, Code::ResourceLimit, message))?;
                }
                Ok(Some(Found::Element { number, json })) => {
                    let place = format!("{path} {} {number}", self.element);
                    match parse(json) {
                        Some(value) if value.is_object() => take(&place, &value, sink)?,
                        _ => sink.complain(Complaint::damaged(place, "It is not a JSON object."))?,
                    }
                }
                // An array at the root has nothing beside it.
                Ok(Some(Found::Enter { .. } | Found::Beside { .. })) => {}
            }
        }
    }
}

/// Parses a JSON text; characters that are broken are replaced.
pub(crate) fn parse(json: &[u8]) -> Option<Value> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    serde_json::from_slice(json).ok().or_else(|| serde_json::from_str(&repaired(json)).ok())
}

/// The text with bytes that are no UTF-8 and lone halves of surrogate pairs replaced.
fn repaired(json: &[u8]) -> String {
    let text = String::from_utf8_lossy(json);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find('\\') {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                kept.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // A backslash and whatever it escapes.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        kept.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    kept.push_str(rest);
    kept
}

/// The number of a `\uXXXX` at the beginning.
fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// The member names at the beginning of a JSON text: of its object, or of the first object of its array. What comes
/// after the bytes at hand is not known, and where they are no JSON there are no names.
pub(crate) fn names_at_head(head: &[u8]) -> Vec<String> {
    const MOST: usize = 256;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let object = match head.strip_prefix(b"[") {
        Some(rest) => rest.trim_ascii_start(),
        None => head,
    };
    let (mut names, mut depth, mut string, mut escaped) = (Vec::new(), 0_usize, None, false);
    if !object.starts_with(b"{") {
        return names;
    }
    for (at, byte) in object.iter().enumerate() {
        match (string, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(start), b'"') => {
                string = None;
                let is_name = object[at + 1..].trim_ascii_start().first() == Some(&b':');
                if depth == 1 && is_name && names.len() < MOST {
                    names.extend(std::str::from_utf8(&object[start..at]).ok().map(str::to_owned));
                }
            }
            (None, b'"') => string = Some(at + 1),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Kept, MemoryTree};

    #[test]
    fn an_element_beyond_the_bound_is_one_complaint_and_the_next_is_read() {
        let text = format!("[{{\"a\":\"{}\"}}, {{\"b\":1}}]", "x".repeat(3 << 20));
        let (mut kept, mut taken) = (Kept::default(), Vec::new());
        let list = JsonList { index: 0, element: "thing", longest: 2 << 20 };
        let mut take = |place: &str, _: &Value, _: &mut dyn Sink| {
            taken.push(place.to_owned());
            Ok(())
        };
        list.read(&mut MemoryTree::new([("l.json", text)]), &mut kept, &mut take).unwrap();
        assert_eq!(taken, ["l.json thing 2"]);
        assert_eq!(kept.describe(), "! l.json thing 1: resource_limit: It is longer than 2 MiB.\n");
    }

    #[test]
    fn names_are_read_from_a_head_that_is_cut() {
        assert_eq!(
            names_at_head(b"\xef\xbb\xbf [ {\"a\": {\"x\":1}, \"b\\\"c\" : [\"d\"], \"e"),
            ["a", "b\\\"c"]
        );
        assert_eq!(names_at_head(b"{\"only\":1} {\"not\":2}"), ["only"]);
        assert!(names_at_head(b"[]").is_empty());
        assert!(names_at_head(b"\"{").is_empty());
    }

    #[test]
    fn half_a_character_does_not_lose_the_element() {
        let told = parse(br#"{"a":"x \ud83d y","b":"\ud83d\ude00 \\ud83d \udc00"}"#).unwrap();
        assert_eq!(told["a"], "x \u{fffd} y");
        assert_eq!(told["b"], "\u{1f600} \\ud83d \u{fffd}");
        assert_eq!(parse(b"{\"a\":\"\xff\"}").unwrap()["a"], "\u{fffd}");
        assert!(parse(b"{\"a\":\"\\u12\xc3\xa9z\"}").is_none());
        assert!(parse(b"\\").is_none());
        assert!(parse(&b"[".repeat(100_000)).is_none());
    }
}
