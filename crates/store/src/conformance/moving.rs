//! Moving a store: a copy holds the same, answers the same, and can be interrupted anywhere.
//!
//! These promises are about two stores, so a backend's tests call them with a pair, of its own kind or of two.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use pdpp_wire::{BlobId, SubjectId};
use serde_json::json;

use super::blobs::{letter, read, sightings, upload_for};
use super::event_world;
use super::ledger::disclosure;
use super::quotas::{counted, used};
use super::world::{World, keys, listing, time};
use crate::transfer::{Mark, Part, Place, Portion, Row, compare, copy};
use crate::{BlobBody, Door, Quota, Store, StoreError, Transfer};

/// A store with something in every part that a subject has, and the blob in it.
async fn filled(store: Arc<dyn Store>) -> (World, BlobId) {
    let world = event_world::world(store, &["grt_a", "grt_b"]).await;
    event_world::make_active(&world, "sub_1", &["grt_a"]).await;
    event_world::make(&world, "sub_2", &["grt_a", "grt_b"]).await;
    let receipt = upload_for(&world, &world.home, "kept", &[b"some ", b"bytes"]).await;
    world.put(&world.home, "letters", letter("kept", &receipt.blob_id)).await;
    for number in 0..1_200 {
        let sent = format!("2026-01-{:02}T{:02}:00:00Z", 1 + number % 28, number % 24);
        let id = format!("n{number:04}");
        world.put(&world.work, "letters", json!({"id": id, "sent_at": sent, "sender": "Ana"})).await;
    }
    // One that changed, one that went, one that came back.
    world
        .put(
            &world.work,
            "letters",
            json!({"id": "n0001", "sent_at": "2026-01-02T00:00:00Z", "sender": "Bo"}),
        )
        .await;
    world.delete(&world.work, "letters", "n0002").await;
    world.delete(&world.work, "letters", "n0003").await;
    world.put(&world.work, "letters", json!({"id": "n0003", "sent_at": "2026-02-01T00:00:00Z"})).await;
    for _ in 0..3 {
        let entry = disclosure(&world.subject, Door::Rest, &["grt_a"]);
        world.store.append_disclosures(vec![entry]).await.expect("the ledger takes entries");
    }
    world.store.set_passphrase(&world.subject, "$argon2id$x").await.expect("a passphrase is kept");
    let (client, at) = (event_world::client(), time("2026-01-01"));
    let allowed = world.store.allow_callback(&world.subject, &client, "hooks.example", at).await;
    allowed.expect("hosts are allowed");
    let quota = Quota { records: Some(1_300), bytes: None, requests_per_minute: Some(60) };
    assert!(world.store.set_quota(&world.subject, quota).await.expect("quotas are set"));
    world.store.sealing_key().await.expect("there is a key");
    (world, receipt.blob_id)
}

/// The half of a store that copies need.
fn as_transfer(store: &Arc<dyn Store>) -> &dyn Transfer {
    &**store
}

async fn assert_same(from: &dyn Transfer, to: &dyn Transfer, subject_id: &SubjectId) {
    for whose in [Some(subject_id), None] {
        let compared = compare(from, to, whose, |_| ()).await.expect("stores are compared");
        let differing: Vec<_> = compared.iter().filter(|part| !part.is_equal()).collect();
        assert!(differing.is_empty(), "{differing:?}");
    }
}

/// Copies, compares, and asks both the same.
pub async fn a_copy_holds_and_answers_the_same(from: Arc<dyn Store>, to: Arc<dyn Store>) {
    let (world, blob_id) = filled(from.clone()).await;
    let other = World { store: to.clone(), ..world.clone() };
    for whose in [None, Some(&world.subject)] {
        copy(as_transfer(&from), as_transfer(&to), whose, "one", |_| ()).await.expect("stores are copied");
    }
    assert_same(as_transfer(&from), as_transfer(&to), &world.subject).await;
    let owner = world.owner();
    let (first, second) = (listing("letters"), listing("letters"));
    assert_eq!(keys(&world.all_pages(&owner, &first).await), keys(&other.all_pages(&owner, &second).await));
    let sighted = sightings(&other, &owner, &blob_id).await;
    assert_eq!(read(&other, &sighted[0], 0..10).await, b"some bytes");
    assert_eq!(from.sealing_key().await.expect("a key"), to.sealing_key().await.expect("a key"));
    assert_eq!(
        from.find_quota(&world.subject).await.expect("quotas are looked for"),
        to.find_quota(&world.subject).await.expect("quotas are looked for")
    );
    assert_eq!((used(&other).await, used(&other).await), (used(&world).await, counted(&other).await));
    // The copy goes on by itself: the next change takes the next number.
    let head = to.log_head(&world.subject).await.expect("there is a log");
    other.put(&other.work, "letters", json!({"id": "later", "sent_at": "2026-03-01T00:00:00Z"})).await;
    assert_eq!(to.log_head(&world.subject).await.expect("there is a log"), head + 1);
}

/// A copy that is cut off again and again, each time a step later, and taken up again ends as if it never was.
pub async fn a_copy_goes_on_where_it_was_cut_off(from: Arc<dyn Store>, to: Arc<dyn Store>) {
    let (world, _) = filled(from.clone()).await;
    let mut tries = 0;
    loop {
        let cut = Cut { store: to.clone(), left: AtomicU32::new(3) };
        tries += 1;
        match copy(as_transfer(&from), &cut, Some(&world.subject), "one", |_| ()).await {
            Ok(_) => break,
            Err(error) => assert!(tries < 50, "{error}"),
        }
    }
    assert!(tries > 5, "the copy was never cut off");
    copy(as_transfer(&from), as_transfer(&to), None, "one", |_| ()).await.expect("stores are copied");
    assert_same(as_transfer(&from), as_transfer(&to), &world.subject).await;
}

/// Another store cannot be mixed into a copy that is under way.
pub async fn two_copies_are_not_mixed(from: Arc<dyn Store>, to: Arc<dyn Store>) {
    let (world, _) = filled(from.clone()).await;
    let cut = Cut { store: to.clone(), left: AtomicU32::new(3) };
    copy(as_transfer(&from), &cut, Some(&world.subject), "one", |_| ())
        .await
        .expect_err("the copy is cut off");
    let refused = copy(as_transfer(&from), as_transfer(&to), Some(&world.subject), "two", |_| ()).await;
    assert!(matches!(refused, Err(StoreError::Busy(_))), "{refused:?}");
}

/// A store that a copy is cut off from after a few steps: every other time after the step was made, so that its answer
/// is what is lost.
struct Cut {
    store: Arc<dyn Store>,
    left: AtomicU32,
}

#[async_trait]
impl Transfer for Cut {
    async fn read_rows(
        &self,
        whose: Option<&SubjectId>,
        part: Part,
        after: Option<&Place>,
        limit: u32,
    ) -> Result<Portion, StoreError> {
        self.store.read_rows(whose, part, after, limit).await
    }

    async fn take_rows(
        &self,
        whose: Option<&SubjectId>,
        part: Part,
        rows: Vec<Row>,
        mark: &Mark,
    ) -> Result<(), StoreError> {
        let left = self.left.fetch_sub(1, Ordering::Relaxed);
        if left != 1 || mark.rows.is_multiple_of(2) {
            self.store.take_rows(whose, part, rows, mark).await?;
        }
        if left == 1 { Err(StoreError::Unreachable("cut off".into())) } else { Ok(()) }
    }

    async fn find_mark(&self, whose: Option<&SubjectId>) -> Result<Option<Mark>, StoreError> {
        self.store.find_mark(whose).await
    }

    async fn clear_mark(&self, whose: Option<&SubjectId>) -> Result<(), StoreError> {
        self.store.clear_mark(whose).await
    }

    async fn give_blob(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        size_bytes: u64,
    ) -> Result<BlobBody, StoreError> {
        self.store.give_blob(subject_id, blob_id, size_bytes).await
    }

    async fn take_blob(
        &self,
        subject_id: &SubjectId,
        blob_id: &BlobId,
        body: BlobBody,
    ) -> Result<(), StoreError> {
        self.store.take_blob(subject_id, blob_id, body).await
    }
}
