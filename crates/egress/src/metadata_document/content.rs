//! What a document says, and how to notice that it says something else.

use std::fmt::Write as _;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// The members on which access depends: a client that changes one of them is another client.
const TRUSTED: [&str; 4] = ["redirect_uris", "token_endpoint_auth_method", "jwks", "jwks_uri"];

/// A JSON object that names its own address.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    members: Map<String, Value>,
    sha256: String,
    trust_sha256: String,
}

/// Why an answer is no metadata document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentFault {
    /// Another media type than `application/json` or `application/…+json`.
    #[error("its media type is not application/json")]
    MediaType,
    /// Not JSON, or no object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// Another `client_id` than the address, or none.
    #[error("its client_id is not the address it was fetched from")]
    ClientId,
}

impl Content {
    pub(super) fn parse(client_id: &str, headers: &HeaderMap, body: &[u8]) -> Result<Self, ContentFault> {
        if !is_json(headers) {
            return Err(ContentFault::MediaType);
        }
        let members: Map<String, Value> =
            serde_json::from_slice(body).map_err(|_| ContentFault::NotAnObject)?;
        if members.get("client_id").and_then(Value::as_str) != Some(client_id) {
            return Err(ContentFault::ClientId);
        }
        let trust_sha256 = hash(canonical(&trusted(&members)).as_bytes());
        Ok(Self { members, sha256: hash(body), trust_sha256 })
    }

    /// The members, as they stand in the document. Nothing but `client_id` is checked.
    pub fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// SHA-256 of the bytes, in hex: differs whenever anything changed.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// SHA-256, in hex, of the members on which access depends (`redirect_uris` in any order,
    /// `token_endpoint_auth_method`, `jwks`, `jwks_uri`). Whoever keeps it notices, also after a restart, that a
    /// client became another one.
    pub fn trust_sha256(&self) -> &str {
        &self.trust_sha256
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let media_type = value.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    media_type
        .strip_prefix("application/")
        .is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}

fn trusted(members: &Map<String, Value>) -> Value {
    let mut trusted = Map::new();
    for name in TRUSTED {
        let mut value = members.get(name).cloned().unwrap_or(Value::Null);
        if name == "redirect_uris"
            && let Value::Array(uris) = &mut value
        {
            uris.sort_by_cached_key(canonical);
            uris.dedup();
        }
        trusted.insert(name.to_owned(), value);
    }
    Value::Object(trusted)
}

/// JSON with sorted members: the same text for what means the same.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members = members
                .into_iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: &str = "https://app.example/client";

    fn parse_as(media_type: &str, body: &str) -> Result<Content, ContentFault> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type.parse().unwrap())]);
        Content::parse(CLIENT, &headers, body.as_bytes())
    }

    fn with(members: &str) -> Content {
        parse_as("application/json", &format!(r#"{{"client_id":"{CLIENT}",{members}}}"#)).unwrap()
    }

    #[test]
    fn a_json_object_that_names_its_address_is_taken() {
        let body = format!(r#"{{"client_id":"{CLIENT}"}}"#);
        for media_type in ["application/json", "Application/JSON; charset=utf-8", "application/oauth+json"] {
            assert!(parse_as(media_type, &body).is_ok(), "{media_type}");
        }
        for media_type in ["text/html", "text/plain", "application/jsonp", "text/json", ""] {
            assert_eq!(parse_as(media_type, &body).err(), Some(ContentFault::MediaType), "{media_type}");
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let deep = "[".repeat(4_000);
        for body in ["", "null", "[]", "\"a\"", "{", "{} {}", deep.as_str()] {
            assert_eq!(parse_as("application/json", body).err(), Some(ContentFault::NotAnObject), "{body}");
        }
    }

    #[test]
    fn another_client_id_is_refused() {
        for body in [
            "{}",
            r#"{"client_id":null}"#,
            r#"{"client_id":"https://app.example/client/"}"#,
            r#"{"client_id":"https://app.example/Client"}"#,
            r#"{"client_id":["https://app.example/client"]}"#,
        ] {
            assert_eq!(parse_as("application/json", body).err(), Some(ContentFault::ClientId), "{body}");
        }
    }

    #[test]
    fn a_new_name_changes_the_content_and_not_the_trust() {
        let before = with(r#""client_name":"Notes","redirect_uris":["https://app.example/a"]"#);
        let after = with(r#""client_name":"Other","redirect_uris":["https://app.example/a"]"#);
        assert_ne!(before.sha256(), after.sha256());
        assert_eq!(before.trust_sha256(), after.trust_sha256());
    }

    #[test]
    fn order_and_spacing_do_not_change_the_trust() {
        let before = with(r#""redirect_uris":["b","a"],"jwks":{"keys":[{"kty":"EC","crv":"P-256"}]}"#);
        let after = with(r#""jwks": {"keys": [{"crv":"P-256", "kty":"EC"}]},"redirect_uris":["a","b"]"#);
        assert_eq!(before.trust_sha256(), after.trust_sha256());
    }

    #[test]
    fn each_trusted_member_changes_the_trust() {
        let plain = with(r#""client_name":"Notes""#);
        for members in [
            r#""redirect_uris":["https://app.example/a"]"#,
            r#""token_endpoint_auth_method":"none""#,
            r#""jwks":{"keys":[]}"#,
            r#""jwks_uri":"https://app.example/keys""#,
        ] {
            assert_ne!(with(members).trust_sha256(), plain.trust_sha256(), "{members}");
        }
    }
}
