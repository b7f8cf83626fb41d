//! A consistent copy of a directory's databases, taken while others read and write them.

use std::path::{Path, PathBuf};

use pdpp_store::StoreError;
use pdpp_wire::{BlobId, SubjectId};
use rusqlite::{Connection, OpenFlags};

use crate::blob_files::BlobFiles;
use crate::fault::{Fault, Outcome};
use crate::pragmas::{self, Durability, Role};
use crate::verify::damaged_pages;

/// The databases of a directory.
pub const DATABASES: [&str; 2] = ["store.db", "ledger.db"];

/// A blob that a copied archive refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBlob {
    /// Where its bytes lie, below the data directory.
    pub path: PathBuf,
    /// Their SHA-256, in hex.
    pub sha256: String,
    /// How many.
    pub size_bytes: u64,
}

/// Copies every database of `directory` into the folder `into`, each as it is at one moment, and checks the copies.
/// Says which blobs the copied archive needs. Takes its time; writers are not held up.
pub fn snapshot(directory: &Path, into: &Path) -> Result<Vec<KeptBlob>, StoreError> {
    try_snapshot(directory, into).map_err(StoreError::from)
}

fn try_snapshot(directory: &Path, into: &Path) -> Outcome<Vec<KeptBlob>> {
    for name in DATABASES {
        let from = pragmas::open(&directory.join(name), Role::Writer, Durability::Process)?;
        let copy = into.join(name);
        from.execute("VACUUM INTO ?", [path_text(&copy)?])?;
        let copied = Connection::open_with_flags(&copy, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        if let Some(finding) = damaged_pages(&copied, name)?.into_iter().next() {
            return Err(Fault::damaged(finding));
        }
    }
    blobs_of(&into.join(DATABASES[0]))
}

fn path_text(path: &Path) -> Outcome<&str> {
    path.to_str().ok_or_else(|| Fault::damaged("a path that is not UTF-8"))
}

fn blobs_of(archive: &Path) -> Outcome<Vec<KeptBlob>> {
    let connection = Connection::open_with_flags(archive, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    // Paths below the data directory, whichever that is.
    let files = BlobFiles::in_directory(Path::new(""));
    let mut statement = connection
        .prepare("SELECT subject_id, blob_id, size_bytes FROM blobs ORDER BY subject_id, blob_id")?;
    let mut rows = statement.query([])?;
    let mut blobs = Vec::new();
    while let Some(row) = rows.next()? {
        let damaged = |_| Fault::damaged("a blob's ids");
        let subject_id = SubjectId::parse(row.get::<_, String>(0)?).map_err(damaged)?;
        let blob_id = BlobId::parse(row.get::<_, String>(1)?).map_err(damaged)?;
        let size_bytes = crate::sequence::unsigned(row.get(2)?)?;
        let path = files.path(&subject_id, &blob_id);
        blobs.push(KeptBlob { path, sha256: blob_id.sha256_hex().to_owned(), size_bytes });
    }
    Ok(blobs)
}
