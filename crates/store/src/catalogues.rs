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
    /// Another one is in place.
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
