//! Removing bytes that no row refers to: what was doomed, what an upload left that died, and what nobody knows.
//!
//! Any node may sweep at any time, several at once: a name that is doomed never comes back, and removing twice is
//! removing once.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use pdpp_objects::{GRACE, ObjectName, Swept, Unwanted, UploadId};
use pdpp_store::StoreError;
use pdpp_wire::{BlobId, SubjectId};
use tokio_postgres::Row;

use super::of_objects;
use crate::PostgresStore;
use crate::fault::{Fault, Outcome};
use crate::session::Whose;

/// Names looked at in one call.
const MOST: i64 = 500;

/// What a call of [`PostgresStore::sweep_some_blobs`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobSweep {
    /// Uploads that died and were given up.
    pub abandoned: u64,
    /// Names whose bytes are gone now.
    pub removed: u64,
    /// Whether there may be more to do.
    pub more: bool,
}

impl PostgresStore {
    /// Removes bytes whose rows are gone and what dead uploads left, some hundred names in one call. For maintenance.
    pub async fn sweep_some_blobs(&self) -> Result<BlobSweep, StoreError> {
        self.check_place().await?;
        let abandoned = self.give_up_claims(GRACE).await?;
        let doomed =
            self.names("SELECT subject_id, blob_id, upload FROM doomed_blobs LIMIT $1", &[&MOST]).await?;
        let removed = doomed.len() as u64;
        for (subject_id, names) in by_subject(doomed) {
            for name in &names {
                self.objects.delete(name).await.map_err(of_objects)?;
            }
            let sql =
                "DELETE FROM doomed_blobs AS d USING unnest($2::text[], $3::text[]) AS g (blob_id, upload)
                       WHERE d.subject_id = $1 AND d.blob_id = g.blob_id AND d.upload = g.upload";
            self.write_names(&subject_id, sql, &names).await?;
        }
        let now = self.clock.now();
        self.objects.sweep_staging(now, GRACE).await.map_err(of_objects)?;
        let full = MOST.unsigned_abs();
        Ok(BlobSweep { abandoned, removed, more: abandoned >= full || removed >= full })
    }

    /// Looks at everything that lies there and removes what neither row nor claim knows and what is older than a day:
    /// what was uploaded after the backup this database comes from, above all. Only for whoever is sure that no other
    /// database has its bytes in this place.
    pub async fn sweep_unknown_blobs(&self) -> Result<Swept, StoreError> {
        let mut all = Swept::default();
        if !self.has_place().await? {
            return Ok(all);
        }
        for subject_id in self.objects.subjects().await.map_err(of_objects)? {
            let swept = self.objects.sweep(&subject_id, self.clock.now(), GRACE, self).await;
            all += swept.map_err(of_objects)?;
        }
        Ok(all)
    }

    /// Dooms what was claimed so long ago that nobody works on it any more. Whoever still does is told.
    async fn give_up_claims(&self, grace: Duration) -> Result<u64, StoreError> {
        let grace = i64::try_from(grace.as_micros()).unwrap_or(i64::MAX);
        let before = self.clock.now().micros().saturating_sub(grace);
        let sql = "SELECT subject_id, blob_id, upload FROM blob_claims WHERE claimed_at <= $1
                   ORDER BY claimed_at LIMIT $2";
        let old = self.names(sql, &[&before, &MOST]).await?;
        let mut given_up = 0;
        for (subject_id, names) in by_subject(old) {
            let sql = "WITH given_up AS (
                           DELETE FROM blob_claims AS c USING unnest($2::text[], $3::text[]) AS o (blob_id, upload)
                           WHERE c.subject_id = $1 AND c.blob_id = o.blob_id AND c.upload = o.upload
                           RETURNING c.blob_id, c.upload
                       )
                       INSERT INTO doomed_blobs (subject_id, blob_id, upload)
                       SELECT $1, g.blob_id, g.upload FROM given_up AS g
                       ON CONFLICT (subject_id, blob_id, upload) DO NOTHING";
            given_up += self.write_names(&subject_id, sql, &names).await?;
        }
        Ok(given_up)
    }

    /// Names that a question across subjects finds.
    async fn names(&self, sql: &str, values: &crate::session::Values<'_>) -> Outcome<Vec<ObjectName>> {
        let session = self.reading(Whose::Everybody).await?;
        let found = session.query(sql, values).await;
        let found = session.end(found).await?;
        found.iter().map(name).collect()
    }

    /// A statement about some names of one subject: `$1` the subject, `$2` the blobs, `$3` the uploads.
    async fn write_names(&self, subject_id: &SubjectId, sql: &str, names: &[ObjectName]) -> Outcome<u64> {
        let (blobs, uploads) = columns(names);
        let session = self.writing(subject_id).await?;
        let written = session.execute(sql, &[&subject_id.as_str(), &blobs, &uploads]).await;
        session.end(written).await
    }
}

#[async_trait]
impl Unwanted for PostgresStore {
    async fn unwanted(&self, found: &[ObjectName]) -> Result<Vec<ObjectName>, Box<dyn Error + Send + Sync>> {
        let mut unwanted = Vec::new();
        for (subject_id, names) in by_subject(found.to_vec()) {
            let (blobs, uploads) = columns(&names);
            let sql =
                "SELECT $1, f.blob_id, f.upload FROM unnest($2::text[], $3::text[]) AS f (blob_id, upload)
                       WHERE NOT EXISTS (SELECT 1 FROM blobs AS b WHERE b.subject_id = $1
                                         AND b.blob_id = f.blob_id AND b.upload = f.upload)
                       AND NOT EXISTS (SELECT 1 FROM blob_claims AS c WHERE c.subject_id = $1
                                       AND c.blob_id = f.blob_id AND c.upload = f.upload)";
            let session = self.reading(&subject_id).await.map_err(StoreError::from)?;
            let rows = session.query(sql, &[&subject_id.as_str(), &blobs, &uploads]).await;
            let rows = session.end(rows).await.map_err(StoreError::from)?;
            for row in &rows {
                unwanted.push(name(row).map_err(StoreError::from)?);
            }
        }
        Ok(unwanted)
    }
}

fn name(row: &Row) -> Outcome<ObjectName> {
    let damaged = || Fault::damaged("the name of a blob's bytes");
    Ok(ObjectName::new(
        SubjectId::parse(row.get::<_, String>(0)).map_err(|_| damaged())?,
        BlobId::parse(row.get::<_, String>(1)).map_err(|_| damaged())?,
        UploadId::parse(row.get(2)).ok_or_else(damaged)?,
    ))
}

fn by_subject(names: Vec<ObjectName>) -> BTreeMap<SubjectId, Vec<ObjectName>> {
    let mut sorted: BTreeMap<SubjectId, Vec<ObjectName>> = BTreeMap::new();
    for name in names {
        sorted.entry(name.subject().clone()).or_default().push(name);
    }
    sorted
}

fn columns(names: &[ObjectName]) -> (Vec<&str>, Vec<&str>) {
    names.iter().map(|name| (name.blob().as_str(), name.upload().as_str())).unzip()
}
