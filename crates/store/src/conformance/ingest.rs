//! Writing: what each record becomes, and what is left afterwards.

use std::sync::Arc;

use pdpp_access::ConnectionStatus;
use pdpp_wire::Code;
use serde_json::json;

use super::world::{World, data, deletion, keys, listing, upsert};
use crate::{Applied, Store};

pub async fn a_new_record_is_added_and_can_be_read(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let letter = json!({"id": "a", "text": "Grüße 👩‍👩‍👧‍👦", "stars": 1_152_921_504_606_846_977_i64, "tags": [1, {"x": null}]});
    assert_eq!(world.put(&world.home, "letters", letter.clone()).await, Applied::Added);
    let found = world.find(&world.owner(), "letters", "a").await;
    assert_eq!(found.iter().map(data).collect::<Vec<_>>(), [letter]);
    assert_eq!(found[0].emitted_at.to_rfc3339(), "2026-01-01T00:00:00.000Z");
}

pub async fn members_keep_their_order(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"text": "t", "stars": 2, "id": "a"})).await;
    let found = world.find(&world.owner(), "letters", "a").await;
    assert_eq!(found[0].data.get(), r#"{"text":"t","stars":2,"id":"a"}"#);
}

pub async fn the_same_record_again_changes_nothing(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for stream in ["letters", "folders"] {
        assert_eq!(world.put(&world.home, stream, json!({"id": "a"})).await, Applied::Added);
        let head = world.store.log_head(&world.subject).await.expect("the log has a head");
        let again = world.put_at(&world.home, stream, json!({"id": "a"}), "2026-06-01").await;
        assert_eq!(again, Applied::Unchanged, "{stream}");
        assert_eq!(world.store.log_head(&world.subject).await.expect("the log has a head"), head);
    }
}

pub async fn mutable_state_is_replaced_whole(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "folders", json!({"id": "f", "name": "old", "secret": "s"})).await;
    let updated = world.put_at(&world.home, "folders", json!({"id": "f", "name": "new"}), "2026-02-01").await;
    assert_eq!(updated, Applied::Updated);
    let found = world.find(&world.owner(), "folders", "f").await;
    assert_eq!(data(&found[0]), json!({"id": "f", "name": "new"}));
    assert_eq!(found[0].emitted_at.to_rfc3339(), "2026-02-01T00:00:00.000Z");
}

pub async fn an_append_only_record_is_never_rewritten(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"id": "a", "text": "first"})).await;
    let other = world.put(&world.home, "letters", json!({"id": "a", "text": "second"})).await;
    assert_eq!(other, Applied::Rejected(Code::AppendOnlyConflict));
    let found = world.find(&world.owner(), "letters", "a").await;
    assert_eq!(data(&found[0])["text"], "first");
}

pub async fn a_deletion_removes_the_record_and_repeats_harmlessly(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for stream in ["letters", "folders"] {
        world.put(&world.home, stream, json!({"id": "a"})).await;
        assert_eq!(world.delete(&world.home, stream, "a").await, Applied::Deleted, "{stream}");
        assert_eq!(world.delete(&world.home, stream, "a").await, Applied::Unchanged, "{stream}");
        assert_eq!(world.delete(&world.home, stream, "never").await, Applied::Unchanged, "{stream}");
        assert!(world.find(&world.owner(), stream, "a").await.is_empty());
        assert!(world.page(&world.owner(), &listing(stream)).await.rows.is_empty());
    }
}

pub async fn a_deleted_record_can_come_back(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "folders", json!({"id": "f", "name": "old"})).await;
    world.delete(&world.home, "folders", "f").await;
    assert_eq!(world.put(&world.home, "folders", json!({"id": "f", "name": "new"})).await, Applied::Added);
    let page = world.page(&world.owner(), &listing("folders")).await;
    assert_eq!(page.rows.iter().map(data).collect::<Vec<_>>(), [json!({"id": "f", "name": "new"})]);
}

pub async fn a_batch_is_applied_in_order(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let put = |name: &str| upsert("folders", json!({"id": "f", "name": name}), "2026-01-01");
    let batch = vec![put("a"), put("b"), put("b"), deletion("folders", "f", "2026-01-01"), put("c")];
    let applied = world.apply(&world.home, "folders", batch).await;
    let (added, updated) = (Applied::Added, Applied::Updated);
    assert_eq!(applied, [added, updated, Applied::Unchanged, Applied::Deleted, added]);
    assert_eq!(data(&world.find(&world.owner(), "folders", "f").await[0])["name"], "c");
}

pub async fn a_rejected_record_does_not_cost_the_others(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"id": "b"})).await;
    let put = |id: &str| upsert("letters", json!({"id": id, "text": "t"}), "2026-01-01");
    let applied = world.apply(&world.home, "letters", vec![put("a"), put("b"), put("c")]).await;
    assert_eq!(applied, [Applied::Added, Applied::Rejected(Code::AppendOnlyConflict), Applied::Added]);
    let page = world.page(&world.owner(), &listing("letters")).await;
    assert_eq!(keys(&page.rows), ["a", "b", "c"]);
}

pub async fn an_empty_batch_is_nothing(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    assert!(world.apply(&world.home, "letters", Vec::new()).await.is_empty());
}

pub async fn the_first_accepted_record_makes_a_draft_connection_active(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let status = async |id: &pdpp_wire::ConnectionId| {
        let catalogue = world.catalogue().await;
        catalogue.find_connection(id.as_str()).expect("the connection is listed").1.status
    };
    assert_eq!(status(&world.home).await, ConnectionStatus::Draft);
    world.put(&world.home, "letters", json!({"id": "a"})).await;
    assert_eq!(status(&world.home).await, ConnectionStatus::Active);
    assert_eq!(status(&world.work).await, ConnectionStatus::Draft);
}

pub async fn a_purged_stream_is_empty_and_starts_anew(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for connection in [&world.home, &world.work] {
        world.put_all(connection, "letters", vec![json!({"id": "a"}), json!({"id": "b"})]).await;
        world.put(connection, "folders", json!({"id": "f"})).await;
    }
    world.delete(&world.home, "letters", "b").await;
    let purged = world.store.purge_stream(&world.target(&world.home, "letters")).await;
    assert_eq!(purged.expect("streams are purged"), 1);
    let left = async |stream: &str| world.page(&world.owner(), &listing(stream)).await.rows.len();
    assert_eq!((left("letters").await, left("folders").await), (2, 2));
    assert_eq!(world.put(&world.home, "letters", json!({"id": "a", "text": "other"})).await, Applied::Added);
}
