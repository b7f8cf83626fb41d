//! Bytes on their way in: claimed, published, then bound to their record.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use deadpool_postgres::Pool;
use pdpp_access::Clock;
use pdpp_objects::{Stored, Upload};
use pdpp_store::{BlobBinding, BlobReceipt, BlobWriter, Growth, OverQuota, StoreError};

use super::of_objects;
use crate::fault::Outcome;
use crate::session::{Session, Whose};
use crate::subject_row::{SubjectRow, signed};
use crate::{orphans, quotas};

/// A blob on its way in. Dropped before it is finished, it leaves nothing that a sweep does not find.
pub(super) struct Arriving {
    upload: Upload,
    pool: Pool,
    clock: Arc<dyn Clock>,
}

/// What is known of an upload when its bytes are in.
enum Known {
    /// The same bytes were here, and are bound.
    Bound,
    /// They are new: the name is claimed.
    Claimed,
}

/// What became of bytes that are in their place.
enum Kept {
    /// They are bound.
    Bound,
    /// The claim on their name was swept away meanwhile.
    Swept,
    /// Something else took the room meanwhile.
    Over(OverQuota),
}

impl Arriving {
    pub(super) fn new(upload: Upload, pool: Pool, clock: Arc<dyn Clock>) -> Self {
        Self { upload, pool, clock }
    }
}

#[async_trait]
impl BlobWriter for Arriving {
    async fn write(&mut self, chunk: Bytes) -> Result<(), StoreError> {
        self.upload.write(chunk).await.map_err(of_objects)
    }

    async fn finish(self: Box<Self>, binding: BlobBinding) -> Result<BlobReceipt, StoreError> {
        let Self { upload, pool, clock } = *self;
        let whose = Whose::Subject(&binding.subject_id);
        let sealed = upload.seal(binding.subject_id.clone()).await.map_err(of_objects)?;
        let stored = sealed.stored().clone();
        let session = Session::write(&pool, whose).await?;
        let known = recognise(&session, &stored, &binding, clock.now().micros()).await;
        if let Known::Claimed = session.end(known).await? {
            // After a failure nobody knows what may yet arrive there. The claim stays until nothing can.
            sealed.publish().await.map_err(of_objects)?;
            let session = Session::write(&pool, whose).await?;
            let kept = keep(&session, &stored, &binding).await;
            match session.end(kept).await? {
                Kept::Bound => {}
                Kept::Swept => {
                    let said = "an upload took so long that its claim was swept away";
                    return Err(StoreError::Busy(said.into()));
                }
                Kept::Over(over) => return Err(over.into()),
            }
        }
        let Stored { name, size_bytes } = stored;
        Ok(BlobReceipt { blob_id: name.blob().clone(), size_bytes, mime_type: binding.mime_type })
    }
}

/// Binds bytes that are here already, or claims the name of those that are not and fit.
async fn recognise(session: &Session, stored: &Stored, binding: &BlobBinding, now: i64) -> Outcome<Known> {
    let subject = SubjectRow::lock(session, &binding.subject_id).await?;
    let names = (binding.subject_id.as_str(), stored.name.blob().as_str());
    let sql = "SELECT 1 FROM blobs WHERE subject_id = $1 AND blob_id = $2";
    if session.query_opt(sql, &[&names.0, &names.1]).await?.is_some() {
        bind(session, stored, binding).await?;
        return Ok(Known::Bound);
    }
    subject.room().take(growth(stored)?).map_err(StoreError::from)?;
    let sql = "INSERT INTO blob_claims (subject_id, blob_id, upload, claimed_at) VALUES ($1, $2, $3, $4)";
    session.execute(sql, &[&names.0, &names.1, &stored.name.upload().as_str(), &now]).await?;
    Ok(Known::Claimed)
}

/// Makes the claim a row. The bytes are doomed if the same ones came by another upload meanwhile, if a sweep took the
/// claim away, or if they do not fit any more; in both of the latter nothing is kept, which the answer says.
async fn keep(session: &Session, stored: &Stored, binding: &BlobBinding) -> Outcome<Kept> {
    let mut room = SubjectRow::lock(session, &binding.subject_id).await?.room();
    let name = &stored.name;
    let (subject, blob, upload) = (binding.subject_id.as_str(), name.blob().as_str(), name.upload().as_str());
    let sql = "DELETE FROM blob_claims WHERE subject_id = $1 AND blob_id = $2 AND upload = $3";
    if session.execute(sql, &[&subject, &blob, &upload]).await? == 0 {
        doom_bytes(session, stored, binding).await?;
        return Ok(Kept::Swept);
    }
    let sql = "SELECT 1 FROM blobs WHERE subject_id = $1 AND blob_id = $2";
    if session.query_opt(sql, &[&subject, &blob]).await?.is_some() {
        doom_bytes(session, stored, binding).await?;
    } else if let Err(over) = room.take(growth(stored)?) {
        doom_bytes(session, stored, binding).await?;
        return Ok(Kept::Over(over));
    } else {
        let sql = "INSERT INTO blobs (subject_id, blob_id, upload, size_bytes, mime_type)
                   VALUES ($1, $2, $3, $4, $5)";
        let size = signed(stored.size_bytes)?;
        session.execute(sql, &[&subject, &blob, &upload, &size, &binding.mime_type]).await?;
        quotas::count(session, &binding.subject_id, growth(stored)?).await?;
    }
    bind(session, stored, binding).await?;
    Ok(Kept::Bound)
}

/// Notes that the bytes of this upload are not wanted.
async fn doom_bytes(session: &Session, stored: &Stored, binding: &BlobBinding) -> Outcome<()> {
    let sql = "INSERT INTO doomed_blobs (subject_id, blob_id, upload) VALUES ($1, $2, $3)
               ON CONFLICT (subject_id, blob_id, upload) DO NOTHING";
    let (blob, upload) = (stored.name.blob().as_str(), stored.name.upload().as_str());
    session.execute(sql, &[&binding.subject_id.as_str(), &blob, &upload]).await?;
    Ok(())
}

fn growth(stored: &Stored) -> Outcome<Growth> {
    Ok(Growth { records: 0, bytes: signed(stored.size_bytes)? })
}

/// Binds a blob that has a row to a record. What was bound in the same place is no longer, and goes if it was only there.
async fn bind(session: &Session, stored: &Stored, binding: &BlobBinding) -> Outcome<()> {
    let place = (
        binding.subject_id.as_str(),
        binding.connection_id.as_str(),
        binding.stream.as_str(),
        binding.record_key.as_str(),
        binding.json_path.as_str(),
    );
    let blob = stored.name.blob().as_str();
    let sql = "SELECT blob_id FROM blob_bindings
               WHERE subject_id = $1 AND connection_id = $2 AND stream = $3 AND record_key = $4 AND json_path = $5";
    let before = session.query_opt(sql, &[&place.0, &place.1, &place.2, &place.3, &place.4]).await?;
    let before = before.map(|row| row.get::<_, String>(0)).filter(|before| before != blob);
    let sql = "INSERT INTO blob_bindings
                   (subject_id, connection_id, stream, record_key, json_path, blob_id, mime_type)
               VALUES ($1, $2, $3, $4, $5, $6, $7)
               ON CONFLICT (subject_id, connection_id, stream, record_key, json_path)
               DO UPDATE SET blob_id = excluded.blob_id, mime_type = excluded.mime_type";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
        [&place.0, &place.1, &place.2, &place.3, &place.4, &blob, &binding.mime_type];
    session.execute(sql, &values).await?;
    orphans::doom(session, &binding.subject_id, before.into_iter().collect()).await?;
    Ok(())
}
