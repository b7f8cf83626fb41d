//! The connector manifest: what a source declares about its streams.
//!
//! [`Manifest::parse`] reads the stored document once into typed declarations, so that no later
//! reader interprets raw JSON Schema. The document itself is kept verbatim for whoever asks.

mod check;
mod check_query;
mod check_stream;
mod field;
mod read;
mod schema_cost;
mod stream;

pub use field::{FieldDeclaration, FieldType};
pub use read::ManifestFault;
pub use stream::{
    Aggregations, Cardinality, ExpandDeclaration, RangeOperator, Relationship, Semantics, StreamDeclaration,
    View,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ConnectorKey, GrantSource, SourceKind, StreamName};

/// Largest accepted manifest document, in bytes.
pub const MAX_MANIFEST_BYTES: usize = 2 * 1024 * 1024;
/// Most streams one manifest may declare.
pub const MAX_STREAMS: usize = 512;
/// Most top-level properties one stream may declare.
pub const MAX_FIELDS: usize = 256;
/// Deepest nesting of a manifest document.
pub const MAX_DEPTH: usize = 64;

/// A parsed and checked manifest.
#[derive(Clone, Debug)]
pub struct Manifest {
    key: ConnectorKey,
    source: GrantSource,
    display_name: Option<String>,
    maximum_staleness_seconds: Option<i64>,
    sensitivity: Sensitivity,
    presets: Vec<Preset>,
    streams: Vec<StreamDeclaration>,
    document: Value,
}

/// How careful an owner should be before granting a source: a sensitive one is never approved in one go with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sensitivity {
    /// Nothing was said, or nothing special.
    #[default]
    Standard,
    /// Letters, whereabouts, health, people: what hurts in the wrong hands.
    Sensitive,
}

/// A declared selection preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Names the preset.
    pub id: String,
    /// For people.
    pub label: String,
    /// What it selects.
    pub streams: Vec<PresetStream>,
}

/// One stream of a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetStream {
    /// The stream.
    pub name: String,
    /// A view of it.
    pub view: Option<String>,
    /// Or some fields of it.
    pub fields: Option<Vec<String>>,
}

impl Manifest {
    /// Parses and checks a manifest document.
    pub fn parse(json: &str) -> Result<Self, ManifestFault> {
        if json.len() > MAX_MANIFEST_BYTES {
            return Err(ManifestFault::at("", "the document is larger than 2 MiB"));
        }
        let document =
            serde_json::from_str(json).map_err(|error| ManifestFault::at("", error.to_string()))?;
        Self::from_document(document)
    }

    /// Checks a manifest that is already JSON.
    pub fn from_document(document: Value) -> Result<Self, ManifestFault> {
        check::manifest(document)
    }

    /// The short key.
    pub fn key(&self) -> &ConnectorKey {
        &self.key
    }

    /// The identity grants speak of.
    pub fn source(&self) -> &GrantSource {
        &self.source
    }

    /// The human name, if declared.
    pub fn display_name(&self) -> Option<&str> {
        self.display_name.as_deref()
    }

    /// How old a collection may be and still count as current, if declared.
    pub fn maximum_staleness_seconds(&self) -> Option<i64> {
        self.maximum_staleness_seconds
    }

    /// How careful to be with it.
    pub fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }

    /// The declared selection presets.
    pub fn presets(&self) -> &[Preset] {
        &self.presets
    }

    /// The declared streams, in the document's order.
    pub fn streams(&self) -> &[StreamDeclaration] {
        &self.streams
    }

    /// One declared stream.
    pub fn find_stream(&self, name: &str) -> Option<&StreamDeclaration> {
        self.streams.iter().find(|stream| stream.name().as_str() == name)
    }

    /// The document as it was registered.
    pub fn document(&self) -> &Value {
        &self.document
    }
}

/// The source id minted for a manifest that declares no URI of its own.
fn minted_source(key: &ConnectorKey) -> GrantSource {
    GrantSource { kind: SourceKind::Connector, id: format!("urn:pdpp:source:{key}") }
}

impl AsRef<StreamName> for StreamDeclaration {
    fn as_ref(&self) -> &StreamName {
        self.name()
    }
}
