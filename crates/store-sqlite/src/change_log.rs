//! The change log: appended with every change, read by derived indexes.

use async_trait::async_trait;
use pdpp_store::{Change, ChangeKind, ChangeLog, StoreError};
use pdpp_wire::{ConnectionId, RecordKey, StreamName, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::SqliteStore;
use crate::fault::{Fault, Outcome};
use crate::sequence::{SubjectRow, unsigned};
use crate::statement::prepare;

pub(crate) const UPSERT: i64 = 1;
pub(crate) const DELETE: i64 = 2;
pub(crate) const PURGE_STREAM: i64 = 3;
pub(crate) const REMOVE_CONNECTION: i64 = 4;

/// Appends one entry.
pub(crate) const APPEND: &str =
    "INSERT INTO change_log (subject, sequence, connection_id, stream, kind, record_key)
     VALUES (?, ?, ?, ?, ?, ?)";

#[async_trait]
impl ChangeLog for SqliteStore {
    async fn log_head(&self, subject_id: &SubjectId) -> Result<u64, StoreError> {
        let subject_id = subject_id.clone();
        self.glance(move |connection| unsigned(SubjectRow::find(connection, &subject_id)?.sequence)).await
    }

    async fn read_log(
        &self,
        subject_id: &SubjectId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Change>, StoreError> {
        let subject_id = subject_id.clone();
        self.read(move |connection| read_log(connection, &subject_id, after, limit)).await
    }

    async fn latest_of(
        &self,
        subject_id: &SubjectId,
        streams: &[(ConnectionId, StreamName)],
        after: u64,
    ) -> Result<Option<u64>, StoreError> {
        let (subject_id, streams) = (subject_id.clone(), streams.to_vec());
        self.read(move |connection| latest_of(connection, &subject_id, &streams, after)).await
    }
}

fn latest_of(
    connection: &Connection,
    subject_id: &SubjectId,
    streams: &[(ConnectionId, StreamName)],
    after: u64,
) -> Outcome<Option<u64>> {
    if streams.is_empty() {
        return Ok(None);
    }
    let subject = SubjectRow::find(connection, subject_id)?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    // As one value, because a plan may have more streams than a statement may have values.
    let pairs: Vec<_> =
        streams.iter().map(|(connection, stream)| [connection.as_str(), stream.as_str()]).collect();
    let pairs = serde_json::to_string(&pairs).map_err(|error| StoreError::Backend(error.into()))?;
    let sql = "SELECT sequence FROM change_log WHERE subject = ?1 AND sequence > ?2
               AND ((connection_id, stream) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))
                    OR (stream IS NULL AND connection_id IN (SELECT value ->> 0 FROM json_each(?3))))
               ORDER BY sequence DESC LIMIT 1";
    let found = prepare(connection, sql)?.query_row(params![subject.id, after, pairs], |row| row.get(0));
    found.optional()?.map(unsigned).transpose()
}

fn read_log(connection: &Connection, subject_id: &SubjectId, after: u64, limit: u32) -> Outcome<Vec<Change>> {
    let subject = SubjectRow::find(connection, subject_id)?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let sql = "SELECT sequence, connection_id, stream, kind, record_key FROM change_log
               WHERE subject = ? AND sequence > ? ORDER BY sequence LIMIT ?";
    let mut statement = prepare(connection, sql)?;
    let mut rows = statement.query(params![subject.id, after, limit])?;
    let mut changes = Vec::new();
    while let Some(row) = rows.next()? {
        changes.push(change(row)?);
    }
    Ok(changes)
}

fn change(row: &Row<'_>) -> Outcome<Change> {
    let damaged = |_| Fault::damaged("a change log entry names nothing known");
    let key = || -> Outcome<RecordKey> { RecordKey::parse(row.get::<_, String>(4)?).map_err(damaged) };
    let stream: Option<String> = row.get(2)?;
    Ok(Change {
        sequence: unsigned(row.get(0)?)?,
        connection_id: ConnectionId::parse(row.get::<_, String>(1)?).map_err(damaged)?,
        stream: stream.map(StreamName::parse).transpose().map_err(damaged)?,
        kind: match row.get(3)? {
            UPSERT => ChangeKind::Upsert(key()?),
            DELETE => ChangeKind::Delete(key()?),
            PURGE_STREAM => ChangeKind::PurgeStream,
            REMOVE_CONNECTION => ChangeKind::RemoveConnection,
            _ => return Err(Fault::damaged("a change log entry is of no known kind")),
        },
    })
}
