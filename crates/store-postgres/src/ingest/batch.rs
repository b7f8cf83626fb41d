//! A batch applied in memory, record by record, to what stands under its keys.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pdpp_store::{AdmittedRecord, Applied, FieldHistory, Growth, Operation, Room, StoreError, size_of};
use pdpp_wire::manifest::Semantics;
use pdpp_wire::{BlobId, Code, Instant, RecordKey};
use serde_json::{Map, Value};

use super::respelled::respelled;
use super::standing::{Data, Standing};
use super::writing::{Changes, Life, LogEntry, Written};
use crate::change_log;
use crate::fault::{Fault, Outcome};
use crate::layout::{FieldRow, Layout};
use crate::orphans::Loosened;
use crate::subject_row::{SubjectRow, signed, unsigned};
use crate::value::Sortable;

/// A record's fields, as rows of theirs hold them.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) ord: Option<Sortable>,
    pub(super) rows: Vec<FieldRow>,
}

impl Fields {
    fn of(layout: &Layout, data: &Map<String, Value>) -> Self {
        Self { ord: layout.ord(data), rows: layout.rows(data).collect() }
    }
}

/// One key of the batch.
struct Entry {
    /// Whether there was a row, and whether its record was live, before the batch.
    was: Option<bool>,
    /// The bytes of data it held then.
    was_size: i64,
    /// The fields it had then, once they matter.
    was_fields: Option<Fields>,
    now: Standing,
    /// The fields it has now; `None` when it is buried or was not touched.
    fields: Option<Fields>,
    is_touched: bool,
}

impl Entry {
    /// The data of a live record.
    fn stored(&self) -> Outcome<Map<String, Value>> {
        let Data::Here(text) = &self.now.data else {
            return Err(Fault::damaged("a live record has no data"));
        };
        serde_json::from_str(text).map_err(|_| Fault::damaged("a stored record is not JSON"))
    }
}

/// A batch on its way.
pub(super) struct Batch<'b> {
    layout: &'b Layout,
    semantics: Semantics,
    sequence: i64,
    room: Room,
    entries: HashMap<String, Entry>,
    log: Vec<LogEntry>,
    /// New places in the change feed, and earlier ones that are superseded.
    listed: BTreeMap<i64, String>,
    unlisted: Vec<i64>,
    past: Vec<Life>,
    loosened: BTreeSet<Loosened>,
    unreferred: Vec<String>,
}

impl<'b> Batch<'b> {
    pub(super) fn new(
        layout: &'b Layout,
        semantics: Semantics,
        subject: SubjectRow,
        standing: HashMap<String, Standing>,
    ) -> Self {
        let entry = |now: Standing| Entry {
            was: Some(now.is_live()),
            was_size: now.data.size(),
            was_fields: None,
            now,
            fields: None,
            is_touched: false,
        };
        Self {
            layout,
            semantics,
            sequence: subject.sequence,
            room: subject.room(),
            entries: standing.into_iter().map(|(key, now)| (key, entry(now))).collect(),
            log: Vec::new(),
            listed: BTreeMap::new(),
            unlisted: Vec::new(),
            past: Vec::new(),
            loosened: BTreeSet::new(),
            unreferred: Vec::new(),
        }
    }

    /// The key whose data has to be brought before the record can be applied.
    pub(super) fn left_out(&self, record: &AdmittedRecord) -> Option<RecordKey> {
        let entry = self.entries.get(record.key.as_str())?;
        matches!(entry.now.data, Data::Large(_)).then(|| record.key.clone())
    }

    /// Brings it.
    pub(super) fn bring(&mut self, key: &RecordKey, data: String) {
        if let Some(entry) = self.entries.get_mut(key.as_str()) {
            entry.now.data = Data::Here(data);
        }
    }

    /// Lets go of it again, unless the batch changed it.
    pub(super) fn put_away(&mut self, key: &RecordKey) {
        if let Some(entry) = self.entries.get_mut(key.as_str())
            && !entry.is_touched
        {
            entry.now.data = Data::Large(entry.was_size);
        }
    }

    pub(super) fn apply(&mut self, record: AdmittedRecord) -> Outcome<Applied> {
        let AdmittedRecord { key, emitted_at, operation } = record;
        let entry = self.entries.remove(key.as_str());
        let (entry, applied) = match (operation, entry) {
            (Operation::Upsert(data), Some(mut entry)) if entry.now.is_live() => {
                let applied = self.rewrite(&key, &data, emitted_at, &mut entry)?;
                (Some(entry), applied)
            }
            (Operation::Upsert(data), entry) => {
                let text = serde_json::to_string(&data)?;
                match self.room.take(Growth { records: 1, bytes: size_of(&text) }) {
                    Err(over) => (entry, Applied::OverQuota(over)),
                    Ok(()) => (Some(self.add(&key, (&data, text), emitted_at, entry)), Applied::Added),
                }
            }
            (Operation::Delete, Some(mut entry)) if entry.now.is_live() => {
                let growth = Growth { records: -1, bytes: -entry.now.data.size() };
                self.room.take(growth).map_err(StoreError::from)?;
                self.bury(&key, emitted_at, &mut entry)?;
                (Some(entry), Applied::Deleted)
            }
            (Operation::Delete, entry) => (entry, Applied::Unchanged),
        };
        if let Some(entry) = entry {
            self.entries.insert(key.as_str().to_owned(), entry);
        }
        Ok(applied)
    }

    /// Starts a life: the record's first, or another after it was buried.
    fn add(
        &mut self,
        key: &RecordKey,
        (data, text): (&Map<String, Value>, String),
        emitted_at: Instant,
        buried: Option<Entry>,
    ) -> Entry {
        let sequence = self.next_sequence(key, change_log::UPSERT);
        if let Some(Standing { created_seq, deleted_seq: Some(deleted_seq), consent_at, .. }) =
            buried.as_ref().map(|entry| &entry.now)
        {
            let (created_seq, deleted_seq, consent_at) = (*created_seq, *deleted_seq, *consent_at);
            self.past.push(Life { key: key.as_str().to_owned(), created_seq, deleted_seq, consent_at });
            self.unlist(deleted_seq);
        }
        self.list(sequence, key);
        let at = emitted_at.micros();
        let now = Standing {
            created_seq: sequence,
            version: sequence,
            deleted_seq: None,
            deleted_at: None,
            emitted_at: at,
            emitted_top: at,
            consent_at: self.layout.consent_at(data),
            history: None,
            blob_id: blob_id(data).map(str::to_owned),
            data: Data::Here(text),
        };
        let fields = Some(Fields::of(self.layout, data));
        match buried {
            None => Entry { was: None, was_size: 0, was_fields: None, now, fields, is_touched: true },
            Some(entry) => Entry { now, fields, is_touched: true, ..entry },
        }
    }

    fn rewrite(
        &mut self,
        key: &RecordKey,
        data: &Map<String, Value>,
        emitted_at: Instant,
        entry: &mut Entry,
    ) -> Outcome<Applied> {
        let Data::Here(stored) = &entry.now.data else {
            return Err(Fault::damaged("a live record has no data"));
        };
        if *stored == serde_json::to_string(data)? {
            return Ok(Applied::Unchanged);
        }
        let old = entry.stored()?;
        if old == *data {
            return Ok(Applied::Unchanged);
        }
        if self.semantics == Semantics::AppendOnly {
            return Ok(Applied::Rejected(Code::AppendOnlyConflict));
        }
        let text = respelled(&old, data)?;
        if let Err(over) = self.room.take(Growth { records: 0, bytes: size_of(&text) - size_of(stored) }) {
            return Ok(Applied::OverQuota(over));
        }
        let sequence = self.next_sequence(key, change_log::UPSERT);
        let mut history = entry.now.read_history()?;
        let listed: BTreeSet<_> = history.sequences().collect();
        history.note_changes(&old, data, unsigned(sequence)?, emitted_at);
        for superseded in listed.difference(&history.sequences().collect()) {
            self.unlist(signed(*superseded)?);
        }
        self.list(sequence, key);
        let blob = blob_id(data);
        if let Some(earlier) = entry.now.blob_id.take()
            && blob != Some(earlier.as_str())
        {
            // An upload for what the record says now came before it, and stays.
            let only = Some(earlier.clone());
            self.loosened.insert(Loosened { key: key.as_str().to_owned(), only });
            self.unreferred.push(earlier);
        }
        self.note_fields(entry, &old);
        entry.now.version = sequence;
        entry.now.emitted_top = history.top_emitted_at().micros();
        entry.now.consent_at = self.layout.consent_at(data);
        entry.now.history = Some(serde_json::to_string::<FieldHistory>(&history)?);
        entry.now.blob_id = blob.map(str::to_owned);
        entry.now.data = Data::Here(text);
        entry.fields = Some(Fields::of(self.layout, data));
        entry.is_touched = true;
        Ok(Applied::Updated)
    }

    /// Keeps what the rows of a record's fields held before the batch, which is about to change it.
    fn note_fields(&self, entry: &mut Entry, old: &Map<String, Value>) {
        if entry.was == Some(true) && !entry.is_touched {
            entry.was_fields = Some(Fields::of(self.layout, old));
        }
    }

    /// Ends a life. A tombstone keeps key, creation, deletion and consent time.
    fn bury(&mut self, key: &RecordKey, emitted_at: Instant, entry: &mut Entry) -> Outcome<()> {
        let old = entry.stored()?;
        self.note_fields(entry, &old);
        let sequence = self.next_sequence(key, change_log::DELETE);
        for superseded in entry.now.read_history()?.sequences().collect::<BTreeSet<_>>() {
            self.unlist(signed(superseded)?);
        }
        self.list(sequence, key);
        self.loosened.insert(Loosened { key: key.as_str().to_owned(), only: None });
        self.unreferred.extend(entry.now.blob_id.take());
        entry.now.version = sequence;
        entry.now.deleted_seq = Some(sequence);
        entry.now.deleted_at = Some(emitted_at.micros());
        entry.now.history = None;
        entry.now.data = Data::None;
        entry.fields = None;
        entry.is_touched = true;
        Ok(())
    }

    /// Takes the next number and logs the change under it.
    fn next_sequence(&mut self, key: &RecordKey, kind: i16) -> i64 {
        self.sequence += 1;
        self.log.push(LogEntry { sequence: self.sequence, kind, key: key.as_str().to_owned() });
        self.sequence
    }

    /// Gives a record a place in the change feed.
    fn list(&mut self, sequence: i64, key: &RecordKey) {
        self.listed.insert(sequence, key.as_str().to_owned());
    }

    /// Takes a place in the change feed away.
    fn unlist(&mut self, sequence: i64) {
        if self.listed.remove(&sequence).is_none() {
            self.unlisted.push(sequence);
        }
    }

    /// What has to be written.
    pub(super) fn finish(self) -> Changes {
        let mut written: Vec<_> = self
            .entries
            .into_iter()
            .filter(|(_, entry)| entry.is_touched)
            .map(|(key, entry)| {
                let Entry { was, was_size, was_fields, now, fields, .. } = entry;
                Written { key, was, was_size, was_fields, now, fields }
            })
            .collect();
        // In the order of the index, which is kinder to its pages.
        written.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        Changes {
            sequence: self.sequence,
            written,
            log: self.log,
            listed: self.listed,
            unlisted: self.unlisted,
            past: self.past,
            loosened: self.loosened.into_iter().collect(),
            unreferred: self.unreferred,
        }
    }
}

/// The blob a record refers to. What is no blob's id refers to none.
fn blob_id(data: &Map<String, Value>) -> Option<&str> {
    let id = data.get("blob_ref")?.get("blob_id")?.as_str()?;
    BlobId::parse(id).is_ok().then_some(id)
}
