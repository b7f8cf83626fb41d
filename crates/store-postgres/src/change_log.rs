//! The change log: appended with every change, read by derived indexes.

use async_trait::async_trait;
use pdpp_store::{Change, ChangeKind, ChangeLog, StoreError};
use pdpp_wire::{ConnectionId, RecordKey, StreamName, SubjectId};
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::{SubjectRow, unsigned};

pub(crate) const UPSERT: i16 = 1;
pub(crate) const DELETE: i16 = 2;
pub(crate) const PURGE_STREAM: i16 = 3;
pub(crate) const REMOVE_CONNECTION: i16 = 4;

/// Appends one entry that names no record.
pub(crate) async fn append(
    session: &Session,
    subject_id: &SubjectId,
    sequence: i64,
    connection_id: &str,
    stream: Option<&str>,
    kind: i16,
) -> Outcome<()> {
    let sql = "INSERT INTO change_log (subject_id, sequence, connection_id, stream, kind)
               VALUES ($1, $2, $3, $4, $5)";
    session.execute(sql, &[&subject_id.as_str(), &sequence, &connection_id, &stream, &kind]).await?;
    Ok(())
}

#[async_trait]
impl ChangeLog for PostgresStore {
    async fn log_head(&self, subject_id: &SubjectId) -> Result<u64, StoreError> {
        let session = self.reading(subject_id).await?;
        let row = SubjectRow::find(&session, subject_id).await;
        let row = session.end(row).await?;
        Ok(unsigned(row.sequence)?)
    }

    async fn read_log(
        &self,
        subject_id: &SubjectId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Change>, StoreError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let session = self.reading(subject_id).await?;
        let sql = "SELECT sequence, connection_id, stream, kind, record_key FROM change_log
                   WHERE subject_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3";
        let rows = session.query(sql, &[&subject_id.as_str(), &after, &i64::from(limit)]).await;
        let rows = session.end(rows).await?;
        Ok(rows.iter().map(change).collect::<Outcome<_>>()?)
    }

    async fn latest_of(
        &self,
        subject_id: &SubjectId,
        streams: &[(ConnectionId, StreamName)],
        after: u64,
    ) -> Result<Option<u64>, StoreError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let connections: Vec<&str> =
            streams.iter().map(|(connection_id, _)| connection_id.as_str()).collect();
        let names: Vec<&str> = streams.iter().map(|(_, stream)| stream.as_str()).collect();
        let session = self.reading(subject_id).await?;
        let sql = "SELECT sequence FROM change_log WHERE subject_id = $1 AND sequence > $2
                   AND ((connection_id, stream) IN (SELECT * FROM unnest($3::text[], $4::text[]))
                        OR (stream IS NULL AND connection_id = ANY($3)))
                   ORDER BY sequence DESC LIMIT 1";
        let rows = session.query(sql, &[&subject_id.as_str(), &after, &connections, &names]).await;
        let rows = session.end(rows).await?;
        Ok(rows.first().map(|row| unsigned(row.get(0))).transpose()?)
    }
}

fn change(row: &Row) -> Outcome<Change> {
    let damaged = |_| Fault::damaged("a change log entry names nothing known");
    let key = || -> Outcome<RecordKey> {
        RecordKey::parse(row.get::<_, Option<&str>>(4).unwrap_or_default()).map_err(damaged)
    };
    let stream: Option<&str> = row.get(2);
    Ok(Change {
        sequence: unsigned(row.get(0))?,
        connection_id: ConnectionId::parse(row.get::<_, &str>(1)).map_err(damaged)?,
        stream: stream.map(StreamName::parse).transpose().map_err(damaged)?,
        kind: match row.get(3) {
            UPSERT => ChangeKind::Upsert(key()?),
            DELETE => ChangeKind::Delete(key()?),
            PURGE_STREAM => ChangeKind::PurgeStream,
            REMOVE_CONNECTION => ChangeKind::RemoveConnection,
            _ => return Err(Fault::damaged("a change log entry is of no known kind")),
        },
    })
}
