//! Checks records as an import does, and drops them.

use std::collections::BTreeMap;
use std::io::{self, Read};

use pdpp_import::{Attached, Attachment, Complaint, Draft, Sink, Stop};
use pdpp_store::{Admission, RecordLine};
use pdpp_wire::Instant;
use pdpp_wire::manifest::Manifest;
use serde_json::Value;

use crate::anonymous_mib;

pub(crate) struct Checked<'m> {
    rules: BTreeMap<&'m str, Admission<'m>>,
    now: Instant,
    pub(crate) records: u64,
    pub(crate) complaints: u64,
    pub(crate) peak_mib: f64,
}

impl<'m> Checked<'m> {
    pub(crate) fn new(manifest: &'m Manifest) -> Self {
        let rule = |stream: &'m pdpp_wire::manifest::StreamDeclaration| {
            (stream.name().as_str(), Admission::new(stream).unwrap())
        };
        Self {
            rules: manifest.streams().iter().map(rule).collect(),
            now: Instant::parse("2026-01-01T00:00:00Z").unwrap(),
            records: 0,
            complaints: 0,
            peak_mib: 0.0,
        }
    }
}

impl Sink for Checked<'_> {
    fn record(&mut self, draft: Draft) -> Result<(), Stop> {
        self.rules[draft.stream.as_str()]
            .upsert(&Value::String(draft.key), Value::Object(draft.data), self.now)
            .unwrap();
        self.records += 1;
        if self.records.is_multiple_of(50_000) {
            self.peak_mib = self.peak_mib.max(anonymous_mib());
        }
        Ok(())
    }

    fn line(&mut self, _: RecordLine, _: &str) -> Result<(), Stop> {
        self.records += 1;
        Ok(())
    }

    fn attach(
        &mut self,
        attachment: &Attachment<'_>,
        bytes: &mut dyn Read,
    ) -> Result<Option<Attached>, Stop> {
        let size_bytes = io::copy(bytes, &mut io::sink()).unwrap();
        let media_type = attachment.media_type.to_owned();
        Ok(Some(Attached {
            blob_id: "blob_0".into(),
            sha256: "0".into(),
            size_bytes,
            media_type,
            text: None,
        }))
    }

    fn complain(&mut self, _: Complaint) -> Result<(), Stop> {
        self.complaints += 1;
        Ok(())
    }
}
