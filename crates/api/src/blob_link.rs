//! Adds to a record's `blob_ref` the address its bytes are read at.
//!
//! Producers store the reference without an address. Everything else in the payload keeps its own
//! spelling: only the one member is rewritten.

use std::fmt;

use pdpp_store::StoreError;
use pdpp_wire::Data;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::ApiError;

const FIELD: &str = "blob_ref";

/// The payload, with `blob_ref.fetch_url` if it refers to a blob.
pub(crate) fn link_blob(data: Data) -> Result<Data, ApiError> {
    // Payloads without the name, the common case, are not parsed at all.
    if !data.get().contains(FIELD) {
        return Ok(data);
    }
    let members: Members<'_> = serde_json::from_str(data.get()).map_err(damaged)?;
    let Some(link) = members.0.iter().find(|(name, _)| name == FIELD).and_then(|(_, value)| linked(value))
    else {
        return Ok(data);
    };
    let mut text = String::with_capacity(data.get().len() + 128);
    text.push('{');
    for (index, (name, value)) in members.0.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&serde_json::to_string(name).map_err(damaged)?);
        text.push(':');
        text.push_str(if name == FIELD { &link } else { value.get() });
    }
    text.push('}');
    Data::parse(text).map_err(damaged)
}

fn linked(value: &RawValue) -> Option<String> {
    let mut reference: Map<String, Value> = serde_json::from_str(value.get()).ok()?;
    let id = reference.get("blob_id")?.as_str().filter(|id| !id.is_empty())?;
    let url = format!("/v1/blobs/{}", pdpp_evidence::percent_encode_segment(id));
    reference.insert("fetch_url".to_owned(), url.into());
    Some(Value::Object(reference).to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
fn damaged(error: serde_json::Error) -> ApiError {
    ApiError::internal(StoreError::Damaged(format!("a stored record is not a JSON object: {error}")))
}

/// The members of an object, in order, their values unparsed.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    members.push(entry);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(data: &str, expected: &str) {
        assert_eq!(link_blob(Data::parse(data.to_owned()).unwrap()).unwrap().get(), expected);
    }

    #[test]
    fn only_a_top_level_reference_gets_an_address() {
        check(r#"{"a": 1.50}"#, r#"{"a": 1.50}"#);
        check(
            r#"{"a": 1.50,"blob_ref":{"blob_id":"blob_1","size_bytes":3}}"#,
            r#"{"a":1.50,"blob_ref":{"blob_id":"blob_1","size_bytes":3,"fetch_url":"/v1/blobs/blob_1"}}"#,
        );
        for untouched in [
            r#"{"blob_ref":null}"#,
            r#"{"blob_ref":{"blob_id":""}}"#,
            r#"{"blob_ref":"blob_1"}"#,
            r#"{"in":{"blob_ref":{"blob_id":"x"}}}"#,
        ] {
            check(untouched, untouched);
        }
    }
}
