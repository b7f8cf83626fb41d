//! Binary content: the reference inside a record, and the receipt of an upload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::BlobId;
use crate::literal::BlobObject;

/// The value of a record's `blob_ref` field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobRef {
    /// Which content.
    pub blob_id: BlobId,
    /// Its media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Its digest, in hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Where to read it; added by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetch_url: Option<String>,
}

/// What an upload stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobReceipt {
    /// Always `blob`.
    pub object: BlobObject,
    /// The content's id.
    pub blob_id: BlobId,
    /// Its digest, in hex.
    pub sha256: String,
    /// Its length.
    pub size_bytes: u64,
    /// Its media type.
    pub mime_type: String,
}
