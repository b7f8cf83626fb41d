//! Removing for good: rows, columns, log entries with their keys, and blobs nobody refers to.
//!
//! The engine overwrites what is deleted. The caller removes the files of blobs and empties the
//! write-ahead log afterwards.

use pdpp_access::Entropy;
use pdpp_store::{Growth, RemovedCounts, WriteTarget};
use pdpp_wire::{ConnectionId, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::catalogues::bump_generation;
use crate::change_log::{APPEND, PURGE_STREAM, REMOVE_CONNECTION};
use crate::connections::fresh_epoch;
use crate::fault::Outcome;
use crate::orphans;
use crate::sequence::{SubjectRow, unsigned};

/// One scope and the table of its fields.
struct Held {
    scope_id: i64,
    live_count: i64,
    stream: String,
    table: Option<i64>,
}

/// Drops one stream of one connection and starts a new epoch. Says how many records there were.
pub(crate) fn purge_stream(
    connection: &Connection,
    entropy: &dyn Entropy,
    target: &WriteTarget,
) -> Outcome<u64> {
    let WriteTarget { subject_id, connection_id, stream } = target;
    let held = held(connection, subject_id, connection_id)?;
    let Some(held) = held.iter().find(|held| held.stream == stream.as_str()) else { return Ok(0) };
    let blobs = referred_blobs(connection, subject_id, connection_id, held)?;
    let growth = empty_scope(connection, held)?;
    connection
        .prepare_cached("UPDATE scopes SET epoch = ?, live_count = 0 WHERE id = ?")?
        .execute([fresh_epoch(entropy), held.scope_id])?;
    let names = params![subject_id.as_str(), connection_id.as_str(), stream.as_str()];
    connection
        .prepare_cached(
            "DELETE FROM blob_bindings WHERE subject_id = ? AND connection_id = ? AND stream = ?",
        )?
        .execute(names)?;
    orphans::doom(connection, subject_id, blobs)?;
    let mut subject = SubjectRow::ensure(connection, subject_id)?;
    connection
        .prepare_cached("DELETE FROM change_log WHERE subject = ? AND connection_id = ? AND stream = ?")?
        .execute(params![subject.id, connection_id.as_str(), stream.as_str()])?;
    subject.sequence += 1;
    connection.prepare_cached(APPEND)?.execute(params![
        subject.id,
        subject.sequence,
        connection_id.as_str(),
        stream.as_str(),
        PURGE_STREAM,
        None::<String>
    ])?;
    subject.store_grown(connection, growth)?;
    unsigned(held.live_count)
}

/// Removes a connection with everything it brought.
pub(crate) fn remove_connection(
    connection: &Connection,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
) -> Outcome<Option<RemovedCounts>> {
    let names = params![subject_id.as_str(), connection_id.as_str()];
    let exists = "SELECT 1 FROM connections WHERE subject_id = ? AND connection_id = ?";
    if connection.prepare_cached(exists)?.query_row(names, |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let (mut blobs, mut records, mut growth) = (Vec::new(), 0, Growth::default());
    for held in held(connection, subject_id, connection_id)? {
        blobs.extend(referred_blobs(connection, subject_id, connection_id, &held)?);
        let lost = empty_scope(connection, &held)?;
        growth.records += lost.records;
        growth.bytes += lost.bytes;
        records += unsigned(held.live_count)?;
    }
    for table in ["scopes", "sync_state", "blob_bindings", "connections"] {
        let sql = format!("DELETE FROM {table} WHERE subject_id = ? AND connection_id = ?");
        connection.prepare_cached(&sql)?.execute(names)?;
    }
    let doomed = orphans::doom(connection, subject_id, blobs)?;
    log_removal(connection, subject_id, connection_id, growth)?;
    bump_generation(connection, subject_id)?;
    Ok(Some(RemovedCounts { records, blobs: doomed }))
}

fn log_removal(
    connection: &Connection,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
    growth: Growth,
) -> Outcome<()> {
    let mut subject = SubjectRow::ensure(connection, subject_id)?;
    connection
        .prepare_cached("DELETE FROM change_log WHERE subject = ? AND connection_id = ?")?
        .execute(params![subject.id, connection_id.as_str()])?;
    subject.sequence += 1;
    connection.prepare_cached(APPEND)?.execute(params![
        subject.id,
        subject.sequence,
        connection_id.as_str(),
        None::<String>,
        REMOVE_CONNECTION,
        None::<String>
    ])?;
    subject.store_grown(connection, growth)
}

fn held(connection: &Connection, subject_id: &SubjectId, connection_id: &ConnectionId) -> Outcome<Vec<Held>> {
    let sql = "SELECT s.id, s.live_count, s.stream, f.id FROM scopes AS s LEFT JOIN field_tables AS f
               ON f.subject_id = s.subject_id AND f.connector_key = s.connector_key AND f.stream = s.stream
               WHERE s.subject_id = ? AND s.connection_id = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![subject_id.as_str(), connection_id.as_str()], |row| {
        Ok(Held { scope_id: row.get(0)?, live_count: row.get(1)?, stream: row.get(2)?, table: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Says by how much less there is.
fn empty_scope(connection: &Connection, held: &Held) -> Outcome<Growth> {
    let sql = "SELECT -coalesce(sum(octet_length(data)), 0) FROM records WHERE scope_id = ?";
    let bytes = connection.prepare_cached(sql)?.query_row([held.scope_id], |row| row.get(0))?;
    if let Some(table) = held.table {
        empty_fields(connection, table, held.scope_id)?;
    }
    for sql in [
        "DELETE FROM past_lives WHERE record_id IN (SELECT record_id FROM revisions WHERE scope_id = ?)",
        "DELETE FROM revisions WHERE scope_id = ?",
        "DELETE FROM records WHERE scope_id = ?",
    ] {
        connection.execute(sql, [held.scope_id])?;
    }
    Ok(Growth { records: -held.live_count, bytes })
}

/// Emptying a whole table is much faster than row by row, and most hold one connection only.
fn empty_fields(connection: &Connection, table: i64, scope_id: i64) -> Outcome<()> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM fields_{table} WHERE scope_id < ?1)
         OR EXISTS (SELECT 1 FROM fields_{table} WHERE scope_id > ?1)"
    );
    if connection.query_row(&sql, [scope_id], |row| row.get(0))? {
        connection.execute(&format!("DELETE FROM fields_{table} WHERE scope_id = ?"), [scope_id])?;
    } else {
        connection.execute(&format!("DELETE FROM fields_{table}"), [])?;
    }
    Ok(())
}

/// The blobs a scope's records or uploads refer to: what may be orphaned once it is emptied.
fn referred_blobs(
    connection: &Connection,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
    held: &Held,
) -> Outcome<Vec<String>> {
    let sql = "SELECT blob_id FROM blob_bindings WHERE subject_id = ? AND connection_id = ? AND stream = ?
               UNION SELECT blob_id FROM records WHERE scope_id = ? AND blob_id IS NOT NULL";
    let names = params![subject_id.as_str(), connection_id.as_str(), held.stream, held.scope_id];
    Ok(connection.prepare_cached(sql)?.query_map(names, |row| row.get(0))?.collect::<Result<_, _>>()?)
}
