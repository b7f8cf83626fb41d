//! Gives the whole archive away, row by row, and takes another's.

mod give;
mod marks;
mod records;
mod take;

use async_trait::async_trait;
use pdpp_store::transfer::{Mark, Part, Place, Portion, Row, Transfer};
use pdpp_store::{BlobBody, StoreError};
use pdpp_wire::{BlobId, SubjectId};
use rusqlite::Connection;

use crate::SqliteStore;

#[async_trait]
impl Transfer for SqliteStore {
    async fn read_rows(
        &self,
        whose: Option<&SubjectId>,
        part: Part,
        after: Option<&Place>,
        limit: u32,
    ) -> Result<Portion, StoreError> {
        let (whose, after) = (name(whose), after.cloned());
        let read = move |connection: &Connection| match part {
            Part::Records | Part::PastLives => records::give(connection, &whose, part, after.as_ref(), limit),
            _ => give::give(connection, &whose, part, after.as_ref(), limit),
        };
        if part != Part::Disclosures {
            return self.read(read).await;
        }
        self.put_away_fresh().await?;
        self.ledger().read(read).await
    }

    async fn take_rows(
        &self,
        whose: Option<&SubjectId>,
        part: Part,
        rows: Vec<Row>,
        mark: &Mark,
    ) -> Result<(), StoreError> {
        let (whose, mark, entropy) = (name(whose), mark.clone(), std::sync::Arc::clone(&self.entropy));
        // The ledger is a database of its own, and so remembers for itself how far it got.
        let take = move |connection: &Connection| {
            take::take(connection, entropy.as_ref(), &whose, part, rows)?;
            marks::put(connection, &whose, &mark)
        };
        if part == Part::Disclosures { self.ledger().write(take).await } else { self.write(take).await }
    }

    async fn find_mark(&self, whose: Option<&SubjectId>) -> Result<Option<Mark>, StoreError> {
        let subject = name(whose);
        let main = self.read(move |connection| marks::find(connection, &subject)).await?;
        let subject = name(whose);
        let ledger = self.ledger().read(move |connection| marks::find(connection, &subject)).await?;
        Ok(main.into_iter().chain(ledger).max_by_key(|mark| mark.part))
    }

    async fn clear_mark(&self, whose: Option<&SubjectId>) -> Result<(), StoreError> {
        let subject = name(whose);
        self.ledger().write(move |connection| marks::clear(connection, &subject)).await?;
        let subject = name(whose);
        self.write(move |connection| marks::clear(connection, &subject)).await
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

/// What belongs to no subject has the empty text for one.
fn name(whose: Option<&SubjectId>) -> String {
    whose.map(|subject_id| subject_id.as_str().to_owned()).unwrap_or_default()
}
