//! Uploads and removals of the same bytes at once, with sweepers among them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use pdpp_access::{Authorizer, BlobRequest};
use pdpp_store::{
    Admission, BlobBinding, BlobReceipt, Blobs as _, Catalogues as _, Ingest as _, OnConflict, StoreError,
    WriteTarget,
};
use pdpp_store_postgres::{Options, PostgresStore};
use pdpp_testkit::{FixedClock, sample};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{BlobId, ConnectionId, Instant, RecordKey, StreamName, SubjectId};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Kept, connect};
use crate::{onlooker, patient};

fn manifest() -> Manifest {
    Manifest::from_document(json!({
        "protocol_version": "0.1.0", "connector_key": "desk", "version": "1", "display_name": "Desk",
        "streams": [{
            "name": "letters", "semantics": "mutable_state", "primary_key": ["id"],
            "selection": {"fields": true, "resources": true},
            "schema": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string"},
                "blob_ref": {"type": "object", "required": ["blob_id"], "properties": {
                    "blob_id": {"type": "string"}, "mime_type": {"type": "string"},
                    "size_bytes": {"type": "integer"}, "sha256": {"type": "string"}
                }}
            }}
        }]
    }))
    .unwrap()
}

/// One node, and the one place it writes to.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) store: Arc<PostgresStore>,
    pub(super) subject_id: SubjectId,
    pub(super) connection_id: ConnectionId,
}

impl Desk {
    pub(super) async fn new(store: PostgresStore) -> Self {
        let subject_id = sample::subject();
        let manifest = manifest();
        store.put_manifest(&subject_id, &manifest, OnConflict::Refuse).await.unwrap();
        let made = store.create_connection(&subject_id, manifest.key(), Some("One")).await.unwrap();
        Self { store: Arc::new(store), subject_id, connection_id: made.unwrap().connection_id }
    }

    fn stream() -> StreamName {
        StreamName::parse("letters").unwrap()
    }

    pub(super) async fn upload(
        &self,
        key: &str,
        path: &str,
        content: &[u8],
    ) -> Result<BlobReceipt, StoreError> {
        let mut writer = self.store.write_blob().await?;
        writer.write(Bytes::copy_from_slice(content)).await?;
        let binding = BlobBinding {
            subject_id: self.subject_id.clone(),
            connection_id: self.connection_id.clone(),
            stream: Self::stream(),
            record_key: RecordKey::parse(key).unwrap(),
            json_path: path.to_owned(),
            mime_type: "text/plain".to_owned(),
        };
        writer.finish(binding).await
    }

    async fn apply(&self, change: impl FnOnce(&Admission) -> pdpp_store::AdmittedRecord) {
        let batch = vec![change(&Admission::new(manifest().find_stream("letters").unwrap()).unwrap())];
        let target = WriteTarget {
            subject_id: self.subject_id.clone(),
            connection_id: self.connection_id.clone(),
            stream: Self::stream(),
        };
        self.store.apply(&target, batch).await.unwrap();
    }

    pub(super) async fn put(&self, key: &str, blob_id: &BlobId) {
        let at = Instant::parse("2026-02-01").unwrap();
        let data: Value = json!({"id": key, "blob_ref": {"blob_id": blob_id}});
        self.apply(|admission| admission.upsert(&json!(key), data, at).unwrap()).await;
    }

    async fn delete(&self, key: &str) {
        let at = Instant::parse("2026-02-02").unwrap();
        self.apply(|admission| admission.delete(&json!(key), at).unwrap()).await;
    }

    /// The bytes, as the owner reads them through a record; `None` when no record shows them.
    pub(super) async fn read(&self, blob_id: &BlobId) -> Option<Vec<u8>> {
        let catalogue = self.store.catalogue(&self.subject_id).await.unwrap();
        let owner = pdpp_testkit::owner(&self.subject_id);
        let request = BlobRequest { blob_id: blob_id.to_string(), ..BlobRequest::default() };
        let plan = Authorizer::new(&owner, &catalogue).blob(&request).unwrap();
        let sighting = self.store.find_blob(&plan).await.unwrap().into_iter().next()?;
        let body = self.store.read_blob(&sighting, 0..u64::MAX).await.unwrap();
        let chunks: Vec<Bytes> = body.try_collect().await.unwrap();
        Some(chunks.concat())
    }

    /// Sweeps until nothing is left to do; says how many names it removed.
    pub(super) async fn sweep(&self) -> u64 {
        let mut removed = 0;
        loop {
            let swept = self.store.sweep_some_blobs().await.unwrap();
            removed += swept.removed;
            if !swept.more {
                return removed;
            }
        }
    }
}

/// The files under a folder, by their path from there; what is still arriving is not among them, nor the mark.
fn files(root: &Path) -> BTreeSet<String> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
                found.remove(".belongs-to");
            }
        }
    }
    found
}

/// The files that rows say are there.
async fn named_by_rows(kept: &Kept) -> BTreeSet<String> {
    let rows =
        onlooker(kept).await.query("SELECT subject_id, blob_id, upload FROM blobs", &[]).await.unwrap();
    let name = |row: &tokio_postgres::Row| {
        let digest = row.get::<_, &str>(1).trim_start_matches("blob_sha256_");
        format!("{}/{}/{digest}.{}", row.get::<_, &str>(0), &digest[..2], row.get::<_, &str>(2))
    };
    rows.iter().map(name).collect()
}

async fn count(kept: &Kept, sql: &str) -> i64 {
    onlooker(kept).await.query_one(sql, &[]).await.unwrap().get(0)
}

const WORKERS: usize = 6;
const ROUNDS: usize = 60;

/// Each worker has records of its own; all of them share three contents. The last round leaves every record bound.
async fn work(desk: Desk, worker: usize) {
    for round in 0..ROUNDS {
        let key = format!("r{worker}_{}", round % 2);
        let content = format!("content {}", (worker + round) % 3);
        let receipt = desk.upload(&key, "/blob_ref", content.as_bytes()).await.unwrap();
        if round % 5 != 0 {
            desk.put(&key, &receipt.blob_id).await;
        }
        if round + 2 < ROUNDS && round % 3 != 2 {
            desk.delete(&key).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn uploads_and_removals_of_the_same_bytes_lose_none_and_leave_none() {
    let kept = Kept::new();
    let first = Desk::new(connect(&kept, patient())).await;
    let second = Desk { store: Arc::new(connect(&kept, patient())), ..first.clone() };
    let (done, removed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let sweepers: Vec<_> = [first.clone(), second.clone()]
        .map(|desk| {
            let (done, removed) = (Arc::clone(&done), Arc::clone(&removed));
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    removed.fetch_add(desk.sweep().await, Ordering::Relaxed);
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            })
        })
        .into();
    let nodes = [&first, &second];
    let workers = (0..WORKERS).map(|worker| tokio::spawn(work(nodes[worker % 2].clone(), worker)));
    for worker in workers.collect::<Vec<_>>() {
        worker.await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for sweeper in sweepers {
        sweeper.await.unwrap();
    }
    first.sweep().await;
    assert!(removed.load(Ordering::Relaxed) > 20, "bytes went while others came: {removed:?}");
    let lost = "SELECT count(*) FROM blob_bindings AS b WHERE NOT EXISTS (
                    SELECT 1 FROM blobs AS h WHERE h.subject_id = b.subject_id AND h.blob_id = b.blob_id)";
    assert_eq!(count(&kept, lost).await, 0, "every bound blob has a row");
    assert!(count(&kept, "SELECT count(*) FROM blob_bindings").await >= 6, "some are bound");
    for content in 0..3 {
        let content = format!("content {content}");
        let digest = Sha256::digest(&content).into();
        let read = second.read(&BlobId::of_sha256(&digest)).await;
        assert_eq!(read.as_deref(), Some(content.as_bytes()), "what is bound can be read");
    }
    assert_eq!(files(kept.objects.path()), named_by_rows(&kept).await, "bytes and rows are the same");
    assert_eq!(count(&kept, "SELECT count(*) FROM blob_claims").await, 0);
    assert_eq!(count(&kept, "SELECT count(*) FROM doomed_blobs").await, 0);
}

#[tokio::test]
async fn an_upload_that_died_between_claim_and_row_is_swept_after_a_day() {
    let kept = Kept::new();
    let desk = Desk::new(connect(&kept, patient())).await;
    let receipt = desk.upload("a", "/blob_ref", b"hallo").await.unwrap();
    // As it lies there when the node dies just before the last transaction.
    onlooker(&kept)
        .await
        .batch_execute(
            "INSERT INTO blob_claims SELECT subject_id, blob_id, upload, 0 FROM blobs;
             DELETE FROM blob_bindings; DELETE FROM blobs;
             UPDATE blob_claims SET claimed_at = (SELECT max(created_at) FROM connections)",
        )
        .await
        .unwrap();
    assert_eq!(desk.sweep().await, 0, "somebody may still be working on it");
    assert_eq!(files(kept.objects.path()).len(), 1);
    let later = FixedClock::default();
    later.advance_seconds(25 * 60 * 60);
    let later =
        Desk { store: Arc::new(connect(&kept, Options { clock: Arc::new(later), ..patient() })), ..desk };
    let swept = later.store.sweep_some_blobs().await.unwrap();
    assert_eq!((swept.abandoned, swept.removed, swept.more), (1, 1, false));
    assert!(files(kept.objects.path()).is_empty());
    assert!(later.read(&receipt.blob_id).await.is_none());
}

/// As after a restore: a later upload has its bytes there, and no row. Its whole owner may be unknown.
#[tokio::test]
async fn what_came_after_the_backup_is_removed_when_an_operator_asks() {
    let kept = Kept::new();
    let desk = Desk::new(connect(&kept, patient())).await;
    let known = desk.upload("a", "/blob_ref", b"before").await.unwrap();
    desk.put("a", &known.blob_id).await;
    let lost = desk.upload("b", "/blob_ref", b"after").await.unwrap();
    let rows = format!(
        "DELETE FROM blob_bindings WHERE blob_id = '{0}'; DELETE FROM blobs WHERE blob_id = '{0}'",
        lost.blob_id
    );
    onlooker(&kept).await.batch_execute(&rows).await.unwrap();
    let (lying, named) = (files(kept.objects.path()), named_by_rows(&kept).await);
    let stray = kept.objects.path().join(lying.difference(&named).next().unwrap());
    let name = stray.file_name().unwrap();
    let unknown = kept.objects.path().join("nobody-knows").join(&name.to_str().unwrap()[..2]);
    std::fs::create_dir_all(&unknown).unwrap();
    std::fs::copy(&stray, unknown.join(name)).unwrap();
    let young = desk.store.sweep_unknown_blobs().await.unwrap();
    assert_eq!((young.seen, young.removed), (3, 0), "somebody may still be working on it");
    let later = Arc::new(FixedClock::at_text("2100-01-01T00:00:00Z"));
    let later = Desk { store: Arc::new(connect(&kept, Options { clock: later, ..patient() })), ..desk };
    let old = later.store.sweep_unknown_blobs().await.unwrap();
    assert_eq!((old.seen, old.removed, old.removed_bytes), (3, 2, 10));
    assert_eq!(files(kept.objects.path()), named_by_rows(&kept).await);
    assert_eq!(later.read(&known.blob_id).await.unwrap(), b"before");
    assert_eq!(later.store.sweep_unknown_blobs().await.unwrap().removed, 0);
}

#[tokio::test]
async fn what_took_the_place_of_another_upload_lets_it_go() {
    let kept = Kept::new();
    let desk = Desk::new(connect(&kept, patient())).await;
    desk.upload("a", "/blob_ref", b"first").await.unwrap();
    let second = desk.upload("a", "/blob_ref", b"second").await.unwrap();
    desk.put("a", &second.blob_id).await;
    assert_eq!(desk.sweep().await, 1);
    assert_eq!(files(kept.objects.path()), named_by_rows(&kept).await);
    assert_eq!(desk.read(&second.blob_id).await.unwrap(), b"second");
}

#[tokio::test]
async fn the_longest_names_there_can_be_are_kept() {
    let kept = Kept::new();
    let desk = Desk::new(connect(&kept, patient())).await;
    // Bytes that do not compress, so that their index entry is as long as it can be.
    let entropy = pdpp_testkit::SeededEntropy::new(3);
    let digits = |length: usize| pdpp_access::random_hex(&entropy, length / 2);
    let (key, path) = (digits(1024), format!("/{}x", digits(1022)));
    let receipt = desk.upload(&key, &path, b"hallo").await.unwrap();
    desk.put(&key, &receipt.blob_id).await;
    assert_eq!(desk.read(&receipt.blob_id).await.unwrap(), b"hallo");
}
