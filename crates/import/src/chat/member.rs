//! Members of loose JSON: exports change their types between years, so a wrong type is an absence.

use serde_json::{Map, Value};

use crate::members::list;

/// The texts in a list; anything else in it is passed over.
pub(crate) fn texts<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v str> {
    list(value, member).iter().filter_map(Value::as_str)
}

/// The same value, cut below a depth: a record may not be nested without end.
pub(crate) fn shallow(value: &Value, depth: usize) -> Value {
    match value {
        Value::Array(items) if depth > 0 => items.iter().map(|item| shallow(item, depth - 1)).collect(),
        Value::Object(members) if depth > 0 => {
            let cut = |(name, value): (&String, &Value)| (name.clone(), shallow(value, depth - 1));
            Value::Object(members.iter().map(cut).collect::<Map<_, _>>())
        }
        Value::Array(_) | Value::Object(_) => Value::Null,
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::members::{flag, text, whole};

    #[test]
    fn a_wrong_type_is_an_absence() {
        let value = json!({"t": "x", "e": "", "n": 7, "s": "8", "f": 1.5, "l": ["a", 1, "b"]});
        assert_eq!((text(&value, "t"), text(&value, "e"), text(&value, "n")), (Some("x"), None, None));
        assert_eq!((whole(&value, "n"), whole(&value, "s"), whole(&value, "f")), (Some(7), Some(8), None));
        assert_eq!(texts(&value, "l").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((flag(&value, "t"), list(&value, "t").len()), (None, 0));
    }

    #[test]
    fn nesting_is_cut_at_a_depth() {
        assert_eq!(shallow(&json!({"a": [{"b": [1]}], "c": 2}), 2), json!({"a": [null], "c": 2}));
    }
}
