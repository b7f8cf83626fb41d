//! The selection request: what a client, or the owner on its behalf, asks to be granted.
//!
//! It speaks of wildcards, views and presets; a [`Grant`](crate::Grant) never does. `access`
//! resolves one into the other against the declaration the owner saw.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AccessMode, ConnectionId, GrantSource, RecordKey, Retention};

/// One `authorization_details` entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectionRequest {
    /// The source asked for.
    pub source: GrantSource,
    /// What for, as an absolute URI.
    pub purpose_code: String,
    /// What for, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose_description: Option<String>,
    /// Once, or until it ends.
    pub access_mode: AccessMode,
    /// The streams asked for; empty when a preset names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamSelection>,
    /// A declared preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection_preset: Option<String>,
    /// What the client promises about keeping the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
}

/// One stream asked for; `*` alone stands for every declared stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSelection {
    /// A declared stream, or `*`.
    pub name: String,
    /// Only these fields (the schema's required ones are added).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<String>>,
    /// The fields of a declared view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Only records of this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_range: Option<TimeRange>,
    /// Only these records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<RecordKey>>,
    /// These connections; without it the source must have exactly one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_ids: Option<Vec<ConnectionId>>,
}

/// `since` is inclusive, `until` exclusive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeRange {
    /// Inclusive lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Exclusive upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}
