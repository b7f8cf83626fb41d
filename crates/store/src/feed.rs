//! What derived indexes are fed with: records as they are now, and who stands next to whom.
//!
//! The one read without a plan. It is for indexes only, which answer under plans themselves; nothing
//! that comes out of it may leave the process in any other way.

use async_trait::async_trait;
use pdpp_wire::{ConnectionId, Instant, RecordKey, StreamName, SubjectId};

use crate::StoreError;

/// Feeds indexes.
#[async_trait]
pub trait Feed: Send + Sync {
    /// Every subject that has a change log.
    async fn subjects(&self) -> Result<Vec<SubjectId>, StoreError>;

    /// These records of one stream as they are now, in the order of the keys. A record that is not
    /// there (any more) has no data; a stream or connection that is not there has no records.
    async fn feed_records(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
        stream: &StreamName,
        keys: &[RecordKey],
    ) -> Result<Vec<FedRecord>, StoreError>;
}

/// One record for an index.
#[derive(Clone, Debug, PartialEq)]
pub struct FedRecord {
    /// Its key.
    pub key: RecordKey,
    /// Its whole data as JSON text; `None` when it is gone.
    pub data: Option<String>,
    /// Its consent time.
    pub consent_at: Option<Instant>,
    /// The record before it in its thread, by the stream's order; `None` where the stream declares
    /// no thread or no order, the record lacks a value for either, or none is near.
    pub previous: Option<RecordKey>,
    /// The record after it.
    pub next: Option<RecordKey>,
}
