//! The self-contained handle of a record: connection, stream and key in one string.
//!
//! `connection_id/stream:record_id` when the key fits the plain grammar, else the canonical record
//! URI, whose payload may hold any key. Either form, alone, is enough to read the record again.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

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

#[derive(Serialize, Deserialize)]
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

    /// Reads either form of handle.
    pub fn parse(handle: &str) -> Option<Self> {
        if let Some(encoded) = handle.strip_prefix(URI_PREFIX) {
            let json = URL_SAFE_NO_PAD.decode(encoded).ok()?;
            let payload: Payload = serde_json::from_slice(&json).ok()?;
            let Payload { v: 1, connection_id, stream, record_id, kind } = payload else {
                return None;
            };
            return (kind == "record").then_some(Self { connection_id, stream, record_id });
        }
        let (connection, rest) = handle.split_once('/')?;
        let (stream, record) = rest.split_once(':')?;
        is_plain(record).then_some(())?;
        Some(Self {
            connection_id: ConnectionId::parse(connection).ok()?,
            stream: StreamName::parse(stream).ok()?,
            record_id: RecordKey::parse(record).ok()?,
        })
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
    fn round_trip(key: &str) -> String {
        let record = RecordRef {
            connection_id: ConnectionId::parse("cin_a1").unwrap(),
            stream: StreamName::parse("messages").unwrap(),
            record_id: RecordKey::parse(key).unwrap(),
        };
        let handle = record.result_id();
        assert_eq!(RecordRef::parse(&handle), Some(record));
        handle
    }

    #[test]
    fn plain_keys_read_as_a_path() {
        assert_eq!(round_trip("m_104:2"), "cin_a1/messages:m_104:2");
        assert_eq!(round_trip("<x>".trim_matches(['<', '>'])), "cin_a1/messages:x");
    }

    #[test]
    fn other_keys_become_a_uri() {
        for key in ["a/b", "a..b", "ä", r#"["u","2026"]"#, "with space", &"k".repeat(129)] {
            assert!(round_trip(key).starts_with(URI_PREFIX), "{key}");
        }
    }

    #[test]
    fn foreign_handles_are_refused() {
        for handle in
            ["", "messages:m1", "cin_a1/messages", "cin_a1/messages:a/b", "pdpp://record/zzz", "cin_a1/m:.."]
        {
            assert_eq!(RecordRef::parse(handle), None, "{handle}");
        }
    }
}
