//! Children that come with their parents.

use std::sync::Arc;

use pdpp_access::{Principal, RecordRequest, RecordsRequest};
use serde_json::{Value, json};

use super::world::{World, data, entry, keys, listing, target};
use crate::{Expanded, Store};

/// Folder `f` with letters 1 to 4 (the newest named first), an empty folder `g`, and at work another
/// `f` with one letter.
async fn folders(store: Arc<dyn Store>) -> World {
    let world = World::new(store).await;
    for (connection, letters) in [(&world.home, vec!["4", "1", "3", "2"]), (&world.work, vec!["9"])] {
        world.put(connection, "folders", json!({"id": "f", "rank": 1})).await;
        let letter = |id: &str| json!({"id": id, "folder": "f", "text": id, "sent_at": format!("2026-01-0{id}T00:00:00Z")});
        world.put_all(connection, "letters", letters.into_iter().map(letter).collect()).await;
    }
    world.put(&world.home, "folders", json!({"id": "g", "rank": 2})).await;
    world.put(&world.home, "covers", json!({"id": "k", "folder": "f", "note": "blue"})).await;
    world
}

fn expanding(relation: &str, limit: Option<&str>) -> RecordsRequest {
    RecordsRequest {
        expand: vec![relation.to_owned()],
        expand_limit: limit.map(|limit| (relation.to_owned(), limit.to_owned())).into_iter().collect(),
        ..listing("folders")
    }
}

/// Each parent with its children, cut ones marked.
async fn families(world: &World, who: &Principal, request: &RecordsRequest) -> Vec<String> {
    let plan = world.records_plan(who, request).await;
    let page = world.store.list_records(&plan).await.expect("pages are answered");
    let names = world.names(&page.rows, &plan);
    let told = names.iter().zip(&page.rows).map(|(name, row)| {
        assert_eq!(row.expanded.len(), 1, "one entry per relation");
        format!("{name} → {}", children(&row.expanded[0]))
    });
    told.collect()
}

fn children(expanded: &Expanded) -> String {
    let more = if expanded.has_more { " …" } else { "" };
    format!("{}{more}", keys(&expanded.rows).join(" "))
}

pub async fn children_come_in_their_own_order_up_to_the_limit(store: Arc<dyn Store>) {
    let world = folders(store).await;
    let default = families(&world, &world.owner(), &expanding("letters", None)).await;
    assert_eq!(default, ["home:f → 1 2 …", "work:f → 9", "home:g → "]);
    let all = families(&world, &world.owner(), &expanding("letters", Some("4"))).await;
    assert_eq!(all, ["home:f → 1 2 3 4", "work:f → 9", "home:g → "]);
    let three = families(&world, &world.owner(), &expanding("letters", Some("3"))).await;
    assert_eq!(three[0], "home:f → 1 2 3 …");
}

pub async fn a_relation_to_one_gives_one_or_none(store: Arc<dyn Store>) {
    let world = folders(store).await;
    let told = families(&world, &world.owner(), &expanding("cover", None)).await;
    assert_eq!(told, ["home:f → k", "work:f → ", "home:g → "]);
}

pub async fn several_relations_come_in_the_order_asked(store: Arc<dyn Store>) {
    let world = folders(store).await;
    let expand = vec!["cover".to_owned(), "letters".to_owned()];
    let page = world.page(&world.owner(), &RecordsRequest { expand, ..listing("folders") }).await;
    let told: Vec<_> = page.rows[0].expanded.iter().map(children).collect();
    assert_eq!(told, ["k", "1 2 …"]);
}

pub async fn children_obey_their_own_grant(store: Arc<dyn Store>) {
    let world = folders(store).await;
    let mut letters = entry("letters", &[&world.home], &["id", "folder"]);
    letters["time_constraint"] = json!({"field": "sent_at", "since": "2026-01-02", "until": "2026-01-04"});
    let client = world.client(&[json!([entry("folders", &[&world.home], &["id", "rank"]), letters])]);
    let request = expanding("letters", Some("9"));
    assert_eq!(families(&world, &client, &request).await, ["home:f → 2 3", "home:g → "]);
    let page = world.page(&client, &request).await;
    let shown: Vec<Value> = page.rows[0].expanded[0].rows.iter().map(data).collect();
    assert_eq!(shown, [json!({"id": "2", "folder": "f"}), json!({"id": "3", "folder": "f"})]);
}

pub async fn deleted_children_are_gone(store: Arc<dyn Store>) {
    let world = folders(store).await;
    world.delete(&world.home, "letters", "1").await;
    let told = families(&world, &world.owner(), &expanding("letters", None)).await;
    assert_eq!(told[0], "home:f → 2 3 …");
}

pub async fn a_single_record_brings_its_children_too(store: Arc<dyn Store>) {
    let world = folders(store).await;
    let request = RecordRequest {
        target: target("folders"),
        key: "f".to_owned(),
        expand: vec!["letters".to_owned()],
        ..RecordRequest::default()
    };
    let plan = world.record_plan(&world.owner(), &request).await;
    let found = world.store.find_record(&plan).await.expect("records are answered");
    let told: Vec<_> = found.iter().map(|row| children(&row.expanded[0])).collect();
    assert_eq!(told, ["1 2 …", "9"]);
}
