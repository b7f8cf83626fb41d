//! Writing records: one batch, one transaction.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use pdpp_access::ConnectionStatus;
use pdpp_store::{
    AdmittedRecord, Applied, FieldHistory, Growth, Ingest, MAX_BATCH, Operation, Room, StoreError,
    WriteTarget, size_of,
};
use pdpp_wire::manifest::Semantics;
use pdpp_wire::{Code, Instant, RecordKey};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params, params_from_iter};
use serde::Serializer as _;
use serde_json::{Map, Value};

use crate::catalogues::{CatalogueCache, bump_generation};
use crate::change_log::{self, APPEND};
use crate::connections::find_scope;
use crate::fault::{Fault, Outcome};
use crate::layout::Layout;
use crate::sequence::{SubjectRow, signed, unsigned};
use crate::{SqliteStore, field_table, orphans, purge};

const FIND: &str = "SELECT id, created_seq, emitted_at, deleted_seq, history, blob_id, data FROM records
     WHERE scope_id = ? AND key = ?";
const INSERT: &str = "INSERT INTO records
     (scope_id, key, created_seq, version, emitted_at, emitted_top, consent_at, blob_id, data)
     VALUES (?1, ?2, ?3, ?3, ?4, ?4, ?5, ?6, ?7)";
const REMEMBER: &str = "INSERT INTO past_lives SELECT id, created_seq, deleted_seq, consent_at FROM records
     WHERE id = ?";
const REVIVE: &str = "UPDATE records SET created_seq = ?2, version = ?2, deleted_seq = NULL, deleted_at = NULL,
     emitted_at = ?3, emitted_top = ?3, consent_at = ?4, history = NULL, blob_id = ?5, data = ?6 WHERE id = ?1";
const UPDATE: &str =
    "UPDATE records SET version = ?2, emitted_top = ?3, consent_at = ?4, history = ?5, blob_id = ?6,
     data = ?7 WHERE id = ?1";
const BURY: &str = "UPDATE records SET version = ?2, deleted_seq = ?2, deleted_at = ?3, history = NULL,
     blob_id = NULL, data = NULL WHERE id = ?1";

#[async_trait]
impl Ingest for SqliteStore {
    async fn apply(
        &self,
        target: &WriteTarget,
        batch: Vec<AdmittedRecord>,
    ) -> Result<Vec<Applied>, StoreError> {
        if batch.len() > MAX_BATCH {
            return Err(StoreError::Backend("a batch holds more records than one transaction takes".into()));
        }
        let (cache, target) = (Arc::clone(&self.catalogues), target.clone());
        let (outcomes, doomed) =
            self.write(move |connection| apply(connection, &cache, &target, batch)).await?;
        if doomed > 0 {
            self.remove_orphaned_files().await;
        }
        Ok(outcomes)
    }

    async fn purge_stream(&self, target: &WriteTarget) -> Result<u64, StoreError> {
        let (entropy, target) = (Arc::clone(&self.entropy), target.clone());
        let records =
            self.write(move |connection| purge::purge_stream(connection, entropy.as_ref(), &target)).await?;
        self.remove_orphaned_files().await;
        self.checkpoint().await?;
        Ok(records)
    }
}

/// What became of each record, and how many blobs lost their last reference.
fn apply(
    connection: &Connection,
    cache: &CatalogueCache,
    target: &WriteTarget,
    batch: Vec<AdmittedRecord>,
) -> Outcome<(Vec<Applied>, u64)> {
    let refuse = |code| Ok((vec![Applied::Rejected(code); batch.len()], 0));
    let catalogue = cache.load(connection, &target.subject_id)?;
    let Some((source, found)) = catalogue.find_connection(target.connection_id.as_str()) else {
        return refuse(Code::ConnectorInstanceNotWritable);
    };
    let Some(declaration) = source.manifest.find_stream(target.stream.as_str()) else {
        return refuse(Code::StreamNotDeclared);
    };
    if !found.is_writable() {
        return refuse(Code::ConnectorInstanceNotWritable);
    }
    let WriteTarget { subject_id, connection_id, stream } = target;
    let scope = find_scope(connection, subject_id, connection_id, source.key(), stream)?
        .ok_or_else(|| Fault::damaged("a connection lacks a scope for a declared stream"))?;
    let table = field_table::find(connection, subject_id, source, declaration)?;
    let mut writer = Writer::prepare(connection, target, scope.id, declaration.semantics(), table)?;
    let outcomes = batch.into_iter().map(|record| writer.apply(record)).collect::<Outcome<Vec<_>>>()?;
    let doomed = writer.finish(connection, scope.live_count)?;
    if found.status == ConnectionStatus::Draft && outcomes.contains(&Applied::Added) {
        connection
            .prepare_cached(
                "UPDATE connections SET status = 'active' WHERE subject_id = ? AND connection_id = ?",
            )?
            .execute(params![subject_id.as_str(), connection_id.as_str()])?;
        bump_generation(connection, subject_id)?;
    }
    Ok((outcomes, doomed))
}

/// The statements of one batch, and what it has counted so far.
struct Writer<'c> {
    connection: &'c Connection,
    target: &'c WriteTarget,
    scope_id: i64,
    semantics: Semantics,
    layout: Layout,
    subject: SubjectRow,
    room: Room,
    /// Blobs that lost a reference.
    loosened: Vec<String>,
    find: CachedStatement<'c>,
    insert: CachedStatement<'c>,
    insert_fields: CachedStatement<'c>,
    list: CachedStatement<'c>,
    append: CachedStatement<'c>,
}

/// A record as it stands, live or buried.
struct Standing {
    id: i64,
    created_seq: i64,
    emitted_at: i64,
    deleted_seq: Option<i64>,
    history: Option<String>,
    blob_id: Option<String>,
    data: Option<String>,
}

impl Standing {
    fn read_history(&self) -> Outcome<FieldHistory> {
        read_history(self.history.as_deref(), self.created_seq, self.emitted_at)
    }
}

impl<'c> Writer<'c> {
    fn prepare(
        connection: &'c Connection,
        target: &'c WriteTarget,
        scope_id: i64,
        semantics: Semantics,
        layout: Layout,
    ) -> Outcome<Self> {
        let subject = SubjectRow::ensure(connection, &target.subject_id)?;
        Ok(Self {
            connection,
            target,
            scope_id,
            semantics,
            subject,
            room: subject.room(),
            loosened: Vec::new(),
            find: connection.prepare_cached(FIND)?,
            insert: connection.prepare_cached(INSERT)?,
            insert_fields: connection.prepare_cached(&layout.insert_sql())?,
            list: connection.prepare_cached("INSERT INTO revisions VALUES (?, ?, ?)")?,
            append: connection.prepare_cached(APPEND)?,
            layout,
        })
    }

    fn apply(&mut self, record: AdmittedRecord) -> Outcome<Applied> {
        let standing = self.find(&record.key)?;
        match record.operation {
            Operation::Upsert(data) => self.upsert(&record.key, &data, record.emitted_at, standing),
            Operation::Delete => match standing {
                Some(standing) if standing.deleted_seq.is_none() => {
                    self.delete(&record.key, record.emitted_at, &standing)
                }
                _ => Ok(Applied::Unchanged),
            },
        }
    }

    fn find(&mut self, key: &RecordKey) -> Outcome<Option<Standing>> {
        let standing = self.find.query_row(params![self.scope_id, key.as_str()], |row| {
            Ok(Standing {
                id: row.get(0)?,
                created_seq: row.get(1)?,
                emitted_at: row.get(2)?,
                deleted_seq: row.get(3)?,
                history: row.get(4)?,
                blob_id: row.get(5)?,
                data: row.get(6)?,
            })
        });
        Ok(standing.optional()?)
    }

    fn upsert(
        &mut self,
        key: &RecordKey,
        data: &Map<String, Value>,
        emitted_at: Instant,
        standing: Option<Standing>,
    ) -> Outcome<Applied> {
        let text = serde_json::to_string(data).map_err(|error| StoreError::Backend(error.into()))?;
        let is_live = standing.as_ref().is_some_and(|standing| standing.deleted_seq.is_none());
        if !is_live && let Err(over) = self.room.take(Growth { records: 1, bytes: size_of(&text) }) {
            return Ok(Applied::OverQuota(over));
        }
        match standing {
            None => {
                let sequence = self.next_sequence(key, change_log::UPSERT)?;
                let (consent, blob) = (self.layout.consent_at(data), blob_id(data));
                let at = emitted_at.micros();
                self.insert.execute(params![
                    self.scope_id,
                    key.as_str(),
                    sequence,
                    at,
                    consent,
                    blob,
                    text
                ])?;
                let id = self.connection.last_insert_rowid();
                self.list(sequence, id)?;
                self.write_fields(id, key, data)?;
                Ok(Applied::Added)
            }
            Some(Standing { id, deleted_seq: Some(deleted_seq), .. }) => {
                let sequence = self.next_sequence(key, change_log::UPSERT)?;
                let (consent, blob) = (self.layout.consent_at(data), blob_id(data));
                self.connection.prepare_cached(REMEMBER)?.execute([id])?;
                let values = params![id, sequence, emitted_at.micros(), consent, blob, text];
                self.connection.prepare_cached(REVIVE)?.execute(values)?;
                self.unlist(deleted_seq)?;
                self.list(sequence, id)?;
                self.write_fields(id, key, data)?;
                Ok(Applied::Added)
            }
            Some(standing) => self.rewrite(key, data, &text, emitted_at, &standing),
        }
    }

    fn rewrite(
        &mut self,
        key: &RecordKey,
        data: &Map<String, Value>,
        text: &str,
        emitted_at: Instant,
        standing: &Standing,
    ) -> Outcome<Applied> {
        let stored = standing.data.as_deref().ok_or_else(|| Fault::damaged("a live record has no data"))?;
        if stored == text {
            return Ok(Applied::Unchanged);
        }
        let old: Map<String, Value> =
            serde_json::from_str(stored).map_err(|_| Fault::damaged("a stored record is not JSON"))?;
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
        let sequence = self.next_sequence(key, change_log::UPSERT)?;
        let mut history = standing.read_history()?;
        let listed: BTreeSet<_> = history.sequences().collect();
        history.note_changes(&old, data, unsigned(sequence)?, emitted_at);
        for superseded in listed.difference(&history.sequences().collect()) {
            self.unlist(signed(*superseded)?)?;
        }
        self.list(sequence, standing.id)?;
        let spelled = serde_json::to_string(&history).map_err(|error| StoreError::Backend(error.into()))?;
        let (top, consent) = (history.top_emitted_at().micros(), self.layout.consent_at(data));
        let values = params![standing.id, sequence, top, consent, spelled, blob_id(data), text];
        self.connection.prepare_cached(UPDATE)?.execute(values)?;
        self.drop_fields(standing.id)?;
        self.write_fields(standing.id, key, data)?;
        if let Some(old) = standing.blob_id.as_deref()
            && blob_id(data) != Some(old)
        {
            // An upload for what the record says now came before it, and stays.
            self.loosen(key, Some(old), Some(old))?;
        }
        Ok(Applied::Updated)
    }

    fn delete(&mut self, key: &RecordKey, emitted_at: Instant, standing: &Standing) -> Outcome<Applied> {
        let sequence = self.next_sequence(key, change_log::DELETE)?;
        self.connection.prepare_cached(BURY)?.execute(params![standing.id, sequence, emitted_at.micros()])?;
        for superseded in standing.read_history()?.sequences().collect::<BTreeSet<_>>() {
            self.unlist(signed(superseded)?)?;
        }
        self.list(sequence, standing.id)?;
        self.drop_fields(standing.id)?;
        self.loosen(key, standing.blob_id.as_deref(), None)?;
        let bytes = -size_of(standing.data.as_deref().unwrap_or(""));
        self.room.take(Growth { records: -1, bytes }).map_err(StoreError::from)?;
        Ok(Applied::Deleted)
    }

    /// Takes away what a record's uploads bound, or only what they bound to one blob.
    fn loosen(&mut self, key: &RecordKey, referred: Option<&str>, only: Option<&str>) -> Outcome<()> {
        let WriteTarget { subject_id, connection_id, stream } = self.target;
        let record = [subject_id.as_str(), connection_id.as_str(), stream.as_str(), key.as_str()];
        self.loosened.extend(orphans::unbind(self.connection, record, only)?);
        self.loosened.extend(referred.map(str::to_owned));
        Ok(())
    }

    /// Takes the next number and logs the change under it.
    fn next_sequence(&mut self, key: &RecordKey, kind: i64) -> Outcome<i64> {
        self.subject.sequence += 1;
        let WriteTarget { connection_id, stream, .. } = self.target;
        let entry = (
            self.subject.id,
            self.subject.sequence,
            connection_id.as_str(),
            stream.as_str(),
            kind,
            key.as_str(),
        );
        self.append.execute(entry)?;
        Ok(self.subject.sequence)
    }

    fn write_fields(&mut self, id: i64, key: &RecordKey, data: &Map<String, Value>) -> Outcome<()> {
        let row = self.layout.row(id, self.scope_id, key.as_str(), data);
        self.insert_fields.execute(params_from_iter(row))?;
        Ok(())
    }

    /// Gives a record a place in the change feed.
    fn list(&mut self, sequence: i64, id: i64) -> Outcome<()> {
        self.list.execute([self.scope_id, sequence, id])?;
        Ok(())
    }

    /// Takes a place in the change feed away.
    fn unlist(&self, sequence: i64) -> Outcome<()> {
        let sql = "DELETE FROM revisions WHERE scope_id = ? AND sequence = ?";
        self.connection.prepare_cached(sql)?.execute([self.scope_id, sequence])?;
        Ok(())
    }

    /// Takes a record's row of fields away. Deleting and inserting beats replacing, for which the
    /// engine keeps a journal of its own.
    fn drop_fields(&self, id: i64) -> Outcome<()> {
        self.connection.prepare_cached(&self.layout.delete_sql())?.execute([id])?;
        Ok(())
    }

    /// Says how many blobs lost their last reference.
    fn finish(self, connection: &Connection, live_count: i64) -> Outcome<u64> {
        let growth = self.room.taken();
        if growth.records != 0 {
            connection
                .prepare_cached("UPDATE scopes SET live_count = ? WHERE id = ?")?
                .execute([live_count + growth.records, self.scope_id])?;
        }
        self.subject.store_grown(connection, growth)?;
        orphans::doom(connection, &self.target.subject_id, self.loosened)
    }
}

/// The new data, written as the old was wherever it says the same. A reader who sees only members
/// that did not change must not notice, by their order or spelling, that another one did.
fn respelled(old: &Map<String, Value>, new: &Map<String, Value>) -> Outcome<String> {
    let kept = old.iter().filter_map(|(name, value)| {
        new.get(name).map(|given| (name, if given == value { value } else { given }))
    });
    let added = new.iter().filter(|(name, _)| !old.contains_key(*name));
    let mut text = Vec::new();
    let written = serde_json::Serializer::new(&mut text).collect_map(kept.chain(added));
    written.map_err(|error| StoreError::Backend(error.into()))?;
    String::from_utf8(text).map_err(|error| StoreError::Backend(error.into()).into())
}

/// A record's history; most have none beyond their creation.
pub(crate) fn read_history(stored: Option<&str>, created_seq: i64, emitted_at: i64) -> Outcome<FieldHistory> {
    match stored {
        None => Ok(FieldHistory::created(unsigned(created_seq)?, Instant::from_micros(emitted_at))),
        Some(text) => {
            serde_json::from_str(text).map_err(|_| Fault::damaged("a record's history does not parse"))
        }
    }
}

/// The blob a record refers to.
fn blob_id(data: &Map<String, Value>) -> Option<&str> {
    data.get("blob_ref")?.get("blob_id")?.as_str()
}
