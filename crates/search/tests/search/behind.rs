//! Whether an index is behind for a reader depends on what the reader may see alone.

use std::fs::File;
use std::time::Instant;

use pdpp_access::Principal;
use pdpp_search::Place;
use serde_json::{Value, json};

use crate::support::{Archive, asking, keys, message, store};

/// More than a page of the log.
const FOREIGN: usize = 6_000;

struct Held {
    archive: Archive,
    reader: Principal,
    _folder: tempfile::TempDir,
    lock: File,
}

/// An index of one message that another process keeps from going on, and a client who reads the messages of one
/// connection.
async fn held() -> Held {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("search");
    let archive = Archive::at(Place::Directory(path.clone()), store()).await;
    archive.put(&archive.home, "messages", &[message("mine", 1, "a lighthouse")]).await;
    archive.engine.catch_up().await.unwrap();
    let lock = File::options().write(true).open(path.join(".tantivy-writer.lock")).unwrap();
    lock.lock().unwrap();
    let home = archive.home.clone();
    let reader = archive.grant(|grant| grant.stream("messages", &["id", "text"]).connections(&[&home])).await;
    Held { archive, reader, _folder: folder, lock }
}

fn foreign() -> Vec<Value> {
    (0..FOREIGN).map(|n| message(&format!("f{n}"), 2, "a lighthouse elsewhere")).collect()
}

/// Index state is `current` or `behind` for the plan's connections.
#[tokio::test]
async fn an_import_into_another_connection_leaves_a_reader_up_to_date() {
    let Held { archive, reader, lock, _folder } = held().await;
    archive.put(&archive.work, "messages", &foreign()).await;
    let began = Instant::now();
    let found = archive.rank(&reader, asking("lighthouse")).await;
    assert!(found.is_current);
    assert_eq!(keys(&found), ["mine"]);
    assert!(began.elapsed().as_millis() < 1_900, "nor is it waited for");
    assert!(!archive.find("lighthouse").await.is_current, "the owner sees that it is behind");
    lock.unlock().unwrap();
    archive.engine.catch_up().await.unwrap();
    assert!(archive.find("lighthouse").await.is_current);
}

#[tokio::test]
async fn so_does_what_comes_to_another_stream_of_the_same_connection() {
    let Held { archive, reader, _folder, lock: _lock } = held().await;
    archive.put(&archive.home, "notes", &[json!({"id": "n", "title": "a lighthouse"})]).await;
    assert!(archive.rank(&reader, asking("lighthouse")).await.is_current);
    archive.put(&archive.home, "messages", &[message("late", 3, "another lighthouse")]).await;
    assert!(!archive.rank(&reader, asking("lighthouse")).await.is_current, "this one is missed");
}

#[tokio::test]
async fn a_purge_of_a_stream_is_missed_by_its_readers() {
    let Held { archive, reader, _folder, lock: _lock } = held().await;
    archive.put(&archive.work, "messages", &[message("theirs", 1, "a lighthouse")]).await;
    archive.store.purge_stream(&archive.target(&archive.work, "messages")).await.unwrap();
    assert!(archive.rank(&reader, asking("lighthouse")).await.is_current);
    archive.store.purge_stream(&archive.target(&archive.home, "messages")).await.unwrap();
    assert!(!archive.rank(&reader, asking("lighthouse")).await.is_current);
}
