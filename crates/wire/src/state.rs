//! Sync state: what a connector remembers between runs, per stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::GrantId;
use crate::literal::StreamStateObject;

/// The state of a connector's streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamState {
    /// Always `stream_state`.
    pub object: StreamStateObject,
    /// The connector's short key.
    pub connector_id: String,
    /// The grant whose namespace this is; null for the connector's own.
    pub grant_id: Option<GrantId>,
    /// The state by stream; its shape is the connector's business.
    pub state: Map<String, Value>,
    /// When it was last written; null if never.
    pub updated_at: Option<String>,
}

/// The body of a state update: named streams are replaced, others kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateUpdate {
    /// The state by stream.
    pub state: Map<String, Value>,
}
