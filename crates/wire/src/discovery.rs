//! Discovery documents: what a stranger learns before it has a token.
//!
//! Only what works is advertised; an unsupported feature is absent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::literal::{DiscoveryIndexObject, ResourceServerRole};

/// The answer of `GET /`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiscoveryIndex {
    /// Always `pdpp_discovery_index`.
    pub object: DiscoveryIndexObject,
    /// Always `resource_server`.
    pub role: ResourceServerRole,
    /// What the owner calls this server.
    pub resource_name: String,
    /// The build.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_revision: Option<String>,
    /// Where to go next.
    pub links: DiscoveryLinks,
}

/// Where a stranger goes next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiscoveryLinks {
    /// The protected-resource document.
    pub well_known: String,
    /// The schema.
    pub schema: String,
    /// The base of every read.
    pub core_query_base: String,
    /// The connectors.
    pub connectors: String,
    /// The `OpenAPI` document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openapi: Option<String>,
}

/// The OAuth protected-resource document (RFC 9728) with its PDPP members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProtectedResource {
    /// The resource's own URL, no trailing slash.
    pub resource: String,
    /// What people call it.
    pub resource_name: String,
    /// Who issues tokens for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authorization_servers: Vec<String>,
    /// How a token is sent: in the header, nowhere else.
    pub bearer_methods_supported: Vec<String>,
    /// The base of every read.
    pub pdpp_core_query_base: String,
    /// The version of the connect flow.
    pub pdpp_provider_connect_version: String,
    /// Whether an owner may read everything of their own.
    pub pdpp_self_export_supported: bool,
    /// Which kinds of token exist here.
    pub pdpp_token_kinds_supported: Vec<TokenKind>,
    /// Where things are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdpp_discovery_hints: Option<DiscoveryHints>,
    /// Optional features that work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Map<String, Value>>,
    /// Advice for agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdpp_agent_discovery: Option<Map<String, Value>>,
    /// Advice for programs the owner trusts with everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdpp_owner_agent_onboarding: Option<Map<String, Value>>,
}

/// The kinds of token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// The data subject.
    Owner,
    /// An application acting under grants.
    Client,
}

/// Where things are on this server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiscoveryHints {
    /// The schema route.
    pub schema_endpoint: String,
    /// The base of every read.
    pub query_base: String,
    /// The connectors route.
    pub connectors_endpoint: String,
    /// The stream metadata route.
    pub streams_endpoint_template: String,
    /// The aggregate route.
    pub aggregate: AggregateHint,
    /// What starts a changes feed.
    pub changes_since_bootstrap: String,
    /// Where a record says how to read its bytes.
    pub blob_indirection: String,
    /// The search route, where search works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchHint>,
    /// Owners must choose a connector on reads that name a stream.
    pub owner_polyfill_requires_source_kind_connector: bool,
}

/// Where the aggregate route is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AggregateHint {
    /// The path, with `{stream}` to be replaced.
    pub endpoint_template: String,
}

/// Where the search route is, and how to narrow it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHint {
    /// The path.
    pub endpoint: String,
    /// The parameter that names streams.
    pub scope_param: String,
    /// Whether `filter` needs exactly one stream.
    pub filter_requires_single_stream: bool,
}

/// The answer of the health routes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Whether the server is alive, or ready to serve.
    pub status: HealthStatus,
    /// Which part keeps it from serving.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<HealthPart>,
}

/// A part a server cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthPart {
    /// Records, grants and the ledger: not reachable, not writable, or of another version.
    Store,
    /// Where the bytes of attachments are kept.
    Attachments,
    /// The search index.
    Search,
}

/// Alive, ready, or not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    /// The process answers.
    Ok,
    /// The store is open and migrated.
    Ready,
    /// Something does not answer yet, or no longer.
    Starting,
}
