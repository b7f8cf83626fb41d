//! The schema document: every source and stream a token can read, in full or compact.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::literal::{CompactDetail, ConnectorObject, ListObject, SchemaObject, StreamObject};
use crate::manifest::Cardinality;
use crate::{
    ClientId, ConnectionId, ConnectorKey, ExpandReason, Freshness, GrantId, GrantSource, Links, Meta,
    StreamDocument, StreamName, TimeConstraint, TokenKind,
};

/// The full schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaBody {
    /// Always `schema`.
    pub object: SchemaObject,
    /// Whose schema this is.
    pub bearer: Bearer,
    /// How many connectors are left after scoping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_count: Option<u64>,
    /// How many streams are left after scoping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_count: Option<u64>,
    /// The sources.
    pub connectors: Vec<SchemaConnector>,
    /// Where this answer is.
    pub links: Links,
    /// Warnings.
    pub meta: Meta,
}

/// Whose schema this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bearer {
    /// The kind of token.
    pub token_kind: TokenKind,
    /// What limits it.
    pub scope: BearerScope,
    /// The grant, when there is exactly one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<GrantId>,
    /// The grants, when there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_ids: Option<Vec<GrantId>>,
    /// The client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// When the first of the grants ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// What limits a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BearerScope {
    /// Its grants.
    Grant,
    /// Nothing: it is the owner's.
    Owner,
}

/// One source and its streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaConnector {
    /// Always `connector`.
    pub object: ConnectorObject,
    /// The source.
    pub source: GrantSource,
    /// Its short key.
    pub connector_key: ConnectorKey,
    /// The same as `connector_key`.
    pub connector_id: ConnectorKey,
    /// How many streams follow.
    pub stream_count: u64,
    /// The streams.
    pub streams: Vec<SchemaStream>,
}

/// One stream, and the connections it can be read under.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaStream {
    /// The stream.
    #[serde(flatten)]
    pub document: StreamDocument,
    /// The connections.
    pub granted_connections: Vec<GrantedConnection>,
    /// The grant's time limit on this stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_constraint: Option<TimeConstraint>,
}

/// A connection a stream can be read under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct GrantedConnection {
    /// What to send as `connection_id`.
    pub connection_id: ConnectionId,
    /// The owner's own label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

/// The compact schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactSchema {
    /// Always `schema`.
    pub object: SchemaObject,
    /// Always `compact`.
    pub detail: CompactDetail,
    /// Whose schema this is.
    pub bearer: Bearer,
    /// How many connectors follow.
    pub connector_count: u64,
    /// How many streams follow.
    pub stream_count: u64,
    /// The sources.
    pub connectors: Vec<CompactConnector>,
    /// Where this answer is.
    pub links: Links,
    /// Warnings.
    pub meta: Meta,
}

/// One source in the compact schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactConnector {
    /// Always `connector`.
    pub object: ConnectorObject,
    /// Its short key.
    pub connector_key: ConnectorKey,
    /// The same as `connector_key`.
    pub connector_id: ConnectorKey,
    /// The source.
    pub source: GrantSource,
    /// How many streams follow.
    pub stream_count: u64,
    /// The connections most streams share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_connections: Option<Vec<GrantedConnection>>,
    /// The streams.
    pub streams: Vec<CompactStream>,
}

/// One stream in the compact schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactStream {
    /// The stream's name.
    pub name: StreamName,
    /// The fields that make the key.
    pub primary_key: Vec<String>,
    /// The field records are ordered by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor_field: Option<String>,
    /// The connections, when they differ from the connector's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_connections: Option<Vec<GrantedConnection>>,
    /// What this token may do with each field, as flags.
    pub field_capabilities: BTreeMap<String, String>,
    /// Which relations this token may expand.
    pub expand_capabilities: Vec<CompactExpand>,
}

/// One relation in the compact schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompactExpand {
    /// The relation.
    pub name: String,
    /// The related stream.
    pub stream: String,
    /// The same as `stream`.
    pub target_stream: String,
    /// One or many.
    pub cardinality: Cardinality,
    /// Whether the related stream and its key are granted.
    pub granted: bool,
    /// Whether this token may expand the relation.
    pub usable: bool,
    /// The field on the related record that holds this record's key.
    pub foreign_key: String,
    /// How many may be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_limit: Option<u32>,
    /// How many come by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_limit: Option<u32>,
    /// Why the relation cannot be expanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ExpandReason>,
}

/// The answer of the connectors route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectorList {
    /// Always `list`.
    pub object: ListObject,
    /// The connectors.
    pub data: Vec<ConnectorItem>,
}

/// One connector and its streams, in brief.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectorItem {
    /// Always `connector`.
    pub object: ConnectorObject,
    /// The source.
    pub source: GrantSource,
    /// Its short key.
    pub connector_key: ConnectorKey,
    /// The same as `connector_key`.
    pub connector_id: ConnectorKey,
    /// How many streams follow.
    pub stream_count: u64,
    /// The streams.
    pub streams: Vec<ConnectorStream>,
}

/// One stream of a connector, over all its connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectorStream {
    /// Always `stream`.
    pub object: StreamObject,
    /// The stream's name.
    pub name: StreamName,
    /// How many records this token can read.
    pub record_count: u64,
    /// The newest `emitted_at` among them, or null.
    pub last_updated: Option<String>,
    /// How fresh it is.
    pub freshness: Freshness,
    /// What can be asked, and where.
    pub capabilities: ConnectorStreamCapabilities,
}

/// What can be asked of a stream, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a member of the published body")]
pub struct ConnectorStreamCapabilities {
    /// Records can be listed.
    pub records: bool,
    /// Metadata can be read.
    pub stream_metadata: bool,
    /// Changes can be followed.
    pub changes_since: bool,
    /// Some field can be filtered exactly.
    pub exact_filters: bool,
    /// Some field can be filtered by range.
    pub range_filters: bool,
    /// Some relation can be expanded.
    pub expand: bool,
    /// Some aggregate is declared.
    pub aggregate: bool,
    /// Where the records are.
    pub records_url: String,
    /// Where the metadata is.
    pub metadata_url: String,
    /// Where aggregates are, or null.
    pub aggregate_url: Option<String>,
}

/// The receipt of a registered manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredConnector {
    /// The connector's short key.
    pub connector_id: ConnectorKey,
    /// The same as `connector_id`.
    pub connector_key: ConnectorKey,
}
