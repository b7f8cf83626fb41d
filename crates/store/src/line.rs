//! One line of newline-delimited records, read strictly.
//!
//! A member that stands twice, a lone surrogate or bytes that are not UTF-8 make a line malformed:
//! two readers must never understand one line differently. Every door that takes record lines
//! (ingest over REST, `pdpp import --format jsonl`) reads them here.

use pdpp_wire::{Code, Instant, JsonFault, parse_strict};
use serde_json::Value;

use crate::{Admission, AdmittedRecord, MAX_RECORD_DEPTH, Rejection};

/// The envelope around the data is one container more.
const LINE_DEPTH: usize = MAX_RECORD_DEPTH + 1;

/// A record envelope: `{"stream"?, "key", "data", "emitted_at"?, "op"?}`.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordLine {
    /// The stream, when the line names one.
    pub stream: Option<String>,
    key: Value,
    data: Option<Value>,
    emitted_at: Option<Instant>,
    delete: bool,
}

impl RecordLine {
    /// Reads one line.
    pub fn parse(line: &[u8]) -> Result<Self, Rejection> {
        if std::str::from_utf8(line).is_err() {
            return Err(Rejection::new(Code::InvalidUtf8, "The line is not UTF-8."));
        }
        let value = parse_strict(line, LINE_DEPTH).map_err(unreadable)?;
        let Value::Object(mut members) = value else {
            return Err(malformed("The line is not a JSON object."));
        };
        let stream = match members.remove("stream") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => return Err(malformed("`stream` must be text.")),
        };
        let key = members.remove("key").ok_or_else(|| malformed("`key` is missing."))?;
        let emitted_at = match members.remove("emitted_at") {
            None | Some(Value::Null) => None,
            Some(Value::String(at)) => {
                Some(Instant::parse(&at).ok_or_else(|| malformed("`emitted_at` is not a time."))?)
            }
            Some(_) => return Err(malformed("`emitted_at` is not a time.")),
        };
        let delete = match members.remove("op") {
            None | Some(Value::Null) => false,
            Some(Value::String(op)) if op == "upsert" => false,
            Some(Value::String(op)) if op == "delete" => true,
            Some(_) => return Err(malformed("`op` must be upsert or delete.")),
        };
        Ok(Self { stream, key, data: members.remove("data"), emitted_at, delete })
    }

    /// Admits the record to a stream; `now` stands in for a missing `emitted_at`.
    pub fn admit(self, admission: &Admission<'_>, now: Instant) -> Result<AdmittedRecord, Rejection> {
        let emitted_at = self.emitted_at.unwrap_or(now);
        match self.data {
            _ if self.delete => admission.delete(&self.key, emitted_at),
            Some(data) => admission.upsert(&self.key, data, emitted_at),
            None => Err(malformed("`data` is missing.")),
        }
    }
}

fn malformed(message: &str) -> Rejection {
    Rejection::new(Code::MalformedNdjson, message)
}

fn unreadable(fault: JsonFault) -> Rejection {
    match fault {
        JsonFault::Malformed => malformed("The line is not one JSON object with each name once."),
        JsonFault::TooDeep => {
            Rejection::new(Code::TooDeep, format!("The data is nested deeper than {MAX_RECORD_DEPTH}."))
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(line: &[u8], expected: Expect) {
        let outcome =
            RecordLine::parse(line).map_or_else(|refused| refused.to_string(), |line| format!("{line:?}"));
        expected.assert_eq(&outcome);
    }

    #[test]
    fn a_whole_line_is_read() {
        check(
            br#"{"stream":"notes","key":"n1","data":{"id":"n1"},"emitted_at":"2026-01-01T00:00:00Z"}"#,
            expect![[
                r#"RecordLine { stream: Some("notes"), key: String("n1"), data: Some(Object {"id": String("n1")}), emitted_at: Some(Instant(1767225600000000)), delete: false }"#
            ]],
        );
    }

    #[test]
    fn anything_ambiguous_is_malformed() {
        check(
            br#"{"key":"a","key":"b"}"#,
            expect!["malformed_ndjson: The line is not one JSON object with each name once."],
        );
        check(
            br#"{"key":"a","data":{"x":1,"x":1}}"#,
            expect!["malformed_ndjson: The line is not one JSON object with each name once."],
        );
        check(
            br#"{"key":"\ud800"}"#,
            expect!["malformed_ndjson: The line is not one JSON object with each name once."],
        );
        check(b"{\"key\":\"\xff\"}", expect!["invalid_utf8: The line is not UTF-8."]);
        check(
            br#"{"key":"a"} {"key":"b"}"#,
            expect!["malformed_ndjson: The line is not one JSON object with each name once."],
        );
        check(b"[1]", expect!["malformed_ndjson: The line is not a JSON object."]);
        check(br#"{"data":{}}"#, expect!["malformed_ndjson: `key` is missing."]);
        check(br#"{"key":"a","op":"merge"}"#, expect!["malformed_ndjson: `op` must be upsert or delete."]);
        check(
            br#"{"key":"a","emitted_at":"noon"}"#,
            expect!["malformed_ndjson: `emitted_at` is not a time."],
        );
    }

    #[test]
    fn deep_nesting_is_refused_not_followed() {
        let line = format!(r#"{{"key":"a","data":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        check(line.as_bytes(), expect!["too_deep: The data is nested deeper than 64."]);
    }
}
