//! One scalar value as queries compare it: typed by the declaration, not by how it was written.
//!
//! A backend stores exactly these values in its typed columns, so `42`, `42.0` and the operand
//! `"42"` meet as one number, and two spellings of one instant as one instant.

use pdpp_wire::{Instant, manifest::FieldType};
use serde_json::Value;

/// A typed scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A boolean.
    Boolean(bool),
    /// A whole number that fits 64 bits.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// Text, compared scalar by scalar.
    Text(String),
    /// A moment.
    Instant(Instant),
}

impl Scalar {
    /// The value a record holds, if it has the declared type. Null, absent and misfit values have none.
    pub fn of_value(field_type: FieldType, value: &Value) -> Option<Self> {
        match (field_type, value) {
            (FieldType::Boolean, Value::Bool(flag)) => Some(Self::Boolean(*flag)),
            (FieldType::Integer | FieldType::Number, Value::Number(number)) => Some(
                number
                    .as_i64()
                    .map_or_else(|| Self::of_f64(number.as_f64().unwrap_or(f64::MAX)), Self::Integer),
            ),
            (FieldType::Text, Value::String(text)) => Some(Self::Text(text.clone())),
            (FieldType::Instant, Value::String(text)) => Instant::parse(text).map(Self::Instant),
            _ => None,
        }
    }

    /// The operand a parameter spells, strictly in the declared type.
    pub fn parse(field_type: FieldType, text: &str) -> Option<Self> {
        match field_type {
            FieldType::Boolean => text.parse().ok().map(Self::Boolean),
            FieldType::Integer => text.parse().ok().map(Self::Integer),
            FieldType::Number => match text.parse::<i64>() {
                Ok(whole) => Some(Self::Integer(whole)),
                Err(_) if is_decimal(text) => {
                    text.parse().ok().filter(|n: &f64| n.is_finite()).map(Self::of_f64)
                }
                Err(_) => None,
            },
            FieldType::Text => Some(Self::Text(text.to_owned())),
            FieldType::Instant => Instant::parse(text).map(Self::Instant),
            FieldType::Json => None,
        }
    }

    /// Whole numbers become integers, so that `3.0` and `3` are one value.
    fn of_f64(number: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked on the same line")]
        if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
            Self::Integer(number as i64)
        } else {
            Self::Number(number)
        }
    }
}

fn is_decimal(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'))
        && text.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spellings_of_one_value_meet() {
        let of = |value: Value| Scalar::of_value(FieldType::Number, &value);
        assert_eq!(of(json!(3.0)), of(json!(3)));
        assert_eq!(of(json!(3)), Scalar::parse(FieldType::Number, "3.0"));
        let noon = Scalar::parse(FieldType::Instant, "2026-01-01T12:00:00Z");
        assert_eq!(noon, Scalar::of_value(FieldType::Instant, &json!("2026-01-01T13:00:00+01:00")));
    }

    #[test]
    fn operands_of_another_type_are_refused() {
        for (field_type, text) in [
            (FieldType::Integer, "3.5"),
            (FieldType::Integer, "three"),
            (FieldType::Number, "NaN"),
            (FieldType::Number, "inf"),
            (FieldType::Boolean, "yes"),
            (FieldType::Instant, "today"),
            (FieldType::Json, "{}"),
        ] {
            assert_eq!(Scalar::parse(field_type, text), None, "{text}");
        }
    }
}
