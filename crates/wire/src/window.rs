//! One bounded slice of one field. Every number counts Unicode scalar values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::literal::FieldWindowObject;
use crate::{ConnectionId, Links, Meta, RecordKey, StreamName};

/// The answer of the field-window route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldWindowBody {
    /// Always `field_window`.
    pub object: FieldWindowObject,
    /// The stream.
    pub stream: StreamName,
    /// The record.
    pub record_id: RecordKey,
    /// The request path, without the query.
    pub url: String,
    /// The connection the record came through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<ConnectionId>,
    /// The same as `connection_id`, under its older name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector_instance_id: Option<ConnectionId>,
    /// Which field was read.
    pub field: WindowField,
    /// The slice.
    pub window: FieldWindow,
    /// Where this window is.
    pub links: Links,
    /// Warnings.
    pub meta: Meta,
}

/// Which field a window shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowField {
    /// The field: a top-level name, or a dotted path below one.
    pub path: String,
    /// What the text is.
    #[serde(rename = "type")]
    pub field_type: WindowFieldType,
}

/// What the text of a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WindowFieldType {
    /// The field's own text.
    String,
    /// The minified JSON of an object or array.
    Json,
}

/// A slice of text and where it sits in the field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldWindow {
    /// The text, verbatim.
    pub text: String,
    /// The length of the whole field.
    pub total_chars: u64,
    /// Where the text begins.
    pub start_chars: u64,
    /// Where it ends; `end_chars - start_chars` is its length.
    pub end_chars: u64,
    /// The limit after clamping.
    pub limit_chars: u64,
    /// Whether the text is the whole field.
    pub complete: bool,
    /// Whether text follows after the window.
    pub has_more: bool,
    /// Where the match of `q` begins, in field coordinates.
    pub match_start_chars: Option<u64>,
    /// Where it ends.
    pub match_end_chars: Option<u64>,
    /// Send this as `offset_chars` to read on.
    pub next_offset_chars: Option<u64>,
    /// Send this as `offset_chars` to read what comes before.
    pub previous_offset_chars: Option<u64>,
}
