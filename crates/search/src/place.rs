//! How the index names things: scopes, records, streams.
//!
//! Every term of the index begins with the scope it belongs to: the digest of subject, connection,
//! stream and field. What a plan may not see has other terms, so no look-up, no count and no walk
//! through the dictionary under a plan can touch it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pdpp_wire::{ConnectionId, RecordKey, StreamName, SubjectId};
use sha2::{Digest as _, Sha256};

/// Characters a scope takes at the beginning of a term: twelve bytes of a digest.
pub(crate) const SCOPE_CHARS: usize = 16;

/// One connection's stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StreamPlace {
    pub(crate) subject_id: SubjectId,
    pub(crate) connection_id: ConnectionId,
    pub(crate) stream: StreamName,
}

impl StreamPlace {
    /// The scope of one search field, by its path.
    pub(crate) fn scope(&self, path: &str) -> String {
        let [subject, connection, stream] = self.parts();
        short(digest("scope", &[subject, connection, stream, path]))
    }

    /// The scope of records of which no search field has text.
    pub(crate) fn bare_scope(&self) -> String {
        short(digest("bare", &self.parts()))
    }

    /// The term all passages of the stream share.
    pub(crate) fn stream_term(&self) -> String {
        short(digest("stream", &self.parts()))
    }

    /// The number of one record. Two records of one number would be one to the index: with 64 bits
    /// that takes billions of records, and what is found is read again from the store by its key.
    ///
    /// It is the number of its stream and that of its key, added: without the former, records are told apart by
    /// their keys alone, whatever id a connection was given.
    pub(crate) fn record(&self, key: &RecordKey) -> u64 {
        self.first().wrapping_add(number(digest("record", &[key.as_str()])))
    }

    /// What the numbers of all its records have in common.
    pub(crate) fn first(&self) -> u64 {
        number(digest("records", &self.parts()))
    }

    fn parts(&self) -> [&str; 3] {
        [self.subject_id.as_str(), self.connection_id.as_str(), self.stream.as_str()]
    }
}

/// The term all passages of a connection share.
pub(crate) fn connection_term(subject_id: &SubjectId, connection_id: &ConnectionId) -> String {
    short(digest("connection", &[subject_id.as_str(), connection_id.as_str()]))
}

fn number(digest: [u8; 32]) -> u64 {
    let (eight, _) = digest.split_first_chunk::<8>().expect("a digest has 32 bytes");
    u64::from_le_bytes(*eight)
}

fn short(digest: [u8; 32]) -> String {
    URL_SAFE_NO_PAD.encode(&digest[..12])
}

/// Each part goes in with its length, so that no two lists of parts collide.
fn digest(kind: &str, parts: &[&str]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in std::iter::once(&kind).chain(parts) {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(connection: &str, stream: &str) -> StreamPlace {
        StreamPlace {
            subject_id: SubjectId::parse("owner").unwrap(),
            connection_id: ConnectionId::parse(connection).unwrap(),
            stream: StreamName::parse(stream).unwrap(),
        }
    }

    #[test]
    fn places_and_fields_have_scopes_of_their_own() {
        let scopes = [
            place("con_1", "notes").scope("text"),
            place("con_1", "notes").scope("title"),
            place("con_2", "notes").scope("text"),
            place("con_1", "mail").scope("text"),
            place("con_1", "notes").bare_scope(),
            place("con_1", "notes").stream_term(),
        ];
        for (index, scope) in scopes.iter().enumerate() {
            assert_eq!(scope.len(), SCOPE_CHARS);
            assert!(!scopes[..index].contains(scope));
        }
    }

    #[test]
    fn records_are_told_apart_by_their_keys_whatever_their_connection_is_called() {
        let key = |key: &str| RecordKey::parse(key).unwrap();
        let (one, other) = (place("con_1", "notes"), place("con_2", "notes"));
        assert_ne!(one.record(&key("a")), other.record(&key("a")));
        assert_ne!(one.record(&key("a")), one.record(&key("b")));
        let of_key = |place: &StreamPlace| place.record(&key("a")).wrapping_sub(place.first());
        assert_eq!(of_key(&one), of_key(&other));
    }
}
