//! The change log: what derived indexes and event delivery are fed from.

use async_trait::async_trait;
use pdpp_wire::{ConnectionId, RecordKey, StreamName, SubjectId};

use crate::StoreError;

/// An append-only log per subject; positions only grow.
#[async_trait]
pub trait ChangeLog: Send + Sync {
    /// The latest position.
    async fn log_head(&self, subject_id: &SubjectId) -> Result<u64, StoreError>;

    /// The entries after a position, oldest first.
    async fn read_log(
        &self,
        subject_id: &SubjectId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Change>, StoreError>;

    /// The latest position after this one at which something came to one of these streams, or their connection was
    /// removed; `None` where nothing did. Entries of other streams make no difference to it.
    async fn latest_of(
        &self,
        subject_id: &SubjectId,
        streams: &[(ConnectionId, StreamName)],
        after: u64,
    ) -> Result<Option<u64>, StoreError>;
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its position.
    pub sequence: u64,
    /// Which connection.
    pub connection_id: ConnectionId,
    /// Which stream; `None` when the whole connection went.
    pub stream: Option<StreamName>,
    /// What happened.
    pub kind: ChangeKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A record was added or changed.
    Upsert(RecordKey),
    /// A record was deleted.
    Delete(RecordKey),
    /// All records of a stream were dropped.
    PurgeStream,
    /// A connection was removed.
    RemoveConnection,
}
