//! Gives a subject's whole archive away, row by row, and takes another's.

mod bytes;
mod give;
mod handles;
mod marks;
mod records;
mod spelling;
mod take;

use async_trait::async_trait;
use pdpp_store::transfer::{Mark, Part, Place, Portion, Row, Transfer};
use pdpp_store::{BlobBody, StoreError};
use pdpp_wire::{BlobId, SubjectId};

use crate::PostgresStore;
use crate::session::Whose;

#[async_trait]
impl Transfer for PostgresStore {
    async fn read_rows(
        &self,
        whose: Option<&SubjectId>,
        part: Part,
        after: Option<&Place>,
        limit: u32,
    ) -> Result<Portion, StoreError> {
        let session = self.reading(of(whose)).await?;
        let portion = give::give(&session, of(whose).as_str(), part, after, limit).await;
        Ok(session.end(portion).await?)
    }

    async fn take_rows(
        &self,
        whose: Option<&SubjectId>,
        part: Part,
        rows: Vec<Row>,
        mark: &Mark,
    ) -> Result<(), StoreError> {
        let session = self.writing(of(whose)).await?;
        let taken = async {
            take::take(&session, self.entropy.as_ref(), of(whose), part, &rows).await?;
            marks::put(&session, of(whose).as_str(), mark).await
        };
        let taken = taken.await;
        Ok(session.end(taken).await?)
    }

    async fn find_mark(&self, whose: Option<&SubjectId>) -> Result<Option<Mark>, StoreError> {
        let session = self.reading(of(whose)).await?;
        let mark = marks::find(&session, of(whose).as_str()).await;
        Ok(session.end(mark).await?)
    }

    async fn clear_mark(&self, whose: Option<&SubjectId>) -> Result<(), StoreError> {
        let session = self.writing(of(whose)).await?;
        let cleared = marks::clear(&session, of(whose).as_str()).await;
        Ok(session.end(cleared).await?)
    }

    async fn give_blob(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        size_bytes: u64,
    ) -> Result<BlobBody, StoreError> {
        self.blob_bytes(subject_id, blob_id, size_bytes).await
    }

    async fn take_blob(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        body: BlobBody,
    ) -> Result<(), StoreError> {
        self.keep_bytes(subject_id, blob_id, body).await
    }
}

/// What belongs to no subject is the provider's.
fn of(whose: Option<&SubjectId>) -> Whose<'_> {
    whose.map_or(Whose::Provider, Whose::Subject)
}
