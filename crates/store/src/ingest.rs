//! Writing records: batches that are durable when they are acknowledged.

use async_trait::async_trait;
use pdpp_wire::{Code, ConnectionId, StreamName, SubjectId};

use crate::{AdmittedRecord, OverQuota, StoreError};

/// Most records in one transaction.
pub const MAX_BATCH: usize = 1_000;

/// Where records go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteTarget {
    /// Whose.
    pub subject_id: SubjectId,
    /// Which connection.
    pub connection_id: ConnectionId,
    /// Which stream, declared by the connection's connector.
    pub stream: StreamName,
}

/// Writes records.
#[async_trait]
pub trait Ingest: Send + Sync {
    /// Applies a batch of at most [`MAX_BATCH`] records in order and in one transaction; when it
    /// returns, the batch is durable. One outcome per record. A draft connection becomes active
    /// with its first accepted record. A record that would bring the owner above their quota is
    /// refused, and the others are not.
    async fn apply(
        &self,
        target: &WriteTarget,
        batch: Vec<AdmittedRecord>,
    ) -> Result<Vec<Applied>, StoreError>;

    /// Drops all records and history of one stream of one connection, for good, and starts a new
    /// epoch. Says how many records there were.
    async fn purge_stream(&self, target: &WriteTarget) -> Result<u64, StoreError>;
}

/// What became of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// New.
    Added,
    /// Changed.
    Updated,
    /// Already as it should be: the same data again, or a deletion of what is not there.
    Unchanged,
    /// Removed, leaving a tombstone.
    Deleted,
    /// Refused, with the reason.
    Rejected(Code),
    /// Refused, because the owner may not have as much.
    OverQuota(OverQuota),
}

impl Applied {
    /// Whether the store now is as the record asked.
    pub fn is_accepted(self) -> bool {
        self.refusal().is_none()
    }

    /// Why it was refused, if it was.
    pub fn refusal(self) -> Option<Code> {
        match self {
            Self::Rejected(code) => Some(code),
            Self::OverQuota(_) => Some(Code::QuotaExceeded),
            Self::Added | Self::Updated | Self::Unchanged | Self::Deleted => None,
        }
    }
}
