//! Identifiers as types, so that a stream cannot be passed where a connection belongs.
//!
//! Each `parse` checks what every surface relies on: a bounded length, no control characters, and
//! for names we mint or route by, an alphabet that survives URLs and self-contained ids.

use std::borrow::Borrow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a string is not an identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {problem}")]
pub struct IdFault {
    kind: &'static str,
    problem: &'static str,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, max $max:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String")]
        #[schemars(with = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks and takes a string.
            pub fn parse(text: impl Into<String>) -> Result<Self, IdFault> {
                let text = text.into();
                let fault = |problem| Err(IdFault { kind: $kind, problem });
                if text.is_empty() {
                    return fault("is empty");
                }
                if text.len() > $max {
                    return fault(concat!("is longer than ", $max, " bytes"));
                }
                let check: fn(&str) -> Option<&'static str> = $check;
                match check(&text) {
                    Some(problem) => fault(problem),
                    None => Ok(Self(text)),
                }
            }

            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdFault;
            fn try_from(text: String) -> Result<Self, IdFault> {
                Self::parse(text)
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdFault;
            fn from_str(text: &str) -> Result<Self, IdFault> {
                Self::parse(text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

id! {
    /// One data subject (owner).
    SubjectId, "subject id", max 128, slug
}
id! {
    /// One owner-configured account, device or profile of a connector; `instance_ids` in a grant.
    ConnectionId, "connection id", max 128, slug
}
id! {
    /// The short key of a connector, for example `gmail`.
    ConnectorKey, "connector key", max 128, connector_key
}
id! {
    /// A stream's name inside its source.
    StreamName, "stream name", max 128, stream_name
}
id! {
    /// A record's canonical key: the plain string, or the minified JSON array of a compound key.
    RecordKey, "record key", max 1024, no_controls
}
id! {
    /// One grant.
    GrantId, "grant id", max 128, slug
}
id! {
    /// One client application.
    ClientId, "client id", max 2048, no_controls
}
id! {
    /// The public, unredeemable name of a token.
    TokenId, "token id", max 128, slug
}
id! {
    /// One request for consent, as it may be shown: it redeems nothing.
    ApprovalId, "approval id", max 128, slug
}
id! {
    /// One line of refresh tokens, each the successor of another.
    FamilyId, "refresh family id", max 128, slug
}
id! {
    /// One signed-in browser of the owner, as it may be shown: it opens nothing.
    SessionId, "session id", max 128, slug
}
id! {
    /// One event subscription.
    SubscriptionId, "subscription id", max 128, slug
}
id! {
    /// One event, the same on every attempt to deliver it.
    EventId, "event id", max 128, slug
}
id! {
    /// A blob: `blob_sha256_` and the 64 hex digits of its content.
    BlobId, "blob id", max 76, blob_id
}

fn no_controls(text: &str) -> Option<&'static str> {
    text.chars().any(char::is_control).then_some("contains a control character")
}

fn slug(text: &str) -> Option<&'static str> {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    (!plain).then_some("may hold only letters, digits, `_` and `-`")
}

fn connector_key(text: &str) -> Option<&'static str> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let first = text.bytes().next().is_some_and(plain);
    let rest = text.bytes().all(|b| plain(b) || matches!(b, b'.' | b'_' | b'-'));
    (!(first && rest)).then_some("must match ^[a-z0-9][a-z0-9._-]*$")
}

fn stream_name(text: &str) -> Option<&'static str> {
    if text == "*" {
        return Some("`*` is reserved");
    }
    if text.contains([':', '/', '\\', ',']) || text.contains("..") {
        return Some("may not hold `:`, `/`, `\\`, `,` or `..`");
    }
    no_controls(text)
}

fn blob_id(text: &str) -> Option<&'static str> {
    let hex = text.strip_prefix("blob_sha256_").is_some_and(|digits| {
        digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    });
    (!hex).then_some("is not `blob_sha256_` and 64 hex digits")
}

impl BlobId {
    /// The id of content with this SHA-256 digest.
    pub fn of_sha256(digest: &[u8; 32]) -> Self {
        use fmt::Write as _;
        let mut text = String::from("blob_sha256_");
        for byte in digest {
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// The 64 hex digits.
    pub fn sha256_hex(&self) -> &str {
        &self.0["blob_sha256_".len()..]
    }
}

impl RecordKey {
    /// The canonical key of one or several key parts.
    pub fn of_parts(parts: &[String]) -> Result<Self, IdFault> {
        match parts {
            [one] => Self::parse(one.as_str()),
            many => Self::parse(serde_json::to_string(many).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compound_keys_are_minified_json() {
        let key = RecordKey::of_parts(&["user_1".into(), "2026-04-01".into()]).unwrap();
        assert_eq!(key.as_str(), r#"["user_1","2026-04-01"]"#);
    }

    #[test]
    fn separators_and_traversal_are_refused_in_names() {
        for bad in ["", "*", "a:b", "a/b", "a\\b", "..", "a\0"] {
            assert!(StreamName::parse(bad).is_err(), "{bad:?}");
        }
        for bad in ["cin/1", "cin:1", "", "a b"] {
            assert!(ConnectionId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn connector_keys_are_lower_case() {
        assert!(ConnectorKey::parse("my-notes.v1").is_ok());
        assert!(ConnectorKey::parse("Gmail").is_err());
        assert!(ConnectorKey::parse("-x").is_err());
    }

    #[test]
    fn blob_ids_are_digests() {
        let id = BlobId::of_sha256(&[0xab; 32]);
        assert_eq!(BlobId::parse(id.as_str()).unwrap(), id);
        assert!(BlobId::parse("blob_sha256_../../etc/passwd").is_err());
    }
}
