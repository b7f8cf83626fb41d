//! A small invented archive: a team chat kept twice, and a notebook.
//!
//! Tests that need no store use [`catalogue`], whose connections have readable ids; tests on a store
//! use [`loaded()`], which says what ids the store gave.

pub mod chat;
pub mod notes;

mod loaded;
mod record;

use std::sync::Arc;

use pdpp_access::{Catalogue, Connection, ConnectionStatus, Source};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, SubjectId};

pub use loaded::{Loaded, load, loaded, loaded_for};
pub use record::{SampleRecord, ndjson};

/// The owner of the archive.
pub fn subject() -> SubjectId {
    SubjectId::parse("owner_local").expect("a plain id")
}

/// The archive's catalogue as a store would answer it, with ids `cin_home`, `cin_work` and `cin_notes`.
pub fn catalogue() -> Catalogue {
    let chat = source(chat::manifest(), &[("cin_home", "Home"), ("cin_work", "Work")]);
    let notes = source(notes::manifest(), &[("cin_notes", "Notebook")]);
    Catalogue { subject_id: subject(), sources: vec![Arc::new(chat), Arc::new(notes)] }
}

/// A source with active connections of these ids and names.
pub fn source(manifest: Manifest, connections: &[(&str, &str)]) -> Source {
    let connection = |(id, name): &(&str, &str)| Connection {
        connection_id: ConnectionId::parse(*id).expect("a plain id"),
        display_name: Some((*name).to_owned()),
        status: ConnectionStatus::Active,
    };
    Source {
        manifest: Arc::new(manifest),
        declaration_version: "sha256:sample".to_owned(),
        connections: connections.iter().map(connection).collect(),
    }
}
