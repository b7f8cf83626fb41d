//! Blobs: bytes that survive, and are seen only through a visible record.

use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use pdpp_access::Principal;
use pdpp_wire::{BlobId, ConnectionId, RecordKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::world::{World, entry, stream};
use crate::{Applied, BlobBinding, BlobReceipt, BlobSighting, Store};

/// Uploads for the letter `a`.
async fn upload(world: &World, connection: &ConnectionId, chunks: &[&[u8]]) -> BlobReceipt {
    upload_for(world, connection, "a", chunks).await
}

pub(super) async fn upload_for(
    world: &World,
    connection: &ConnectionId,
    letter: &str,
    chunks: &[&[u8]],
) -> BlobReceipt {
    let mut writer = world.store.write_blob().await.expect("uploads begin");
    for chunk in chunks {
        writer.write(Bytes::copy_from_slice(chunk)).await.expect("chunks are taken");
    }
    let binding = BlobBinding {
        subject_id: world.subject.clone(),
        connection_id: connection.clone(),
        stream: stream("letters"),
        record_key: RecordKey::parse(letter).expect("a plain key"),
        json_path: "/blob_ref".to_owned(),
        mime_type: "text/plain".to_owned(),
    };
    writer.finish(binding).await.expect("uploads end")
}

pub(super) fn letter(id: &str, blob_id: &BlobId) -> Value {
    json!({"id": id, "sent_at": "2026-01-01T00:00:00Z", "blob_ref": {"blob_id": blob_id}})
}

pub(super) async fn sightings(world: &World, who: &Principal, blob_id: &BlobId) -> Vec<BlobSighting> {
    let plan = world.blob_plan(who, blob_id.as_str()).await;
    world.store.find_blob(&plan).await.expect("blobs are looked for")
}

pub(super) async fn read(world: &World, sighting: &BlobSighting, range: Range<u64>) -> Vec<u8> {
    let mut body = world.store.read_blob(sighting, range).await.expect("blobs are read");
    let mut bytes = Vec::new();
    while let Some(chunk) = poll_fn(|context| body.as_mut().poll_next(context)).await {
        bytes.extend_from_slice(&chunk.expect("chunks are read"));
    }
    bytes
}

pub async fn bytes_survive_and_ranges_are_exact(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let whole: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let receipt = upload(&world, &world.home, &whole.chunks(70_001).collect::<Vec<_>>()).await;
    assert_eq!((receipt.size_bytes, receipt.mime_type.as_str()), (1_200_000, "text/plain"));
    world.put(&world.home, "letters", letter("a", &receipt.blob_id)).await;
    let seen = sightings(&world, &world.owner(), &receipt.blob_id).await;
    let [sighting] = &seen[..] else { panic!("one sighting, not {seen:?}") };
    assert_eq!((sighting.record_key.as_str(), sighting.blob.size_bytes), ("a", 1_200_000));
    assert_eq!(sighting.blob.mime_type, "text/plain");
    for range in [0..1_200_000, 0..1, 65_535..65_537, 1_199_999..1_200_000, 5..5] {
        let expected =
            &whole[usize::try_from(range.start).unwrap_or(0)..usize::try_from(range.end).unwrap_or(0)];
        assert!(read(&world, sighting, range.clone()).await == expected, "{range:?}");
    }
}

pub async fn the_same_bytes_are_the_same_blob(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let first = upload(&world, &world.home, &[b"ha", b"llo"]).await;
    let again = upload(&world, &world.work, &[b"hallo"]).await;
    assert_eq!(first, again);
    let other = upload(&world, &world.home, &[b"hallo "]).await;
    assert_ne!(first.blob_id, other.blob_id);
    let empty = upload(&world, &world.home, &[]).await;
    assert_eq!(empty.size_bytes, 0);
}

pub async fn a_blob_is_seen_only_through_a_record(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"id": "z"})).await;
    let blob_id = upload(&world, &world.home, &[b"bytes"]).await.blob_id;
    assert!(sightings(&world, &world.owner(), &blob_id).await.is_empty(), "no record refers to it yet");
    world.put(&world.home, "letters", letter("a", &blob_id)).await;
    assert_eq!(sightings(&world, &world.owner(), &blob_id).await.len(), 1);
    assert_eq!(world.delete(&world.home, "letters", "a").await, Applied::Deleted);
    assert!(sightings(&world, &world.owner(), &blob_id).await.is_empty(), "no record refers to it any more");
}

pub async fn a_reference_without_bytes_is_nothing(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let blob_id = BlobId::of_sha256(&[7; 32]);
    world.put(&world.home, "letters", letter("a", &blob_id)).await;
    assert!(sightings(&world, &world.owner(), &blob_id).await.is_empty());
}

pub async fn an_abandoned_upload_leaves_nothing(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let blob_id = upload(&world, &world.home, &[b"first"]).await.blob_id;
    world.put(&world.home, "letters", letter("a", &blob_id)).await;
    let mut abandoned = world.store.write_blob().await.expect("uploads begin");
    abandoned.write(Bytes::from_static(b"second")).await.expect("chunks are taken");
    drop(abandoned);
    assert_eq!(sightings(&world, &world.owner(), &blob_id).await.len(), 1);
}

pub async fn each_connection_that_refers_to_a_blob_is_told(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let blob_id = BlobId::of_sha256(&Sha256::digest(b"bytes").into());
    for connection in [&world.home, &world.work] {
        for id in ["a", "b"] {
            assert_eq!(upload_for(&world, connection, id, &[b"bytes"]).await.blob_id, blob_id);
            world.put(connection, "letters", letter(id, &blob_id)).await;
        }
    }
    let seen = sightings(&world, &world.owner(), &blob_id).await;
    let connections: Vec<_> = seen.iter().map(|sighting| &sighting.connection_id).collect();
    assert_eq!(connections, [&world.home, &world.work]);
}

pub async fn a_blob_uploaded_for_another_record_is_not_seen(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let blob_id = upload(&world, &world.work, &[b"bytes"]).await.blob_id;
    upload(&world, &world.home, &[b"bytes"]).await;
    world.put(&world.home, "letters", letter("b", &blob_id)).await;
    assert!(sightings(&world, &world.owner(), &blob_id).await.is_empty());
    upload_for(&world, &world.home, "b", &[b"bytes"]).await;
    assert_eq!(sightings(&world, &world.owner(), &blob_id).await.len(), 1);
}

pub async fn a_blob_goes_with_the_last_record_that_refers_to_it(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let blob_id = upload(&world, &world.home, &[b"bytes"]).await.blob_id;
    upload_for(&world, &world.home, "b", &[b"bytes"]).await;
    for id in ["a", "b"] {
        world.put(&world.home, "letters", letter(id, &blob_id)).await;
        let seen = sightings(&world, &world.owner(), &blob_id).await;
        let [sighting] = &seen[..] else { panic!("one sighting, not {seen:?}") };
        assert_eq!(read(&world, sighting, 0..5).await, b"bytes");
    }
    world.delete(&world.home, "letters", "a").await;
    let seen = sightings(&world, &world.owner(), &blob_id).await;
    assert_eq!(seen.len(), 1, "another still refers to it");
    assert_eq!(world.delete(&world.home, "letters", "b").await, Applied::Deleted);
    world.put(&world.home, "letters", letter("b", &blob_id)).await;
    assert!(sightings(&world, &world.owner(), &blob_id).await.is_empty(), "whoever names them now");
    assert!(world.store.read_blob(&seen[0], 0..5).await.is_err(), "the bytes are gone");
}

pub async fn an_upload_waits_for_its_record(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let blob_id = upload(&world, &world.home, &[b"bytes"]).await.blob_id;
    assert_eq!(world.delete(&world.home, "letters", "a").await, Applied::Unchanged);
    world.put(&world.home, "letters", letter("b", &blob_id)).await;
    world.delete(&world.home, "letters", "b").await;
    world.put(&world.home, "letters", letter("a", &blob_id)).await;
    assert_eq!(sightings(&world, &world.owner(), &blob_id).await.len(), 1);
}

pub async fn a_grant_that_hides_the_record_hides_the_blob(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let blob_id = upload(&world, &world.home, &[b"bytes"]).await.blob_id;
    world.put(&world.home, "letters", letter("a", &blob_id)).await;
    let granted = || entry("letters", &[&world.home], &["id", "blob_ref"]);
    let with = |member: &str, value: Value| {
        let mut entry = granted();
        entry[member] = value;
        entry
    };
    let time = |bounds: Value| with("time_constraint", bounds);
    for (entry, visible) in [
        (granted(), true),
        (entry("letters", &[&world.home], &["id"]), false),
        (entry("letters", &[&world.work], &["id", "blob_ref"]), false),
        (time(json!({"field": "sent_at", "since": "2026-01-01"})), true),
        (time(json!({"field": "sent_at", "until": "2026-01-01"})), false),
        (with("resources", json!(["a"])), true),
        (with("resources", json!(["b"])), false),
    ] {
        let client = world.client(&[json!([entry])]);
        let seen = !sightings(&world, &client, &blob_id).await.is_empty();
        assert_eq!(seen, visible, "{entry}");
    }
}
