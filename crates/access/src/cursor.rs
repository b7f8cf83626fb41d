//! Cursors and `changes_since` tokens: sealed, versioned and bound to what they continue.
//!
//! A token is a position under authenticated encryption. The associated data is a digest of
//! everything the continued question depends on (subject, grants, stream, connections, order,
//! filter, fields), so a token from another question simply does not open. Positions hold sequence
//! numbers that count writes outside a grant, hence encryption, random nonces and fixed widths:
//! neither a token's bytes nor its length may tell them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use pdpp_wire::{Code, ConnectionId, Instant, RecordKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Denial, Entropy};

const VERSION: u8 = 1;
const NONCE: usize = 24;
/// Longest token that is looked at.
const MAX_TOKEN: usize = 8192;
/// Longest state somebody carries that is looked at.
const MAX_CARRIED: usize = 128 * 1024;

/// What a token is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding([u8; 32]);

impl Binding {
    /// Digests the parts of a question, each with its length, so that no two questions collide.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        Self(digest.finalize().into())
    }
}

/// Where a page of records ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// The last record's order value; `None` among records without one, or when ordered by key.
    pub value: Option<OrderValue>,
    /// The last record's key.
    pub key: RecordKey,
    /// The last record's connection.
    pub connection_id: ConnectionId,
}

/// A value records are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum OrderValue {
    /// A whole number.
    Integer(i64),
    /// Another number.
    Number(f64),
    /// A moment.
    Instant(Instant),
}

/// A point in a subject's history, as a `changes_since` token remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangesSince {
    /// The change log position.
    #[serde(with = "fixed")]
    pub sequence: u64,
    /// Each connection's epoch for the stream: another epoch means the history is gone.
    pub epochs: Vec<(ConnectionId, Epoch)>,
}

/// Changes when a stream's history is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch(#[serde(with = "fixed")] pub u64);

/// Where a page of changes starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangesPosition {
    /// What the session started from; `None` means the beginning.
    pub since: Option<ChangesSince>,
    /// Where the session ends; `None` on its first page.
    pub horizon: Option<ChangesSince>,
    /// The last entry of the previous page: its connection and the sequence of the change it told.
    pub after: Option<(ConnectionId, Epoch)>,
}

impl ChangesPosition {
    /// Where the session ends that this continues, or that starts now; `None` when some history it needs is gone.
    pub fn horizon(&self, now: ChangesSince) -> Option<ChangesSince> {
        let is_stale =
            |earlier: &Option<ChangesSince>| earlier.as_ref().is_some_and(|at| at.epochs != now.epochs);
        if is_stale(&self.since) || is_stale(&self.horizon) {
            return None;
        }
        Some(self.horizon.clone().unwrap_or(now))
    }

    /// Where the page starts within a connection; `None` when earlier pages finished it.
    pub fn start_in(&self, connection_id: &ConnectionId) -> Option<u64> {
        match &self.after {
            Some((last, Epoch(sequence))) if last == connection_id => Some(*sequence),
            Some((last, _)) if connection_id < last => None,
            _ => Some(0),
        }
    }
}

/// Where a page of search hits starts, in a ranking that is kept for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchPosition {
    /// Names the ranking.
    #[serde(with = "fixed")]
    pub ranking: u64,
    /// How many of its hits were served.
    #[serde(with = "fixed")]
    pub offset: u64,
}

/// Seals and opens tokens under a key that never leaves the store.
#[derive(Clone)]
pub struct Sealer {
    cipher: XChaCha20Poly1305,
}

impl std::fmt::Debug for Sealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sealer(..)")
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Page = 1,
    ChangesPage = 2,
    ChangesSince = 3,
    Search = 4,
    Carried = 5,
}

impl Sealer {
    /// Uses a 256-bit key.
    pub fn new(key: &[u8; 32]) -> Self {
        Self { cipher: XChaCha20Poly1305::new(key.into()) }
    }

    /// Seals the end of a page of records.
    pub fn seal_page(&self, entropy: &dyn Entropy, binding: &Binding, position: &Position) -> String {
        self.seal(entropy, Kind::Page, binding, position)
    }

    /// Seals the end of a page of changes.
    pub fn seal_changes_page(
        &self,
        entropy: &dyn Entropy,
        binding: &Binding,
        position: &ChangesPosition,
    ) -> String {
        self.seal(entropy, Kind::ChangesPage, binding, position)
    }

    /// Seals a `changes_since` token.
    pub fn seal_changes_since(
        &self,
        entropy: &dyn Entropy,
        binding: &Binding,
        since: &ChangesSince,
    ) -> String {
        self.seal(entropy, Kind::ChangesSince, binding, since)
    }

    /// Seals the end of a page of search hits.
    pub fn seal_search(&self, entropy: &dyn Entropy, binding: &Binding, position: &SearchPosition) -> String {
        self.seal(entropy, Kind::Search, binding, position)
    }

    pub(crate) fn open_search(&self, binding: &Binding, token: &str) -> Result<SearchPosition, Denial> {
        self.open(Kind::Search, binding, token, "cursor")
    }

    pub(crate) fn open_page(&self, binding: &Binding, token: &str) -> Result<Position, Denial> {
        self.open(Kind::Page, binding, token, "cursor")
    }

    pub(crate) fn open_changes_page(
        &self,
        binding: &Binding,
        token: &str,
    ) -> Result<ChangesPosition, Denial> {
        self.open(Kind::ChangesPage, binding, token, "cursor")
    }

    pub(crate) fn open_changes_since(&self, binding: &Binding, token: &str) -> Result<ChangesSince, Denial> {
        self.open(Kind::ChangesSince, binding, token, "changes_since")
    }

    /// Seals what a visitor carries for us from one request to the next, whichever process answers that.
    pub fn seal_carried(&self, entropy: &dyn Entropy, binding: &Binding, state: &impl Serialize) -> String {
        self.seal(entropy, Kind::Carried, binding, state)
    }

    /// Opens it; `None` when it is not ours, or is for something else.
    pub fn open_carried<T: for<'de> Deserialize<'de>>(&self, binding: &Binding, token: &str) -> Option<T> {
        self.unseal(Kind::Carried, binding, token, MAX_CARRIED)
    }

    fn seal(
        &self,
        entropy: &dyn Entropy,
        kind: Kind,
        binding: &Binding,
        position: &impl Serialize,
    ) -> String {
        let mut nonce = [0; NONCE];
        entropy.fill(&mut nonce);
        let plain = serde_json::to_vec(position).expect("positions are plain data");
        let aad = associated_data(kind, binding);
        let sealed = self
            .cipher
            .encrypt(&XNonce::from(nonce), Payload { msg: &plain, aad: &aad })
            .expect("positions are far below the cipher's limit");
        let mut token = Vec::with_capacity(1 + NONCE + sealed.len());
        token.push(VERSION);
        token.extend_from_slice(&nonce);
        token.extend_from_slice(&sealed);
        URL_SAFE_NO_PAD.encode(token)
    }

    fn open<T: for<'de> Deserialize<'de>>(
        &self,
        kind: Kind,
        binding: &Binding,
        token: &str,
        param: &str,
    ) -> Result<T, Denial> {
        self.unseal(kind, binding, token, MAX_TOKEN).ok_or_else(|| {
            let message =
                format!("This `{param}` is not one this query issued; repeat the query without it.");
            Denial::new(Code::InvalidCursor, message).param(param)
        })
    }

    fn unseal<T: for<'de> Deserialize<'de>>(
        &self,
        kind: Kind,
        binding: &Binding,
        token: &str,
        longest: usize,
    ) -> Option<T> {
        if token.len() > longest {
            return None;
        }
        let token = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (&[VERSION], rest) = token.split_first_chunk::<1>()? else {
            return None;
        };
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>()?;
        let aad = associated_data(kind, binding);
        let opened = self.cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: &aad });
        serde_json::from_slice(&opened.ok()?).ok()
    }
}

fn associated_data(kind: Kind, binding: &Binding) -> [u8; 34] {
    let mut aad = [0; 34];
    aad[0] = VERSION;
    aad[1] = kind as u8;
    aad[2..].copy_from_slice(&binding.0);
    aad
}

/// Numbers as sixteen hex digits, so that a token's length does not tell their size.
mod fixed {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
    pub(super) fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{number:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    struct Counting(AtomicU8);

    impl Entropy for Counting {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(self.0.fetch_add(1, Ordering::Relaxed));
        }
    }

    fn position() -> Position {
        Position {
            value: Some(OrderValue::Integer(7)),
            key: RecordKey::parse("m_1").unwrap(),
            connection_id: ConnectionId::parse("cin_a").unwrap(),
        }
    }

    #[test]
    fn a_cursor_opens_only_for_its_own_question() {
        let (sealer, entropy) = (Sealer::new(&[7; 32]), Counting(AtomicU8::new(0)));
        let (ours, theirs) = (Binding::of(["messages", "desc"]), Binding::of(["messagesd", "esc"]));
        let token = sealer.seal_page(&entropy, &ours, &position());
        assert_eq!(sealer.open_page(&ours, &token).unwrap(), position());
        assert_eq!(sealer.open_page(&theirs, &token).unwrap_err().code, Code::InvalidCursor);
        assert!(sealer.open_changes_page(&ours, &token).is_err());
        assert!(Sealer::new(&[8; 32]).open_page(&ours, &token).is_err());
    }

    #[test]
    fn any_altered_byte_is_refused() {
        let (sealer, entropy, binding) =
            (Sealer::new(&[7; 32]), Counting(AtomicU8::new(0)), Binding::of(["x"]));
        let token = sealer.seal_page(&entropy, &binding, &position());
        for index in 0..token.len() {
            let mut altered = token.clone().into_bytes();
            altered[index] = if altered[index] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            let opened = sealer.open_page(&binding, &altered);
            // The last character may carry unused bits; a decoder that ignores them is not fooled.
            assert!(opened.is_err(), "byte {index}");
        }
        for junk in ["", "A", "%%%", "beginning", &"A".repeat(9000)] {
            assert!(sealer.open_page(&binding, junk).is_err());
        }
    }

    #[test]
    fn the_length_of_a_token_does_not_tell_the_sequence() {
        let (sealer, entropy, binding) =
            (Sealer::new(&[7; 32]), Counting(AtomicU8::new(0)), Binding::of(["x"]));
        let length = |sequence| {
            let epochs = vec![(ConnectionId::parse("cin_a").unwrap(), Epoch(sequence))];
            sealer.seal_changes_since(&entropy, &binding, &ChangesSince { sequence, epochs }).len()
        };
        assert_eq!(length(1), length(u64::MAX));
    }
}
