//! The bytes of blobs, which lie outside the database.
//!
//! They are published under a claim, as an upload's are; the blob's row, which comes with its part, takes the claim's
//! place. A copy that was cut off in between leaves a claim, and the sweep finds what it leaves.

use futures_util::StreamExt as _;
use pdpp_store::transfer::Row;
use pdpp_store::{BlobBody, StoreError, StoredBlob};
use pdpp_wire::{BlobId, SubjectId};

use super::give::{array, text};
use super::spelling::Typed;
use crate::PostgresStore;
use crate::blobs::{of_objects, outgoing};
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::SubjectRow;

impl PostgresStore {
    /// A whole blob's bytes.
    pub(super) async fn blob_bytes(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        size_bytes: u64,
    ) -> Result<BlobBody, StoreError> {
        self.check_place().await?;
        let blob = StoredBlob {
            subject_id: subject_id.clone(),
            blob_id: blob_id.clone(),
            size_bytes,
            mime_type: String::new(),
        };
        let session = self.reading(subject_id).await?;
        let place = outgoing::place(&session, &blob).await;
        let place = session.end(place).await?;
        outgoing::body(&self.objects, &place, 0..size_bytes).await
    }

    /// Publishes a blob's bytes under a claim, if they are its bytes.
    pub(super) async fn keep_bytes(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        mut body: BlobBody,
    ) -> Result<(), StoreError> {
        self.claim_place().await?;
        let mut upload = self.objects.start().await.map_err(of_objects)?;
        while let Some(chunk) = body.next().await {
            upload.write(chunk?).await.map_err(of_objects)?;
        }
        let sealed = upload.seal(subject_id.clone()).await.map_err(of_objects)?;
        if sealed.stored().name.blob() != blob_id {
            return Err(StoreError::Damaged("a blob's bytes are not those it is named after".into()));
        }
        let upload = sealed.stored().name.upload().as_str().to_owned();
        let session = self.writing(subject_id).await?;
        let sql = "INSERT INTO blob_claims (subject_id, blob_id, upload, claimed_at) VALUES ($1, $2, $3, $4)";
        let names = (subject_id.as_str(), blob_id.as_str(), self.clock.now().micros());
        let claimed = session.execute(sql, &[&names.0, &names.1, &upload, &names.2]).await;
        session.end(claimed).await?;
        sealed.publish().await.map_err(of_objects)?;
        Ok(())
    }
}

/// Makes rows of the claims under which the bytes came.
pub(super) async fn take_rows(session: &Session, subject_id: &SubjectId, rows: &[Row]) -> Outcome<()> {
    SubjectRow::lock(session, subject_id).await?;
    let id = subject_id.as_str();
    let blobs = rows.iter().map(|row| text(row, 0)).collect::<Outcome<Vec<_>>>()?;
    let (sizes, types) = (array(rows, 1, Typed::Long)?, array(rows, 2, Typed::Text)?);
    // Of several claims, left by tries that were cut off, one is as good as another.
    let sql = "INSERT INTO blobs (subject_id, blob_id, upload, size_bytes, mime_type)
               SELECT $1, u.blob_id,
                      (SELECT min(c.upload) FROM blob_claims AS c WHERE c.subject_id = $1 AND c.blob_id = u.blob_id),
                      u.size_bytes, u.mime_type
               FROM unnest($2::text[], $3::bigint[], $4::text[]) AS u (blob_id, size_bytes, mime_type)
               ON CONFLICT (subject_id, blob_id) DO NOTHING";
    session.execute(sql, &[&id, &blobs, &*sizes, &*types]).await.map_err(|fault| match fault {
        Fault::Postgres(error)
            if error.code() == Some(&tokio_postgres::error::SqlState::NOT_NULL_VIOLATION) =>
        {
            Fault::damaged("a blob's row came without its bytes")
        }
        other => other,
    })?;
    let sql = "DELETE FROM blob_claims AS c USING blobs AS b
               WHERE b.subject_id = $1 AND b.blob_id = ANY($2)
               AND c.subject_id = $1 AND c.blob_id = b.blob_id AND c.upload = b.upload";
    session.execute(sql, &[&id, &blobs]).await?;
    Ok(())
}
