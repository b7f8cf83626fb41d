//! What a grant leaves out is not there: times, chosen records, connections, fields.

use std::sync::Arc;

use pdpp_access::{AggregateRequest, Authorizer, RecordsRequest};
use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};

use super::world::{World, data, entry, keys, listing, manifest, target};
use crate::{ManifestOutcome, OnConflict, Store};

/// Letters `a` to `e` on the first five days of the year, and `x` without a time.
async fn five_days(store: Arc<dyn Store>) -> World {
    let world = World::new(store).await;
    let letters = |stars: u64| -> Vec<Value> {
        let letter = |(n, id): (usize, &str)| {
            let sent_at = format!("2026-01-{:02}T00:00:00Z", n + 1);
            json!({"id": id, "sent_at": sent_at, "stars": stars, "sender": id})
        };
        let mut letters: Vec<_> = ["a", "b", "c", "d", "e"].into_iter().enumerate().map(letter).collect();
        letters.push(json!({"id": "x", "stars": stars}));
        letters
    };
    world.put_all(&world.home, "letters", letters(1)).await;
    world.put_all(&world.work, "letters", letters(10)).await;
    world
}

fn bounded(world: &World, since: Option<&str>, until: Option<&str>) -> Value {
    let mut letters = entry("letters", &[&world.home], &["id", "sent_at", "stars"]);
    letters["time_constraint"] = json!({"field": "sent_at"});
    for (bound, at) in [("since", since), ("until", until)] {
        if let Some(at) = at {
            letters["time_constraint"][bound] = json!(at);
        }
    }
    json!([letters])
}

fn chosen(world: &World, chosen: &[&str]) -> Value {
    let mut letters = entry("letters", &[&world.home], &["id", "sent_at", "stars"]);
    letters["resources"] = json!(chosen);
    json!([letters])
}

async fn seen(world: &World, grants: &[Value]) -> Vec<String> {
    let client = world.client(grants);
    keys(&world.all_pages(&client, &RecordsRequest { limit: 2, ..listing("letters") }).await)
}

pub async fn since_is_inclusive_and_until_exclusive(store: Arc<dyn Store>) {
    let world = five_days(store).await;
    let window = bounded(&world, Some("2026-01-02"), Some("2026-01-04"));
    assert_eq!(seen(&world, &[window]).await, ["b", "c"]);
    assert_eq!(seen(&world, &[bounded(&world, Some("2026-01-04"), None)]).await, ["d", "e"]);
    assert_eq!(seen(&world, &[bounded(&world, None, Some("2026-01-02"))]).await, ["a"]);
}

pub async fn records_without_a_time_are_outside_every_time_bound(store: Arc<dyn Store>) {
    let world = five_days(store).await;
    let everything = bounded(&world, Some("1970-01-01"), None);
    assert_eq!(seen(&world, &[everything]).await, ["a", "b", "c", "d", "e"]);
}

pub async fn only_chosen_records_are_visible(store: Arc<dyn Store>) {
    let world = five_days(store).await;
    assert_eq!(seen(&world, &[chosen(&world, &["e", "x", "nowhere", "b"])]).await, ["b", "e", "x"]);
    let client = world.client(&[chosen(&world, &["b"])]);
    assert_eq!(world.find(&client, "letters", "b").await.len(), 1);
    assert!(world.find(&client, "letters", "a").await.is_empty());
}

pub async fn a_record_outside_the_time_bound_is_not_found(store: Arc<dyn Store>) {
    let world = five_days(store).await;
    let client = world.client(&[bounded(&world, Some("2026-01-03"), None)]);
    assert_eq!(world.find(&client, "letters", "c").await.len(), 1);
    for hidden in ["b", "x"] {
        assert!(world.find(&client, "letters", hidden).await.is_empty(), "{hidden}");
    }
}

pub async fn an_ungranted_connection_is_never_read(store: Arc<dyn Store>) {
    let world = five_days(store).await;
    let client = world.client(&[json!([entry("letters", &[&world.home], &["id", "stars"])])]);
    let page = world.page(&client, &RecordsRequest { count: true, ..listing("letters") }).await;
    assert_eq!(page.total, Some(6));
    assert!(page.rows.iter().all(|row| data(row)["stars"] == 1));
}

pub async fn each_connection_is_read_under_its_own_grant(store: Arc<dyn Store>) {
    let world = five_days(store).await;
    let mut work = entry("letters", &[&world.work], &["id", "sent_at", "sender"]);
    work["resources"] = json!(["a"]);
    let client = world.client(&[bounded(&world, Some("2026-01-05"), None), json!([work])]);
    let page = world.page(&client, &listing("letters")).await;
    let rows: Vec<_> = page.rows.iter().map(data).collect();
    assert_eq!(
        rows,
        [
            json!({"id": "a", "sent_at": "2026-01-01T00:00:00Z", "sender": "a"}),
            json!({"id": "e", "sent_at": "2026-01-05T00:00:00Z", "stars": 1}),
        ]
    );
}

pub async fn counts_bounds_and_numbers_know_only_visible_records(store: Arc<dyn Store>) {
    let world = five_days(store).await;
    for (grant, count, earliest) in [
        (bounded(&world, Some("2026-01-02"), Some("2026-01-04")), 2, "2026-01-02"),
        (chosen(&world, &["c", "d", "e"]), 3, "2026-01-03"),
    ] {
        let client = world.client(&[grant]);
        let request = RecordsRequest { limit: 1, window: true, ..listing("letters") };
        let page = world.page(&client, &request).await;
        assert_eq!(page.total, Some(count));
        assert!(page.window.expect("times are granted").earliest.to_rfc3339().starts_with(earliest));
        let sum = AggregateRequest {
            target: target("letters"),
            metric: Some("sum".to_owned()),
            field: Some("stars".to_owned()),
            ..AggregateRequest::default()
        };
        let summed = world.aggregate(&client, &sum).await;
        assert_eq!((summed.filtered_record_count, summed.value), (count, Some(json!(count))));
        let catalogue = world.catalogue().await;
        let plan = Authorizer::new(&client, &catalogue).stream(&target("letters")).expect("it is granted");
        let summary = world.store.summarize(&plan).await.expect("summaries are answered");
        assert_eq!(summary.iter().map(|part| part.record_count).collect::<Vec<_>>(), [count]);
    }
}

pub async fn a_grant_keeps_its_time_field_when_the_stream_declares_another(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let folder = |id: &str, opened_at: &str| json!({"id": id, "opened_at": opened_at});
    let folders =
        vec![folder("a", "2026-01-01T00:00:00Z"), folder("b", "2026-01-03T00:00:00Z"), json!({"id": "c"})];
    world.put_all(&world.home, "folders", folders).await;
    let mut bounded = entry("folders", &[&world.home], &["id"]);
    bounded["time_constraint"] = json!({"field": "opened_at", "since": "2026-01-02"});
    let client = world.client(&[json!([bounded])]);
    let mut document = manifest().document().clone();
    document["streams"][1].as_object_mut().expect("a stream").remove("consent_time_field");
    let without = Manifest::from_document(document).expect("the suite's manifest is valid");
    let replaced = world.store.put_manifest(&world.subject, &without, OnConflict::Replace).await;
    assert_eq!(replaced.expect("manifests are kept"), ManifestOutcome::Replaced);
    let page = world.page(&client, &RecordsRequest { count: true, ..listing("folders") }).await;
    assert_eq!((keys(&page.rows), page.total), (vec!["b".to_owned()], Some(1)));
    for (key, found) in [("a", 0), ("b", 1), ("c", 0)] {
        assert_eq!(world.find(&client, "folders", key).await.len(), found, "{key}");
    }
}
