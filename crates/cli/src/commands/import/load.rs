//! Reads on one thread, stores on another: batches of one stream, in the file's order.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use pdpp_access::{Connection, Source};
use pdpp_import::{Complaint, Item, Jsonl};
use pdpp_server::{Personal, owner_subject};
use pdpp_store::{Admission, AdmittedRecord, Applied, MAX_BATCH, ManifestOutcome, OnConflict, WriteTarget};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, Instant, StreamName};
use tokio::sync::mpsc;

use super::Receipt;
use crate::exit::Usage;

/// Batches read ahead of the store.
const AHEAD: usize = 4;

/// Where records go.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) connection_id: ConnectionId,
    manifest: Arc<Manifest>,
}

enum Step {
    Batch(StreamName, Vec<AdmittedRecord>),
    Complaint(Complaint),
    Broken(std::io::Error),
}

/// Registers the manifest and finds or makes the connection.
pub(crate) async fn register(
    personal: &Personal,
    manifest: &Arc<Manifest>,
    connection: Option<&str>,
    replace: bool,
) -> anyhow::Result<Destination> {
    Admission::check_manifest(manifest)?;
    let (store, subject) = (personal.store(), owner_subject());
    let on_conflict = if replace { OnConflict::Replace } else { OnConflict::Refuse };
    if store.put_manifest(&subject, manifest, on_conflict).await? == ManifestOutcome::Conflict {
        bail!(
            "another manifest for '{}' is registered; say --replace to put this one in its place",
            manifest.key()
        );
    }
    let catalogue = store.catalogue(&subject).await?;
    let source =
        catalogue.find_source(manifest.key().as_str()).context("the manifest was removed meanwhile")?;
    let connection_id = match choose(source, connection)? {
        Some(connection) => connection.connection_id.clone(),
        None => {
            let made = store.create_connection(&subject, manifest.key(), connection).await?;
            made.context("the manifest was removed meanwhile")?.connection_id
        }
    };
    Ok(Destination { connection_id, manifest: Arc::clone(manifest) })
}

/// The connection meant, or `None` when it has to be made.
fn choose<'s>(source: &'s Source, named: Option<&str>) -> Result<Option<&'s Connection>, Usage> {
    let usable: Vec<&Connection> =
        source.connections.iter().filter(|connection| connection.is_writable()).collect();
    match (named, usable.as_slice()) {
        (Some(name), all) => {
            let is = |c: &&&Connection| {
                c.connection_id.as_str() == name || c.display_name.as_deref() == Some(name)
            };
            Ok(all.iter().find(is).copied())
        }
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(only)),
        (None, _) => {
            let message = format!("'{}' has several connections; choose one with --connection", source.key());
            Err(Usage(message))
        }
    }
}

/// Loads one file. `named` is put before the line numbers of complaints when there are several files.
pub(crate) async fn load<R: BufRead + Send + 'static>(
    personal: &Personal,
    destination: &Destination,
    reader: R,
    named: Option<&Path>,
    receipt: &mut Receipt,
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    let (sender, mut steps) = mpsc::channel(AHEAD);
    let (manifest, now) = (Arc::clone(&destination.manifest), personal.clock().now());
    let reading = tokio::task::spawn_blocking(move || read(reader, &manifest, now, &sender));
    while let Some(step) = steps.recv().await {
        match step {
            Step::Complaint(complaint) => receipt.complain(placed(complaint, named)),
            Step::Broken(error) => {
                return Err(error).context("the file cannot be read to its end; what came before is loaded");
            }
            Step::Batch(stream, batch) => {
                store_batch(personal, destination, stream, batch, receipt).await?;
                bar.set_message(format!("{} records", receipt.records()));
            }
        }
    }
    reading.await.context("the reader stopped")?
}

async fn store_batch(
    personal: &Personal,
    destination: &Destination,
    stream: StreamName,
    batch: Vec<AdmittedRecord>,
    receipt: &mut Receipt,
) -> anyhow::Result<()> {
    let target = WriteTarget {
        subject_id: owner_subject(),
        connection_id: destination.connection_id.clone(),
        stream: stream.clone(),
    };
    let keys: Vec<_> = batch.iter().map(|record| record.key.clone()).collect();
    for (applied, key) in personal.store().apply(&target, batch).await?.into_iter().zip(keys) {
        if let Applied::Rejected(code) = applied {
            let where_ = format!("{stream} {key}");
            receipt.complain(Complaint { where_, code, message: code.advice().to_owned() });
        }
        receipt.note(&stream, applied);
    }
    Ok(())
}

fn read(
    reader: impl BufRead,
    manifest: &Manifest,
    now: Instant,
    steps: &mpsc::Sender<Step>,
) -> anyhow::Result<()> {
    let mut waiting: BTreeMap<StreamName, Vec<AdmittedRecord>> = BTreeMap::new();
    for item in Jsonl::new(reader, manifest, now)? {
        let step = match item {
            Err(error) => Step::Broken(error),
            Ok(Item::Complaint(complaint)) => Step::Complaint(complaint),
            Ok(Item::Record { stream, record, .. }) => {
                let batch = waiting.entry(stream.clone()).or_default();
                batch.push(record);
                if batch.len() < MAX_BATCH {
                    continue;
                }
                Step::Batch(stream, std::mem::take(batch))
            }
        };
        // The other side went away because it failed, and says so itself.
        if steps.blocking_send(step).is_err() {
            return Ok(());
        }
    }
    for (stream, batch) in waiting {
        if !batch.is_empty() && steps.blocking_send(Step::Batch(stream, batch)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

fn placed(complaint: Complaint, named: Option<&Path>) -> Complaint {
    match named {
        None => complaint,
        Some(path) => Complaint { where_: format!("{}: {}", path.display(), complaint.where_), ..complaint },
    }
}
