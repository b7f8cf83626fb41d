//! Ingest: one line of a batch, and the receipt of the whole batch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Code, StreamName};

/// One line of a batch. The stream comes from the path; unknown members are ignored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IngestLine {
    /// The record's key: one part or several.
    pub key: IngestKey,
    /// The payload; a delete needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
    /// When the producer emitted it; now, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emitted_at: Option<String>,
    /// What to do.
    #[serde(default)]
    pub op: IngestOp,
}

/// A key of one part or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum IngestKey {
    /// One part.
    One(String),
    /// Several, in the order of the stream's primary key.
    Many(Vec<String>),
}

impl IngestKey {
    /// The parts.
    pub fn into_parts(self) -> Vec<String> {
        match self {
            Self::One(part) => vec![part],
            Self::Many(parts) => parts,
        }
    }
}

/// What a line asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IngestOp {
    /// Store the record, or a new version of it.
    #[default]
    Upsert,
    /// Delete it.
    Delete,
}

/// What became of a batch. Everything accepted is durable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IngestReceipt {
    /// The stream.
    pub stream: StreamName,
    /// How many non-blank lines there were.
    pub records_attempted: u64,
    /// How many were stored, or were already there.
    pub records_accepted: u64,
    /// How many were refused for good.
    pub records_rejected: u64,
    /// What the receipt leaves out, in words; usually empty.
    pub errors: Vec<serde_json::Value>,
    /// The refused lines.
    pub rejections: Vec<Rejection>,
}

/// One refused line. Sending the same line again gives the same receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rejection {
    /// The line, counting non-blank lines from 0.
    pub input_index: u64,
    /// Why.
    pub code: Code,
    /// Names this refusal.
    pub receipt_id: String,
    /// For people: what is wrong with the line, without its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
