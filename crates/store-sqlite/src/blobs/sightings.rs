//! Which visible records refer to a blob.
//!
//! The plan has kept only parts that grant `blob_ref`; what is left to check is whether a record
//! that holds the reference is itself visible: its time, and whether it was chosen.

use pdpp_access::{BlobPlan, ReadPlan};
use pdpp_store::{BlobSighting, StoredBlob};
use pdpp_wire::{BlobId, RecordKey, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

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
            if let Some(record_key) = visible_record(connection, &target, part, plan.blob_id())? {
                sightings.push(sighting(connection, read, part, record_key, blob.clone())?);
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

/// The first record of the part that refers to the blob and may be seen.
fn visible_record(
    connection: &Connection,
    target: &Target<'_>,
    part: &Part<'_>,
    blob_id: &BlobId,
) -> Outcome<Option<RecordKey>> {
    let Some(scope) = part.scope else {
        return Ok(None);
    };
    let sql = "SELECT id, key FROM records WHERE blob_id = ?1 AND scope_id = ?2 AND deleted_seq IS NULL";
    let mut statement = prepare(connection, sql)?;
    let mut rows = statement.query(params![blob_id.as_str(), scope.id])?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(1)?;
        if is_visible(connection, target, part, &key, row.get(0)?)? {
            return RecordKey::parse(key).map(Some).map_err(|_| Fault::damaged("a record's key"));
        }
    }
    Ok(None)
}

/// The media type is the one the record's own upload named, else the one the record itself gives.
fn sighting(
    connection: &Connection,
    read: &ReadPlan,
    part: &Part<'_>,
    record_key: RecordKey,
    mut blob: StoredBlob,
) -> Outcome<BlobSighting> {
    let sql = "SELECT mime_type FROM blob_bindings
               WHERE subject_id = ?1 AND connection_id = ?2 AND stream = ?3 AND record_key = ?4 AND blob_id = ?5
               LIMIT 1";
    let named = prepare(connection, sql)?
        .query_row(
            params![
                read.subject_id().as_str(),
                part.plan.connection_id().as_str(),
                read.stream().as_str(),
                record_key.as_str(),
                blob.blob_id.as_str()
            ],
            |row| row.get(0),
        )
        .optional()?;
    blob.mime_type = match named {
        Some(mime_type) => mime_type,
        None => referred_type(connection, read, part, &record_key)?,
    };
    Ok(BlobSighting {
        connection_id: part.plan.connection_id().clone(),
        display_name: part.plan.display_name().map(str::to_owned),
        stream: read.stream().clone(),
        record_key,
        blob,
    })
}

/// The media type a visible record gives its blob. Whoever else uploaded the same bytes, as whatever
/// type, may be out of the reader's sight.
fn referred_type(
    connection: &Connection,
    read: &ReadPlan,
    part: &Part<'_>,
    record_key: &RecordKey,
) -> Outcome<String> {
    let sql = "SELECT data FROM records WHERE key = ?4 AND scope_id =
                   (SELECT id FROM scopes WHERE subject_id = ?1 AND connection_id = ?2 AND stream = ?3)";
    let names = [
        read.subject_id().as_str(),
        part.plan.connection_id().as_str(),
        read.stream().as_str(),
        record_key.as_str(),
    ];
    let data: String = prepare(connection, sql)?.query_row(names, |row| row.get(0))?;
    let data: Value = serde_json::from_str(&data).map_err(|_| Fault::damaged("a record's data"))?;
    Ok(data["blob_ref"]["mime_type"].as_str().unwrap_or("application/octet-stream").to_owned())
}
