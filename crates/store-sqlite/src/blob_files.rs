//! Where the bytes of blobs lie.
//!
//! A file is renamed into its place, and unlinked from it, only inside a write transaction of the
//! archive: so a row and its file cannot be torn apart by two processes at once. It is unlinked only
//! after the loss of its row was committed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pdpp_wire::{BlobId, SubjectId};
use tempfile::TempDir;

/// The folder of blobs.
#[derive(Debug)]
pub(crate) struct BlobFiles {
    root: PathBuf,
    /// Keeps a store in memory from leaving its blobs behind.
    _temporary: Option<TempDir>,
}

impl BlobFiles {
    pub(crate) fn in_directory(directory: &Path) -> Self {
        Self { root: directory.join("blobs"), _temporary: None }
    }

    pub(crate) fn temporary() -> io::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("pdpp-blobs-").tempdir()?;
        Ok(Self { root: temporary.path().to_owned(), _temporary: Some(temporary) })
    }

    /// The folder itself; made, private, with the first blob.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where a subject's blob lies, in one of 256 folders.
    pub(crate) fn path(&self, subject_id: &SubjectId, blob_id: &BlobId) -> PathBuf {
        let hex = blob_id.sha256_hex();
        self.root.join(subject_id.as_str()).join(&hex[..2]).join(hex)
    }

    /// Removes a blob's bytes; they may be gone already.
    pub(crate) fn remove(&self, subject_id: &SubjectId, blob_id: &BlobId) -> io::Result<()> {
        match fs::remove_file(self.path(subject_id, blob_id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
