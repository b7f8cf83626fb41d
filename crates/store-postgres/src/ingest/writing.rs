//! What a batch came to, written with arrays: one statement for each kind of row.

use std::collections::BTreeMap;

use pdpp_store::{Growth, WriteTarget};

use super::batch::Fields;
use super::standing::{Data, Standing};
use crate::fault::{Fault, Outcome};
use crate::field_rows::FieldRows;
use crate::layout::FieldRow;
use crate::orphans::Loosened;
use crate::pipeline::{Bound, execute_each};
use crate::scope::Scope;
use crate::session::Session;
use crate::value::Sortable;

/// Most bytes of data in one statement: far below the server's bound of a gigabyte for a value.
const STATEMENT_BYTES: i64 = 64 * 1024 * 1024;

/// Puts records that are not there.
const INSERT: &str = "INSERT INTO records (subject_id, scope_id, key, created_seq, version, deleted_seq,
         deleted_at, emitted_at, emitted_top, consent_at, ord, history, blob_id, data)
     SELECT $1, $2, u.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
         $8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[], $12::text[], $13::text[], $14::text[]) AS u";

/// Puts records in the place of those that are there.
const REPLACE: &str = "INSERT INTO records (subject_id, scope_id, key, created_seq, version, deleted_seq,
         deleted_at, emitted_at, emitted_top, consent_at, ord, history, blob_id, data)
     SELECT $1, $2, u.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
         $8::bigint[], $9::bigint[], $10::bigint[], $11::bytea[], $12::text[], $13::text[], $14::text[]) AS u
     ON CONFLICT (subject_id, scope_id, key) DO UPDATE SET created_seq = excluded.created_seq,
         version = excluded.version, deleted_seq = excluded.deleted_seq, deleted_at = excluded.deleted_at,
         emitted_at = excluded.emitted_at, emitted_top = excluded.emitted_top,
         consent_at = excluded.consent_at, ord = excluded.ord, history = excluded.history,
         blob_id = excluded.blob_id, data = excluded.data";

/// Takes a field's row away, by all it holds; with or without a value, with or without a place. What is null is
/// bound all the same, so that the four take the same values.
const DROP: [(&str, bool, bool); 4] = [
    (
        "DELETE FROM record_fields WHERE subject_id = $1 AND scope_id = $2 AND field = $3 AND key = $4
         AND value = $5 AND ord = $6",
        true,
        true,
    ),
    (
        "DELETE FROM record_fields WHERE subject_id = $1 AND scope_id = $2 AND field = $3 AND key = $4
         AND value = $5 AND ord IS NULL AND $6::bytea IS NULL",
        true,
        false,
    ),
    (
        "DELETE FROM record_fields WHERE subject_id = $1 AND scope_id = $2 AND field = $3 AND key = $4
         AND value IS NULL AND ord = $6 AND $5::bytea IS NULL",
        false,
        true,
    ),
    (
        "DELETE FROM record_fields WHERE subject_id = $1 AND scope_id = $2 AND field = $3 AND key = $4
         AND value IS NULL AND ord IS NULL AND $5::bytea IS NULL AND $6::bytea IS NULL",
        false,
        false,
    ),
];

/// A record to be written.
pub(super) struct Written {
    pub(super) key: String,
    /// Whether there was a row before the batch, and whether its record was live.
    pub(super) was: Option<bool>,
    pub(super) was_size: i64,
    pub(super) was_fields: Option<Fields>,
    pub(super) now: Standing,
    /// `None` when it is buried.
    pub(super) fields: Option<Fields>,
}

/// An entry of the change log.
pub(super) struct LogEntry {
    pub(super) sequence: i64,
    pub(super) kind: i16,
    pub(super) key: String,
}

/// An ended life of a record that came back.
pub(super) struct Life {
    pub(super) key: String,
    pub(super) created_seq: i64,
    pub(super) deleted_seq: i64,
    pub(super) consent_at: Option<i64>,
}

/// Everything a batch came to.
pub(super) struct Changes {
    /// The subject's latest number.
    pub(super) sequence: i64,
    pub(super) written: Vec<Written>,
    pub(super) log: Vec<LogEntry>,
    pub(super) listed: BTreeMap<i64, String>,
    pub(super) unlisted: Vec<i64>,
    pub(super) past: Vec<Life>,
    /// Records whose uploads lose their hold.
    pub(super) loosened: Vec<Loosened>,
    /// Blobs that records referred to.
    pub(super) unreferred: Vec<String>,
}

impl Changes {
    /// Whether nothing changed.
    pub(super) fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// How the archive grows.
    pub(super) fn growth(&self) -> Growth {
        let mut growth = Growth::default();
        for record in &self.written {
            growth.records += i64::from(record.now.is_live()) - i64::from(record.was == Some(true));
            growth.bytes += record.now.data.size() - record.was_size;
        }
        growth
    }

    /// Writes all of it. Nothing here meets a row that another of these statements writes, so they go out together.
    pub(super) async fn write(&self, session: &Session, target: &WriteTarget, scope: Scope) -> Outcome<()> {
        let place = Place { session, target, scope_id: scope.id };
        tokio::try_join!(
            place.write_records(&self.written),
            place.write_fields(&self.written),
            place.drop_fields(&self.written),
            place.list(&self.listed),
            place.unlist(&self.unlisted),
            place.remember(&self.past),
            place.log(&self.log),
            place.count(scope.live_count, self.growth()),
        )?;
        Ok(())
    }
}

/// Where a batch is written.
struct Place<'p> {
    session: &'p Session,
    target: &'p WriteTarget,
    scope_id: i64,
}

impl Place<'_> {
    fn subject(&self) -> &str {
        self.target.subject_id.as_str()
    }

    async fn write_records(&self, written: &[Written]) -> Outcome<()> {
        let (fresh, known): (Vec<_>, Vec<_>) = written.iter().partition(|record| record.was.is_none());
        for (sql, records) in [(INSERT, fresh), (REPLACE, known)] {
            let mut rest = records.as_slice();
            while !rest.is_empty() {
                let (piece, later) = rest.split_at(within_bounds(rest));
                self.write_piece(sql, piece).await?;
                rest = later;
            }
        }
        Ok(())
    }

    async fn write_piece(&self, sql: &str, piece: &[&Written]) -> Outcome<()> {
        let number = |pick: fn(&Standing) -> i64| piece.iter().map(|one| pick(&one.now)).collect::<Vec<_>>();
        let maybe =
            |pick: fn(&Standing) -> Option<i64>| piece.iter().map(|one| pick(&one.now)).collect::<Vec<_>>();
        let keys: Vec<_> = piece.iter().map(|one| one.key.as_str()).collect();
        let (created, version) = (number(|now| now.created_seq), number(|now| now.version));
        let (deleted, deleted_at) = (maybe(|now| now.deleted_seq), maybe(|now| now.deleted_at));
        let (emitted, top) = (number(|now| now.emitted_at), number(|now| now.emitted_top));
        let consent = maybe(|now| now.consent_at);
        let ords: Vec<_> = piece.iter().map(|one| one.ord().map(Sortable::as_bytes)).collect();
        let histories: Vec<_> = piece.iter().map(|one| one.now.history.as_deref()).collect();
        let blobs: Vec<_> = piece.iter().map(|one| one.now.blob_id.as_deref()).collect();
        let data: Vec<_> = piece.iter().map(|one| one.data()).collect();
        self.session
            .execute(
                sql,
                &[
                    &self.subject(),
                    &self.scope_id,
                    &keys,
                    &created,
                    &version,
                    &deleted,
                    &deleted_at,
                    &emitted,
                    &top,
                    &consent,
                    &ords,
                    &histories,
                    &blobs,
                    &data,
                ],
            )
            .await?;
        Ok(())
    }

    /// Writes the fields of live records, of rewritten ones only those that changed.
    async fn write_fields(&self, written: &[Written]) -> Outcome<()> {
        let (mut fresh, mut known) = (FieldRows::default(), FieldRows::default());
        for record in written {
            let Some(fields) = &record.fields else { continue };
            let rows = if record.was == Some(true) { &mut known } else { &mut fresh };
            for row in &fields.rows {
                if !record.has_kept(row) {
                    rows.push(&record.key, row, fields.ord.as_ref());
                }
            }
        }
        let subject_id = &self.target.subject_id;
        tokio::try_join!(
            fresh.insert(self.session, subject_id, self.scope_id),
            known.replace(self.session, subject_id, self.scope_id)
        )?;
        Ok(())
    }

    /// Takes the fields of buried records away. A row is named by all it holds: whichever of the table's two indexes
    /// the planner takes, it finds the row in one step.
    async fn drop_fields(&self, written: &[Written]) -> Outcome<()> {
        let subject = self.subject();
        let mut rows = Vec::new();
        for record in written.iter().filter(|record| record.was == Some(true) && record.fields.is_none()) {
            let was = record.was_fields.as_ref();
            let was = was.ok_or_else(|| Fault::damaged("a buried record's fields were not read"))?;
            let ord = was.ord.as_ref().map(Sortable::as_bytes);
            for row in &was.rows {
                rows.push((row.field, &record.key, row.value.as_ref().map(Sortable::as_bytes), ord));
            }
        }
        for (sql, has_value, has_ord) in DROP {
            let alike = rows.iter().filter(|row| row.2.is_some() == has_value && row.3.is_some() == has_ord);
            let each = alike.map(|(field, key, value, ord)| -> Bound<'_, 6> {
                [&subject, &self.scope_id, field, key, value, ord]
            });
            let each: Vec<_> = each.collect();
            execute_each(self.session, sql, &each).await?;
        }
        Ok(())
    }

    async fn list(&self, listed: &BTreeMap<i64, String>) -> Outcome<()> {
        if listed.is_empty() {
            return Ok(());
        }
        let sql = "INSERT INTO revisions (subject_id, scope_id, sequence, key)
                   SELECT $1, $2, u.* FROM unnest($3::bigint[], $4::text[]) AS u";
        let (sequences, keys): (Vec<_>, Vec<_>) = listed.iter().map(|(at, key)| (*at, key.as_str())).unzip();
        self.session.execute(sql, &[&self.subject(), &self.scope_id, &sequences, &keys]).await?;
        Ok(())
    }

    async fn unlist(&self, unlisted: &[i64]) -> Outcome<()> {
        let sql = "DELETE FROM revisions WHERE subject_id = $1 AND scope_id = $2 AND sequence = $3";
        let subject = self.subject();
        let each = unlisted.iter().map(|sequence| -> Bound<'_, 3> { [&subject, &self.scope_id, sequence] });
        let each: Vec<_> = each.collect();
        execute_each(self.session, sql, &each).await?;
        Ok(())
    }

    async fn remember(&self, past: &[Life]) -> Outcome<()> {
        if past.is_empty() {
            return Ok(());
        }
        let sql = "INSERT INTO past_lives (subject_id, scope_id, key, created_seq, deleted_seq, consent_at)
                   SELECT $1, $2, u.* FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) AS u";
        let keys: Vec<_> = past.iter().map(|life| life.key.as_str()).collect();
        let created: Vec<_> = past.iter().map(|life| life.created_seq).collect();
        let deleted: Vec<_> = past.iter().map(|life| life.deleted_seq).collect();
        let consent: Vec<_> = past.iter().map(|life| life.consent_at).collect();
        let values: &[&(dyn tokio_postgres::types::ToSql + Sync)] =
            &[&self.subject(), &self.scope_id, &keys, &created, &deleted, &consent];
        self.session.execute(sql, values).await?;
        Ok(())
    }

    async fn log(&self, log: &[LogEntry]) -> Outcome<()> {
        let sql = "INSERT INTO change_log (subject_id, connection_id, stream, sequence, kind, record_key)
                   SELECT $1, $2, $3, u.* FROM unnest($4::bigint[], $5::smallint[], $6::text[]) AS u";
        let sequences: Vec<_> = log.iter().map(|entry| entry.sequence).collect();
        let kinds: Vec<_> = log.iter().map(|entry| entry.kind).collect();
        let keys: Vec<_> = log.iter().map(|entry| entry.key.as_str()).collect();
        let WriteTarget { connection_id, stream, .. } = self.target;
        let names = (self.subject(), connection_id.as_str(), stream.as_str());
        self.session.execute(sql, &[&names.0, &names.1, &names.2, &sequences, &kinds, &keys]).await?;
        Ok(())
    }

    async fn count(&self, live_count: i64, growth: Growth) -> Outcome<()> {
        if growth.records == 0 {
            return Ok(());
        }
        let sql = "UPDATE scopes SET live_count = $3 WHERE subject_id = $1 AND scope_id = $2";
        let count = live_count + growth.records;
        self.session.execute(sql, &[&self.subject(), &self.scope_id, &count]).await?;
        Ok(())
    }
}

impl Written {
    fn ord(&self) -> Option<&Sortable> {
        self.fields.as_ref()?.ord.as_ref()
    }

    /// Whether a field's row is there as it should be.
    fn has_kept(&self, row: &FieldRow) -> bool {
        let (Some(was), Some(now)) = (&self.was_fields, &self.fields) else { return false };
        let index = usize::try_from(row.field).ok();
        let earlier = index.and_then(|index| was.rows.get(index));
        was.ord == now.ord && earlier.is_some_and(|earlier| earlier.value == row.value)
    }

    fn data(&self) -> Option<&str> {
        match &self.now.data {
            Data::Here(text) => Some(text),
            Data::None | Data::Large(_) => None,
        }
    }
}

/// How many records one statement takes, at least one.
fn within_bounds(records: &[&Written]) -> usize {
    let mut bytes = 0;
    let fits = |record: &&&Written| {
        bytes += record.now.data.size();
        bytes <= STATEMENT_BYTES
    };
    records.iter().take_while(fits).count().max(1)
}
