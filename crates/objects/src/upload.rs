//! An upload: bytes go in, then they have a name, then they are there.

use std::sync::Arc;

use bytes::Bytes;
use pdpp_wire::{BlobId, SubjectId};
use sha2::{Digest as _, Sha256};

use crate::objects::{Inner, Objects};
use crate::spool::Spool;
use crate::{ObjectName, ObjectsError, Stored, UploadId};

/// S3 copies no more than this in one step.
pub const MAX_OBJECT_BYTES: u64 = 5 * 1024 * 1024 * 1024;

/// Takes bytes. Nothing is visible before [`Sealed::publish`]; dropping it removes what was sent so far.
#[derive(Debug)]
pub struct Upload {
    id: UploadId,
    objects: Objects,
    spool: Spool,
    hash: Sha256,
    size_bytes: u64,
    /// Not after a failed or abandoned write: then nobody knows which bytes arrived.
    whole: bool,
}

impl Upload {
    pub(crate) async fn start(objects: Objects) -> Result<Self, ObjectsError> {
        let id = UploadId::new(objects.inner.entropy.as_ref());
        let inner: Arc<Inner> = Arc::clone(&objects.inner);
        let spool = Spool::start(inner, &id).await?;
        Ok(Self { id, objects, spool, hash: Sha256::new(), size_bytes: 0, whole: true })
    }

    /// Takes the next bytes, as many as there are. After an error or an abandoned call the upload cannot be finished.
    pub async fn write(&mut self, chunk: Bytes) -> Result<(), ObjectsError> {
        let size_bytes = self.size_bytes.saturating_add(chunk.len() as u64);
        if size_bytes > MAX_OBJECT_BYTES {
            self.whole = false;
            return Err(ObjectsError::TooLarge { limit: MAX_OBJECT_BYTES });
        }
        self.check()?;
        self.whole = false;
        self.hash.update(&chunk);
        self.spool.write(chunk).await?;
        self.size_bytes = size_bytes;
        self.whole = true;
        Ok(())
    }

    /// All bytes are in: says what they are and what they will be called. Publish them after the name was claimed.
    pub async fn seal(mut self, subject: SubjectId) -> Result<Sealed, ObjectsError> {
        self.check()?;
        self.spool.seal().await?;
        let digest: [u8; 32] = self.hash.finalize().into();
        let name = ObjectName::new(subject, BlobId::of_sha256(&digest), self.id);
        let stored = Stored { name, size_bytes: self.size_bytes };
        Ok(Sealed { stored, objects: self.objects, spool: self.spool })
    }

    /// Seals and publishes at once, for a caller whose claim names the [upload](Upload::id), or who has no sweep.
    pub async fn finish(self, subject: SubjectId) -> Result<Stored, ObjectsError> {
        self.seal(subject).await?.publish().await
    }

    /// Which upload this is.
    pub fn id(&self) -> &UploadId {
        &self.id
    }

    fn check(&self) -> Result<(), ObjectsError> {
        if self.whole {
            return Ok(());
        }
        Err(ObjectsError::Unwritable("an earlier part of this upload did not arrive".into()))
    }
}

/// An upload that has a name and is not there yet. Dropping it removes the bytes.
#[derive(Debug)]
pub struct Sealed {
    stored: Stored,
    objects: Objects,
    spool: Spool,
}

impl Sealed {
    /// What it will be.
    pub fn stored(&self) -> &Stored {
        &self.stored
    }

    /// Puts the bytes under their name. When this returns they are durable and what is there is what was sent; after an
    /// error nothing of that name counts, and a sweep removes what there may be.
    pub async fn publish(mut self) -> Result<Stored, ObjectsError> {
        self.spool.publish(&self.stored.name).await?;
        if let Err(error) = self.objects.confirm(&self.stored).await {
            if matches!(error, ObjectsError::Damaged { .. }) {
                let _ = self.objects.delete(&self.stored.name).await;
            }
            return Err(error);
        }
        self.spool.discard().await;
        Ok(self.stored)
    }
}
