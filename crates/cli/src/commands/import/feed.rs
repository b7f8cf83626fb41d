//! The reading side of an import: checks what a format reads and hands it to the storing side.

use std::collections::BTreeMap;
use std::io::Read;

use bytes::Bytes;
use pdpp_import::{Attached, Attachment, Complaint, Draft, Sink, Stop};
use pdpp_store::{Admission, AdmittedRecord, MAX_RECORD_BYTES, Operation, RecordLine, Rejection};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{Code, Instant, RecordKey, StreamName};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, oneshot};

use super::batches::{Batch, Batches};
use super::document_text::{self, Found};

/// Bytes of an attachment that travel together.
const CHUNK: usize = 256 * 1024;

/// One thing for the storing side, in order.
#[derive(Debug)]
pub(crate) enum Step {
    Batch(Batch),
    Complaint(Complaint),
    /// An attachment begins; its id is wanted when it has ended.
    Blob {
        stream: StreamName,
        key: RecordKey,
        media_type: String,
        /// The blob, or none when there is no room for it.
        reply: oneshot::Sender<Option<String>>,
    },
    Chunk(Bytes),
    BlobEnd,
    /// The rest of the attachment cannot be read.
    BlobAbandoned,
    /// The export itself cannot be read further.
    Broken(std::io::Error),
}

/// Takes what a format reads.
#[derive(Debug)]
pub(crate) struct Feed<'m> {
    steps: mpsc::Sender<Step>,
    rules: BTreeMap<&'m str, (StreamName, Admission<'m>)>,
    batches: Batches,
    now: Instant,
    /// Documents that had to be cut off so far.
    cut_off: usize,
}

impl<'m> Feed<'m> {
    /// Refused when a declared schema is no schema.
    pub(crate) fn new(
        manifest: &'m Manifest,
        now: Instant,
        steps: mpsc::Sender<Step>,
    ) -> Result<Self, Rejection> {
        let rules = manifest
            .streams()
            .iter()
            .map(|stream| Ok((stream.name().as_str(), (stream.name().clone(), Admission::new(stream)?))))
            .collect::<Result<_, _>>()?;
        Ok(Self { steps, rules, batches: Batches::default(), now, cut_off: 0 })
    }

    /// A record that has been checked already.
    pub(crate) fn admitted(
        &mut self,
        stream: StreamName,
        record: AdmittedRecord,
        bytes: usize,
    ) -> Result<(), Stop> {
        let due = self.batches.add(stream, record, bytes);
        due.into_iter().try_for_each(|batch| self.send(Step::Batch(batch)))
    }

    /// Hands over what still waits.
    pub(crate) fn flush(&mut self) -> Result<(), Stop> {
        let waiting = self.batches.take_all();
        waiting.into_iter().try_for_each(|batch| self.send(Step::Batch(batch)))
    }

    /// When the other side went away, it failed, and says so itself.
    pub(crate) fn send(&self, step: Step) -> Result<(), Stop> {
        self.steps.blocking_send(step).map_err(|_| Stop)
    }

    fn admit(&self, draft: Draft) -> Result<(StreamName, AdmittedRecord, usize), Rejection> {
        let (name, admission) = self.rules.get(draft.stream.as_str()).ok_or_else(|| {
            Rejection::new(Code::NotFound, "The format gave a record of an undeclared stream.")
        })?;
        let data = Value::Object(draft.data);
        let bytes = weight(&data);
        if bytes > MAX_RECORD_BYTES {
            let mebibytes = MAX_RECORD_BYTES / 1024 / 1024;
            return Err(Rejection::new(
                Code::ResourceLimit,
                format!("The record is larger than {mebibytes} MiB."),
            ));
        }
        Ok((name.clone(), admission.upsert(&Value::String(draft.key), data, self.now)?, bytes))
    }

    /// The text in an attached document. One that runs away is cut off and told; after a few of those the rest is
    /// kept without text, because an export made of them would take days.
    fn document_text(&mut self, attachment: &Attachment<'_>, bytes: Vec<u8>) -> Result<Option<String>, Stop> {
        let told = match document_text::read(attachment.media_type, attachment.name, bytes, self.cut_off) {
            Found::Text(text) => return Ok(Some(text)),
            Found::Nothing => return Ok(None),
            Found::NotTried => {
                "Too many documents before it had to be cut off; it was kept, its text was not read."
            }
            Found::CutOff => {
                self.cut_off += 1;
                "Reading its text took more memory or time than a document may; it was kept without."
            }
        };
        let name = attachment.name.unwrap_or("an attachment");
        let place = format!("{name} ({} {})", attachment.stream, attachment.key);
        self.complain(Complaint::new(place, Code::ResourceLimit, told))?;
        Ok(None)
    }

    fn stream_bytes(&self, bytes: &mut dyn Read, kept: &mut Kept) -> Result<bool, Stop> {
        let mut buffer = vec![0_u8; CHUNK];
        loop {
            match bytes.read(&mut buffer) {
                Ok(0) => return Ok(true),
                Ok(read) => {
                    kept.take(&buffer[..read]);
                    self.send(Step::Chunk(Bytes::copy_from_slice(&buffer[..read])))?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Ok(false),
            }
        }
    }
}

impl Sink for Feed<'_> {
    fn record(&mut self, draft: Draft) -> Result<(), Stop> {
        let place = draft.place.clone();
        match self.admit(draft) {
            Ok((stream, record, bytes)) => self.admitted(stream, record, bytes),
            Err(refused) => self.complain(Complaint::new(place, refused.code, refused.message)),
        }
    }

    fn line(&mut self, line: RecordLine, place: &str) -> Result<(), Stop> {
        let name = line.stream.clone().unwrap_or_default();
        let Some((stream, admission)) = self.rules.get(name.as_str()) else {
            let message = "`stream` names no stream of the manifest.";
            return self.complain(Complaint::new(place, Code::NotFound, message));
        };
        match line.admit(admission, self.now) {
            Ok(record) => {
                let bytes = match &record.operation {
                    Operation::Upsert(data) => members_weight(data),
                    Operation::Delete => 0,
                };
                self.admitted(stream.clone(), record, bytes)
            }
            Err(refused) => self.complain(Complaint::new(place, refused.code, refused.message)),
        }
    }

    fn attach(
        &mut self,
        attachment: &Attachment<'_>,
        bytes: &mut dyn Read,
    ) -> Result<Option<Attached>, Stop> {
        let names = (StreamName::parse(attachment.stream), RecordKey::parse(attachment.key));
        let (Ok(stream), Ok(key)) = names else {
            return Ok(None);
        };
        let (reply, answer) = oneshot::channel();
        let media_type = attachment.media_type.to_owned();
        self.send(Step::Blob { stream, key, media_type: media_type.clone(), reply })?;
        let mut kept = Kept::new(document_text::is_wanted(attachment.media_type, attachment.name));
        if !self.stream_bytes(bytes, &mut kept)? {
            self.send(Step::BlobAbandoned)?;
            return Ok(None);
        }
        self.send(Step::BlobEnd)?;
        let Some(blob_id) = answer.blocking_recv().map_err(|_| Stop)? else { return Ok(None) };
        let text = match kept.held {
            Some(held) => self.document_text(attachment, held)?,
            None => None,
        };
        let sha256 = hex(&kept.hasher.finalize());
        Ok(Some(Attached { blob_id, sha256, size_bytes: kept.length, media_type, text }))
    }

    fn complain(&mut self, complaint: Complaint) -> Result<(), Stop> {
        self.send(Step::Complaint(complaint))
    }
}

/// What is remembered of bytes that pass by.
struct Kept {
    hasher: Sha256,
    length: u64,
    /// The bytes themselves, while they are wanted and not too many.
    held: Option<Vec<u8>>,
}

impl Kept {
    fn new(wanted: bool) -> Self {
        Self { hasher: Sha256::new(), length: 0, held: wanted.then(Vec::new) }
    }

    fn take(&mut self, chunk: &[u8]) {
        self.hasher.update(chunk);
        self.length += chunk.len() as u64;
        if let Some(held) = &mut self.held {
            held.extend_from_slice(chunk);
            if held.len() > document_text::LARGEST {
                self.held = None;
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, byte| text + &format!("{byte:02x}"))
}

/// Roughly how long a value is as text.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 12,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| weight(item) + 1).sum::<usize>() + 2,
        Value::Object(members) => members_weight(members),
    }
}

fn members_weight(members: &Map<String, Value>) -> usize {
    members.iter().map(|(name, value)| name.len() + weight(value) + 4).sum::<usize>() + 2
}
