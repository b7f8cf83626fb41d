//! Looks for damage: pages and indexes of both databases, and the files of blobs.

use std::fs;
use std::sync::Arc;

use pdpp_store::StoreError;
use pdpp_wire::{BlobId, SubjectId};
use rusqlite::Connection;

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
                findings.extend(missing_blobs(connection, &files)?);
                Ok(findings)
            })
            .await?;
        findings.extend(self.ledger().read(|connection| damaged_pages(connection, "ledger.db")).await?);
        Ok(findings)
    }
}

fn damaged_pages(connection: &Connection, name: &str) -> Outcome<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MOST})"))?;
    let found = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").map(|line| format!("{name}: {line}")).collect())
}

fn missing_blobs(connection: &Connection, files: &BlobFiles) -> Outcome<Vec<String>> {
    let mut statement = connection.prepare("SELECT subject_id, blob_id, size_bytes FROM blobs")?;
    let mut rows = statement.query([])?;
    let mut findings = Vec::new();
    while let Some(row) = rows.next()?
        && findings.len() < MOST
    {
        let damaged = |_| Fault::damaged("a blob's ids");
        let subject_id = SubjectId::parse(row.get::<_, String>(0)?).map_err(damaged)?;
        let blob_id = BlobId::parse(row.get::<_, String>(1)?).map_err(damaged)?;
        let size: i64 = row.get(2)?;
        match fs::metadata(files.path(&subject_id, &blob_id)) {
            Ok(file) if i64::try_from(file.len()) == Ok(size) => {}
            Ok(file) => findings.push(format!("{blob_id} has {} bytes instead of {size}", file.len())),
            Err(error) => findings.push(format!("the bytes of {blob_id} cannot be read: {error}")),
        }
    }
    Ok(findings)
}
