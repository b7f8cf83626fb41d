//! JSON from outside, read once with what a lenient parser would let pass refused: duplicate names,
//! deep nesting, lone surrogates, trailing text.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Why a text is not acceptable JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFault {
    /// Not one JSON value, or an object names a member twice.
    Malformed,
    /// Nested deeper than allowed.
    TooDeep,
}

/// Parses one JSON value nested at most `max_depth` containers deep.
pub fn parse_strict(text: &[u8], max_depth: usize) -> Result<Value, JsonFault> {
    let too_deep = Cell::new(false);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let seed = Strict { left: max_depth, too_deep: &too_deep };
    let parsed = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    parsed.map_err(|_| if too_deep.get() { JsonFault::TooDeep } else { JsonFault::Malformed })
}

#[derive(Clone, Copy)]
struct Strict<'c> {
    left: usize,
    too_deep: &'c Cell<bool>,
}

impl Strict<'_> {
    fn inside<E: serde::de::Error>(self) -> Result<Self, E> {
        self.left.checked_sub(1).map(|left| Self { left, ..self }).ok_or_else(|| {
            self.too_deep.set(true);
            E::custom("nested too deeply")
        })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inside = self.inside()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(inside)?;
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("a name stands twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lenient_parser_lets_pass_is_refused() {
        for bad in [
            r#"{"a":1,"a":2}"#,
            r#"{"o":{"a":1,"a":1}}"#,
            r#"{"a":1} x"#,
            r#"["\ud800"]"#,
            "{",
            "",
            "NaN",
            "1e999",
            "[1,]",
            "\"a\0\"",
        ] {
            assert_eq!(parse_strict(bad.as_bytes(), 8), Err(JsonFault::Malformed), "{bad:?}");
        }
    }

    #[test]
    fn depth_is_counted_in_containers() {
        assert!(parse_strict(b"[[1]]", 2).is_ok());
        assert_eq!(parse_strict(b"[[[1]]]", 2), Err(JsonFault::TooDeep));
        assert_eq!(parse_strict("[".repeat(100_000).as_bytes(), 64), Err(JsonFault::TooDeep));
    }

    #[test]
    fn values_come_through_unchanged() {
        let text = r#"{"b":[1,-2,1.5,null,true,"x\u0000"],"a":{}}"#;
        let parsed = parse_strict(text.as_bytes(), 8).unwrap();
        assert_eq!(parsed, serde_json::from_str::<Value>(text).unwrap());
    }
}
