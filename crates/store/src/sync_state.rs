//! Where a connector left off.

use async_trait::async_trait;
use pdpp_wire::{ConnectionId, ConnectorKey, GrantId, Instant, SubjectId};
use serde_json::{Map, Value};

use crate::StoreError;

/// Keeps one JSON value per stream and scope.
#[async_trait]
pub trait SyncStates: Send + Sync {
    /// The state of a scope; empty when none was put.
    async fn get_state(&self, scope: &StateScope) -> Result<SyncState, StoreError>;

    /// Replaces the named streams' values, keeps the others.
    async fn put_state(
        &self,
        scope: &StateScope,
        streams: &Map<String, Value>,
    ) -> Result<SyncState, StoreError>;
}

/// Whose state it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateScope {
    /// Whose.
    pub subject_id: SubjectId,
    /// Which connector.
    pub connector_key: ConnectorKey,
    /// Which connection, when the connector has several.
    pub connection_id: Option<ConnectionId>,
    /// A namespace of its own for a continuous grant.
    pub grant_id: Option<GrantId>,
}

/// The kept values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncState {
    /// By stream.
    pub streams: Map<String, Value>,
    /// When any was last put.
    pub updated_at: Option<Instant>,
}
