//! Words of records that are gone leave the files too.

use std::path::Path;
use std::sync::Arc;

use pdpp_search::{Place, SearchEngine};
use pdpp_store::Store;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{Archive, message, store, with};

/// Enough messages that one is less than a hundredth of them, and one whose key is easily found.
async fn archive() -> (TempDir, Archive) {
    let home = tempfile::tempdir().unwrap();
    let archive = Archive::at(place(&home), store()).await;
    let mut messages: Vec<_> =
        (0..400).map(|n| message(&format!("m{n}"), 1, &format!("ferry number {n}"))).collect();
    messages.push(message("unmistakable", 2, "zanzibar"));
    archive.put(&archive.home, "messages", &messages).await;
    archive.engine.catch_up().await.unwrap();
    assert!(occurs(home.path(), b"unmistakable"));
    (home, archive)
}

fn place(home: &TempDir) -> Place {
    Place::Directory(home.path().join("search"))
}

/// How many passages are only marked as deleted.
fn deleted(home: &TempDir) -> u64 {
    let meta = std::fs::read(home.path().join("search").join("meta.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_slice(&meta).unwrap();
    let segments = meta["segments"].as_array().unwrap().iter();
    segments.filter_map(|segment| segment["deletes"]["num_deleted_docs"].as_u64()).sum()
}

/// Whether a file of the index has these bytes.
fn occurs(home: &Path, wanted: &[u8]) -> bool {
    let files = std::fs::read_dir(home.join("search")).unwrap();
    // A file may go between being listed and being read.
    let mut files = files.map(|file| std::fs::read(file.unwrap().path()).unwrap_or_default());
    files.any(|bytes| bytes.windows(wanted.len()).any(|window| window == wanted))
}

/// Deletions purge passages for good. One deletion is too few to be worth a rewrite by itself.
#[tokio::test]
async fn a_deleted_record_is_gone_from_the_files_when_the_index_is_tidied() {
    let (home, archive) = archive().await;
    archive.delete(&archive.home, "unmistakable").await;
    archive.engine.catch_up().await.unwrap();
    archive.engine.tidy().await.unwrap();
    assert!(!occurs(home.path(), b"unmistakable"));
    assert_eq!(deleted(&home), 0);
    assert_eq!(archive.keys("ferry 7").await[0], "m7");
}

/// So do imports that bring other words for a record.
#[tokio::test]
async fn replaced_words_are_gone_from_the_files_after_an_import() {
    let (home, archive) = archive().await;
    archive.put(&archive.home, "messages", &[message("unmistakable", 2, "madagascar")]).await;
    archive.engine.catch_up().await.unwrap();
    assert_eq!(deleted(&home), 2, "text and author are marked, and still in the files");
    archive.engine.expunge().await.unwrap();
    assert_eq!(deleted(&home), 0);
    assert!(archive.keys("zanzibar").await.is_empty());
    assert_eq!(archive.keys("madagascar").await, ["unmistakable"]);
}

/// A server that is killed between a purge and its merge owes it; whoever opens the index next pays.
#[tokio::test]
async fn what_is_owed_outlives_the_process() {
    let (home, archive) = archive().await;
    archive.delete(&archive.home, "unmistakable").await;
    archive.engine.catch_up().await.unwrap();
    assert!(occurs(home.path(), b"unmistakable"));
    let Archive { store, engine, .. } = archive;
    drop(engine);
    let engine = reopened(&home, &store);
    engine.expunge().await.unwrap();
    assert!(!occurs(home.path(), b"unmistakable"));
    assert_eq!(engine.passages(), 2 * 400);
}

/// What a commit says is owed is done by an engine that is not started, too, although nothing is new.
#[tokio::test]
async fn an_interrupted_purge_is_finished_by_the_next_to_open_the_index() {
    let (home, archive) = archive().await;
    archive.delete(&archive.home, "unmistakable").await;
    archive.engine.catch_up().await.unwrap();
    let Archive { store, engine, .. } = archive;
    drop(engine);
    let meta = home.path().join("search").join("meta.json");
    let said = std::fs::read_to_string(&meta).unwrap();
    let purged = said.replace(r#"\"open\":\"deleted\""#, r#"\"open\":\"nothing\""#);
    let purged = purged.replace(r#"\"in_hand\":\"nothing\""#, r#"\"in_hand\":\"purged\""#);
    assert!(purged.contains(r#"\"open\":\"nothing\",\"in_hand\":\"purged\""#), "{said}");
    std::fs::write(&meta, purged).unwrap();
    reopened(&home, &store).catch_up().await.unwrap();
    assert!(!occurs(home.path(), b"unmistakable"));
}

/// A server does not wait until it is idle, nor for the merge.
#[tokio::test]
async fn a_started_engine_purges_a_removed_connection_at_once() {
    let (home, archive) = archive().await;
    archive.put(&archive.work, "messages", &[message("inconspicuous", 1, "a ferry elsewhere")]).await;
    // Both connections lie in one segment, so it has to be written again.
    archive.engine.rebuild().await.unwrap();
    assert!(occurs(home.path(), b"inconspicuous"));
    archive.engine.start().unwrap();
    archive.store.remove_connection(&archive.subject_id, &archive.work).await.unwrap();
    archive.engine.nudge();
    for _ in 0..200 {
        if !occurs(home.path(), b"inconspicuous") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(!occurs(home.path(), b"inconspicuous"));
    assert_eq!(archive.keys("ferry 7").await[0], "m7");
}

/// A message that joins a conversation has the one before it indexed again, with the same words.
#[tokio::test]
async fn a_record_that_was_only_given_a_neighbour_owes_nothing() {
    let (home, archive) = archive().await;
    let room = json!({"room": "m7"});
    archive.put(&archive.home, "messages", &[with(message("next", 3, "a reply"), room)]).await;
    archive.engine.expunge().await.unwrap();
    let meta = std::fs::read_to_string(home.path().join("search").join("meta.json")).unwrap();
    assert!(!meta.contains("debts"));
    assert_eq!(deleted(&home), 2);
}

fn reopened(home: &TempDir, store: &Arc<dyn Store>) -> SearchEngine {
    SearchEngine::open(place(home), store.clone()).unwrap()
}
