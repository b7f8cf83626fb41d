//! Members of parsed JSON, read without trusting their types, and records put together from them.

use pdpp_wire::Instant;
use serde_json::{Map, Value};

use crate::Draft;

/// How deep a value may be that is handed on as the export has it. Records may hold 64 levels, and this leaves room
/// for what stands around it.
const DEEPEST_KEPT: usize = 32;
/// The last second of the year 9999.
const LATEST: f64 = 253_402_300_799.0;

/// A member that is text with something in it.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A member that is `true` or `false`.
pub(crate) fn flag(value: &Value, name: &str) -> Option<bool> {
    value.get(name).and_then(Value::as_bool)
}

/// A member that is a whole number, not negative; some exports write sizes as `123.0`.
pub(crate) fn count(value: &Value, name: &str) -> Option<i64> {
    let number = value.get(name)?;
    let whole = number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
        #[expect(clippy::cast_possible_truncation, reason = "a whole number within the bound above")]
        let whole = float as i64;
        Some(whole)
    });
    whole.filter(|whole| *whole >= 0)
}

/// A member that is a whole number, written as one or as text.
pub(crate) fn whole(value: &Value, name: &str) -> Option<i64> {
    match value.get(name)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// Puts a member if there is something to put; an empty text or list is nothing.
pub(crate) fn put(data: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    let value = value.map(Into::into).unwrap_or_default();
    let nothing = match &value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    if !nothing {
        data.insert(name.to_owned(), value);
    }
}

/// A member that is a list; nothing where it is none.
pub(crate) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A time member: seconds since 1970 as a number, or a date-time as text. UTC, or `None` where it is neither.
pub(crate) fn time(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::Number(seconds) => time_of_seconds(seconds.as_f64()?),
        Value::String(text) => time_of_text(text),
        _ => None,
    }
}

/// Seconds since 1970, to the millisecond.
pub(crate) fn time_of_seconds(seconds: f64) -> Option<String> {
    if !(0.0..=LATEST).contains(&seconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "within the bounds above")]
    let millis = (seconds * 1000.0).round() as i64;
    Some(told(Instant::from_micros(millis * 1000)))
}

/// A date or date-time as text; without a zone it is taken as UTC.
pub(crate) fn time_of_text(text: &str) -> Option<String> {
    Instant::parse(text.trim()).map(told)
}

/// Milliseconds only where there are some.
fn told(at: Instant) -> String {
    let text = at.to_rfc3339();
    match text.strip_suffix(".000Z") {
        Some(seconds) => format!("{seconds}Z"),
        None => text,
    }
}

/// Whether a value may be handed on as it is.
pub(crate) fn is_shallow(value: &Value) -> bool {
    fn within(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left > 0 && items.iter().all(|item| within(item, left - 1)),
            Value::Object(members) => left > 0 && members.values().all(|item| within(item, left - 1)),
            _ => true,
        }
    }
    within(value, DEEPEST_KEPT)
}

/// The members of a record; what is absent in the export stays absent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub(crate) fn put_some(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// A list, left out when it is empty.
    pub(crate) fn put_list(&mut self, name: &str, list: Vec<Value>) {
        if !list.is_empty() {
            self.put(name, list);
        }
    }

    pub(crate) fn into_draft(self, stream: &str, key: &str, place: &str) -> Draft {
        Draft { stream: stream.to_owned(), key: key.to_owned(), data: self.0, place: place.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_come_out_in_utc_with_milliseconds_only_where_they_are() {
        let value = json!({"a": 1_767_323_045.0, "b": 1_767_323_045.123_456, "c": "2026-01-02T05:04:05+02:00",
            "d": null, "e": -1, "f": 1e300, "g": "soon", "h": "2026-01-02T03:04:05.25Z", "i": "2026-01-02 03:04"});
        let told: Vec<_> =
            "abcdefghi".chars().map(|name| time(&value, &name.to_string()).unwrap_or_default()).collect();
        assert_eq!(
            told,
            [
                "2026-01-02T03:04:05Z",
                "2026-01-02T03:04:05.123Z",
                "2026-01-02T03:04:05Z",
                "",
                "",
                "",
                "",
                "2026-01-02T03:04:05.250Z",
                "2026-01-02T03:04:00Z"
            ]
        );
    }

    #[test]
    fn only_shallow_values_are_handed_on() {
        let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert!(is_shallow(&nested(32)));
        assert!(!is_shallow(&nested(33)));
    }
}
