//! Blobs: bytes outside the database, rows that say who refers to them.
//!
//! Every upload lies under a name of its own, so bytes that nobody refers to are never wanted again, and removing them
//! needs no lock ([`pdpp_objects`] says why). What a row refers to is there: a name is claimed before there are bytes of
//! that name, and the claim becomes the row in one transaction, with the bytes in their place before it.

mod incoming;
pub(crate) mod outgoing;
mod place;
mod sightings;
mod sweep;

use std::ops::Range;

use async_trait::async_trait;
use pdpp_access::BlobPlan;
use pdpp_objects::ObjectsError;
use pdpp_store::{BlobBody, BlobSighting, BlobWriter, Blobs, StoreError};

use crate::PostgresStore;
use incoming::Arriving;

pub use sweep::BlobSweep;

#[async_trait]
impl Blobs for PostgresStore {
    async fn write_blob(&self) -> Result<Box<dyn BlobWriter>, StoreError> {
        self.claim_place().await?;
        let upload = self.objects.start().await.map_err(of_objects)?;
        Ok(Box::new(Arriving::new(upload, self.pool().clone(), self.clock())))
    }

    async fn find_blob(&self, plan: &BlobPlan) -> Result<Vec<BlobSighting>, StoreError> {
        let Some(first) = plan.reads().first() else { return Ok(Vec::new()) };
        let session = self.reading(first.subject_id()).await?;
        let found = sightings::find(&session, first.subject_id(), plan).await;
        Ok(session.end(found).await?)
    }

    async fn read_blob(&self, sighting: &BlobSighting, range: Range<u64>) -> Result<BlobBody, StoreError> {
        self.check_place().await?;
        let session = self.reading(&sighting.blob.subject_id).await?;
        let place = outgoing::place(&session, &sighting.blob).await;
        let place = session.end(place).await?;
        let end = range.end.min(place.size_bytes);
        outgoing::body(&self.objects, &place, range.start.min(end)..end).await
    }

    async fn check_blobs(&self) -> Result<(), StoreError> {
        self.check_place_again().await?;
        self.objects.check().await.map_err(of_objects)
    }

    async fn sweep_blobs(&self) -> Result<bool, StoreError> {
        Ok(self.sweep_some_blobs().await?.more)
    }
}

/// By what the caller can do about it.
pub(crate) fn of_objects(error: ObjectsError) -> StoreError {
    match error {
        ObjectsError::Missing { .. } => StoreError::Damaged("a blob's bytes are missing".to_owned()),
        ObjectsError::Damaged { name, damage } => {
            StoreError::Damaged(format!("the bytes at {name}: {damage}"))
        }
        ObjectsError::Unreachable(_) => StoreError::Unreachable(error.into()),
        ObjectsError::Unwritable(_) | ObjectsError::Denied(_) => StoreError::Unwritable(error.into()),
        other => StoreError::Backend(other.into()),
    }
}
