//! Reads on one thread, stores on another: batches of one stream, in the export's order.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use indicatif::ProgressBar;
use pdpp_import::{Claim, Complaint, Format, Item, Jsonl, Stop, Tree};
use pdpp_server::Personal;
use pdpp_store::{Applied, BlobBinding, BlobWriter, StoreError, WriteTarget};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{Code, Instant};
use tokio::sync::{mpsc, oneshot};

use super::batches::Batch;
use super::feed::{Feed, Step};
use super::{Destination, Receipt};

/// Steps read ahead of the store. Each may be a whole batch, so this is what large records cost in memory.
const AHEAD: usize = 2;

/// Loads record lines. `named` is put before the line numbers of complaints when there are several files.
pub(crate) async fn load<R: BufRead + Send + 'static>(
    personal: &Personal,
    destination: &mut Destination,
    reader: R,
    named: Option<&Path>,
    receipt: &mut Receipt,
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    let (manifest, now) = (Arc::clone(destination.manifest()), personal.clock().now());
    let prefix = named.map(|path| format!("{}: ", path.display())).unwrap_or_default();
    let (sender, steps) = mpsc::channel(AHEAD);
    let reading = tokio::task::spawn_blocking(move || read_lines(reader, &manifest, now, sender));
    store(personal, destination, steps, &prefix, receipt, bar).await?;
    reading.await.context("the reader stopped")?
}

/// Loads what a format claimed in a tree, and gives the tree back.
pub(super) async fn load_claim<T: Tree + 'static>(
    personal: &Personal,
    destination: &mut Destination,
    (format, claim): (&'static dyn Format, Claim),
    mut tree: T,
    receipt: &mut Receipt,
    bar: &ProgressBar,
) -> anyhow::Result<T> {
    let (manifest, now) = (Arc::clone(destination.manifest()), personal.clock().now());
    let (sender, steps) = mpsc::channel(AHEAD);
    let reading = tokio::task::spawn_blocking(move || {
        let mut feed = Feed::new(&manifest, now, sender)?;
        // When the storing side went away it has its own reason to tell.
        let _: Result<(), Stop> = format.read(&mut tree, &claim, &mut feed).and_then(|()| feed.flush());
        anyhow::Ok(tree)
    });
    store(personal, destination, steps, "", receipt, bar).await?;
    reading.await.context("the reader stopped")?
}

/// The storing side, until the reading side has ended.
pub(crate) async fn store(
    personal: &Personal,
    destination: &mut Destination,
    mut steps: mpsc::Receiver<Step>,
    prefix: &str,
    receipt: &mut Receipt,
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    let mut blob: Option<OpenBlob> = None;
    while let Some(step) = steps.recv().await {
        match step {
            Step::Complaint(complaint) => receipt.complain(complaint.below(prefix)),
            Step::Broken(error) => {
                return Err(error).context("the file cannot be read to its end; what came before is loaded");
            }
            Step::Batch(batch) => {
                store_batch(personal, destination, batch, receipt).await?;
                bar.set_message(format!("{} records", receipt.records()));
            }
            Step::Blob { stream, key, media_type, reply } => {
                let connection_id = destination.connection_id(personal).await?;
                let binding = BlobBinding {
                    subject_id: personal.subject().clone(),
                    connection_id,
                    stream,
                    record_key: key,
                    json_path: "/blob_ref".to_owned(),
                    mime_type: media_type,
                };
                blob = Some(OpenBlob { writer: personal.store().write_blob().await?, binding, reply });
            }
            Step::Chunk(chunk) => {
                if let Some(open) = &mut blob {
                    open.writer.write(chunk).await?;
                }
            }
            Step::BlobEnd => {
                if let Some(OpenBlob { writer, binding, reply }) = blob.take() {
                    let place = format!("{} {}", binding.stream, binding.record_key);
                    let kept = match writer.finish(binding).await {
                        // The record may fit without what is attached to it.
                        Err(StoreError::OverQuota(over)) => {
                            receipt.complain(Complaint::new(place, Code::QuotaExceeded, over.to_string()));
                            None
                        }
                        kept => Some(kept?.blob_id.to_string()),
                    };
                    if kept.is_some() {
                        receipt.count_blob();
                    }
                    // A reader that went away needs no answer.
                    let _ = reply.send(kept);
                }
            }
            Step::BlobAbandoned => blob = None,
        }
    }
    Ok(())
}

struct OpenBlob {
    writer: Box<dyn BlobWriter>,
    binding: BlobBinding,
    reply: oneshot::Sender<Option<String>>,
}

async fn store_batch(
    personal: &Personal,
    destination: &mut Destination,
    Batch { stream, records }: Batch,
    receipt: &mut Receipt,
) -> anyhow::Result<()> {
    let connection_id = destination.connection_id(personal).await?;
    receipt.connected(&connection_id);
    let target =
        WriteTarget { subject_id: personal.subject().clone(), connection_id, stream: stream.clone() };
    let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
    for (applied, key) in personal.store().apply(&target, records).await?.into_iter().zip(keys) {
        let place = || format!("{stream} {key}");
        match applied {
            Applied::Rejected(code) => receipt.complain(Complaint::new(place(), code, code.advice())),
            Applied::OverQuota(over) => {
                receipt.complain(Complaint::new(place(), Code::QuotaExceeded, over.to_string()));
            }
            Applied::Added | Applied::Updated | Applied::Unchanged | Applied::Deleted => {}
        }
        receipt.note(&stream, applied);
    }
    Ok(())
}

fn read_lines(
    reader: impl BufRead,
    manifest: &Manifest,
    now: Instant,
    steps: mpsc::Sender<Step>,
) -> anyhow::Result<()> {
    let mut feed = Feed::new(manifest, now, steps)?;
    for item in Jsonl::new(reader, manifest, now)? {
        let taken = match item {
            Err(error) => feed.flush().and_then(|()| feed.send(Step::Broken(error))),
            Ok(Item::Complaint(complaint)) => feed.send(Step::Complaint(complaint)),
            Ok(Item::Record { stream, bytes, record, .. }) => feed.admitted(stream, record, bytes),
        };
        if taken.is_err() {
            return Ok(());
        }
    }
    let _: Result<(), Stop> = feed.flush();
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};

    use super::*;

    const MANIFEST: &str = include_str!("../../../../../fixtures/exports/jsonl/manifest.json");

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }

    #[test]
    fn what_came_before_a_broken_end_is_stored_first() {
        let manifest = Manifest::parse(MANIFEST).unwrap();
        let line = b"{\"stream\":\"channels\",\"key\":\"c1\",\"op\":\"delete\"}\n".as_slice();
        let (sender, mut steps) = mpsc::channel(8);
        let now = Instant::parse("2026-01-01").unwrap();
        read_lines(BufReader::new(line.chain(Broken)), &manifest, now, sender).unwrap();
        assert!(matches!(steps.try_recv(), Ok(Step::Batch(batch)) if batch.records.len() == 1));
        assert!(matches!(steps.try_recv(), Ok(Step::Broken(_))));
        assert!(steps.try_recv().is_err());
    }
}
