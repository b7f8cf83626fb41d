//! One record of the sample archive, and the ways tests hand it on.

use pdpp_store::{Admission, AdmittedRecord};
use pdpp_wire::Instant;
use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};

/// A record with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRecord {
    /// The stream.
    pub stream: &'static str,
    /// The key as an envelope spells it.
    pub key: Value,
    /// The payload.
    pub data: Value,
    /// When it was emitted.
    pub emitted_at: Instant,
}

impl SampleRecord {
    /// A record whose key is its `id`, emitted at the time this text spells.
    #[track_caller]
    pub fn new(stream: &'static str, data: Value, emitted_at: &str) -> Self {
        let emitted_at = Instant::parse(emitted_at).expect("the sample spells times correctly");
        Self { stream, key: data["id"].clone(), data, emitted_at }
    }

    /// The record as an envelope with its stream, one line without its end.
    pub fn line(&self) -> String {
        let Self { stream, key, data, emitted_at } = self;
        json!({"stream": stream, "key": key, "data": data, "emitted_at": emitted_at.to_rfc3339()}).to_string()
    }

    /// The record as its stream admits it.
    #[track_caller]
    pub fn admit(&self, manifest: &Manifest) -> AdmittedRecord {
        let stream = manifest.find_stream(self.stream).expect("the sample's streams are declared");
        let admission = Admission::new(stream).expect("the sample's schemas compile");
        admission
            .upsert(&self.key, self.data.clone(), self.emitted_at)
            .expect("the sample's records are valid")
    }
}

/// The records as NDJSON.
pub fn ndjson<'r>(records: impl IntoIterator<Item = &'r SampleRecord>) -> String {
    records.into_iter().map(|record| record.line() + "\n").collect()
}
