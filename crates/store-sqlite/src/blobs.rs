//! Blobs: bytes in files named by their digest, rows that say who refers to them.
//!
//! Bytes go to a private file first, hashed on the way. They are on the disk before the transaction
//! begins that moves the file into its place and writes the row: a row without its file cannot be.

mod incoming;
mod outgoing;
mod sightings;

use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use pdpp_access::BlobPlan;
use pdpp_store::{BlobBinding, BlobBody, BlobReceipt, BlobSighting, BlobWriter, Blobs, Growth, StoreError};
use pdpp_wire::{BlobId, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::SqliteStore;
use crate::blob_files::BlobFiles;
use crate::database::Writer;
use crate::fault::Outcome;
use crate::sequence::{SubjectRow, signed};
use crate::{orphans, quotas};
use incoming::{Arrived, Incoming};

#[async_trait]
impl Blobs for SqliteStore {
    async fn write_blob(&self) -> Result<Box<dyn BlobWriter>, StoreError> {
        let (files, now) = (Arc::clone(&self.blob_files), self.clock.now());
        let incoming = aside(move || Incoming::begin(&files, now)).await?;
        Ok(Box::new(Upload {
            incoming: Some(incoming),
            writer: self.writer(),
            files: Arc::clone(&self.blob_files),
        }))
    }

    async fn find_blob(&self, plan: &BlobPlan) -> Result<Vec<BlobSighting>, StoreError> {
        let plan = plan.clone();
        self.read(move |connection| sightings::find(connection, &plan)).await
    }

    async fn read_blob(&self, sighting: &BlobSighting, range: Range<u64>) -> Result<BlobBody, StoreError> {
        let path = self.blob_files.path(&sighting.blob.subject_id, &sighting.blob.blob_id);
        let end = range.end.min(sighting.blob.size_bytes);
        outgoing::body(path, range.start.min(end)..end).await
    }
}

impl SqliteStore {
    /// A whole blob's bytes.
    pub(crate) async fn blob_bytes(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        size_bytes: u64,
    ) -> Result<BlobBody, StoreError> {
        outgoing::body(self.blob_files.path(subject_id, blob_id), 0..size_bytes).await
    }

    /// Puts a blob's bytes in their place, if they are its bytes.
    pub(crate) async fn keep_bytes(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        mut body: BlobBody,
    ) -> Result<(), StoreError> {
        let (files, now) = (Arc::clone(&self.blob_files), self.clock.now());
        let mut incoming = aside(move || Incoming::begin(&files, now)).await?;
        while let Some(chunk) = poll_fn(|context| body.as_mut().poll_next(context)).await {
            let chunk = chunk?;
            let take = move || {
                incoming.take(&chunk)?;
                Ok(incoming)
            };
            incoming = aside(take).await?;
        }
        let arrived = aside(move || incoming.finish()).await?;
        if arrived.blob_id != *blob_id {
            return Err(StoreError::Damaged("a blob's bytes are not those it is named after".into()));
        }
        let place = self.blob_files.path(subject_id, blob_id);
        self.write(move |_| Ok(arrived.move_to(&place)?)).await
    }
}

/// A blob on its way in. Dropped before it is finished, it leaves nothing.
#[derive(Debug)]
struct Upload {
    /// Away only while a chunk is being written.
    incoming: Option<Incoming>,
    writer: Writer,
    files: Arc<BlobFiles>,
}

#[async_trait]
impl BlobWriter for Upload {
    async fn write(&mut self, chunk: Bytes) -> Result<(), StoreError> {
        let mut incoming = self.incoming.take().ok_or_else(interrupted)?;
        let take = move || {
            incoming.take(&chunk)?;
            Ok(incoming)
        };
        self.incoming = Some(aside(take).await?);
        Ok(())
    }

    async fn finish(mut self: Box<Self>, binding: BlobBinding) -> Result<BlobReceipt, StoreError> {
        let incoming = self.incoming.take().ok_or_else(interrupted)?;
        let arrived = aside(move || incoming.finish()).await?;
        let files = Arc::clone(&self.files);
        let kept = self.writer.write(move |connection| keep(connection, &files, arrived, &binding)).await;
        let (receipt, doomed) = kept?;
        if doomed > 0 {
            let files = Arc::clone(&self.files);
            let removed =
                self.writer.write(move |connection| orphans::remove_files(connection, &files)).await;
            if let Err(error) = removed {
                tracing::warn!(%error, "the file of a replaced blob is left for later");
            }
        }
        Ok(receipt)
    }
}

/// Moves the file into its place and writes the rows, inside a write transaction. Says how many blobs lost their last
/// reference by it.
fn keep(
    connection: &Connection,
    files: &BlobFiles,
    arrived: Arrived,
    binding: &BlobBinding,
) -> Outcome<(BlobReceipt, u64)> {
    let receipt = BlobReceipt {
        blob_id: arrived.blob_id.clone(),
        size_bytes: arrived.size_bytes,
        mime_type: binding.mime_type.clone(),
    };
    let place = files.path(&binding.subject_id, &receipt.blob_id);
    if insert_blob(connection, binding, &receipt)? {
        let growth = Growth { records: 0, bytes: signed(receipt.size_bytes)? };
        let mut room = SubjectRow::ensure(connection, &binding.subject_id)?.room();
        room.take(growth).map_err(StoreError::from)?;
        quotas::count(connection, &binding.subject_id, growth)?;
    }
    arrived.move_to(&place)?;
    let before = bound_before(connection, binding)?.filter(|before| before != receipt.blob_id.as_str());
    insert_binding(connection, binding, &receipt.blob_id)?;
    let doomed = orphans::doom(connection, &binding.subject_id, before.into_iter().collect())?;
    Ok((receipt, doomed))
}

/// What an upload in the same place bound, which is no longer, and goes if it was only there.
fn bound_before(connection: &Connection, binding: &BlobBinding) -> Outcome<Option<String>> {
    let sql = "SELECT blob_id FROM blob_bindings WHERE subject_id = ? AND connection_id = ? AND stream = ?
               AND record_key = ? AND json_path = ?";
    let place = params![
        binding.subject_id.as_str(),
        binding.connection_id.as_str(),
        binding.stream.as_str(),
        binding.record_key.as_str(),
        binding.json_path,
    ];
    Ok(connection.prepare_cached(sql)?.query_row(place, |row| row.get(0)).optional()?)
}

/// Says whether it was not there.
fn insert_blob(connection: &Connection, binding: &BlobBinding, receipt: &BlobReceipt) -> Outcome<bool> {
    let sql = "INSERT INTO blobs (subject_id, blob_id, size_bytes, mime_type) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT DO NOTHING";
    let (subject_id, blob_id) = (binding.subject_id.as_str(), receipt.blob_id.as_str());
    let size = i64::try_from(receipt.size_bytes).unwrap_or(i64::MAX);
    Ok(connection.prepare_cached(sql)?.execute(params![subject_id, blob_id, size, receipt.mime_type])? > 0)
}

fn insert_binding(connection: &Connection, binding: &BlobBinding, blob_id: &BlobId) -> Outcome<()> {
    let sql = "INSERT OR REPLACE INTO blob_bindings
                   (subject_id, connection_id, stream, record_key, json_path, blob_id, mime_type)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    connection.prepare_cached(sql)?.execute([
        binding.subject_id.as_str(),
        binding.connection_id.as_str(),
        binding.stream.as_str(),
        binding.record_key.as_str(),
        &binding.json_path,
        blob_id.as_str(),
        &binding.mime_type,
    ])?;
    Ok(())
}

/// Touches files where it holds up no other request.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(StoreError::Unwritable(error.into())),
        Err(stopped) => Err(StoreError::Backend(stopped.into())),
    }
}

fn interrupted() -> StoreError {
    StoreError::Backend("a blob was written to after a failed write".into())
}
