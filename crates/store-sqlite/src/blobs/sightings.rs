//! Which visible records refer to a blob.
//!
//! The plan has kept only parts that grant `blob_ref`; what is left to check is whether a record
//! that holds the reference, and for which the bytes were uploaded, is itself visible: its time, and
//! whether it was chosen.

use pdpp_access::{BlobPlan, ReadPlan};
use pdpp_store::{BlobSighting, StoredBlob};
use pdpp_wire::{BlobId, RecordKey, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::fault::{Fault, Outcome};
use crate::records::{Part, Target, is_visible};
use crate::statement::prepare;

/// One sighting per connection, the first in the plan's order.
pub(super) fn find(connection: &Connection, plan: &BlobPlan) -> Outcome<Vec<BlobSighting>> {
    let mut sightings: Vec<BlobSighting> = Vec::new();
    for read in plan.reads() {
        let Some(blob) = stored_blob(connection, read.subject_id(), plan.blob_id())? else {
            continue;
        };
        let target = Target::resolve(connection, read)?;
        for part in &target.parts {
            if sightings.iter().any(|seen| seen.connection_id == *part.plan.connection_id()) {
                continue;
            }
            let names = Names { read, blob_id: plan.blob_id() };
            if let Some((record_key, mime_type)) = visible_record(connection, &target, part, &names)? {
                sightings.push(BlobSighting {
                    connection_id: part.plan.connection_id().clone(),
                    display_name: part.plan.display_name().map(str::to_owned),
                    stream: read.stream().clone(),
                    record_key,
                    blob: StoredBlob { mime_type, ..blob.clone() },
                });
            }
        }
    }
    Ok(sightings)
}

fn stored_blob(
    connection: &Connection,
    subject_id: &SubjectId,
    blob_id: &BlobId,
) -> Outcome<Option<StoredBlob>> {
    let sql = "SELECT size_bytes, mime_type FROM blobs WHERE subject_id = ?1 AND blob_id = ?2";
    let found = prepare(connection, sql)?
        .query_row(params![subject_id.as_str(), blob_id.as_str()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((size, mime_type)) = found else {
        return Ok(None);
    };
    let size_bytes = u64::try_from(size).map_err(|_| Fault::damaged("a blob's size"))?;
    Ok(Some(StoredBlob { subject_id: subject_id.clone(), blob_id: blob_id.clone(), size_bytes, mime_type }))
}

/// The first record of the part that refers to the blob and may be seen, and the media type its own
/// upload named. The same bytes under another record do not count: whether they are here, and as what,
/// may be out of the reader's sight.
fn visible_record(
    connection: &Connection,
    target: &Target<'_>,
    part: &Part<'_>,
    names: &Names<'_>,
) -> Outcome<Option<(RecordKey, String)>> {
    let Some(scope) = part.scope else {
        return Ok(None);
    };
    let sql = "SELECT r.id, r.key, b.mime_type FROM records AS r JOIN blob_bindings AS b
               ON b.subject_id = ?3 AND b.connection_id = ?4 AND b.stream = ?5
                  AND b.record_key = r.key AND b.blob_id = r.blob_id
               WHERE r.blob_id = ?1 AND r.scope_id = ?2 AND r.deleted_seq IS NULL
               ORDER BY r.id, b.json_path";
    let mut statement = prepare(connection, sql)?;
    let connection_id = part.plan.connection_id();
    let mut rows = statement.query(params![
        names.blob_id.as_str(),
        scope.id,
        names.read.subject_id().as_str(),
        connection_id.as_str(),
        names.read.stream().as_str()
    ])?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(1)?;
        if is_visible(connection, target, part, &key, row.get(0)?)? {
            let key = RecordKey::parse(key).map_err(|_| Fault::damaged("a record's key"))?;
            return Ok(Some((key, row.get(2)?)));
        }
    }
    Ok(None)
}

/// What is looked for.
struct Names<'p> {
    read: &'p ReadPlan,
    blob_id: &'p BlobId,
}
