//! Where an upload's bytes wait until their name is known.
//!
//! A directory takes them into a file of its own and renames it, so that nothing is written twice and everything a
//! killed process leaves is a file that can be found. A bucket cannot rename: what fits into one part waits in memory and
//! is put under its name directly; more is sent as a multipart upload to a staging name, and copied by the store.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutPayload};
use tokio::fs::File;
use tokio::io::{AsyncWriteExt as _, BufWriter};
use tokio::runtime::Handle;

use crate::error::Doing;
use crate::objects::{Inner, Place};
use crate::{ObjectName, ObjectsError, UploadId};

/// Names that no subject can have begin with a dot.
pub(crate) const STAGING: &str = ".staging";
/// The size of a part, and of the largest upload that is none. S3 asks for 5 MiB or more, some stores for equal parts.
pub(crate) const PART_BYTES: usize = 8 * 1024 * 1024;
const FILE_BUFFER_BYTES: usize = 256 * 1024;

pub(crate) fn staging_path(id: &UploadId) -> Path {
    Path::from_iter([STAGING, id.as_str()])
}

/// The bytes of one upload. Dropping it removes them, as far as a program can that is about to forget them.
#[derive(Debug)]
pub(crate) struct Spool {
    objects: Arc<Inner>,
    staging: Path,
    kept: Kept,
}

#[derive(Debug)]
enum Kept {
    File { path: PathBuf, file: BufWriter<File> },
    Memory(BytesMut),
    Parts { upload: Box<dyn MultipartUpload>, next: BytesMut },
    Object,
    Nothing,
}

impl Spool {
    pub(crate) async fn start(objects: Arc<Inner>, id: &UploadId) -> Result<Self, ObjectsError> {
        let staging = staging_path(id);
        let kept = match &objects.place {
            Place::Bucket(_) => Kept::Memory(BytesMut::new()),
            Place::Directory(root) => {
                let folder = root.join(STAGING);
                let path = folder.join(id.as_str());
                // A root that is gone is not made again: it may be a disk that is not mounted.
                if let Err(error) = tokio::fs::create_dir(&folder).await
                    && error.kind() != std::io::ErrorKind::AlreadyExists
                {
                    return Err(ObjectsError::Unwritable(error.into()));
                }
                let file =
                    File::create_new(&path).await.map_err(|error| Doing::Writing.io(&staging, error))?;
                Kept::File { path, file: BufWriter::with_capacity(FILE_BUFFER_BYTES, file) }
            }
        };
        Ok(Self { objects, staging, kept })
    }

    /// Takes the next bytes; memory holds no more than one part of them.
    pub(crate) async fn write(&mut self, mut chunk: Bytes) -> Result<(), ObjectsError> {
        if let Kept::File { file, .. } = &mut self.kept {
            return file.write_all(&chunk).await.map_err(|error| Doing::Writing.io(&self.staging, error));
        }
        while !chunk.is_empty() {
            if let Kept::Memory(buffer) = &mut self.kept
                && buffer.len() == PART_BYTES
            {
                let next = std::mem::take(buffer);
                let upload = self.objects.store.put_multipart(&self.staging).await;
                let upload = upload.map_err(|error| Doing::Writing.failed(&self.staging, error))?;
                self.kept = Kept::Parts { upload, next };
            }
            self.send_part(PART_BYTES).await?;
            let (Kept::Memory(buffer) | Kept::Parts { next: buffer, .. }) = &mut self.kept else {
                return Err(ObjectsError::Unwritable("the upload was sealed".into()));
            };
            let room = chunk.len().min(PART_BYTES - buffer.len());
            buffer.extend_from_slice(&chunk.split_to(room));
        }
        Ok(())
    }

    /// Sends the part that is waiting, if there are so many bytes of it.
    async fn send_part(&mut self, least: usize) -> Result<(), ObjectsError> {
        if let Kept::Parts { upload, next } = &mut self.kept
            && next.len() >= least
        {
            let part = upload.put_part(std::mem::take(next).freeze().into());
            part.await.map_err(|error| Doing::Writing.failed(&self.staging, error))?;
        }
        Ok(())
    }

    /// All bytes are here: what is on its way arrives.
    pub(crate) async fn seal(&mut self) -> Result<(), ObjectsError> {
        self.send_part(1).await?;
        match &mut self.kept {
            Kept::File { file, .. } => {
                let io = |error| Doing::Writing.io(&self.staging, error);
                file.flush().await.map_err(io)?;
                file.get_ref().sync_all().await.map_err(io)?;
            }
            Kept::Parts { upload, .. } => {
                upload.complete().await.map_err(|error| Doing::Writing.failed(&self.staging, error))?;
                self.kept = Kept::Object;
            }
            Kept::Memory(_) | Kept::Object | Kept::Nothing => {}
        }
        Ok(())
    }

    /// Puts the sealed bytes under their name, durably.
    pub(crate) async fn publish(&mut self, name: &ObjectName) -> Result<(), ObjectsError> {
        let (store, to) = (&self.objects.store, Path::from(name.to_string()));
        match &mut self.kept {
            Kept::File { .. } => store.rename(&self.staging, &to).await,
            Kept::Memory(buffer) => {
                let bytes = std::mem::take(buffer).freeze();
                store.put(&to, PutPayload::from(bytes)).await.map(drop)
            }
            _ => store.copy(&self.staging, &to).await,
        }
        .map_err(|error| Doing::Writing.failed(&self.staging, error))
    }

    /// Removes what is not needed any more. What cannot be removed is left to the sweep.
    pub(crate) async fn discard(mut self) {
        if matches!(self.kept, Kept::Object) {
            self.kept = Kept::Nothing;
            let _ = self.objects.store.delete(&self.staging).await;
        }
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let (objects, staging) = (Arc::clone(&self.objects), self.staging.clone());
        let away = async move { drop(objects.store.delete(&staging).await) };
        match (std::mem::replace(&mut self.kept, Kept::Nothing), Handle::try_current()) {
            // After a publication there is nothing of this name.
            (Kept::File { path, .. }, _) => drop(std::fs::remove_file(path)),
            (Kept::Parts { mut upload, .. }, Ok(runtime)) => {
                runtime.spawn(async move {
                    drop(upload.abort().await);
                    // It may have been completed just now.
                    away.await;
                });
            }
            (Kept::Object, Ok(runtime)) => drop(runtime.spawn(away)),
            _ => {}
        }
    }
}
