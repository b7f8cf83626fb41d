//! One line of newline-delimited records, read strictly.
//!
//! A member that stands twice, a lone surrogate or bytes that are not UTF-8 make a line malformed:
//! two readers must never understand one line differently. Every door that takes record lines
//! (ingest over REST, `pdpp import --format jsonl`) reads them here.

use std::fmt;

use pdpp_wire::{Code, Instant};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::{Admission, AdmittedRecord, MAX_RECORD_DEPTH, Rejection};

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
        let text = std::str::from_utf8(line)
            .map_err(|_| Rejection::new(Code::InvalidUtf8, "The line is not UTF-8."))?;
        let Strict(value) = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
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

fn unreadable(error: &serde_json::Error) -> Rejection {
    // serde_json stops at its own depth of 128, well above ours, and says so in words only.
    if error.to_string().starts_with("recursion limit") {
        return Rejection::new(Code::TooDeep, format!("The line is nested deeper than {MAX_RECORD_DEPTH}."));
    }
    malformed(&format!("The line is not JSON: column {}.", error.column()))
}

/// A JSON value in which no member stands twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Number::from_f64(number).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
            if map.insert(name, value).is_some() {
                return Err(de::Error::custom("a member stands twice"));
            }
        }
        Ok(Value::Object(map))
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
        check(br#"{"key":"a","key":"b"}"#, expect!["malformed_ndjson: The line is not JSON: column 21."]);
        check(
            br#"{"key":"a","data":{"x":1,"x":1}}"#,
            expect!["malformed_ndjson: The line is not JSON: column 31."],
        );
        check(br#"{"key":"\ud800"}"#, expect!["malformed_ndjson: The line is not JSON: column 15."]);
        check(b"{\"key\":\"\xff\"}", expect!["invalid_utf8: The line is not UTF-8."]);
        check(br#"{"key":"a"} {"key":"b"}"#, expect!["malformed_ndjson: The line is not JSON: column 13."]);
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
        check(line.as_bytes(), expect!["too_deep: The line is nested deeper than 64."]);
    }
}
