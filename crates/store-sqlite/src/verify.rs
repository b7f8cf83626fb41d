//! Looks for damage: pages and indexes of both databases, counts and columns, and the files of blobs.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdpp_store::StoreError;
use pdpp_wire::{BlobId, SubjectId};
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use crate::SqliteStore;
use crate::blob_files::BlobFiles;
use crate::fault::{Fault, Outcome};

/// The most findings that are told of each kind.
const MOST: usize = 20;

impl SqliteStore {
    /// What is wrong, in sentences; nothing when all is well. Reads everything, so it takes its time.
    pub async fn verify(&self) -> Result<Vec<String>, StoreError> {
        let files = Arc::clone(&self.blob_files);
        let mut findings = self
            .read(move |connection| {
                let mut findings = damaged_pages(connection, "store.db")?;
                findings.extend(
                    crate::repair::miscounted(connection)?.iter().take(MOST).map(ToString::to_string),
                );
                findings
                    .extend(crate::repair::unfilled(connection)?.iter().take(MOST).map(ToString::to_string));
                findings.extend(damaged_blobs(connection, &files)?);
                let stray = stray_files(connection, &files)?;
                let told =
                    stray.iter().take(MOST).map(|path| format!("{} belongs to no record", path.display()));
                findings.extend(told);
                Ok(findings)
            })
            .await?;
        let of_ledger = |connection: &Connection| {
            let mut findings = damaged_pages(connection, "ledger.db")?;
            match crate::fresh::unreadable(connection)? {
                0 => {}
                entries => {
                    findings.push(format!("ledger.db: {entries} entries cannot be read by this program"));
                }
            }
            Ok(findings)
        };
        findings.extend(self.ledger().read(of_ledger).await?);
        Ok(findings)
    }
}

pub(crate) fn damaged_pages(connection: &Connection, name: &str) -> Outcome<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MOST})"))?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").map(|line| format!("{name}: {line}")).collect())
}

fn damaged_blobs(connection: &Connection, files: &BlobFiles) -> Outcome<Vec<String>> {
    let mut findings = Vec::new();
    for (subject_id, blob_id, size) in blobs(connection)? {
        if findings.len() == MOST {
            break;
        }
        let path = files.path(&subject_id, &blob_id);
        match fs::metadata(&path).and_then(|file| Ok((file.len(), digest(&path)?))) {
            Ok((length, _)) if i64::try_from(length) != Ok(size) => {
                findings.push(format!("{blob_id} has {length} bytes instead of {size}"));
            }
            Ok((_, digest)) if digest != blob_id => {
                findings.push(format!("the bytes of {blob_id} have changed"));
            }
            Ok(_) => {}
            Err(error) => findings.push(format!("the bytes of {blob_id} cannot be read: {error}")),
        }
    }
    Ok(findings)
}

fn blobs(connection: &Connection) -> Outcome<Vec<(SubjectId, BlobId, i64)>> {
    let mut statement = connection.prepare("SELECT subject_id, blob_id, size_bytes FROM blobs")?;
    let mut rows = statement.query([])?;
    let mut blobs = Vec::new();
    while let Some(row) = rows.next()? {
        let damaged = |_| Fault::damaged("a blob's ids");
        let subject_id = SubjectId::parse(row.get::<_, String>(0)?).map_err(damaged)?;
        let blob_id = BlobId::parse(row.get::<_, String>(1)?).map_err(damaged)?;
        blobs.push((subject_id, blob_id, row.get(2)?));
    }
    Ok(blobs)
}

fn digest(path: &Path) -> io::Result<BlobId> {
    let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(BlobId::of_sha256(&hasher.finalize().into())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// Files among the blobs that no row knows. What is still arriving, or already doomed, is none of them.
pub(crate) fn stray_files(connection: &Connection, files: &BlobFiles) -> Outcome<Vec<PathBuf>> {
    let mut known: HashSet<PathBuf> =
        blobs(connection)?.iter().map(|(subject_id, blob_id, _)| files.path(subject_id, blob_id)).collect();
    let mut statement = connection.prepare("SELECT subject_id, blob_id FROM doomed_blobs")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let ids = (SubjectId::parse(row.get::<_, String>(0)?), BlobId::parse(row.get::<_, String>(1)?));
        if let (Ok(subject_id), Ok(blob_id)) = ids {
            known.insert(files.path(&subject_id, &blob_id));
        }
    }
    let mut stray = Vec::new();
    for subject in folders(files.root()).filter(|folder| !folder.ends_with("incoming")) {
        for file in folders(&subject).flat_map(|folder| entries(&folder)) {
            if file.is_file() && !known.contains(&file) {
                stray.push(file);
            }
        }
    }
    stray.sort();
    Ok(stray)
}

fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
