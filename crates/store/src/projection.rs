//! Cuts a stored record down to the fields a plan shows, without building it in memory.

use std::borrow::Cow;
use std::fmt;

use pdpp_access::FieldSet;
use pdpp_wire::Data;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::StoreError;

/// The stored JSON text with only the set's fields, in stored order.
pub fn project(json: String, fields: &FieldSet) -> Result<Data, StoreError> {
    let FieldSet::Only(_) = fields else { return Data::parse(json).map_err(damaged) };
    let Members(mut members) = serde_json::from_str(&json).map_err(damaged)?;
    members.retain(|(name, _)| fields.contains(name));
    // What was just read needs not be read again to be known as JSON.
    to_raw_value(&Members(members)).map(Data::from).map_err(damaged)
}

#[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
fn damaged(error: serde_json::Error) -> StoreError {
    StoreError::Damaged(format!("a stored record is not JSON: {error}"))
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(map.size_hint().unwrap_or(16));
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    members.push((name.0, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// A member name, borrowed unless it was written with escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(json: &str, fields: &[&str], expected: Expect) {
        let fields = FieldSet::only(fields.iter().map(|name| (*name).to_owned()));
        expected.assert_eq(project(json.to_owned(), &fields).unwrap().get());
    }

    #[test]
    fn only_named_fields_remain_in_stored_order() {
        check(r#"{"id":"1","b":{"x":[1, 2]},"a":1.50}"#, &["a", "id"], expect![[r#"{"id":"1","a":1.50}"#]]);
        check(r#"{"id":"1"}"#, &["nope"], expect!["{}"]);
    }

    #[test]
    fn escaped_names_are_compared_unescaped() {
        check(r#"{"a\u0062":1,"c":2}"#, &["ab"], expect![[r#"{"ab":1}"#]]);
    }

    #[test]
    fn nested_members_of_the_same_name_do_not_count() {
        check(r#"{"o":{"secret":1},"secret":2}"#, &["o"], expect![[r#"{"o":{"secret":1}}"#]]);
    }
}
