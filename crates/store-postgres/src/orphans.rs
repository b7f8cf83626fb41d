//! Blobs nobody refers to any more: rows first, bytes once that is committed.
//!
//! A blob's row goes in the transaction that takes its last reference, which also notes that the bytes are doomed.
//! They go afterwards: neither a rollback nor a crash can leave a row without its bytes, and the note outlives a
//! crash until they are gone.

use pdpp_store::{Growth, WriteTarget};
use pdpp_wire::SubjectId;

use crate::fault::Outcome;
use crate::pipeline::{Bound, execute_each};
use crate::quotas;
use crate::session::Session;

/// A record whose uploads lose their hold: all of them, or those of one blob.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Loosened {
    pub(crate) key: String,
    pub(crate) only: Option<String>,
}

/// Takes away the bindings that uploads made for these records. Says which blobs they were to.
pub(crate) async fn unbind(
    session: &Session,
    target: &WriteTarget,
    loosened: &[Loosened],
) -> Outcome<Vec<String>> {
    if loosened.is_empty() {
        return Ok(Vec::new());
    }
    let WriteTarget { subject_id, connection_id, stream } = target;
    let names = (subject_id.as_str(), connection_id.as_str(), stream.as_str());
    let keys: Vec<_> = loosened.iter().map(|one| one.key.as_str()).collect();
    let only: Vec<_> = loosened.iter().map(|one| one.only.as_deref()).collect();
    // A subquery that stands for itself is run once for each key, and its order names the index: the primary key.
    let sql = "SELECT DISTINCT b.record_key, b.json_path, b.blob_id
               FROM unnest($4::text[], $5::text[]) AS u (key, only_blob) CROSS JOIN LATERAL (
                   SELECT record_key, json_path, blob_id FROM blob_bindings
                   WHERE subject_id = $1 AND connection_id = $2 AND stream = $3 AND record_key = u.key
                   ORDER BY json_path OFFSET 0
               ) AS b WHERE u.only_blob IS NULL OR b.blob_id = u.only_blob";
    let found = session.query(sql, &[&names.0, &names.1, &names.2, &keys, &only]).await?;
    let bound: Vec<(String, String, String)> =
        found.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect();
    let sql = "DELETE FROM blob_bindings WHERE subject_id = $1 AND connection_id = $2 AND stream = $3
               AND record_key = $4 AND json_path = $5";
    let each =
        bound.iter().map(|(key, path, _)| -> Bound<'_, 5> { [&names.0, &names.1, &names.2, key, path] });
    let each: Vec<_> = each.collect();
    execute_each(session, sql, &each).await?;
    Ok(bound.into_iter().map(|(_, _, blob)| blob).collect())
}

/// Removes the rows of those of the blobs nobody refers to any more, and counts their bytes no more; says how many. The
/// subject's row must be locked.
pub(crate) async fn doom(session: &Session, subject_id: &SubjectId, mut blobs: Vec<String>) -> Outcome<u64> {
    if blobs.is_empty() {
        return Ok(0);
    }
    blobs.sort_unstable();
    blobs.dedup();
    let id = subject_id.as_str();
    let sql = "SELECT u.blob_id,
                      (SELECT h.size_bytes FROM blobs AS h WHERE h.subject_id = $1 AND h.blob_id = u.blob_id)
               FROM unnest($2::text[]) AS u (blob_id)
               WHERE (SELECT true FROM blob_bindings AS b
                      WHERE b.subject_id = $1 AND b.blob_id = u.blob_id LIMIT 1) IS NULL
               AND (SELECT true FROM records AS r WHERE r.subject_id = $1 AND r.blob_id = u.blob_id
                    ORDER BY r.scope_id LIMIT 1) IS NULL";
    let alone = session.query(sql, &[&id, &blobs]).await?;
    let freed: i64 = alone.iter().filter_map(|row| row.get::<_, Option<i64>>(1)).sum();
    let alone: Vec<&str> = alone.iter().map(|row| row.get(0)).collect();
    let sql = "WITH gone AS (
                   DELETE FROM blobs WHERE subject_id = $1 AND blob_id = $2 RETURNING subject_id, blob_id, upload
               )
               INSERT INTO doomed_blobs (subject_id, blob_id, upload) SELECT subject_id, blob_id, upload FROM gone
               ON CONFLICT (subject_id, blob_id, upload) DO UPDATE SET upload = excluded.upload";
    let each: Vec<_> = alone.iter().map(|blob| -> Bound<'_, 2> { [&id, blob] }).collect();
    let doomed = execute_each(session, sql, &each).await?.into_iter().sum();
    if freed > 0 {
        quotas::count(session, subject_id, Growth { records: 0, bytes: -freed }).await?;
    }
    Ok(doomed)
}
