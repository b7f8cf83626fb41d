//! Copies of an archive in use, a directory held alone, and damage that can be repaired.

use pdpp_access::RecordsRequest;
use pdpp_store::Records as _;
use pdpp_store_sqlite::{Alone, SqliteStore, snapshot};
use serde_json::json;

use crate::support::{Desk, of, options};

#[tokio::test]
async fn a_snapshot_of_an_open_store_is_a_store() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let desk = Desk::filled(SqliteStore::open(home.path(), options()).unwrap()).await;
    let blobs = snapshot(home.path(), folder.path()).unwrap();
    assert!(blobs.is_empty());
    desk.put(0, "letters", vec![json!({"id": "later"})]).await;
    let copied = SqliteStore::open(folder.path(), options()).unwrap();
    assert_eq!(copied.verify().await.unwrap(), Vec::<String>::new());
    let request = || RecordsRequest { target: of("letters"), limit: 500, ..RecordsRequest::default() };
    let plan = desk.page(&desk.owner(), request()).await;
    let then = copied.list_records(&plan).await.unwrap().rows.len();
    let now = desk.store.list_records(&plan).await.unwrap().rows.len();
    assert_eq!((then, now), (200, 201), "what came later is not in it");
}

#[tokio::test]
async fn a_directory_in_use_cannot_be_held_alone() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), options()).unwrap();
    assert!(Alone::hold(home.path()).unwrap().is_none());
    drop(store);
    let held = Alone::hold(home.path()).unwrap();
    assert!(held.is_some());
    drop(held);
    SqliteStore::open(home.path(), options()).unwrap();
}

#[tokio::test]
async fn counts_and_columns_are_made_again_from_the_records() {
    let home = tempfile::tempdir().unwrap();
    drop(Desk::filled(SqliteStore::open(home.path(), options()).unwrap()).await);
    let raw = rusqlite::Connection::open(home.path().join("store.db")).unwrap();
    raw.execute_batch(
        "UPDATE scopes SET live_count = 7 WHERE stream = 'letters';
         DELETE FROM fields_1 WHERE record_id % 3 = 0;
         INSERT INTO fields_2 (record_id, scope_id, key) VALUES (999999, 1, 'ghost');",
    )
    .unwrap();
    drop(raw);
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let findings = store.verify().await.unwrap();
    assert_eq!(findings.len(), 4, "{findings:?}");
    assert_eq!(store.repair().await.unwrap().len(), 4);
    assert_eq!(store.verify().await.unwrap(), Vec::<String>::new());
}
