//! The store as its callers see it.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{GetOptions, GetRange, GetResult, GetResultPayload, ObjectStore, ObjectStoreExt as _};
use pdpp_access::Entropy;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use crate::abandoned::Abandoned;
use crate::body::{ObjectBody, exactly};
use crate::bucket::Bucket;
use crate::error::Doing;
use crate::location::Location;
use crate::spool::{STAGING, Spool, staging_path};
use crate::upload::Upload;
use crate::{Damage, ObjectName, ObjectsError, Settings, Stored, UploadId, Verify};

const FILE_PIECE_BYTES: usize = 128 * 1024;

/// A place that keeps objects. Clones are the same place.
#[derive(Clone, Debug)]
pub struct Objects {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) place: Place,
    /// Where it is, for people.
    pub(crate) named: String,
    pub(crate) entropy: Arc<dyn Entropy>,
    verify: Verify,
}

#[derive(Debug)]
pub(crate) enum Place {
    Directory(PathBuf),
    Bucket(Abandoned),
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner")
            .field("place", &self.place)
            .field("verify", &self.verify)
            .finish_non_exhaustive()
    }
}

impl Objects {
    /// Opens a directory (which is made if it is not there), `file:///…`, or `s3://bucket/prefix`. A bucket is not asked
    /// anything yet: [`check`](Self::check) does that.
    pub fn open(place: &str, settings: &Settings, entropy: Arc<dyn Entropy>) -> Result<Self, ObjectsError> {
        let (store, place, named): (Arc<dyn ObjectStore>, _, _) = match Location::parse(place)? {
            Location::Directory(path) => {
                make_directory(&path).map_err(|error| ObjectsError::Unwritable(error.into()))?;
                let store = LocalFileSystem::new_with_prefix(&path)
                    .map_err(|error| Doing::Reading.failed(path.display(), error))?
                    .with_fsync(true);
                let root = path.canonicalize().map_err(|error| Doing::Reading.io(path.display(), error))?;
                let named = root.display().to_string();
                (Arc::new(store), Place::Directory(root), named)
            }
            Location::Bucket { bucket, prefix } => {
                let bucket = Bucket::open(&bucket, settings)?;
                let named =
                    if prefix.is_empty() { bucket.url.clone() } else { format!("{}/{prefix}", bucket.url) };
                let store = PrefixStore::new(bucket.s3.clone(), prefix.as_str());
                (Arc::new(store), Place::Bucket(Abandoned::new(bucket, &prefix)), named)
            }
        };
        Ok(Self { inner: Arc::new(Inner { store, place, named, entropy, verify: settings.verify }) })
    }

    /// Starts an upload.
    pub async fn start(&self) -> Result<Upload, ObjectsError> {
        Upload::start(self.clone()).await
    }

    /// The bytes of a range of the object. That it has the size the caller remembers is checked first, and that the
    /// range has exactly its bytes at the end; a whole object is also compared with its digest.
    pub async fn read(&self, object: &Stored, range: Range<u64>) -> Result<ObjectBody, ObjectsError> {
        let Stored { name, size_bytes } = object;
        if range.start > range.end || range.end > *size_bytes {
            let sentence = format!("bytes {} to {} of {size_bytes} do not exist", range.start, range.end);
            return Err(ObjectsError::Refused(sentence));
        }
        if range.is_empty() {
            let found = self.head(name).await?;
            return match Damage::of_sizes(*size_bytes, found) {
                Some(damage) => Err(damage.of(name)),
                None => Ok(exactly(futures_util::stream::empty().boxed(), empty_part(object), 0)),
            };
        }
        let part = (range != (0..*size_bytes)).then(|| GetRange::Bounded(range.clone()));
        let options = GetOptions { range: part, ..GetOptions::default() };
        let answer = self.inner.store.get_opts(&path(name), options).await;
        let answer = answer.map_err(|error| Doing::Reading.failed(name, error))?;
        if let Some(damage) = Damage::of_sizes(*size_bytes, answer.meta.size) {
            return Err(damage.of(name));
        }
        if answer.range != range {
            return Err(Damage::Nonsense(format!("bytes {:?} came for {range:?}", answer.range)).of(name));
        }
        let pieces = pieces(name.clone(), answer).await?;
        Ok(exactly(pieces, object.clone(), range.end - range.start))
    }

    /// The object's size.
    pub async fn head(&self, name: &ObjectName) -> Result<u64, ObjectsError> {
        let meta = self.inner.store.head(&path(name)).await;
        meta.map(|meta| meta.size).map_err(|error| Doing::Reading.failed(name, error))
    }

    /// Removes the object; one that is not there is removed already.
    pub async fn delete(&self, name: &ObjectName) -> Result<(), ObjectsError> {
        self.remove(&path(name)).await
    }

    pub(crate) async fn remove(&self, path: &Path) -> Result<(), ObjectsError> {
        match self.inner.store.delete(path).await.map_err(|error| Doing::Writing.failed(path, error)) {
            Ok(()) | Err(ObjectsError::Missing { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether objects could be read now: the directory is there, the bucket answers and believes us. Cheap.
    pub async fn check(&self) -> Result<(), ObjectsError> {
        if let Place::Directory(root) = &self.inner.place {
            let opened = tokio::fs::read_dir(root).await;
            return opened.map(drop).map_err(|error| ObjectsError::Unreachable(error.into()));
        }
        let mut listed = self.inner.store.list(Some(&Path::from(STAGING)));
        let first = listed.try_next().await;
        first.map(drop).map_err(|error| Doing::Reading.failed("the list of uploads", error))
    }

    /// Whether objects could be written now: writes a few bytes durably, in a bucket reads them again, and removes them.
    pub async fn check_writable(&self) -> Result<(), ObjectsError> {
        self.check().await?;
        let id = UploadId::new(self.inner.entropy.as_ref());
        let sent = Bytes::from_static(b"Can this be written?");
        if let Place::Directory(_) = self.inner.place {
            let mut spool = Spool::start(Arc::clone(&self.inner), &id).await?;
            spool.write(sent).await?;
            return spool.seal().await;
        }
        let (store, probe) = (&self.inner.store, staging_path(&id));
        store.put(&probe, sent.clone().into()).await.map_err(|error| Doing::Writing.failed(&probe, error))?;
        let back = async { store.get(&probe).await?.bytes().await };
        let back = back.await.map_err(|error| Doing::Reading.failed(&probe, error));
        self.remove(&probe).await?;
        if back? == sent { Ok(()) } else { Err(Damage::Content.of(probe)) }
    }

    /// Whether what is there is what was sent.
    pub(crate) async fn confirm(&self, object: &Stored) -> Result<(), ObjectsError> {
        if self.inner.verify == Verify::Length {
            let found = self.head(&object.name).await?;
            return Damage::of_sizes(object.size_bytes, found)
                .map_or(Ok(()), |damage| Err(damage.of(&object.name)));
        }
        let body = self.read(object, 0..object.size_bytes).await?;
        body.try_for_each(|_| std::future::ready(Ok(()))).await
    }
}

/// Whoever else uses this machine has no business in a directory that is made here.
fn make_directory(path: &std::path::Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

pub(crate) fn path(name: &ObjectName) -> Path {
    Path::from(name.to_string())
}

/// No part of an object has a digest of its own.
fn empty_part(object: &Stored) -> Stored {
    Stored { size_bytes: object.size_bytes.max(1), ..object.clone() }
}

/// A file is read in pieces larger than `object_store` would: each costs a change of thread.
async fn pieces(
    name: ObjectName,
    answer: GetResult,
) -> Result<BoxStream<'static, Result<Bytes, ObjectsError>>, ObjectsError> {
    let range = answer.range.clone();
    match answer.payload {
        GetResultPayload::File(file, _) => {
            let mut file = tokio::fs::File::from_std(file);
            let at = std::io::SeekFrom::Start(range.start);
            file.seek(at).await.map_err(|error| Doing::Reading.io(&name, error))?;
            let pieces = ReaderStream::with_capacity(file.take(range.end - range.start), FILE_PIECE_BYTES);
            Ok(pieces.map_err(move |error| Doing::Reading.io(&name, error)).boxed())
        }
        GetResultPayload::Stream(pieces) => {
            Ok(pieces.map_err(move |error| Doing::Reading.failed(&name, error)).boxed())
        }
    }
}
