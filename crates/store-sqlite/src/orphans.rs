//! Blobs nobody refers to any more: rows first, files once that is committed.
//!
//! A blob's row goes in the transaction that takes its last reference, which also notes that the
//! file is doomed. The file goes in a transaction of its own afterwards: neither a rollback nor a
//! crash can leave a row without its file, and the note outlives a crash until the file is gone.

use pdpp_store::Growth;
use pdpp_wire::{BlobId, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::blob_files::BlobFiles;
use crate::fault::{Fault, Outcome};
use crate::quotas;

/// Whether a record or an upload still refers to a blob.
const STILL: &str = "SELECT EXISTS (SELECT 1 FROM blob_bindings WHERE subject_id = ?1 AND blob_id = ?2)
     OR EXISTS (SELECT 1 FROM records AS r JOIN scopes AS s ON s.id = r.scope_id
                WHERE r.blob_id = ?2 AND s.subject_id = ?1)";

/// Removes the rows of those of the blobs nobody refers to any more, and counts their bytes no more; says how many.
pub(crate) fn doom(connection: &Connection, subject_id: &SubjectId, mut blobs: Vec<String>) -> Outcome<u64> {
    blobs.sort_unstable();
    blobs.dedup();
    let (mut doomed, mut freed) = (0, 0);
    for blob in blobs {
        let names = params![subject_id.as_str(), blob];
        if connection.prepare_cached(STILL)?.query_row(names, |row| row.get(0))? {
            continue;
        }
        let sql = "DELETE FROM blobs WHERE subject_id = ? AND blob_id = ? RETURNING size_bytes";
        let size = connection.prepare_cached(sql)?.query_row(names, |row| row.get::<_, i64>(0)).optional()?;
        if let Some(size) = size {
            let sql = "INSERT OR IGNORE INTO doomed_blobs (subject_id, blob_id) VALUES (?, ?)";
            connection.prepare_cached(sql)?.execute(names)?;
            doomed += 1;
            freed += size;
        }
    }
    if freed > 0 {
        quotas::count(connection, subject_id, Growth { records: 0, bytes: -freed })?;
    }
    Ok(doomed)
}

/// Takes away the bindings a record's uploads made, or only those to one blob. Says which blobs they
/// were to.
pub(crate) fn unbind(connection: &Connection, record: [&str; 4], only: Option<&str>) -> Outcome<Vec<String>> {
    let sql = "DELETE FROM blob_bindings WHERE subject_id = ?1 AND connection_id = ?2 AND stream = ?3
               AND record_key = ?4 AND (?5 IS NULL OR blob_id = ?5) RETURNING blob_id";
    let [subject_id, connection_id, stream, key] = record;
    let mut statement = connection.prepare_cached(sql)?;
    let blobs =
        statement.query_map(params![subject_id, connection_id, stream, key, only], |row| row.get(0))?;
    Ok(blobs.collect::<Result<_, _>>()?)
}

/// Whether files wait to be removed.
pub(crate) fn any_doomed(connection: &Connection) -> Outcome<bool> {
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM doomed_blobs)", [], |row| row.get(0))?)
}

/// Removes the files of doomed blobs, unless the same bytes have come again. Inside a write
/// transaction, so that they cannot come again meanwhile.
pub(crate) fn remove_files(connection: &Connection, files: &BlobFiles) -> Outcome<()> {
    for (subject_id, blob_id, is_back) in doomed(connection)? {
        if !is_back && let Err(error) = files.remove(&subject_id, &blob_id) {
            // The note stays, and the next one to look tries again.
            tracing::warn!(%error, "a blob's file could not be removed");
            continue;
        }
        connection
            .prepare_cached("DELETE FROM doomed_blobs WHERE subject_id = ? AND blob_id = ?")?
            .execute(params![subject_id.as_str(), blob_id.as_str()])?;
    }
    Ok(())
}

/// The doomed blobs, and whether each has a row again.
fn doomed(connection: &Connection) -> Outcome<Vec<(SubjectId, BlobId, bool)>> {
    let sql = "SELECT d.subject_id, d.blob_id, b.blob_id IS NOT NULL FROM doomed_blobs AS d
               LEFT JOIN blobs AS b ON b.subject_id = d.subject_id AND b.blob_id = d.blob_id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut doomed = Vec::new();
    while let Some(row) = rows.next()? {
        let subject_id = SubjectId::parse(row.get::<_, String>(0)?)
            .map_err(|_| Fault::damaged("a blob's subject is malformed"))?;
        let blob_id = BlobId::parse(row.get::<_, String>(1)?)
            .map_err(|_| Fault::damaged("a blob's id is malformed"))?;
        doomed.push((subject_id, blob_id, row.get(2)?));
    }
    Ok(doomed)
}
