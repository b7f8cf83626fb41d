//! Manifests, their immutable snapshots, and connections.

use std::sync::Arc;

use async_trait::async_trait;
use pdpp_access::{Catalogue, Connection};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, ConnectorKey, SubjectId};

use crate::StoreError;

/// Keeps declarations and connections.
#[async_trait]
pub trait Catalogues: Send + Sync {
    /// Everything a subject has, as of now; cheap when nothing changed.
    async fn catalogue(&self, subject_id: &SubjectId) -> Result<Arc<Catalogue>, StoreError>;

    /// Registers a manifest by its key. Every distinct document stays readable as a snapshot.
    async fn put_manifest(
        &self,
        subject_id: &SubjectId,
        manifest: &Manifest,
        on_conflict: OnConflict,
    ) -> Result<ManifestOutcome, StoreError>;

    /// The exact document a grant's `source_declaration.version` names.
    async fn find_snapshot(
        &self,
        subject_id: &SubjectId,
        version: &str,
    ) -> Result<Option<String>, StoreError>;

    /// Makes a draft connection of a registered connector; `None` when the connector is unknown.
    async fn create_connection(
        &self,
        subject_id: &SubjectId,
        connector_key: &ConnectorKey,
        display_name: Option<&str>,
    ) -> Result<Option<Connection>, StoreError>;

    /// The connection a write means, found or made inside one transaction, so that writers who come
    /// first at the same moment share one. With a name: the writable connection of that id or label,
    /// else a new draft of that label. Without: the only writable connection, else a new draft; the
    /// choice is the caller's when there are several.
    async fn ensure_connection(
        &self,
        subject_id: &SubjectId,
        connector_key: &ConnectorKey,
        name: Option<&str>,
    ) -> Result<Ensured, StoreError>;

    /// Gives a connection a label, or takes it away. Says whether there was one.
    async fn rename_connection(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
        display_name: Option<&str>,
    ) -> Result<bool, StoreError>;

    /// Removes a connection with everything it brought, for good.
    async fn remove_connection(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
    ) -> Result<Option<RemovedCounts>, StoreError>;

    /// The key that seals this store's cursors.
    async fn sealing_key(&self) -> Result<[u8; 32], StoreError>;

    /// Whether the store can be read and written right now.
    async fn check_ready(&self) -> Result<(), StoreError>;
}

/// Which connection a write means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ensured {
    /// This one.
    One(Connection),
    /// Any of these; the caller has to choose.
    Several(Vec<Connection>),
    /// The connector is not registered.
    UnknownConnector,
}

/// What to do when a manifest's key exists with other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnConflict {
    /// Leave it.
    Refuse,
    /// Put the new one in its place; existing grants do not widen.
    Replace,
}

/// What became of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestOutcome {
    /// New.
    Added,
    /// The same as before.
    Unchanged,
    /// Took the place of another.
    Replaced,
    /// Another one is in place, under this key or under this source id.
    Conflict,
}

/// What a removal removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedCounts {
    /// Records, tombstones not counted.
    pub records: u64,
    /// Blobs nobody refers to any more.
    pub blobs: u64,
}
