//! Which visible records refer to a blob.
//!
//! The plan has kept only parts that grant `blob_ref`; what is left to check is whether a record
//! that holds the reference is itself visible: its time, and whether it was chosen.

use pdpp_access::{BlobPlan, PlanPart, ReadPlan};
use pdpp_store::{BlobSighting, StoreError, StoredBlob};
use pdpp_wire::{BlobId, Instant, RecordKey, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, named_params, params};
use serde_json::Value;

use crate::fault::{Fault, Outcome};
use crate::statement::prepare;

/// One sighting per connection, the first in the plan's order.
pub(super) fn find(connection: &Connection, plan: &BlobPlan) -> Outcome<Vec<BlobSighting>> {
    let mut sightings: Vec<BlobSighting> = Vec::new();
    for read in plan.reads() {
        let Some(blob) = stored_blob(connection, read.subject_id(), plan.blob_id())? else {
            continue;
        };
        for part in read.parts() {
            if sightings.iter().any(|seen| seen.connection_id == *part.connection_id()) {
                continue;
            }
            if let Some(record_key) = visible_record(connection, read, part, plan.blob_id())? {
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
    read: &ReadPlan,
    part: &PlanPart,
    blob_id: &BlobId,
) -> Outcome<Option<RecordKey>> {
    let time = part.time();
    // The indexed time is that of the field the stream declares now; an older grant may mean another.
    let indexed = time.filter(|bound| read.declaration().consent_time_field() == Some(bound.field.as_str()));
    let by_content = if indexed.is_some() { None } else { time };
    let data = if by_content.is_some() { "r.data" } else { "NULL" };
    let consent = if indexed.is_some() {
        "AND r.consent_at IS NOT NULL AND r.consent_at >= :since AND r.consent_at < :until"
    } else {
        "AND :since <= :until"
    };
    let sql = format!(
        "SELECT r.key, {data} FROM records r
         WHERE r.blob_id = :blob AND r.deleted_seq IS NULL AND r.scope_id =
             (SELECT id FROM scopes
              WHERE subject_id = :subject AND connection_id = :connection AND stream = :stream)
         {consent} ORDER BY r.id"
    );
    let bound = |at: Option<Instant>, open: i64| at.map_or(open, Instant::micros);
    let mut statement = prepare(connection, &sql)?;
    let mut rows = statement.query(named_params! {
        ":blob": blob_id.as_str(),
        ":subject": read.subject_id().as_str(),
        ":connection": part.connection_id().as_str(),
        ":stream": read.stream().as_str(),
        ":since": bound(indexed.and_then(|time| time.since), i64::MIN),
        ":until": bound(indexed.and_then(|time| time.until), i64::MAX),
    })?;
    while let Some(row) = rows.next()? {
        let key = RecordKey::parse(row.get::<_, String>(0)?).map_err(|_| Fault::damaged("a record's key"))?;
        if part.resources().is_some_and(|chosen| !chosen.contains(&key)) {
            continue;
        }
        if let Some(bound) = by_content {
            let data: Value = serde_json::from_str(row.get_ref(1)?.as_str().map_err(unreadable)?)
                .map_err(|_| Fault::damaged("a record's data"))?;
            let at = data.get(&bound.field).and_then(Value::as_str).and_then(Instant::parse);
            let inside = at.is_some_and(|at| {
                bound.since.is_none_or(|since| since <= at) && bound.until.is_none_or(|until| at < until)
            });
            if !inside {
                continue;
            }
        }
        return Ok(Some(key));
    }
    Ok(None)
}

/// The media type a record's own upload named comes before that of the first upload.
fn sighting(
    connection: &Connection,
    read: &ReadPlan,
    part: &PlanPart,
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
                part.connection_id().as_str(),
                read.stream().as_str(),
                record_key.as_str(),
                blob.blob_id.as_str()
            ],
            |row| row.get(0),
        )
        .optional()?;
    blob.mime_type = named.unwrap_or(blob.mime_type);
    Ok(BlobSighting {
        connection_id: part.connection_id().clone(),
        display_name: part.display_name().map(str::to_owned),
        stream: read.stream().clone(),
        record_key,
        blob,
    })
}

fn unreadable(_: rusqlite::types::FromSqlError) -> StoreError {
    StoreError::Damaged("a record's data".to_owned())
}
