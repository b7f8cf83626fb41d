//! Which visible records refer to a blob.
//!
//! The plan has kept only parts that grant `blob_ref`; what is left to check is whether a record that holds the
//! reference, and for which the bytes were uploaded, is itself visible: its time, and whether it was chosen. One
//! statement finds the few places of the plan that hold the blob at all; only these are looked at closely.

use std::collections::HashSet;

use pdpp_access::{BlobPlan, ReadPlan};
use pdpp_store::{BlobSighting, StoredBlob};
use pdpp_wire::{BlobId, RecordKey, SubjectId};

use crate::fault::{Fault, Outcome};
use crate::records::{Part, Target, first_visible};
use crate::session::Session;
use crate::subject_row::unsigned;

/// Records looked at together.
const PAGE: i64 = 200;

/// One sighting per connection, the first in the plan's order.
pub(super) async fn find(
    session: &Session,
    subject_id: &SubjectId,
    plan: &BlobPlan,
) -> Outcome<Vec<BlobSighting>> {
    let blob_id = plan.blob_id();
    let Some(blob) = stored_blob(session, subject_id, blob_id).await? else { return Ok(Vec::new()) };
    let reads: Vec<&ReadPlan> = plan.reads().iter().filter(|read| read.subject_id() == subject_id).collect();
    let holding = places(session, subject_id, &reads, blob_id).await?;
    let mut sightings: Vec<BlobSighting> = Vec::new();
    for read in reads {
        let stream = read.stream().as_str();
        let mut target = None;
        for (index, part) in read.parts().iter().enumerate() {
            let connection_id = part.connection_id();
            let seen = sightings.iter().any(|seen| seen.connection_id == *connection_id);
            if seen || !holding.contains(&(connection_id.as_str().to_owned(), stream.to_owned())) {
                continue;
            }
            if target.is_none() {
                target = Some(Target::resolve(session, read).await?);
            }
            let Some(target) = &target else { continue };
            let found = visible_record(session, target, &target.parts[index], read, blob_id).await?;
            sightings.extend(found.map(|(record_key, mime_type)| BlobSighting {
                connection_id: connection_id.clone(),
                display_name: part.display_name().map(str::to_owned),
                stream: read.stream().clone(),
                record_key,
                blob: StoredBlob { mime_type, ..blob.clone() },
            }));
        }
    }
    Ok(sightings)
}

async fn stored_blob(
    session: &Session,
    subject_id: &SubjectId,
    blob_id: &BlobId,
) -> Outcome<Option<StoredBlob>> {
    let sql = "SELECT size_bytes, mime_type FROM blobs WHERE subject_id = $1 AND blob_id = $2";
    let Some(row) = session.query_opt(sql, &[&subject_id.as_str(), &blob_id.as_str()]).await? else {
        return Ok(None);
    };
    Ok(Some(StoredBlob {
        subject_id: subject_id.clone(),
        blob_id: blob_id.clone(),
        size_bytes: unsigned(row.get(0))?,
        mime_type: row.get(1),
    }))
}

/// The plan's connections and streams in which a live record refers to the blob.
async fn places(
    session: &Session,
    subject_id: &SubjectId,
    reads: &[&ReadPlan],
    blob_id: &BlobId,
) -> Outcome<HashSet<(String, String)>> {
    let (mut connections, mut streams) = (Vec::new(), Vec::new());
    for read in reads {
        for part in read.parts() {
            connections.push(part.connection_id().as_str());
            streams.push(read.stream().as_str());
        }
    }
    let sql = "SELECT s.connection_id, s.stream
               FROM unnest($3::text[], $4::text[]) AS p (connection_id, stream)
               JOIN scopes AS s
                   ON s.subject_id = $1 AND s.connection_id = p.connection_id AND s.stream = p.stream
               WHERE EXISTS (SELECT 1 FROM records AS r
                             WHERE r.subject_id = $1 AND r.blob_id = $2 AND r.scope_id = s.scope_id
                                 AND r.deleted_seq IS NULL)";
    let names = (subject_id.as_str(), blob_id.as_str());
    let rows = session.query(sql, &[&names.0, &names.1, &connections, &streams]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// The first record of the part that refers to the blob and may be seen, and the media type its own upload named. The
/// same bytes under another record do not count: whether they are here, and as what, may be out of the reader's sight.
async fn visible_record(
    session: &Session,
    target: &Target<'_>,
    part: &Part<'_>,
    read: &ReadPlan,
    blob_id: &BlobId,
) -> Outcome<Option<(RecordKey, String)>> {
    let Some(scope) = part.scope else { return Ok(None) };
    let (subject, connection_id) = (target.subject_id.as_str(), part.plan.connection_id().as_str());
    let (stream, blob) = (read.stream().as_str(), blob_id.as_str());
    let mut after = String::new();
    loop {
        let sql = "SELECT r.key, b.mime_type
                   FROM (SELECT key FROM records
                         WHERE subject_id = $1 AND blob_id = $4 AND scope_id = $5 AND deleted_seq IS NULL
                             AND key > $6
                         ORDER BY key LIMIT $7) AS r
                   LEFT JOIN LATERAL (
                       SELECT mime_type FROM blob_bindings
                       WHERE subject_id = $1 AND connection_id = $2 AND stream = $3 AND record_key = r.key
                           AND blob_id = $4
                       ORDER BY json_path LIMIT 1) AS b ON true
                   ORDER BY r.key";
        let page =
            session.query(sql, &[&subject, &connection_id, &stream, &blob, &scope.id, &after, &PAGE]).await?;
        let Some(last) = page.last() else { return Ok(None) };
        let bound: Vec<(&str, &str)> =
            page.iter().filter_map(|row| Some((row.get(0), row.get::<_, Option<&str>>(1)?))).collect();
        let keys: Vec<&str> = bound.iter().map(|(key, _)| *key).collect();
        if let Some(key) = first_visible(session, target, part, &keys).await? {
            let mime_type = bound.iter().find(|(bound, _)| *bound == key).map(|(_, mime)| (*mime).to_owned());
            let key = RecordKey::parse(key).map_err(|_| Fault::damaged("a record's key"))?;
            return Ok(mime_type.map(|mime_type| (key, mime_type)));
        }
        after = last.get(0);
    }
}
