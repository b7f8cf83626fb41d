//! What one owner has: sources, their declarations and their connections.

use std::sync::Arc;

use pdpp_wire::{AvailableConnection, ConnectionId, ConnectorKey, SubjectId, manifest::Manifest};

/// Everything a subject's requests can be about.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// Whose.
    pub subject_id: SubjectId,
    /// The sources, by connector key.
    pub sources: Vec<Arc<Source>>,
}

/// One source with its current declaration.
#[derive(Clone, Debug)]
pub struct Source {
    /// The declaration.
    pub manifest: Arc<Manifest>,
    /// Names the exact declaration; grants remember it.
    pub declaration_version: String,
    /// The connections, oldest first.
    pub connections: Vec<Connection>,
}

/// One account, device or profile of a connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Names it.
    pub connection_id: ConnectionId,
    /// The owner's own label.
    pub display_name: Option<String>,
    /// Whether it takes part.
    pub status: ConnectionStatus,
}

/// Whether a connection takes part in reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// Made, but no record has arrived yet: takes records, is not yet shown.
    Draft,
    /// In use.
    Active,
    /// Keeps its records, takes more, is not collected.
    Paused,
    /// Being removed.
    Removed,
}

impl Connection {
    /// Whether the owner's reads see it.
    pub fn is_readable(&self) -> bool {
        matches!(self.status, ConnectionStatus::Active | ConnectionStatus::Paused)
    }

    /// Whether records may be written to it.
    pub fn is_writable(&self) -> bool {
        !matches!(self.status, ConnectionStatus::Removed)
    }

    /// How it is offered to a caller who must choose.
    pub fn offered(&self) -> AvailableConnection {
        AvailableConnection {
            connection_id: self.connection_id.clone(),
            connector_key: None,
            stream: None,
            display_name: self.display_name.clone(),
        }
    }
}

impl Source {
    /// The short key.
    pub fn key(&self) -> &ConnectorKey {
        self.manifest.key()
    }

    /// One of its connections.
    pub fn find_connection(&self, id: &str) -> Option<&Connection> {
        self.connections.iter().find(|connection| connection.connection_id.as_str() == id)
    }

    /// Whether a `connector_id` parameter means this source: its short key or its URI.
    pub fn is_called(&self, connector_id: &str) -> bool {
        self.key().as_str() == connector_id || self.manifest.source().id == connector_id
    }
}

impl Catalogue {
    /// The source a `connector_id` parameter means.
    pub fn find_source(&self, connector_id: &str) -> Option<&Arc<Source>> {
        self.sources.iter().find(|source| source.is_called(connector_id))
    }

    /// The source a grant speaks of.
    pub fn find_source_by_uri(&self, uri: &str) -> Option<&Arc<Source>> {
        self.sources.iter().find(|source| source.manifest.source().id == uri)
    }

    /// The source a connection belongs to.
    pub fn find_connection(&self, id: &str) -> Option<(&Arc<Source>, &Connection)> {
        self.sources
            .iter()
            .find_map(|source| source.find_connection(id).map(|connection| (source, connection)))
    }
}
