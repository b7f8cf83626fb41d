//! Small readers and writers of JSON members, for exports whose members may be anything.

use serde_json::{Map, Value};

/// Deepest nesting of what is copied from an export into a record as it stands. Stores admit 64 levels.
const DEEPEST: usize = 32;

/// A member that is text and not empty.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A member that is a list; nothing else is one.
pub(crate) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A member that is a whole number, written as one or as text.
pub(crate) fn whole(value: &Value, name: &str) -> Option<i64> {
    match value.get(name)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A member that is `true` or `false`.
pub(crate) fn flag(value: &Value, name: &str) -> Option<bool> {
    value.get(name).and_then(Value::as_bool)
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

/// Whether a value is flat enough to be copied as it stands. Values come from a parser that bounds their nesting.
pub(crate) fn is_shallow(value: &Value) -> bool {
    fn within(value: &Value, left: usize) -> bool {
        match value {
            Value::Object(members) => left > 0 && members.values().all(|value| within(value, left - 1)),
            Value::Array(items) => left > 0 && items.iter().all(|value| within(value, left - 1)),
            _ => true,
        }
    }
    within(value, DEEPEST)
}
