//! What is purged is nowhere in the directory's databases.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use pdpp_store::{Catalogues as _, ChangeKind, ChangeLog as _, Ingest as _};
use pdpp_store_sqlite::SqliteStore;
use serde_json::json;

use crate::support::{Desk, options};

fn holds(directory: &Path, needle: &str) -> bool {
    let files =
        ["store.db", "store.db-wal"].map(|name| std::fs::read(directory.join(name)).unwrap_or_default());
    files.iter().any(|bytes| bytes.windows(needle.len()).any(|window| window == needle.as_bytes()))
}

async fn written(directory: &Path) -> Desk {
    let desk = Desk::empty(SqliteStore::open(directory, options()).unwrap()).await;
    let secret = json!({"id": "key-zebra", "folder": "folder-zebra", "body": "body-zebra".repeat(2_000)});
    desk.put(0, "letters", vec![secret]).await;
    desk.put(0, "letters", vec![json!({"id": "key-zebra", "folder": "moved-zebra"})]).await;
    assert!(holds(directory, "key-zebra") && holds(directory, "moved-zebra"));
    desk
}

#[tokio::test]
async fn a_purged_stream_leaves_no_trace() {
    let home = tempfile::tempdir().unwrap();
    let desk = written(home.path()).await;
    assert_eq!(desk.store.purge_stream(&desk.target(0, "letters")).await.unwrap(), 1);
    assert!(!holds(home.path(), "zebra"));
    let log = desk.store.read_log(&desk.subject_id, 0, 10).await.unwrap();
    assert_eq!(log.iter().map(|change| &change.kind).collect::<Vec<_>>(), [&ChangeKind::PurgeStream]);
    assert_eq!(desk.store.purge_stream(&desk.target(0, "letters")).await.unwrap(), 0);
}

#[tokio::test]
async fn a_removed_connection_leaves_no_trace() {
    let home = tempfile::tempdir().unwrap();
    let desk = written(home.path()).await;
    let removed = desk.store.remove_connection(&desk.subject_id, &desk.connections[0]).await.unwrap();
    assert_eq!(removed.unwrap().records, 1);
    assert!(!holds(home.path(), "zebra"));
    assert_eq!(desk.store.remove_connection(&desk.subject_id, &desk.connections[0]).await.unwrap(), None);
    let catalogue = desk.store.catalogue(&desk.subject_id).await.unwrap();
    assert_eq!(catalogue.sources[0].connections.len(), 1);
}

#[tokio::test]
async fn a_deleted_record_leaves_its_key_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let desk = written(home.path()).await;
    desk.delete(0, "letters", "key-zebra").await;
    // The write-ahead log is emptied by the next purge of anything.
    desk.store.purge_stream(&desk.target(1, "letters")).await.unwrap();
    assert!(holds(home.path(), "key-zebra"));
    for gone in ["folder-zebra", "moved-zebra", "body-zebra"] {
        assert!(!holds(home.path(), gone), "{gone}");
    }
}

/// Reads the store as another process does, and keeps looking.
fn reader(directory: &Path) -> rusqlite::Connection {
    let reader = rusqlite::Connection::open(directory.join("store.db")).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    reader.query_row("SELECT COUNT(*) FROM records", [], |_| Ok(())).unwrap();
    reader
}

#[tokio::test]
async fn a_reader_that_soon_ends_does_not_keep_what_was_purged() {
    let home = tempfile::tempdir().unwrap();
    let desk = written(home.path()).await;
    let reader = reader(home.path());
    let ending = thread::spawn(move || {
        thread::sleep(Duration::from_millis(700));
        drop(reader);
    });
    desk.store.purge_stream(&desk.target(0, "letters")).await.unwrap();
    assert!(!holds(home.path(), "zebra"));
    ending.join().unwrap();
}

#[tokio::test]
async fn a_reader_that_goes_on_does_not_hold_up_a_purge_for_long() {
    let home = tempfile::tempdir().unwrap();
    let desk = written(home.path()).await;
    let reader = reader(home.path());
    let began = Instant::now();
    assert_eq!(desk.store.purge_stream(&desk.target(0, "letters")).await.unwrap(), 1);
    assert!(began.elapsed() < Duration::from_secs(10));
    drop(reader);
    desk.store.purge_stream(&desk.target(0, "letters")).await.unwrap();
    assert!(!holds(home.path(), "zebra"));
}
