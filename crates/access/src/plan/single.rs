//! Plans for one thing: a record, a field of it, a blob.

use pdpp_wire::{BlobId, RecordKey};

use super::{ExpandPlan, ReadPlan};

/// One record, wherever the plan's parts hold it.
#[derive(Clone, Debug)]
pub struct RecordPlan {
    pub(crate) read: ReadPlan,
    pub(crate) key: RecordKey,
    pub(crate) expand: Vec<ExpandPlan>,
}

impl RecordPlan {
    /// The stream.
    pub fn read(&self) -> &ReadPlan {
        &self.read
    }

    /// The record.
    pub fn key(&self) -> &RecordKey {
        &self.key
    }

    /// The relations to attach.
    pub fn expand(&self) -> &[ExpandPlan] {
        &self.expand
    }
}

/// One field of one record. The plan's parts show only the top-level field the path lives under.
#[derive(Clone, Debug)]
pub struct WindowPlan {
    pub(crate) record: RecordPlan,
    pub(crate) field: String,
}

impl WindowPlan {
    /// The record, projected to the field's top level.
    pub fn record(&self) -> &RecordPlan {
        &self.record
    }

    /// The path as asked.
    pub fn field(&self) -> &str {
        &self.field
    }
}

/// The bytes of a blob, if a visible record still refers to it.
#[derive(Clone, Debug)]
pub struct BlobPlan {
    pub(crate) blob_id: BlobId,
    pub(crate) reads: Vec<ReadPlan>,
}

impl BlobPlan {
    /// The blob.
    pub fn blob_id(&self) -> &BlobId {
        &self.blob_id
    }

    /// The streams in which `blob_ref` is granted; may be empty.
    pub fn reads(&self) -> &[ReadPlan] {
        &self.reads
    }
}
