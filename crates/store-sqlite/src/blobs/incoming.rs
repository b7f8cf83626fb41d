//! Bytes on their way in: a private file, hashed while it grows.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use pdpp_wire::BlobId;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::blob_files::BlobFiles;

/// A blob that is still arriving.
#[derive(Debug)]
pub(super) struct Incoming {
    file: NamedTempFile,
    digest: Sha256,
    size_bytes: u64,
}

/// A blob whose bytes are on the disk, under a name of their own.
#[derive(Debug)]
pub(super) struct Arrived {
    file: NamedTempFile,
    pub(super) blob_id: BlobId,
    pub(super) size_bytes: u64,
}

impl Incoming {
    pub(super) fn begin(files: &BlobFiles) -> io::Result<Self> {
        let folder = files.root().join("incoming");
        make_durable_folder(&folder)?;
        let file = tempfile::Builder::new().prefix("blob-").tempfile_in(folder)?;
        Ok(Self { file, digest: Sha256::new(), size_bytes: 0 })
    }

    pub(super) fn take(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.file.write_all(chunk)?;
        self.digest.update(chunk);
        self.size_bytes += chunk.len() as u64;
        Ok(())
    }

    /// Waits until the bytes are on the disk.
    pub(super) fn finish(self) -> io::Result<Arrived> {
        self.file.as_file().sync_all()?;
        let blob_id = BlobId::of_sha256(&self.digest.finalize().into());
        Ok(Arrived { file: self.file, blob_id, size_bytes: self.size_bytes })
    }
}

impl Arrived {
    /// Moves the file into its place, unless the same bytes lie there already.
    pub(super) fn move_to(self, place: &Path) -> io::Result<()> {
        if fs::metadata(place).is_ok_and(|there| there.len() == self.size_bytes) {
            return Ok(());
        }
        let folder = place.parent().ok_or(io::ErrorKind::InvalidInput)?;
        make_durable_folder(folder)?;
        self.file.persist(place)?;
        sync_folder(folder)
    }
}

/// Makes a private folder whose own entry survives the loss of power.
fn make_durable_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().ok_or(io::ErrorKind::InvalidInput)?;
    make_durable_folder(parent)?;
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => sync_folder(parent),
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
