//! Reads on one thread, stores on another: batches of one stream, in the file's order.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use indicatif::ProgressBar;
use pdpp_import::{Complaint, Item, Jsonl};
use pdpp_server::{Personal, owner_subject};
use pdpp_store::{Applied, WriteTarget};
use pdpp_wire::Instant;
use pdpp_wire::manifest::Manifest;
use tokio::sync::mpsc;

use super::batches::{Batch, Batches};
use super::{Destination, Receipt};

/// Batches read ahead of the store.
const AHEAD: usize = 4;

enum Step {
    Batch(Batch),
    Complaint(Complaint),
    Broken(std::io::Error),
}

/// Loads one file. `named` is put before the line numbers of complaints when there are several files.
pub(crate) async fn load<R: BufRead + Send + 'static>(
    personal: &Personal,
    destination: &mut Destination,
    reader: R,
    named: Option<&Path>,
    receipt: &mut Receipt,
    bar: &ProgressBar,
) -> anyhow::Result<()> {
    let (sender, mut steps) = mpsc::channel(AHEAD);
    let (manifest, now) = (Arc::clone(destination.manifest()), personal.clock().now());
    let reading = tokio::task::spawn_blocking(move || read(reader, &manifest, now, &sender));
    while let Some(step) = steps.recv().await {
        match step {
            Step::Complaint(complaint) => receipt.complain(placed(complaint, named)),
            Step::Broken(error) => {
                return Err(error).context("the file cannot be read to its end; what came before is loaded");
            }
            Step::Batch(batch) => {
                store_batch(personal, destination, batch, receipt).await?;
                bar.set_message(format!("{} records", receipt.records()));
            }
        }
    }
    reading.await.context("the reader stopped")?
}

async fn store_batch(
    personal: &Personal,
    destination: &mut Destination,
    Batch { stream, records }: Batch,
    receipt: &mut Receipt,
) -> anyhow::Result<()> {
    let connection_id = destination.connection_id(personal).await?;
    receipt.connected(&connection_id);
    let target = WriteTarget { subject_id: owner_subject(), connection_id, stream: stream.clone() };
    let keys: Vec<_> = records.iter().map(|record| record.key.clone()).collect();
    for (applied, key) in personal.store().apply(&target, records).await?.into_iter().zip(keys) {
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
    let mut batches = Batches::default();
    for item in Jsonl::new(reader, manifest, now)? {
        let found = match item {
            Err(error) => {
                batches.take_all().into_iter().map(Step::Batch).chain([Step::Broken(error)]).collect()
            }
            Ok(Item::Complaint(complaint)) => vec![Step::Complaint(complaint)],
            Ok(Item::Record { stream, bytes, record, .. }) => {
                batches.add(stream, record, bytes).into_iter().map(Step::Batch).collect()
            }
        };
        if !send(steps, found) {
            return Ok(());
        }
    }
    send(steps, batches.take_all().into_iter().map(Step::Batch));
    Ok(())
}

/// Says whether the other side still listens; when it went away, it failed, and says so itself.
fn send(steps: &mpsc::Sender<Step>, all: impl IntoIterator<Item = Step>) -> bool {
    all.into_iter().all(|step| steps.blocking_send(step).is_ok())
}

fn placed(complaint: Complaint, named: Option<&Path>) -> Complaint {
    match named {
        None => complaint,
        Some(path) => Complaint { where_: format!("{}: {}", path.display(), complaint.where_), ..complaint },
    }
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
        read(BufReader::new(line.chain(Broken)), &manifest, now, &sender).unwrap();
        assert!(matches!(steps.try_recv(), Ok(Step::Batch(batch)) if batch.records.len() == 1));
        assert!(matches!(steps.try_recv(), Ok(Step::Broken(_))));
        assert!(steps.try_recv().is_err());
    }
}
