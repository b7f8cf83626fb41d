//! Blobs as files: private, named by their digest, never torn from their rows.

use std::fs;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use pdpp_access::{Authorizer, BlobRequest};
use pdpp_store::{
    BlobBinding, BlobSighting, BlobWriter, Blobs as _, Catalogues as _, Ingest as _, OnConflict, Store,
    StoreError, WriteTarget,
};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::{FixedClock, owner, sample};
use pdpp_wire::{ConnectionId, Instant, RecordKey, StreamName};

use crate::support::options;

fn binding(connection_id: &ConnectionId) -> BlobBinding {
    BlobBinding {
        subject_id: sample::subject(),
        connection_id: connection_id.clone(),
        stream: StreamName::parse("messages").unwrap(),
        record_key: RecordKey::parse("x_blob").unwrap(),
        json_path: "/blob_ref".to_owned(),
        mime_type: "text/plain".to_owned(),
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}

async fn started(store: &SqliteStore, bytes: &'static [u8]) -> Box<dyn BlobWriter> {
    let mut writer = store.write_blob().await.unwrap();
    writer.write(Bytes::from_static(bytes)).await.unwrap();
    writer
}

async fn sighted(store: &dyn Store) -> BlobSighting {
    let catalogue = store.catalogue(&sample::subject()).await.unwrap();
    let principal = owner(&sample::subject());
    let request = BlobRequest {
        blob_id: sample::chat::blob_id().to_string(),
        connector_id: Some("chat".to_owned()),
        ..BlobRequest::default()
    };
    let plan = Authorizer::new(&principal, &catalogue).blob(&request).unwrap();
    store.find_blob(&plan).await.unwrap().remove(0)
}

async fn first_chunk(store: &SqliteStore, sighting: &BlobSighting) -> Result<Bytes, StoreError> {
    let mut body = store.read_blob(sighting, 0..sighting.blob.size_bytes).await?;
    poll_fn(|context| body.as_mut().poll_next(context)).await.unwrap()
}

#[tokio::test]
async fn bytes_lie_under_their_digest_and_nowhere_else() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let connection = ConnectionId::parse("cin_1").unwrap();
    drop(started(&store, b"abandoned").await);
    let receipt = started(&store, sample::chat::BLOB).await.finish(binding(&connection)).await.unwrap();
    started(&store, sample::chat::BLOB).await.finish(binding(&connection)).await.unwrap();
    let hex = receipt.blob_id.sha256_hex();
    let place = home.path().join("blobs").join("owner_local").join(&hex[..2]).join(hex);
    assert_eq!(files_below(&home.path().join("blobs")), std::slice::from_ref(&place));
    assert_eq!(fs::read(&place).unwrap(), sample::chat::BLOB);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&place), mode(place.parent().unwrap())), (0o600, 0o700));
    }
}

#[tokio::test]
async fn a_blob_is_there_when_the_store_is_opened_again() {
    let home = tempfile::tempdir().unwrap();
    sample::loaded(&SqliteStore::open(home.path(), options()).unwrap()).await;
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let sighting = sighted(&store).await;
    assert_eq!(first_chunk(&store, &sighting).await.unwrap(), sample::chat::BLOB);
}

#[tokio::test]
async fn a_lost_or_cut_file_is_damage_not_an_empty_answer() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), options()).unwrap();
    sample::loaded(&store).await;
    let sighting = sighted(&store).await;
    let [file] = &files_below(&home.path().join("blobs"))[..] else { panic!("one file") };
    fs::write(file, b"").unwrap();
    assert!(matches!(first_chunk(&store, &sighting).await, Err(StoreError::Damaged(_))));
    fs::remove_file(file).unwrap();
    assert!(matches!(first_chunk(&store, &sighting).await, Err(StoreError::Damaged(_))));
}

#[tokio::test]
async fn a_file_whose_row_was_lost_is_taken_again() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let connection = ConnectionId::parse("cin_1").unwrap();
    let hex = sample::chat::blob_id().sha256_hex().to_owned();
    let folder = home.path().join("blobs").join("owner_local").join(&hex[..2]);
    fs::create_dir_all(&folder).unwrap();
    // A crash between the move and the commit leaves a whole file; one before it, nothing or a part.
    for left in [sample::chat::BLOB, &b"par"[..]] {
        fs::write(folder.join(&hex), left).unwrap();
        started(&store, sample::chat::BLOB).await.finish(binding(&connection)).await.unwrap();
        assert_eq!(fs::read(folder.join(&hex)).unwrap(), sample::chat::BLOB);
    }
}

#[tokio::test]
async fn what_a_dead_process_left_is_swept_away() {
    let home = tempfile::tempdir().unwrap();
    let incoming = home.path().join("blobs").join("incoming");
    fs::create_dir_all(&incoming).unwrap();
    fs::write(incoming.join("blob-left"), b"half").unwrap();
    let written = fs::metadata(incoming.join("blob-left")).unwrap().modified().unwrap();
    let seconds = written.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let written = Instant::from_micros(0).plus_seconds(i64::try_from(seconds).unwrap());
    let clock = Arc::new(FixedClock::at(written.plus_seconds(60)));
    let store = SqliteStore::open(home.path(), Options { clock: clock.clone(), ..options() }).unwrap();
    drop(store.write_blob().await.unwrap());
    assert_eq!(files_below(&incoming).len(), 1, "it may still be written to");
    clock.advance_seconds(2 * 24 * 60 * 60);
    drop(store.write_blob().await.unwrap());
    assert!(files_below(&incoming).is_empty());
}

#[tokio::test]
async fn an_upload_does_not_keep_a_closed_store_open() {
    let store = SqliteStore::in_memory(options()).unwrap();
    let writer = started(&store, b"late").await;
    drop(store);
    assert!(writer.finish(binding(&ConnectionId::parse("cin_1").unwrap())).await.is_err());
}

#[tokio::test]
async fn the_last_reference_takes_the_bytes_with_it() {
    let home = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(home.path(), options()).unwrap();
    let loaded = sample::loaded(&store).await;
    assert_eq!(files_below(&home.path().join("blobs")).len(), 1);
    let unchanged =
        store.put_manifest(&loaded.subject_id, &sample::chat::manifest(), OnConflict::Refuse).await;
    unchanged.unwrap();
    let purge = async |stream: &str| {
        let target = WriteTarget {
            subject_id: loaded.subject_id.clone(),
            connection_id: loaded.home.clone(),
            stream: StreamName::parse(stream).unwrap(),
        };
        store.purge_stream(&target).await.unwrap();
    };
    purge("attachments").await;
    assert_eq!(files_below(&home.path().join("blobs")).len(), 1, "a message still refers to it");
    purge("messages").await;
    assert!(files_below(&home.path().join("blobs")).is_empty());
}
