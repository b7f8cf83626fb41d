//! What search needs of a store: records for its index, and hits read again under the plan.

use std::sync::Arc;

use pdpp_access::{FilterTerm, SearchRequest};
use pdpp_wire::RecordKey;
use serde_json::{Value, json};

use super::world::{World, data, entry, keys, stream};
use crate::{FedRecord, Store};

fn key(text: &str) -> RecordKey {
    RecordKey::parse(text).expect("a plain key")
}

fn letter(id: &str, folder: &str, sender: &str, day: u32) -> Value {
    let text = format!("letter {id}");
    let sent_at = format!("2026-01-{day:02}T00:00:00Z");
    json!({"id": id, "folder": folder, "sender": sender, "text": text, "sent_at": sent_at})
}

async fn fed(world: &World, ids: &[&str]) -> Vec<FedRecord> {
    let wanted: Vec<_> = ids.iter().map(|id| key(id)).collect();
    let fed = world.store.feed_records(&world.subject, &world.home, &stream("letters"), &wanted).await;
    fed.expect("indexes are fed")
}

/// A record's neighbours as `previous<id>next`.
fn around(record: &FedRecord) -> String {
    let name = |key: &Option<RecordKey>| key.as_ref().map_or("", RecordKey::as_str).to_owned();
    format!("{}<{}>{}", name(&record.previous), record.key, name(&record.next))
}

pub async fn an_index_is_fed_records_as_they_are(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put_all(&world.home, "letters", vec![letter("a", "x", "mo", 1), letter("b", "x", "mo", 2)]).await;
    world.put(&world.work, "letters", letter("c", "x", "mo", 3)).await;
    world.delete(&world.home, "letters", "b").await;
    assert!(world.store.subjects().await.expect("subjects are told").contains(&world.subject));
    let fed = fed(&world, &["b", "a", "c"]).await;
    assert_eq!(fed.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(), ["b", "a", "c"]);
    assert_eq!(fed[0].data, None, "it is gone");
    assert_eq!(fed[2].data, None, "it is another connection's");
    let text = fed[1].data.as_deref().expect("it is there");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), letter("a", "x", "mo", 1));
    assert_eq!(
        fed[1].consent_at.map(pdpp_wire::Instant::to_rfc3339).as_deref(),
        Some("2026-01-01T00:00:00.000Z")
    );
}

pub async fn neighbours_are_those_of_the_same_thread(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let mut letters = vec![
        letter("b", "x", "mo", 2),
        letter("other", "x", "li", 2),
        letter("a", "x", "mo", 1),
        letter("c", "x", "mo", 3),
        letter("c2", "x", "mo", 3),
        letter("far", "y", "mo", 2),
    ];
    letters.push(json!({"id": "timeless", "folder": "x", "sender": "mo", "sent_at": null}));
    letters.push(json!({"id": "nobody", "folder": "x", "sent_at": "2026-01-02T00:00:00Z"}));
    world.put_all(&world.home, "letters", letters).await;
    world.put(&world.work, "letters", letter("b2", "x", "mo", 2)).await;
    let fed = fed(&world, &["a", "b", "c", "c2", "other", "far", "timeless", "nobody"]).await;
    let around: Vec<_> = fed.iter().map(around).collect();
    assert_eq!(around, ["<a>b", "a<b>c", "b<c>c2", "c<c2>", "<other>", "<far>", "<timeless>", "<nobody>"]);
}

fn search(request: SearchRequest) -> SearchRequest {
    SearchRequest { q: "letter".to_owned(), limit: 10, ..request }
}

async fn letters(store: Arc<dyn Store>) -> World {
    let world = World::new(store).await;
    let days = [("a", 1), ("b", 2), ("c", 3)];
    world.put_all(&world.home, "letters", days.map(|(id, day)| letter(id, "x", id, day)).into()).await;
    world.put(&world.work, "letters", letter("a", "x", "mo", 4)).await;
    world
}

pub async fn what_was_found_is_read_again_under_the_plan(store: Arc<dyn Store>) {
    let world = letters(store).await;
    world.delete(&world.home, "letters", "b").await;
    let grant = entry("letters", &[&world.home], &["id", "text"]);
    let client = world.client(&[json!([grant])]);
    let plan = world.search_plan(&client, &search(SearchRequest::default())).await;
    assert_eq!(plan.parts().len(), 1);
    let hits = [(0, key("c")), (0, key("b")), (0, key("nope")), (7, key("a")), (0, key("a"))];
    let rows = world.store.find_hits(&plan, &hits).await.expect("hits are read");
    assert_eq!(keys(&rows), ["c", "a"], "in the order given, without what is gone or was never there");
    assert_eq!(data(&rows[0]), json!({"text": "letter c"}), "search fields only");
    let owner = world.search_plan(&world.owner(), &search(SearchRequest::default())).await;
    let parts = owner.parts().iter().filter(|part| part.read().stream().as_str() == "letters");
    assert_eq!(parts.count(), 2, "each connection is a part of its own");
}

pub async fn a_search_is_bounded_by_its_grant_its_times_and_its_filter(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let wide = || entry("letters", &[&world.home], &["id", "text", "sender", "sent_at"]);
    let mut bounded = wide();
    bounded["time_constraint"] = json!({"field": "sent_at", "since": "2026-01-02"});
    let mut chosen = wide();
    chosen["resources"] = json!(["a", "c"]);
    let since = SearchRequest { since: Some("2026-01-03".to_owned()), ..SearchRequest::default() };
    let until = SearchRequest { until: Some("2026-01-03".to_owned()), ..SearchRequest::default() };
    let term = FilterTerm { field: "sender".to_owned(), operator: None, operand: "b".to_owned() };
    let filtered =
        SearchRequest { streams: vec!["letters".to_owned()], filter: vec![term], ..SearchRequest::default() };
    for (grant, request, seen) in [
        (wide(), SearchRequest::default(), vec!["a", "b", "c"]),
        (bounded.clone(), SearchRequest::default(), vec!["b", "c"]),
        (chosen.clone(), SearchRequest::default(), vec!["a", "c"]),
        (bounded, until, vec!["b"]),
        (chosen, since, vec!["c"]),
        (wide(), filtered, vec!["b"]),
    ] {
        let client = world.client(&[json!([grant])]);
        let plan = world.search_plan(&client, &search(request)).await;
        let hits = [(0, key("a")), (0, key("b")), (0, key("c"))];
        let rows = world.store.find_hits(&plan, &hits).await.expect("hits are read");
        assert_eq!(keys(&rows), seen);
        let left = world.store.filtered_keys(&plan, 10).await.expect("keys are told");
        let left: Vec<_> = left.expect("they are few").into_iter().map(|(_, key)| key.to_string()).collect();
        assert_eq!(left, seen);
    }
}

pub async fn a_filters_records_are_listed_unless_they_are_many(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let request = SearchRequest { streams: vec!["letters".to_owned()], ..SearchRequest::default() };
    let plan = world.search_plan(&world.owner(), &search(request)).await;
    let listed = world.store.filtered_keys(&plan, 4).await.expect("keys are told");
    let expected = [(0, "a"), (0, "b"), (0, "c"), (1, "a")].map(|(part, id)| (part, key(id)));
    assert_eq!(listed.as_deref(), Some(&expected[..]));
    assert_eq!(world.store.filtered_keys(&plan, 3).await.expect("keys are told"), None);
}
