//! What a record must be to enter a stream, whatever door it comes through.
//!
//! Checked here: bounds, key, schema. What only the store can know (does an append-only record
//! already exist with other content?) is decided when the batch is applied.

use pdpp_wire::manifest::{Manifest, Semantics, StreamDeclaration};
use pdpp_wire::{Code, Instant, RecordKey};
use serde_json::{Map, Value};

/// Deepest nesting of a record's data.
pub const MAX_RECORD_DEPTH: usize = 64;
/// Largest record, in bytes of minified JSON.
pub const MAX_RECORD_BYTES: usize = 50 * 1024 * 1024;

/// A record that may be applied.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmittedRecord {
    /// The canonical key.
    pub key: RecordKey,
    /// When the producer emitted it.
    pub emitted_at: Instant,
    /// What to do.
    pub operation: Operation,
}

/// What to do with a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Add or replace.
    Upsert(Map<String, Value>),
    /// Remove, leaving a tombstone.
    Delete,
}

/// Why a record may not enter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Rejection {
    /// The public code of the line.
    pub code: Code,
    /// What is wrong; names members, never repeats values.
    pub message: String,
}

impl Rejection {
    /// A refusal with its reason.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The rules of one stream, compiled once per batch.
#[derive(Debug)]
pub struct Admission<'a> {
    declaration: &'a StreamDeclaration,
    validator: jsonschema::Validator,
}

impl<'a> Admission<'a> {
    /// Compiles a stream's schema.
    pub fn new(declaration: &'a StreamDeclaration) -> Result<Self, Rejection> {
        let validator = jsonschema::draft202012::options().build(declaration.schema()).map_err(|error| {
            Rejection::new(Code::ConnectorInvalid, format!("The stream's schema is invalid: {error}"))
        })?;
        Ok(Self { declaration, validator })
    }

    /// Whether every stream of a manifest has a schema that can be checked against.
    pub fn check_manifest(manifest: &Manifest) -> Result<(), Rejection> {
        manifest.streams().iter().try_for_each(|stream| {
            let named = |fault: Rejection| {
                Rejection::new(fault.code, format!("{}: {}", stream.name(), fault.message))
            };
            Admission::new(stream).map(|_| ()).map_err(named)
        })
    }

    /// Admits an upsert.
    pub fn upsert(&self, key: &Value, data: Value, emitted_at: Instant) -> Result<AdmittedRecord, Rejection> {
        let key = self.key(key)?;
        if depth(&data, 0) > MAX_RECORD_DEPTH {
            return Err(Rejection::new(
                Code::TooDeep,
                format!("The data is nested deeper than {MAX_RECORD_DEPTH}."),
            ));
        }
        if let Err(error) = self.validator.validate(&data) {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the record".to_owned() } else { place };
            return Err(Rejection::new(
                Code::SchemaViolation,
                format!("{place} breaks {}.", error.schema_path()),
            ));
        }
        let Value::Object(data) = data else {
            return Err(Rejection::new(Code::SchemaViolation, "The data must be an object."));
        };
        self.check_identity(&key, &data)?;
        Ok(AdmittedRecord { key, emitted_at, operation: Operation::Upsert(data) })
    }

    /// Admits a deletion; append-only streams never rewrite, but the owner may always delete.
    pub fn delete(&self, key: &Value, emitted_at: Instant) -> Result<AdmittedRecord, Rejection> {
        Ok(AdmittedRecord { key: self.key(key)?, emitted_at, operation: Operation::Delete })
    }

    /// The rules a store applies when the record already exists.
    pub fn semantics(&self) -> Semantics {
        self.declaration.semantics()
    }

    /// Reads a key as sent: a string or number, or an array of them for compound keys.
    fn key(&self, key: &Value) -> Result<RecordKey, Rejection> {
        let wrong = |message: &str| Rejection::new(Code::InvalidRecordIdentity, message);
        let arity = self.declaration.primary_key().len();
        let parts = match key {
            Value::Array(parts) => parts.iter().map(key_text).collect::<Option<Vec<_>>>(),
            one => key_text(one).map(|text| match arity {
                1 => vec![text],
                // The canonical form of a compound key is taken back as it was given out.
                _ => serde_json::from_str(&text).unwrap_or_else(|_| vec![text]),
            }),
        };
        let parts = parts.ok_or_else(|| wrong("The key must be text, or a list of texts."))?;
        if parts.len() != arity {
            return Err(wrong("The key does not have as many parts as the primary key."));
        }
        RecordKey::of_parts(&parts).map_err(|fault| wrong(&format!("The {fault}.")))
    }

    fn check_identity(&self, key: &RecordKey, data: &Map<String, Value>) -> Result<(), Rejection> {
        let fields = self.declaration.primary_key();
        let parts: Vec<Option<String>> =
            fields.iter().map(|field| data.get(field).and_then(key_text)).collect();
        // A primary key field that the data leaves out cannot disagree.
        let key_parts = match fields {
            [_] => vec![key.to_string()],
            _ => serde_json::from_str(key.as_str()).unwrap_or_default(),
        };
        let agrees = |(part, key): (&Option<String>, &String)| part.as_ref().is_none_or(|part| part == key);
        if parts.iter().zip(&key_parts).all(agrees) {
            return Ok(());
        }
        let message = "The key differs from the primary key in the data.";
        Err(Rejection::new(Code::InvalidRecordIdentity, message))
    }
}

/// A key part as text.
fn key_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn depth(value: &Value, above: usize) -> usize {
    if above > MAX_RECORD_DEPTH {
        return above;
    }
    match value {
        Value::Object(members) => {
            members.values().map(|value| depth(value, above + 1)).max().unwrap_or(above + 1)
        }
        Value::Array(items) => items.iter().map(|value| depth(value, above + 1)).max().unwrap_or(above + 1),
        _ => above,
    }
}
