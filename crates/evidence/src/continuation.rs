//! Continuations: the exact call that reads on.
//!
//! A field window is opened either at an offset or on a query, never both, because the route refuses the two
//! together. An offset always lands on the match that was shown, so it is the usual form; a query is offered only
//! where it finds the same place, and stays right when the text before it changes.

use std::{fmt::Write, ops::Range};

use serde::Serialize;

use crate::{
    fold::find_folded,
    scalars,
    window::{DEFAULT_LIMIT_CHARS, MAX_LIMIT_CHARS, TextWindow},
};

/// A window opened on a match starts this much before it, to show how the sentence began.
const LEAD_CHARS: usize = 512;

/// The field that a continuation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldTarget<'a> {
    /// The stream of the record.
    pub stream: &'a str,
    /// The record's key.
    pub record_id: &'a str,
    /// The field, or a path inside it.
    pub field: &'a str,
    /// The connection that holds the record, when it is known.
    pub connection_id: Option<&'a str>,
}

/// A call of the field-window route, as it stands in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldWindowRead {
    object: &'static str,
    method: &'static str,
    /// The path of the route, with its segments encoded.
    pub route: String,
    /// The stream of the record.
    pub stream: String,
    /// The record's key.
    pub record_id: String,
    /// The field, or a path inside it.
    pub field: String,
    /// The connection that holds the record, when it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// Where the window starts; absent when a query says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_chars: Option<usize>,
    /// How long the window is.
    pub limit_chars: usize,
    /// What the window opens on; absent when an offset says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// How much text before the query's match is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_chars: Option<usize>,
}

impl FieldWindowRead {
    /// Reads from an offset.
    pub fn at(target: FieldTarget<'_>, offset_chars: usize, limit_chars: usize) -> Self {
        let FieldTarget { stream, record_id, field, connection_id } = target;
        Self {
            object: "field_window_read",
            method: "GET",
            route: format!(
                "/v1/streams/{}/records/{}/field-window",
                percent_encode_segment(stream),
                percent_encode_segment(record_id)
            ),
            stream: stream.to_owned(),
            record_id: record_id.to_owned(),
            field: field.to_owned(),
            connection_id: connection_id.map(str::to_owned),
            offset_chars: Some(offset_chars),
            limit_chars: limit_chars.clamp(1, MAX_LIMIT_CHARS),
            q: None,
            before_chars: None,
        }
    }

    /// Opens the window on a match, with some text before it and the default length.
    pub fn on_match(target: FieldTarget<'_>, matched: &Range<usize>) -> Self {
        Self::at(target, matched.start.saturating_sub(LEAD_CHARS), DEFAULT_LIMIT_CHARS)
    }

    /// Opens the window on a match by its query. Falls back to [`Self::on_match`] unless `query` stands in `text`
    /// letter by letter at `matched`, and asking for it would find that place first.
    pub fn on_query(target: FieldTarget<'_>, text: &str, matched: &Range<usize>, query: &str) -> Self {
        let mut read = Self::on_match(target, matched);
        let literal = scalars::slice(text, matched.start, matched.end) == query;
        if literal && find_folded(text, query).as_ref() == Some(matched) {
            read.offset_chars = None;
            read.q = Some(query.to_owned());
            read.before_chars = Some(LEAD_CHARS);
        }
        read
    }

    /// Reads the window after `window`, if text follows.
    pub fn next(target: FieldTarget<'_>, window: &TextWindow) -> Option<Self> {
        window.next_offset_chars.map(|offset| Self::at(target, offset, window.limit_chars))
    }

    /// Reads the window before `window`, if text precedes. It ends where `window` starts.
    pub fn previous(target: FieldTarget<'_>, window: &TextWindow) -> Option<Self> {
        let offset = window.previous_offset_chars?;
        Some(Self::at(
            target,
            offset,
            window.limit_chars.min(window.start_chars - offset.min(window.start_chars)),
        ))
    }

    /// The route with its query string, ready to be sent.
    pub fn url(&self) -> String {
        let mut url = format!("{}?field={}", self.route, percent_encode(&self.field));
        let numbers = [
            ("offset_chars", self.offset_chars),
            ("limit_chars", Some(self.limit_chars)),
            ("before_chars", self.before_chars),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                write!(url, "&{name}={value}").expect("writing to a string cannot fail");
            }
        }
        for (name, value) in [("q", &self.q), ("connection_id", &self.connection_id)] {
            if let Some(value) = value {
                write!(url, "&{name}={}", percent_encode(value)).expect("writing to a string cannot fail");
            }
        }
        url
    }
}

/// One segment of a URL path: everything but letters, digits and `-._~` is encoded.
///
/// A segment that is only `.` or `..` would be taken for navigation, so its dots are encoded too.
pub fn percent_encode_segment(segment: &str) -> String {
    match segment {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        _ => percent_encode(segment),
    }
}

fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Whole runs of what stays as it is: most names are one.
    while let Some(at) = rest.bytes().position(|byte| !is_unreserved(byte)) {
        let (plain, encoded) = rest.split_at(at);
        out.push_str(plain);
        let length = encoded.chars().next().map_or(0, char::len_utf8);
        for byte in encoded.bytes().take(length) {
            write!(out, "%{byte:02X}").expect("writing to a string cannot fail");
        }
        rest = &encoded[length..];
    }
    out.push_str(rest);
    out
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::window::{WindowRequest, cut};

    const TARGET: FieldTarget<'_> =
        FieldTarget { stream: "messages", record_id: "m/1 é", field: "body", connection_id: Some("cin_a1") };

    #[track_caller]
    fn check(read: &FieldWindowRead, expected: Expect) {
        expected.assert_eq(&format!("{}\n{}", serde_json::to_string(read).unwrap(), read.url()));
    }

    #[test]
    fn a_match_opens_with_some_text_before_it() {
        check(
            &FieldWindowRead::on_match(TARGET, &(4_000..4_007)),
            expect![[r#"
            {"object":"field_window_read","method":"GET","route":"/v1/streams/messages/records/m%2F1%20%C3%A9/field-window","stream":"messages","record_id":"m/1 é","field":"body","connection_id":"cin_a1","offset_chars":3488,"limit_chars":4096}
            /v1/streams/messages/records/m%2F1%20%C3%A9/field-window?field=body&offset_chars=3488&limit_chars=4096&connection_id=cin_a1"#]],
        );
        assert_eq!(FieldWindowRead::on_match(TARGET, &(5..9)).offset_chars, Some(0));
    }

    #[test]
    fn a_query_is_offered_where_it_finds_the_same_place() {
        let text = "The invoice, and the Invoice.";
        check(
            &FieldWindowRead::on_query(TARGET, text, &(4..11), "invoice"),
            expect![[r#"
                {"object":"field_window_read","method":"GET","route":"/v1/streams/messages/records/m%2F1%20%C3%A9/field-window","stream":"messages","record_id":"m/1 é","field":"body","connection_id":"cin_a1","limit_chars":4096,"q":"invoice","before_chars":512}
                /v1/streams/messages/records/m%2F1%20%C3%A9/field-window?field=body&limit_chars=4096&before_chars=512&q=invoice&connection_id=cin_a1"#]],
        );
        let offset = |range, query| FieldWindowRead::on_query(TARGET, text, &range, query).offset_chars;
        assert_eq!(offset(21..28, "Invoice"), Some(0));
        assert_eq!(offset(4..11, "INVOICE"), Some(0));
        assert_eq!(offset(90..99, "invoice"), Some(0));
    }

    #[test]
    fn windows_lead_to_their_neighbours() {
        let window = cut("0123456789", &WindowRequest::Offset { offset: 2, limit: Some(4) }).unwrap();
        let next = FieldWindowRead::next(TARGET, &window).unwrap();
        let previous = FieldWindowRead::previous(TARGET, &window).unwrap();
        assert_eq!((next.offset_chars, next.limit_chars), (Some(6), 4));
        assert_eq!((previous.offset_chars, previous.limit_chars), (Some(0), 2));
        let whole = cut("0123", &WindowRequest::Offset { offset: 0, limit: None }).unwrap();
        assert_eq!(FieldWindowRead::next(TARGET, &whole), None);
        assert_eq!(FieldWindowRead::previous(TARGET, &whole), None);
    }

    #[test]
    fn an_unknown_connection_is_left_out() {
        let read = FieldWindowRead::at(FieldTarget { connection_id: None, ..TARGET }, 0, 0);
        check(
            &read,
            expect![[r#"
            {"object":"field_window_read","method":"GET","route":"/v1/streams/messages/records/m%2F1%20%C3%A9/field-window","stream":"messages","record_id":"m/1 é","field":"body","offset_chars":0,"limit_chars":1}
            /v1/streams/messages/records/m%2F1%20%C3%A9/field-window?field=body&offset_chars=0&limit_chars=1"#]],
        );
    }

    #[test]
    fn segments_are_encoded_by_byte() {
        for (segment, encoded) in [
            ("plain-A_z.0~", "plain-A_z.0~"),
            ("a/b", "a%2Fb"),
            ("a b+c", "a%20b%2Bc"),
            ("100%", "100%25"),
            ("é😀", "%C3%A9%F0%9F%98%80"),
            ("..", "%2E%2E"),
            (".", "%2E"),
            ("a..b", "a..b"),
            ("?#&=", "%3F%23%26%3D"),
            ("", ""),
        ] {
            assert_eq!(percent_encode_segment(segment), encoded);
        }
    }
}
