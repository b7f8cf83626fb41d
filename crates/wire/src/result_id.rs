//! The self-contained handle of a record: connection, stream and key in one string.
//!
//! `connection_id/stream:record_id` when the key fits the plain grammar, else the canonical record
//! URI, whose payload may hold any key. Either form, alone, is enough to read the record again;
//! `pdpp-evidence` reads both, and whatever other servers mint.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use crate::{ConnectionId, RecordKey, StreamName};

const URI_PREFIX: &str = "pdpp://record/";

/// What a handle names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordRef {
    /// The connection.
    pub connection_id: ConnectionId,
    /// The stream.
    pub stream: StreamName,
    /// The record's canonical key.
    pub record_id: RecordKey,
}

#[derive(Serialize)]
struct Payload {
    v: u8,
    kind: String,
    connection_id: ConnectionId,
    stream: StreamName,
    record_id: RecordKey,
}

impl RecordRef {
    /// The handle shown to readers: the plain form if the key allows it, else the URI.
    pub fn result_id(&self) -> String {
        if is_plain(self.record_id.as_str()) {
            return format!("{}/{}:{}", self.connection_id, self.stream, self.record_id);
        }
        self.uri()
    }

    /// The canonical record URI.
    pub fn uri(&self) -> String {
        let payload = Payload {
            v: 1,
            kind: "record".to_owned(),
            connection_id: self.connection_id.clone(),
            stream: self.stream.clone(),
            record_id: self.record_id.clone(),
        };
        let json = serde_json::to_vec(&payload).unwrap_or_default();
        format!("{URI_PREFIX}{}", URL_SAFE_NO_PAD.encode(json))
    }
}

fn is_plain(key: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._:@+~-".contains(&b);
    (1..=128).contains(&key.len()) && key.bytes().all(plain) && !key.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn handle(key: &str) -> String {
        RecordRef {
            connection_id: ConnectionId::parse("cin_a1").unwrap(),
            stream: StreamName::parse("messages").unwrap(),
            record_id: RecordKey::parse(key).unwrap(),
        }
        .result_id()
    }

    #[test]
    fn plain_keys_read_as_a_path() {
        assert_eq!(handle("m_104:2"), "cin_a1/messages:m_104:2");
    }

    #[test]
    fn other_keys_become_a_uri() {
        for key in ["a/b", "a..b", "ä", r#"["u","2026"]"#, "with space", &"k".repeat(129)] {
            assert!(handle(key).starts_with(URI_PREFIX), "{key}");
        }
    }
}
