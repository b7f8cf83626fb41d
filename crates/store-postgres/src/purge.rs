//! Removing for good: rows, fields, log entries with their keys, and blobs nobody refers to.
//!
//! The bytes of blobs are removed after the transaction. What the server has deleted it overwrites in its own time.

use pdpp_access::Entropy;
use pdpp_store::{Growth, RemovedCounts, WriteTarget};
use pdpp_wire::{ConnectionId, SubjectId};

use crate::change_log::{self, PURGE_STREAM, REMOVE_CONNECTION};
use crate::connections::fresh_epoch;
use crate::fault::Outcome;
use crate::orphans;
use crate::session::Session;
use crate::subject_row::{SubjectRow, unsigned};

/// One connection's share of one stream.
struct Held {
    scope_id: i64,
    live_count: i64,
    stream: String,
}

/// Drops one stream of one connection and starts a new epoch. Says how many records there were.
pub(crate) async fn purge_stream(
    session: &Session,
    entropy: &dyn Entropy,
    target: &WriteTarget,
) -> Outcome<u64> {
    let WriteTarget { subject_id, connection_id, stream } = target;
    let Some(mut subject) = SubjectRow::lock_known(session, subject_id).await? else { return Ok(0) };
    let held = held(session, subject_id, connection_id).await?;
    let Some(held) = held.iter().find(|held| held.stream == stream.as_str()) else { return Ok(0) };
    let (id, connection, stream) = (subject_id.as_str(), connection_id.as_str(), stream.as_str());
    take_the_time(session).await?;
    let blobs = referred_blobs(session, subject_id, connection_id, held).await?;
    let growth = empty_scope(session, subject_id, held).await?;
    let sql = "UPDATE scopes SET epoch = $3, live_count = 0 WHERE subject_id = $1 AND scope_id = $2";
    session.execute(sql, &[&id, &held.scope_id, &fresh_epoch(entropy)]).await?;
    for sql in [
        "DELETE FROM blob_bindings WHERE subject_id = $1 AND connection_id = $2 AND stream = $3",
        "DELETE FROM change_log WHERE subject_id = $1 AND connection_id = $2 AND stream = $3",
    ] {
        session.execute(sql, &[&id, &connection, &stream]).await?;
    }
    orphans::doom(session, subject_id, blobs).await?;
    subject.sequence += 1;
    change_log::append(session, subject_id, subject.sequence, connection, Some(stream), PURGE_STREAM).await?;
    subject.store_grown(session, subject_id, growth).await?;
    unsigned(held.live_count)
}

/// Removes a connection with everything it brought.
pub(crate) async fn remove_connection(
    session: &Session,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
) -> Outcome<Option<RemovedCounts>> {
    let Some(mut subject) = SubjectRow::lock_known(session, subject_id).await? else { return Ok(None) };
    let (id, connection) = (subject_id.as_str(), connection_id.as_str());
    let exists = "SELECT 1 FROM connections WHERE subject_id = $1 AND connection_id = $2";
    if session.query_opt(exists, &[&id, &connection]).await?.is_none() {
        return Ok(None);
    }
    take_the_time(session).await?;
    let (mut blobs, mut records, mut growth) = (Vec::new(), 0, Growth::default());
    for held in held(session, subject_id, connection_id).await? {
        blobs.extend(referred_blobs(session, subject_id, connection_id, &held).await?);
        let lost = empty_scope(session, subject_id, &held).await?;
        growth.records += lost.records;
        growth.bytes += lost.bytes;
        records += unsigned(held.live_count)?;
    }
    for sql in [
        "DELETE FROM scopes WHERE subject_id = $1 AND connection_id = $2",
        "DELETE FROM sync_state WHERE subject_id = $1 AND connection_id = $2",
        "DELETE FROM blob_bindings WHERE subject_id = $1 AND connection_id = $2",
        "DELETE FROM change_log WHERE subject_id = $1 AND connection_id = $2",
        "DELETE FROM connections WHERE subject_id = $1 AND connection_id = $2",
    ] {
        session.execute(sql, &[&id, &connection]).await?;
    }
    let doomed = orphans::doom(session, subject_id, blobs).await?;
    subject.sequence += 1;
    change_log::append(session, subject_id, subject.sequence, connection, None, REMOVE_CONNECTION).await?;
    subject.generation += 1;
    subject.store_grown(session, subject_id, growth).await?;
    Ok(Some(RemovedCounts { records, blobs: doomed }))
}

/// Emptying a large stream takes as long as it takes.
async fn take_the_time(session: &Session) -> Outcome<()> {
    session.batch("SET LOCAL statement_timeout = '1h'").await
}

async fn held(session: &Session, subject_id: &SubjectId, connection_id: &ConnectionId) -> Outcome<Vec<Held>> {
    let sql = "SELECT scope_id, live_count, stream FROM scopes WHERE subject_id = $1 AND connection_id = $2";
    let rows = session.query(sql, &[&subject_id.as_str(), &connection_id.as_str()]).await?;
    let read =
        |row: &tokio_postgres::Row| Held { scope_id: row.get(0), live_count: row.get(1), stream: row.get(2) };
    Ok(rows.iter().map(read).collect())
}

/// Says by how much less there is.
async fn empty_scope(session: &Session, subject_id: &SubjectId, held: &Held) -> Outcome<Growth> {
    let sql =
        "SELECT -coalesce(sum(octet_length(data)), 0) FROM records WHERE subject_id = $1 AND scope_id = $2";
    let bytes = session.query_one(sql, &[&subject_id.as_str(), &held.scope_id]).await?.get(0);
    for sql in [
        "DELETE FROM record_fields WHERE subject_id = $1 AND scope_id = $2",
        "DELETE FROM past_lives WHERE subject_id = $1 AND scope_id = $2",
        "DELETE FROM revisions WHERE subject_id = $1 AND scope_id = $2",
        "DELETE FROM records WHERE subject_id = $1 AND scope_id = $2",
    ] {
        session.execute(sql, &[&subject_id.as_str(), &held.scope_id]).await?;
    }
    Ok(Growth { records: -held.live_count, bytes })
}

/// The blobs a scope's records or uploads refer to: what may be orphaned once it is emptied.
async fn referred_blobs(
    session: &Session,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
    held: &Held,
) -> Outcome<Vec<String>> {
    let id = subject_id.as_str();
    let sql = "SELECT DISTINCT blob_id FROM blob_bindings
               WHERE subject_id = $1 AND connection_id = $2 AND stream = $3";
    let bound = session.query(sql, &[&id, &connection_id.as_str(), &held.stream]).await?;
    let sql = "SELECT DISTINCT blob_id FROM records
               WHERE subject_id = $1 AND scope_id = $2 AND blob_id IS NOT NULL";
    let named = session.query(sql, &[&id, &held.scope_id]).await?;
    Ok(bound.iter().chain(&named).map(|row| row.get(0)).collect())
}
