//! Single records, wherever the plan's parts hold them.

use std::sync::Arc;

use pdpp_access::RecordRequest;
use serde_json::json;

use super::world::{World, data, entry, target, under};
use crate::Store;

pub async fn a_record_is_found_under_every_connection_that_holds_it(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.work, "letters", json!({"id": "a", "text": "work"})).await;
    world.put(&world.home, "letters", json!({"id": "a", "text": "home"})).await;
    let found = world.find(&world.owner(), "letters", "a").await;
    let told: Vec<_> = found.iter().map(|row| (row.part, data(row)["text"].clone())).collect();
    assert_eq!(told, [(0, json!("home")), (1, json!("work"))]);
    let target = under(&world.work, "letters");
    let request = RecordRequest { target, key: "a".to_owned(), ..RecordRequest::default() };
    let plan = world.record_plan(&world.owner(), &request).await;
    let found = world.store.find_record(&plan).await.expect("records are answered");
    assert_eq!(found.iter().map(data).collect::<Vec<_>>(), [json!({"id": "a", "text": "work"})]);
}

pub async fn an_unknown_record_is_absent(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"id": "a"})).await;
    for key in ["b", "A", "a ", "' OR 1=1 --", "%", "a\u{301}"] {
        assert!(world.find(&world.owner(), "letters", key).await.is_empty(), "{key}");
    }
    assert!(world.find(&world.owner(), "folders", "a").await.is_empty());
}

pub async fn compound_keys_name_one_record(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for (person, day) in [("anna", "2026-01-01"), ("anna", "2026-01-02"), ("ben", "2026-01-01")] {
        world
            .put(&world.home, "days", json!({"person": person, "day": day, "line": format!("{person}{day}")}))
            .await;
    }
    let found = world.find(&world.owner(), "days", r#"["anna","2026-01-02"]"#).await;
    assert_eq!(data(&found[0])["line"], "anna2026-01-02");
}

pub async fn a_found_record_shows_only_asked_and_granted_fields(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"id": "a", "text": "t", "sender": "s", "stars": 1})).await;
    let client = world.client(&[json!([entry("letters", &[&world.home], &["id", "text", "stars"])])]);
    let found = world.find(&client, "letters", "a").await;
    assert_eq!(data(&found[0]), json!({"id": "a", "text": "t", "stars": 1}));
    let fields = Some(vec!["stars".to_owned(), "id".to_owned()]);
    let request =
        RecordRequest { target: target("letters"), key: "a".to_owned(), fields, ..RecordRequest::default() };
    let plan = world.record_plan(&client, &request).await;
    let found = world.store.find_record(&plan).await.expect("records are answered");
    assert_eq!(data(&found[0]), json!({"id": "a", "stars": 1}));
}

pub async fn a_hidden_change_neither_moves_nor_respells_what_is_shown(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let client = world.client(&[json!([entry("folders", &[&world.home], &["id", "name"])])]);
    world.put(&world.home, "folders", json!({"id": "a", "name": "n", "secret": "one"})).await;
    let before = world.find(&client, "folders", "a").await;
    world.put(&world.home, "folders", json!({"secret": "two", "name": "n", "id": "a"})).await;
    let after = world.find(&client, "folders", "a").await;
    assert_eq!(before[0].data.get(), after[0].data.get());
}
