//! Blobs nobody refers to any more: their files go, and only theirs.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use pdpp_store::{Applied, BlobBinding, Blobs as _};
use pdpp_store_sqlite::SqliteStore;
use pdpp_wire::{BlobId, RecordKey, StreamName};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Desk, options};

async fn desk() -> (Desk, TempDir) {
    let home = tempfile::tempdir().unwrap();
    (Desk::empty(SqliteStore::open(home.path(), options()).unwrap()).await, home)
}

/// Uploads bytes for a letter of the first connection.
async fn upload(desk: &Desk, letter: &str, bytes: &'static [u8]) -> BlobId {
    let mut writer = desk.store.write_blob().await.unwrap();
    writer.write(Bytes::from_static(bytes)).await.unwrap();
    let binding = BlobBinding {
        subject_id: desk.subject_id.clone(),
        connection_id: desk.connections[0].clone(),
        stream: StreamName::parse("letters").unwrap(),
        record_key: RecordKey::parse(letter).unwrap(),
        json_path: "/blob_ref".to_owned(),
        mime_type: "text/plain".to_owned(),
    };
    writer.finish(binding).await.unwrap().blob_id
}

fn letter(id: &str, blob_id: &BlobId) -> Value {
    json!({"id": id, "blob_ref": {"blob_id": blob_id}})
}

fn is_kept(home: &TempDir, blob_id: &BlobId) -> bool {
    let hex = blob_id.sha256_hex();
    home.path().join("blobs/owner_local").join(&hex[..2]).join(hex).exists()
}

/// How many rows the tables about blobs hold.
fn rows(home: &Path) -> [i64; 3] {
    let raw = rusqlite::Connection::open(home.join("store.db")).unwrap();
    let count = |table: &str| format!("SELECT COUNT(*) FROM {table}");
    ["blobs", "blob_bindings", "doomed_blobs"]
        .map(|table| raw.query_row(&count(table), [], |row| row.get(0)).unwrap())
}

#[tokio::test]
async fn a_deleted_record_takes_its_blob_with_it() {
    let (desk, home) = desk().await;
    let blob = upload(&desk, "a", b"bytes").await;
    desk.put(0, "letters", vec![letter("a", &blob)]).await;
    assert!(is_kept(&home, &blob));
    desk.delete(0, "letters", "a").await;
    assert!(!is_kept(&home, &blob));
    assert_eq!(rows(home.path()), [0, 0, 0]);
}

#[tokio::test]
async fn a_blob_another_record_refers_to_stays() {
    let (desk, home) = desk().await;
    let blob = upload(&desk, "a", b"bytes").await;
    desk.put(0, "letters", vec![letter("a", &blob)]).await;
    desk.put(1, "letters", vec![letter("b", &blob)]).await;
    desk.delete(0, "letters", "a").await;
    assert!(is_kept(&home, &blob));
    desk.delete(1, "letters", "b").await;
    assert!(!is_kept(&home, &blob));
}

#[tokio::test]
async fn a_replaced_reference_takes_the_old_blob_and_leaves_the_new_one() {
    let (desk, home) = desk().await;
    let old = upload(&desk, "a", b"old").await;
    desk.put(0, "letters", vec![letter("a", &old)]).await;
    let new = upload(&desk, "a", b"new").await;
    assert!(is_kept(&home, &old), "the record still refers to it");
    desk.put(0, "letters", vec![letter("a", &new)]).await;
    assert_eq!([&old, &new].map(|blob| is_kept(&home, blob)), [false, true]);
    desk.put(0, "letters", vec![json!({"id": "a", "folder": "empty"})]).await;
    assert!(!is_kept(&home, &new));
    assert_eq!(rows(home.path()), [0, 0, 0]);
}

#[tokio::test]
async fn an_upload_that_came_before_its_record_stays() {
    let (desk, home) = desk().await;
    let (early, other) = (upload(&desk, "later", b"early").await, upload(&desk, "a", b"other").await);
    desk.put(0, "letters", vec![letter("a", &other)]).await;
    desk.delete(0, "letters", "a").await;
    assert_eq!(desk.delete(0, "letters", "later").await, [Applied::Unchanged]);
    assert_eq!([&early, &other].map(|blob| is_kept(&home, blob)), [true, false]);
    desk.put(0, "letters", vec![letter("later", &early)]).await;
    assert!(is_kept(&home, &early));
}

#[tokio::test]
async fn a_blob_that_moves_within_a_batch_stays() {
    let (desk, home) = desk().await;
    let blob = upload(&desk, "a", b"bytes").await;
    desk.put(0, "letters", vec![letter("a", &blob)]).await;
    desk.put(0, "letters", vec![json!({"id": "a"}), letter("b", &blob)]).await;
    assert!(is_kept(&home, &blob));
}

#[tokio::test]
async fn what_a_crash_left_is_removed_at_the_next_opening() {
    let (desk, home) = desk().await;
    let (gone, back) = (upload(&desk, "a", b"gone").await, upload(&desk, "b", b"back").await);
    drop(desk);
    let raw = rusqlite::Connection::open(home.path().join("store.db")).unwrap();
    for table in ["blobs", "blob_bindings"] {
        raw.execute(&format!("DELETE FROM {table} WHERE blob_id = ?"), [gone.as_str()]).unwrap();
    }
    for blob in [&gone, &back] {
        raw.execute("INSERT INTO doomed_blobs VALUES ('owner_local', ?)", [blob.as_str()]).unwrap();
    }
    drop(raw);
    drop(SqliteStore::open(home.path(), options()).unwrap());
    assert_eq!([&gone, &back].map(|blob| is_kept(&home, blob)), [false, true]);
    assert_eq!(rows(home.path()), [1, 1, 0]);
}

#[tokio::test]
async fn a_file_that_cannot_be_removed_does_not_fail_the_deletion() {
    let (desk, home) = desk().await;
    let blob = upload(&desk, "a", b"bytes").await;
    desk.put(0, "letters", vec![letter("a", &blob)]).await;
    let hex = blob.sha256_hex();
    let place = home.path().join("blobs/owner_local").join(&hex[..2]).join(hex);
    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    assert_eq!(desk.delete(0, "letters", "a").await, [Applied::Deleted]);
    assert_eq!(rows(home.path()), [0, 0, 1], "it is tried again");
}
