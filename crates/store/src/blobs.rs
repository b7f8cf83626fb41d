//! Blobs: content-addressed bytes, streamed in and out.

use std::ops::Range;
use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;
use pdpp_access::BlobPlan;
use pdpp_wire::{BlobId, ConnectionId, RecordKey, StreamName, SubjectId};

use crate::StoreError;

/// The bytes of a blob, in chunks.
pub type BlobBody = Pin<Box<dyn Stream<Item = Result<Bytes, StoreError>> + Send>>;

/// Keeps blobs.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Starts taking bytes; nothing is visible until [`BlobWriter::finish`].
    async fn write_blob(&self) -> Result<Box<dyn BlobWriter>, StoreError>;

    /// Where visible records refer to the blob, one sighting per connection; empty when none does. Only
    /// records it was uploaded for count: what was uploaded for others is none of the reader's business.
    async fn find_blob(&self, plan: &BlobPlan) -> Result<Vec<BlobSighting>, StoreError>;

    /// A range of a sighted blob's bytes.
    async fn read_blob(&self, sighting: &BlobSighting, range: Range<u64>) -> Result<BlobBody, StoreError>;

    /// Whether the bytes of blobs can be read now. A store that keeps them itself has said so when it was asked whether
    /// it is ready.
    async fn check_blobs(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Removes some of the bytes that nothing refers to any more; says whether there may be more. A store that removes
    /// them with what referred to them has nothing to do.
    async fn sweep_blobs(&self) -> Result<bool, StoreError> {
        Ok(false)
    }
}

/// Takes one blob's bytes.
#[async_trait]
pub trait BlobWriter: Send {
    /// Takes the next chunk.
    async fn write(&mut self, chunk: Bytes) -> Result<(), StoreError>;

    /// Makes the bytes durable and binds them to a record. The same bytes again are the same blob.
    /// Bytes that would bring the owner above their quota are refused with [`StoreError::OverQuota`].
    async fn finish(self: Box<Self>, binding: BlobBinding) -> Result<BlobReceipt, StoreError>;
}

/// The record a blob was uploaded for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobBinding {
    /// Whose.
    pub subject_id: SubjectId,
    /// Which connection.
    pub connection_id: ConnectionId,
    /// Which stream.
    pub stream: StreamName,
    /// Which record.
    pub record_key: RecordKey,
    /// Where in the record: `@record` or an RFC 6901 pointer.
    pub json_path: String,
    /// The media type.
    pub mime_type: String,
}

/// What was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobReceipt {
    /// The blob.
    pub blob_id: BlobId,
    /// Its size.
    pub size_bytes: u64,
    /// Its media type.
    pub mime_type: String,
}

/// A stored blob's facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBlob {
    /// Whose.
    pub subject_id: SubjectId,
    /// The blob.
    pub blob_id: BlobId,
    /// Its size.
    pub size_bytes: u64,
    /// Its media type.
    pub mime_type: String,
}

/// Proof that a plan's record refers to a blob. Backends make it in answer to a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobSighting {
    /// The connection it was seen under.
    pub connection_id: ConnectionId,
    /// The owner's label for it.
    pub display_name: Option<String>,
    /// The stream it was seen in.
    pub stream: StreamName,
    /// The record that refers to it.
    pub record_key: RecordKey,
    /// The blob.
    pub blob: StoredBlob,
}
