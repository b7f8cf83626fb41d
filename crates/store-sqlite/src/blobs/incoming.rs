//! Bytes on their way in: a private file, hashed while it grows.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use pdpp_wire::{BlobId, Instant};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::blob_files::BlobFiles;

/// An upload nobody has written to for so long was left behind by a process that died.
const LEFT_BEHIND_SECONDS: i64 = 24 * 60 * 60;

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
    pub(super) fn begin(files: &BlobFiles, now: Instant) -> io::Result<Self> {
        let folder = files.root().join("incoming");
        make_durable_folder(&folder)?;
        sweep(&folder, now);
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

/// Removes what dead processes left; whatever cannot be removed now is met again next time.
fn sweep(folder: &Path, now: Instant) {
    let written_at = |entry: &fs::DirEntry| -> Option<i64> {
        let modified = entry.metadata().ok()?.modified().ok()?;
        i64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if written_at(&entry).is_some_and(|at| now.unix_seconds() - at > LEFT_BEHIND_SECONDS) {
            let _ = fs::remove_file(entry.path());
        }
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
