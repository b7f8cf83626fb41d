//! Moving a store: everything it is made of, as rows that any other store can take.
//!
//! A part is a list of rows with the same columns on every backend, in an order every backend can give: by its key,
//! compared byte by byte, or in the order in which things were made. So two stores hold the same when the same parts
//! give the same rows, and a digest over them says so without laying both side by side. What is derived (columns,
//! places in the change feed, counts) is not carried but made again; what lives for minutes (requests that wait for
//! consent, sessions, attempts) stays behind.

mod copy;

use async_trait::async_trait;
use pdpp_wire::{BlobId, SubjectId};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{BlobBody, StoreError};

pub use copy::{Compared, Progress, compare, copy};

/// Most rows handed over at once.
pub const MAX_ROWS: u32 = 1_000;

/// Gives away and takes everything of a subject, part by part.
#[async_trait]
pub trait Transfer: Send + Sync {
    /// Rows of a part after a place, up to a number, and the place to go on from.
    async fn read_rows(
        &self,
        whose: Option<&SubjectId>,
        part: Part,
        after: Option<&Place>,
        limit: u32,
    ) -> Result<Portion, StoreError>;

    /// Takes rows and remembers how far it got, in one step. Rows come in their part's order, parts in the order of
    /// [`Part::ALL`].
    async fn take_rows(
        &self,
        whose: Option<&SubjectId>,
        part: Part,
        rows: Vec<Row>,
        mark: &Mark,
    ) -> Result<(), StoreError>;

    /// How far a copy into this store got; `None` when none is under way.
    async fn find_mark(&self, whose: Option<&SubjectId>) -> Result<Option<Mark>, StoreError>;

    /// Forgets how far it got, because it is done.
    async fn clear_mark(&self, whose: Option<&SubjectId>) -> Result<(), StoreError>;

    /// The bytes of a blob that [`Part::Blobs`] lists with this size.
    async fn give_blob(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        size_bytes: u64,
    ) -> Result<BlobBody, StoreError>;

    /// Keeps the bytes of a blob, durable when it returns; other bytes than its name says are refused. Its row comes
    /// afterwards.
    async fn take_blob(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        body: BlobBody,
    ) -> Result<(), StoreError>;
}

/// A piece of a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Portion {
    /// The rows.
    pub rows: Vec<Row>,
    /// Where the last of them stands; `None` when there are no more.
    pub next: Option<Place>,
}

/// One value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes {
        /// In hex, where it is written as text.
        #[serde(rename = "hex", with = "hex")]
        bytes: Vec<u8>,
    },
}

/// The values of a part's columns.
pub type Row = Vec<Cell>;

/// Where a row stands in its part, as the store that gave it counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place(pub Vec<Cell>);

/// How far a copy got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Names the store that is copied, so that another one is not mixed in.
    pub source: String,
    /// In which part.
    pub part: Part,
    /// Up to which row; `None` when the part is finished.
    pub after: Option<Place>,
    /// How many rows were taken so far, over all parts.
    pub rows: u64,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number, or nothing.
    Number,
    /// A text, or nothing.
    Text,
    /// Bytes, or nothing.
    Bytes,
}

/// How a part's rows are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the first columns, so many.
    Key(usize),
    /// By the first columns, so many, and then as they were made: the place ends with a number of the store's own.
    Making(usize),
}

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident = $spelling:literal, $order:expr, [$($column:literal: $kind:ident),+];)+) => {
        /// A part of a store.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Part { $($(#[$doc])* $name,)+ }

        impl Part {
            /// Every part, in the order in which a store takes them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// What it is called, also in statements.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $spelling),+ }
            }

            /// How its rows are ordered.
            pub const fn order(self) -> Order {
                match self { $(Self::$name => $order),+ }
            }

            /// Its columns.
            pub const fn columns(self) -> &'static [(&'static str, Kind)] {
                match self { $(Self::$name => &[$(($column, Kind::$kind)),+]),+ }
            }
        }
    };
}

parts! {
    /// Which documents declare something, each once.
    Snapshots = "snapshots", Order::Key(1), ["version": Text, "document": Text];
    /// Which of them is in force for each connector.
    Connectors = "connectors", Order::Key(1), ["connector_key": Text, "version": Text];
    /// Connections, oldest first.
    Connections = "connections", Order::Making(0), [
        "connection_id": Text, "connector_key": Text, "display_name": Text, "status": Text, "created_at": Number];
    /// A connection's share of a stream.
    Scopes = "scopes", Order::Key(2), ["connection_id": Text, "stream": Text, "connector_key": Text, "epoch": Number];
    /// Records, live and buried.
    Records = "records", Order::Key(3), [
        "connection_id": Text, "stream": Text, "key": Text, "created_seq": Number, "version": Number,
        "deleted_seq": Number, "deleted_at": Number, "emitted_at": Number, "emitted_top": Number,
        "consent_at": Number, "history": Text, "blob_id": Text, "data": Text];
    /// Ended lives of records that came back.
    PastLives = "past_lives", Order::Key(4), [
        "connection_id": Text, "stream": Text, "key": Text, "created_seq": Number, "deleted_seq": Number,
        "consent_at": Number];
    /// The change log.
    ChangeLog = "change_log", Order::Key(1), [
        "sequence": Number, "connection_id": Text, "stream": Text, "kind": Number, "record_key": Text];
    /// Where connectors left off.
    SyncStates = "sync_state", Order::Key(4), [
        "connector_key": Text, "connection_id": Text, "grant_id": Text, "stream": Text, "value": Text,
        "updated_at": Number];
    /// Which bytes are kept; the bytes themselves are copied beside.
    Blobs = "blobs", Order::Key(1), ["blob_id": Text, "size_bytes": Number, "mime_type": Text];
    /// Which records they were uploaded for.
    BlobBindings = "blob_bindings", Order::Key(4), [
        "connection_id": Text, "stream": Text, "record_key": Text, "json_path": Text, "blob_id": Text,
        "mime_type": Text];
    /// The owner's passphrase, as a hash.
    OwnerSecrets = "owner_secrets", Order::Key(1), ["phc": Text];
    /// The owner's passkeys.
    Passkeys = "owner_passkeys", Order::Key(1), [
        "passkey_id": Text, "label": Text, "document": Text, "created_at": Number, "last_used_at": Number];
    /// Grants, oldest first.
    Grants = "grants", Order::Making(0), [
        "grant_id": Text, "document": Text, "access_mode": Text, "consumed": Number, "issued_at": Number,
        "revoked_at": Number];
    /// Tokens, as hashes.
    Tokens = "tokens", Order::Key(1), [
        "hash": Bytes, "token_id": Text, "kind": Text, "client_id": Text, "issued_at": Number,
        "expires_at": Number, "revoked_at": Number, "resource": Text, "family_id": Text];
    /// What tokens open.
    TokenGrants = "token_grants", Order::Key(2), ["hash": Bytes, "position": Number, "grant_id": Text];
    /// Lines of refresh tokens.
    Families = "refresh_families", Order::Key(1), [
        "family_id": Text, "client_id": Text, "kind": Text, "resource": Text, "generation": Number,
        "rotated_at": Number, "created_at": Number, "expires_at": Number, "revoked_at": Number];
    /// What they open.
    FamilyGrants = "refresh_family_grants", Order::Key(2), ["family_id": Text, "position": Number, "grant_id": Text];
    /// Every refresh token there ever was, as hashes.
    RefreshTokens = "refresh_tokens", Order::Key(1), ["hash": Bytes, "family_id": Text, "generation": Number];
    /// Who is told of changes, oldest first. Their secrets stay sealed under the key that is kept beside the store.
    Subscriptions = "event_subscriptions", Order::Making(0), [
        "subscription_id": Text, "client_id": Text, "callback_url": Text, "callback_host": Text, "scope": Text,
        "streams": Text, "connection_id": Text, "status": Text, "disabled_reason": Text, "secret": Bytes,
        "from_sequence": Number, "created_at": Number, "updated_at": Number, "next_due": Number];
    /// On behalf of which grants.
    SubscriptionGrants = "event_subscription_grants", Order::Key(2), [
        "subscription_id": Text, "position": Number, "grant_id": Text];
    /// What waits to be sent, oldest first for each.
    EventQueue = "event_queue", Order::Making(1), [
        "subscription_id": Text, "kind": Text, "event_id": Text, "body": Text, "challenge": Text, "stream": Text,
        "connection_id": Text, "since": Number, "latest": Number, "again": Number, "attempts": Number,
        "due_at": Number];
    /// How far the change log was followed for them.
    EventPositions = "event_positions", Order::Key(0), ["sequence": Number];
    /// Hosts that events may be sent to.
    Callbacks = "event_callbacks", Order::Key(2), ["client_id": Text, "host": Text, "allowed_at": Number];
    /// The ledger, oldest first. What it is filtered by is in the entry.
    Disclosures = "disclosures", Order::Making(1), ["at": Number, "entry": Text];
    /// The subject's own numbers and quota, last: a store that has them has everything.
    Numbers = "subjects", Order::Key(0), [
        "sequence": Number, "quota_records": Number, "quota_bytes": Number, "quota_requests": Number];
    /// Clients, which belong to no subject.
    Clients = "oauth_clients", Order::Key(1), [
        "client_id": Text, "source": Text, "metadata": Text, "security_hash": Text, "first_seen": Number,
        "subject_id": Text, "registration_token": Bytes];
    /// The key that seals cursors, which belongs to no subject either.
    SealingKey = "meta", Order::Key(1), ["name": Text, "value": Bytes];
}

impl Part {
    /// Whether it is of the store as a whole, and asked for without a subject.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Clients | Self::SealingKey)
    }
}

/// A digest over a part's rows, taken row by row.
#[derive(Clone, Debug, Default)]
pub struct PartDigest {
    hash: Sha256,
    rows: u64,
}

impl PartDigest {
    /// Takes the next row.
    pub fn add(&mut self, row: &Row) {
        self.rows += 1;
        for cell in row {
            // Each value is told from its neighbours by its kind and its length.
            match cell {
                Cell::Null => self.hash.update([0]),
                Cell::Number(number) => {
                    self.hash.update([1]);
                    self.hash.update(number.to_le_bytes());
                }
                Cell::Text(text) => self.add_bytes(2, text.as_bytes()),
                Cell::Bytes { bytes } => self.add_bytes(3, bytes),
            }
        }
        self.hash.update([4]);
    }

    fn add_bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.hash.update([kind]);
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }

    /// How many rows, and the digest in hex.
    pub fn finish(self) -> (u64, String) {
        (self.rows, hex::encode(&self.hash.finalize()))
    }
}

/// Bytes as hex.
mod hex {
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn encode(bytes: &[u8]) -> String {
        use std::fmt::Write as _;
        bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let bytes = text.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        });
        bytes.collect::<Option<Vec<_>>>().ok_or_else(|| de::Error::custom("not hex"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_comes_back_as_it_was() {
        let mark = Mark {
            source: "a".into(),
            part: Part::Tokens,
            after: Some(Place(vec![
                Cell::Bytes { bytes: vec![1, 254] },
                Cell::Number(7),
                Cell::Text("x".into()),
            ])),
            rows: 3,
        };
        let text = serde_json::to_string(&mark).unwrap();
        assert_eq!(serde_json::from_str::<Mark>(&text).unwrap(), mark, "{text}");
    }

    #[test]
    fn values_that_run_together_are_told_apart() {
        let digest = |cells: &[&str]| {
            let mut digest = PartDigest::default();
            digest.add(&cells.iter().map(|text| Cell::Text((*text).into())).collect());
            digest.finish()
        };
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_eq!(digest(&["ab"]).0, 1);
    }

    #[test]
    fn a_key_is_made_of_columns_there_are() {
        for part in Part::ALL {
            let (Order::Key(length) | Order::Making(length)) = part.order();
            assert!(length <= part.columns().len(), "{part:?}");
        }
    }
}
