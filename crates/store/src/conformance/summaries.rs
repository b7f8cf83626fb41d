//! Sizes and ages: of what a reader sees, not of what there is.

use std::sync::Arc;

use pdpp_access::{Authorizer, Principal};
use serde_json::json;

use super::world::{World, entry, target};
use crate::Store;

async fn told(world: &World, who: &Principal, stream: &str) -> Vec<(u64, Option<String>)> {
    let catalogue = world.catalogue().await;
    let plan = Authorizer::new(who, &catalogue).stream(&target(stream)).expect("it is granted");
    let summaries = world.store.summarize(&plan).await.expect("summaries are answered");
    let day = |at: pdpp_wire::Instant| at.to_rfc3339()[..10].to_owned();
    summaries.into_iter().map(|part| (part.record_count, part.last_updated.map(day))).collect()
}

pub async fn each_connection_has_its_size_and_age(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put_at(&world.home, "folders", json!({"id": "a"}), "2026-01-03").await;
    world.put_at(&world.home, "folders", json!({"id": "b"}), "2026-01-02").await;
    world.put_at(&world.work, "folders", json!({"id": "a"}), "2026-01-09").await;
    let day = |day: &str| Some(day.to_owned());
    let expected = [(2, day("2026-01-03")), (1, day("2026-01-09"))];
    assert_eq!(told(&world, &world.owner(), "folders").await, expected);
    assert_eq!(told(&world, &world.owner(), "letters").await, [(0, None), (0, None)]);
}

pub async fn a_deleted_record_counts_no_more(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "folders", json!({"id": "a"})).await;
    world.put(&world.home, "folders", json!({"id": "b"})).await;
    world.delete(&world.home, "folders", "a").await;
    assert_eq!(told(&world, &world.owner(), "folders").await[0].0, 1);
}

pub async fn a_hidden_change_does_not_make_a_stream_younger(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put_at(&world.home, "folders", json!({"id": "a", "name": "n", "secret": "s"}), "2026-01-01").await;
    world.put_at(&world.home, "folders", json!({"id": "a", "name": "n", "secret": "t"}), "2026-05-01").await;
    let client = world.client(&[json!([entry("folders", &[&world.home], &["id", "name"])])]);
    assert_eq!(told(&world, &client, "folders").await, [(1, Some("2026-01-01".to_owned()))]);
    assert_eq!(told(&world, &world.owner(), "folders").await, [(1, Some("2026-05-01".to_owned()))]);
}

pub async fn a_record_outside_the_grant_does_not_make_a_stream_younger(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for (id, sent_at, emitted_at) in [("a", "2026-01-01", "2026-01-01"), ("b", "2026-06-01", "2026-06-01")] {
        world.put_at(&world.home, "letters", json!({"id": id, "sent_at": sent_at}), emitted_at).await;
    }
    let mut bounded = entry("letters", &[&world.home], &["id"]);
    bounded["time_constraint"] = json!({"field": "sent_at", "until": "2026-02-01"});
    let client = world.client(&[json!([bounded])]);
    assert_eq!(told(&world, &client, "letters").await, [(1, Some("2026-01-01".to_owned()))]);
}
