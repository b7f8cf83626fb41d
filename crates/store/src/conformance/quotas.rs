//! Quotas: exact, whoever writes, and never in the way of making room.

use std::sync::Arc;

use bytes::Bytes;
use pdpp_wire::{BlobId, ConnectionId, RecordKey};
use serde_json::json;

use super::blobs::letter;
use super::world::{Pending, World, all, deletion, stream, subject, upsert};
use crate::transfer::{Cell, Part};
use crate::{Applied, BlobBinding, BlobReceipt, Measure, OverQuota, Quota, Store, StoreError, Usage};

fn records(most: u64) -> Quota {
    Quota { records: Some(most), ..Quota::default() }
}

fn bytes(most: u64) -> Quota {
    Quota { bytes: Some(most), ..Quota::default() }
}

async fn allow(world: &World, quota: Quota) {
    assert!(world.store.set_quota(&world.subject, quota).await.expect("quotas are set"));
}

pub(super) async fn used(world: &World) -> Usage {
    world.store.find_usage(&world.subject).await.expect("what is used is known")
}

/// What is there, counted row by row.
pub(super) async fn counted(world: &World) -> Usage {
    let mut usage = Usage::default();
    for part in [Part::Records, Part::Blobs] {
        let mut after = None;
        loop {
            let portion = world.store.read_rows(Some(&world.subject), part, after.as_ref(), 100).await;
            let portion = portion.expect("rows are given");
            for row in &portion.rows {
                match (part, &row[..]) {
                    (Part::Records, [.., Cell::Text(data)]) => {
                        usage.records += 1;
                        usage.bytes += data.len() as u64;
                    }
                    (Part::Blobs, [_, Cell::Number(size), ..]) => usage.bytes += size.unsigned_abs(),
                    _ => {}
                }
            }
            after = portion.next;
            if after.is_none() {
                break;
            }
        }
    }
    usage
}

async fn try_upload(world: &World, record: &str, content: &[u8]) -> Result<BlobReceipt, StoreError> {
    try_upload_to(world, &world.home, record, content).await
}

async fn try_upload_to(
    world: &World,
    connection: &ConnectionId,
    record: &str,
    content: &[u8],
) -> Result<BlobReceipt, StoreError> {
    let mut writer = world.store.write_blob().await.expect("uploads begin");
    writer.write(Bytes::copy_from_slice(content)).await.expect("chunks are taken");
    let binding = BlobBinding {
        subject_id: world.subject.clone(),
        connection_id: connection.clone(),
        stream: stream("letters"),
        record_key: RecordKey::parse(record).expect("a plain key"),
        json_path: "/blob_ref".to_owned(),
        mime_type: "text/plain".to_owned(),
    };
    writer.finish(binding).await
}

pub async fn a_quota_is_kept_replaced_and_taken_away(store: Arc<dyn Store>) {
    let find = async |name: &str| store.find_quota(&subject(name)).await.expect("quotas are looked for");
    assert!(!store.set_quota(&subject("ana"), records(1)).await.expect("quotas are set"), "nobody's");
    assert!(find("ana").await.is_none());
    assert!(!store.has_subject(&subject("ana")).await.expect("owners are looked for"));
    store.create_subject(&subject("ana")).await.expect("owners are made");
    store.set_passphrase(&subject("ben"), "phc").await.expect("passphrases are set");
    let all =
        Quota { records: Some(5), bytes: Some(u64::from(u32::MAX) * 8), requests_per_minute: Some(600) };
    for name in ["ana", "ben"] {
        for quota in [all, bytes(0), Quota::default(), records(7)] {
            assert!(store.set_quota(&subject(name), quota).await.expect("quotas are set"));
            assert_eq!(find(name).await, quota);
        }
    }
    assert_eq!(store.find_usage(&subject("nina")).await.expect("what is used is known"), Usage::default());
}

pub async fn records_that_do_not_fit_are_refused_one_by_one(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    allow(&world, records(2)).await;
    let folder = |id: &str, name: &str| upsert("folders", json!({"id": id, "name": name}), "2026-01-01");
    let over = |used| Applied::OverQuota(OverQuota { measure: Measure::Records, limit: 2, used, wanted: 1 });
    let batch = vec![
        folder("a", "one"),
        folder("b", "two"),
        folder("c", "three"),
        folder("a", "one, changed at length"),
        deletion("folders", "b", "2026-01-02"),
        folder("d", "four"),
        folder("b", "two"),
    ];
    let applied = world.apply(&world.home, "folders", batch).await;
    let expected = [
        Applied::Added,
        Applied::Added,
        over(2),
        Applied::Updated,
        Applied::Deleted,
        Applied::Added,
        over(2),
    ];
    assert_eq!(applied, expected);
    assert!(world.find(&world.owner(), "folders", "c").await.is_empty());
    assert_eq!(world.put(&world.work, "letters", json!({"id": "x"})).await, over(2), "wherever it would go");
    let head = world.store.log_head(&world.subject).await.expect("there is a log");
    assert_eq!(head, 5, "what was refused is in no log");
    allow(&world, Quota::default()).await;
    assert_eq!(world.put(&world.work, "letters", json!({"id": "x"})).await, Applied::Added);
    assert_eq!((used(&world).await.records, used(&world).await), (3, counted(&world).await));
}

pub async fn above_a_lowered_quota_only_what_makes_room_is_taken(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let folder = |name: &str| json!({"id": "a", "name": name});
    world.put(&world.home, "folders", folder("a long name")).await;
    world.put(&world.home, "folders", json!({"id": "b"})).await;
    allow(&world, bytes(1)).await;
    assert_eq!(world.put(&world.home, "folders", folder("a long name")).await, Applied::Unchanged);
    assert!(!world.put(&world.home, "folders", folder("a longer name")).await.is_accepted());
    assert_eq!(world.put(&world.home, "folders", folder("a LONG name")).await, Applied::Updated, "as long");
    assert_eq!(world.put(&world.home, "folders", folder("short")).await, Applied::Updated);
    assert!(!world.put(&world.home, "folders", json!({"id": "c"})).await.is_accepted());
    assert_eq!(world.delete(&world.home, "folders", "b").await, Applied::Deleted);
    let left = used(&world).await;
    assert_eq!((left.records, left), (1, counted(&world).await));
    // A quota can be filled to its last byte.
    allow(&world, bytes(left.bytes + 10)).await;
    let Applied::OverQuota(over) = world.put(&world.home, "folders", json!({"id": "cd"})).await else {
        panic!("eleven bytes do not fit into ten");
    };
    assert_eq!((over.measure, over.used, over.wanted), (Measure::Bytes, left.bytes, 11));
    assert_eq!(world.put(&world.home, "folders", json!({"id": "c"})).await, Applied::Added);
}

pub async fn an_upload_that_does_not_fit_is_refused_and_leaves_nothing(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    allow(&world, bytes(200)).await;
    let first = try_upload(&world, "a", &[1; 90]).await.expect("it fits");
    assert_eq!(world.put(&world.home, "letters", json!({"id": "b"})).await, Applied::Added);
    let refused = try_upload(&world, "b", &[2; 101]).await.expect_err("it does not fit");
    let StoreError::OverQuota(over) = refused else { panic!("{refused:?}") };
    let expected = OverQuota { measure: Measure::Bytes, limit: 200, used: 100, wanted: 101 };
    assert_eq!(over, expected);
    assert_eq!((used(&world).await.bytes, used(&world).await), (100, counted(&world).await));
    try_upload(&world, "c", &[1; 90]).await.expect("the same bytes again take no room");
    try_upload(&world, "b", &[2; 100]).await.expect("it fits exactly");
    assert_eq!(used(&world).await.bytes, 200);
    assert!(!world.put(&world.home, "letters", letter("a", &first.blob_id)).await.is_accepted());
    allow(&world, Quota::default()).await;
    // In the same place another upload takes the place of the last, whose bytes go.
    try_upload(&world, "b", &[3; 10]).await.expect("nothing bounds it");
    assert_eq!((used(&world).await.bytes, used(&world).await), (110, counted(&world).await));
}

pub async fn one_owners_quota_leaves_another_alone(store: Arc<dyn Store>) {
    let ours = World::of(Arc::clone(&store), "owner_local").await;
    let theirs = World::of(store, "someone_else").await;
    allow(&ours, records(0)).await;
    assert!(!ours.put(&ours.home, "letters", json!({"id": "a"})).await.is_accepted());
    assert_eq!(theirs.put(&theirs.home, "letters", json!({"id": "a"})).await, Applied::Added);
    assert_eq!((used(&ours).await.records, used(&theirs).await.records), (0, 1));
}

pub async fn writers_at_once_do_not_exceed_a_quota_together(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    allow(&world, records(10)).await;
    let put = |number: u32| -> Pending<'_, Applied> {
        let connection = if number.is_multiple_of(2) { &world.home } else { &world.work };
        Box::pin(world.put(connection, "letters", json!({"id": format!("n{number}")})))
    };
    let applied = all((0..24).map(put).collect()).await;
    assert_eq!(applied.iter().filter(|one| **one == Applied::Added).count(), 10);
    assert_eq!((used(&world).await.records, used(&world).await), (10, counted(&world).await));
    allow(&world, bytes(used(&world).await.bytes + 50)).await;
    let contents: Vec<_> = (0..6_u8).map(|number| (format!("u{number}"), [number; 20])).collect();
    let upload = |(record, content)| -> Pending<'_, bool> {
        let (world, record, content): (&World, &String, &[u8; 20]) = (&world, record, content);
        Box::pin(async move { try_upload(world, record, content).await.is_ok() })
    };
    let kept = all(contents.iter().map(|(record, content)| upload((record, content))).collect()).await;
    assert_eq!(kept.iter().filter(|kept| **kept).count(), 2);
    assert_eq!(used(&world).await, counted(&world).await);
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

pub async fn what_is_used_is_what_is_there_after_any_operations(store: Arc<dyn Store>) {
    let mut world = World::new(store).await;
    let mut dice = Dice(7);
    let mut blobs: Vec<BlobId> = Vec::new();
    for round in 0..160 {
        let connection = if dice.roll(2) == 0 { world.home.clone() } else { world.work.clone() };
        let name = if dice.roll(2) == 0 { "letters" } else { "folders" };
        match dice.roll(40) {
            0 => {
                let purged = world.store.purge_stream(&world.target(&connection, name)).await;
                purged.expect("streams are purged");
            }
            1 => {
                let removed = world.store.remove_connection(&world.subject, &connection).await;
                removed.expect("connections are removed");
                let key = super::world::manifest().key().clone();
                let made = world.store.create_connection(&world.subject, &key, None).await;
                let made = made.expect("connections are kept").expect("the connector exists").connection_id;
                *if connection == world.home { &mut world.home } else { &mut world.work } = made;
            }
            2..10 => {
                let size = usize::try_from(dice.roll(40)).unwrap_or(0);
                let content = vec![u8::try_from(dice.roll(3)).unwrap_or(0); size];
                let record = format!("k{}", dice.roll(8));
                match try_upload_to(&world, &connection, &record, &content).await {
                    Ok(receipt) => blobs.push(receipt.blob_id),
                    Err(refused) => assert!(matches!(refused, StoreError::OverQuota(_)), "{refused:?}"),
                }
            }
            10 => {
                let quota =
                    if dice.roll(2) == 0 { bytes(300 + dice.roll(900)) } else { records(dice.roll(12)) };
                allow(&world, quota).await;
            }
            11 => allow(&world, Quota::default()).await,
            _ => {
                let mut batch = Vec::new();
                for _ in 0..=dice.roll(5) {
                    let key = format!("k{}", dice.roll(8));
                    let which = usize::try_from(dice.roll(1 + blobs.len() as u64)).unwrap_or(0);
                    batch.push(match (name, dice.roll(4)) {
                        (_, 0) => deletion(name, &key, "2026-01-02"),
                        ("letters", 1) if which < blobs.len() => {
                            upsert(name, letter(&key, &blobs[which]), "2026-01-01")
                        }
                        ("letters", _) => {
                            upsert(name, json!({"id": key, "text": "ä".repeat(which)}), "2026-01-01")
                        }
                        _ => {
                            let name_of_it = "ü\n".repeat(usize::try_from(dice.roll(9)).unwrap_or(0));
                            upsert(name, json!({"name": name_of_it, "id": key}), "2026-01-01")
                        }
                    });
                }
                world.apply(&connection, name, batch).await;
            }
        }
        assert_eq!(used(&world).await, counted(&world).await, "after operation {round}");
    }
    assert!(used(&world).await.bytes > 0 && !blobs.is_empty(), "something was there to count");
}
