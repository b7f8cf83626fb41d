//! Streams as a reader discovers them: what exists, what may be asked of each field, how fresh it is.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::literal::{StreamMetadataObject, StreamObject};
use crate::manifest::{Cardinality, RangeOperator, Relationship, Semantics, View};
use crate::{ConnectionId, GrantSource, Links, Meta, StreamName};

/// One stream of one connection, in the stream list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamItem {
    /// Always `stream`.
    pub object: StreamObject,
    /// The stream's name.
    pub name: StreamName,
    /// How many records this token can read.
    pub record_count: u64,
    /// The newest `emitted_at` among them, or null.
    pub last_updated: Option<String>,
    /// The connection.
    pub connection_id: ConnectionId,
    /// The same as `connection_id`, under its older name.
    pub connector_instance_id: ConnectionId,
    /// The owner's own label of the connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The connector's short key; only for owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connector_id: Option<String>,
    /// The source; only for owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<GrantSource>,
    /// How fresh it is.
    pub freshness: Freshness,
}

/// How fresh a stream is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Freshness {
    /// Whether it is up to date, as far as can be known.
    pub status: FreshnessStatus,
    /// When it was last collected, or the newest record's `emitted_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<String>,
    /// When collection was last tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_attempted_at: Option<String>,
}

/// Whether a stream is up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreshnessStatus {
    /// Collected within the declared time.
    Current,
    /// Not collected within the declared time, or the last attempt failed.
    Stale,
    /// The source does not say how fresh it should be.
    Unknown,
}

/// Everything declared about a stream, with what this token may do with each field.
///
/// The declaration is shown whole: a grant limits the data, not the description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamDocument {
    /// Always `stream_metadata`.
    pub object: StreamMetadataObject,
    /// The stream's name.
    pub name: StreamName,
    /// What it holds, in the source's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether records are only ever added, or change.
    pub semantics: Semantics,
    /// The JSON Schema of `data`.
    pub schema: Map<String, Value>,
    /// The fields that make the key.
    pub primary_key: Vec<String>,
    /// The field records are ordered by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor_field: Option<String>,
    /// The field time limits apply to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent_time_field: Option<String>,
    /// How a request may narrow the stream.
    pub selection: SelectionSupport,
    /// Named sets of fields.
    pub views: Vec<View>,
    /// Relations to other streams.
    pub relationships: Vec<Relationship>,
    /// What may be asked, as declared.
    pub query: Map<String, Value>,
    /// What this token may do with each top-level field.
    pub field_capabilities: BTreeMap<String, FieldCapability>,
    /// Which relations this token may expand.
    pub expand_capabilities: Vec<ExpandCapability>,
    /// How fresh it is.
    pub freshness: Freshness,
}

/// How a request may narrow a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectionSupport {
    /// To some fields.
    pub fields: bool,
    /// To some records.
    pub resources: bool,
}

/// The answer of the stream metadata route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamMetadata {
    /// The stream.
    #[serde(flatten)]
    pub document: StreamDocument,
    /// Where this answer is.
    pub links: Links,
    /// Warnings.
    pub meta: Meta,
}

/// What a token may do with one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldCapability {
    /// The declared display type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub field_type: Option<String>,
    /// The declared display role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The field's own schema.
    pub schema: Value,
    /// Whether this token may read the field.
    pub granted: bool,
    /// `filter[field]=value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact_filter: Option<Capability>,
    /// `filter[field][gte]=value` and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_filter: Option<Capability>,
    /// Search by words.
    pub lexical_search: Capability,
    /// Search by meaning.
    pub semantic_search: Capability,
    /// Aggregates.
    pub aggregation: AggregationCapabilities,
}

/// Whether something is declared for a field, and whether this token may use it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capability {
    /// The source declares it.
    pub declared: bool,
    /// This token may use it.
    pub usable: bool,
    /// Why not, when declared and unusable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<CapabilityReason>,
    /// The declared range operators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operators: Option<Vec<RangeOperator>>,
}

/// Why a declared capability cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapabilityReason {
    /// The field is outside the grant.
    FieldNotGranted,
}

/// The aggregates of one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AggregationCapabilities {
    /// How many different values.
    pub count_distinct: Capability,
    /// Groups by value.
    pub group_by: Capability,
    /// Groups by time.
    pub group_by_time: Capability,
    /// The largest value.
    pub max: Capability,
    /// The smallest value.
    pub min: Capability,
    /// The sum.
    pub sum: Capability,
}

/// Whether a relation may be expanded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpandCapability {
    /// The relation.
    pub name: String,
    /// The related stream.
    pub stream: String,
    /// The same as `stream`.
    pub target_stream: String,
    /// One or many.
    pub cardinality: Cardinality,
    /// The field on the related record that holds this record's key.
    pub child_parent_key_field: String,
    /// The same as `child_parent_key_field`.
    pub foreign_key: String,
    /// How many related records come by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_limit: Option<u32>,
    /// How many may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_limit: Option<u32>,
    /// Whether the related stream and its key are granted.
    pub granted: bool,
    /// Whether this token may expand the relation.
    pub usable: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ExpandReason>,
}

/// Why a relation cannot be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpandReason {
    /// The related stream, or its foreign key, is outside the grant.
    RelatedStreamNotGranted,
    /// The source declares no such stream.
    RelatedStreamUnknown,
    /// Reserved.
    RelatedStreamNotLoaded,
}

impl Capability {
    /// What is declared and granted is usable; what is declared only says why not.
    pub fn new(declared: bool, granted: bool) -> Self {
        let reason = (declared && !granted).then_some(CapabilityReason::FieldNotGranted);
        Self { declared, usable: declared && granted, reason, operators: None }
    }
}
