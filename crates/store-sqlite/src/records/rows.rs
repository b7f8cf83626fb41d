//! Fetches the records of an answer: the only place where reads touch a record's JSON.

use pdpp_access::FieldSet;
use pdpp_store::{PageBudget, RecordRow, project};
use pdpp_wire::{Instant, RecordKey};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row};

use super::target::Part;
use crate::fault::{Fault, Outcome};
use crate::ingest::read_history;
use crate::sequence::unsigned;
use crate::statement::prepare;

/// A record as it is stored.
pub(super) struct Stored {
    pub(super) id: i64,
    pub(super) key: String,
    pub(super) created_seq: i64,
    pub(super) deleted_at: Option<i64>,
    pub(super) consent_at: Option<i64>,
    emitted_at: i64,
    history: Option<String>,
    has_data: bool,
    data: Option<String>,
}

/// Looks records up by their numbers.
pub(super) struct ById<'c>(CachedStatement<'c>);

impl<'c> ById<'c> {
    pub(super) fn new(connection: &'c Connection) -> Outcome<Self> {
        // The length stands before the text, which is not touched to learn it.
        let sql =
            "SELECT id, key, created_seq, deleted_at, consent_at, emitted_at, history, data IS NOT NULL,
                          CASE WHEN octet_length(data) <= ?2 THEN data END FROM records WHERE id = ?1";
        Ok(Self(prepare(connection, sql)?))
    }

    /// One record; its data only when that is at most so long.
    pub(super) fn get(&mut self, id: i64, most_bytes: i64) -> Outcome<Stored> {
        let stored = self.0.query_row([id, most_bytes], read).optional()?;
        stored.ok_or_else(|| Fault::damaged("a field row has no record"))
    }

    /// One record as a part shows it, if the budget has room for it.
    pub(super) fn show_within(
        &mut self,
        id: i64,
        part: &Part<'_>,
        budget: &mut PageBudget,
    ) -> Outcome<Option<RecordRow>> {
        self.get(id, budget.room(part.plan.shown()))?.show_within(part, budget)
    }
}

/// Looks live records up by their keys.
pub(super) struct ByKey<'c>(CachedStatement<'c>);

impl<'c> ByKey<'c> {
    pub(super) fn new(connection: &'c Connection) -> Outcome<Self> {
        let sql =
            "SELECT id, key, created_seq, deleted_at, consent_at, emitted_at, history, data IS NOT NULL, data
                   FROM records WHERE scope_id = ? AND key = ? AND deleted_seq IS NULL";
        Ok(Self(prepare(connection, sql)?))
    }

    /// One live record.
    pub(super) fn find_live(&mut self, scope_id: i64, key: &RecordKey) -> Outcome<Option<Stored>> {
        Ok(self.0.query_row((scope_id, key.as_str()), read).optional()?)
    }
}

/// One live record by its key.
pub(super) fn find_live(connection: &Connection, scope_id: i64, key: &RecordKey) -> Outcome<Option<Stored>> {
    ByKey::new(connection)?.find_live(scope_id, key)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        id: row.get(0)?,
        key: row.get(1)?,
        created_seq: row.get(2)?,
        deleted_at: row.get(3)?,
        consent_at: row.get(4)?,
        emitted_at: row.get(5)?,
        history: row.get(6)?,
        has_data: row.get(7)?,
        data: row.get(8)?,
    })
}

impl Stored {
    /// The record's latest change to a field of the set: sequence and emission time.
    pub(super) fn visible_change(&self, fields: &FieldSet) -> Outcome<(u64, Instant)> {
        visible_change(self.history.as_deref(), self.created_seq, self.emitted_at, fields)
    }

    /// The record as a part shows it, if the budget has room for it.
    pub(super) fn show_within(self, part: &Part<'_>, budget: &mut PageBudget) -> Outcome<Option<RecordRow>> {
        if self.has_data && self.data.is_none() {
            return Ok(None);
        }
        let row = self.show(part)?;
        Ok(budget.take(row.data.get().len()).then_some(row))
    }

    /// The record as a part shows it.
    pub(super) fn show(self, part: &Part<'_>) -> Outcome<RecordRow> {
        let (_, emitted_at) = self.visible_change(part.plan.granted())?;
        Ok(RecordRow {
            part: part.index,
            key: record_key(self.key)?,
            emitted_at,
            data: project(live(self.data)?, part.plan.shown())?,
            expanded: Vec::new(),
        })
    }

    /// The stored JSON.
    pub(super) fn json(self) -> Outcome<String> {
        live(self.data)
    }
}

/// The latest change to a field of the set; most records have none after their creation.
pub(super) fn visible_change(
    history: Option<&str>,
    created_seq: i64,
    emitted_at: i64,
    fields: &FieldSet,
) -> Outcome<(u64, Instant)> {
    match history {
        None => Ok((unsigned(created_seq)?, Instant::from_micros(emitted_at))),
        some => Ok(read_history(some, created_seq, emitted_at)?.visible_change(fields)),
    }
}

pub(super) fn record_key(text: String) -> Outcome<RecordKey> {
    RecordKey::parse(text).map_err(|_| Fault::damaged("a record's key is malformed"))
}

fn live(data: Option<String>) -> Outcome<String> {
    data.ok_or_else(|| Fault::damaged("a live record has no data"))
}
