//! Pages: one true order over all connections, without gap or repeat.

use std::sync::Arc;

use pdpp_access::{RecordsRequest, Sealer};
use serde_json::{Value, json};

use super::world::{Counting, World, data, entry, keys, listing};
use crate::Store;

fn descending(stream: &str) -> RecordsRequest {
    RecordsRequest { order: Some("desc".to_owned()), ..listing(stream) }
}

/// Letters of both connections with equal, different and missing times, and one key in both.
async fn two_desks(store: Arc<dyn Store>) -> World {
    let world = World::new(store).await;
    let letter = |id: &str, day: Option<u8>| {
        let sent_at = day.map(|day| format!("2026-01-{day:02}T00:00:00Z"));
        json!({"id": id, "sent_at": sent_at, "text": id})
    };
    let home = vec![letter("a", Some(3)), letter("b", None), letter("c", Some(1)), letter("same", Some(2))];
    let work = vec![letter("same", Some(2)), letter("d", Some(2)), letter("e", None), letter("a0", Some(3))];
    world.put_all(&world.home, "letters", home).await;
    world.put_all(&world.work, "letters", work).await;
    world
}

const ASCENDING: [&str; 8] =
    ["home:c", "work:d", "home:same", "work:same", "home:a", "work:a0", "home:b", "work:e"];
const DESCENDING: [&str; 8] =
    ["work:a0", "home:a", "work:same", "home:same", "work:d", "home:c", "work:e", "home:b"];

pub async fn connections_are_merged_into_one_order(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    for (request, expected) in [(listing("letters"), ASCENDING), (descending("letters"), DESCENDING)] {
        let plan = world.records_plan(&world.owner(), &request).await;
        let page = world.store.list_records(&plan).await.expect("pages are answered");
        assert_eq!(world.names(&page.rows, &plan), expected, "{:?}", request.order);
        assert_eq!(page.next, None, "everything fits");
    }
}

pub async fn pages_follow_each_other_without_gap_or_repeat(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    for (request, expected) in [(listing("letters"), ASCENDING), (descending("letters"), DESCENDING)] {
        for limit in 1..=9 {
            let request = RecordsRequest { limit, ..request.clone() };
            let plan = world.records_plan(&world.owner(), &request).await;
            let rows = world.all_pages(&world.owner(), &request).await;
            assert_eq!(world.names(&rows, &plan), expected, "{limit} a page, {:?}", request.order);
        }
    }
}

pub async fn a_full_last_page_says_that_it_is_the_last(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    let page = world.page(&world.owner(), &RecordsRequest { limit: 8, ..listing("letters") }).await;
    assert_eq!((page.rows.len(), page.next), (8, None));
    let page = world.page(&world.owner(), &RecordsRequest { limit: 7, ..listing("letters") }).await;
    assert!(page.next.is_some());
}

pub async fn without_a_granted_cursor_field_the_key_is_the_order(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    let client = world.client(&[json!([entry("letters", &[&world.home, &world.work], &["id"])])]);
    let rows = world.all_pages(&client, &RecordsRequest { limit: 3, ..listing("letters") }).await;
    assert_eq!(keys(&rows), ["a", "a0", "b", "c", "d", "e", "same", "same"]);
    let rows = world.all_pages(&client, &RecordsRequest { limit: 3, ..descending("letters") }).await;
    assert_eq!(keys(&rows), ["same", "same", "e", "d", "c", "b", "a0", "a"]);
}

pub async fn whole_and_broken_numbers_share_one_order(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let ranks: [Value; 8] =
        [json!(2), json!(1.5), json!(-1), json!(2.0), json!(10), json!(null), json!(-0.5), json!(1e15)];
    let folders = ranks.iter().enumerate().map(|(n, rank)| json!({"id": format!("f{n}"), "rank": rank}));
    world.put_all(&world.home, "folders", folders.collect()).await;
    let rows = world.all_pages(&world.owner(), &RecordsRequest { limit: 2, ..listing("folders") }).await;
    assert_eq!(keys(&rows), ["f2", "f6", "f1", "f0", "f3", "f4", "f7", "f5"]);
    let rows = world.all_pages(&world.owner(), &RecordsRequest { limit: 3, ..descending("folders") }).await;
    assert_eq!(keys(&rows), ["f7", "f4", "f3", "f0", "f1", "f6", "f2", "f5"]);
}

pub async fn writes_between_pages_do_not_disturb_what_was_read(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    let sealer: Sealer = world.sealer().await;
    let first = RecordsRequest { limit: 4, ..listing("letters") };
    let plan = world.records_plan(&world.owner(), &first).await;
    let page = world.store.list_records(&plan).await.expect("pages are answered");
    assert_eq!(world.names(&page.rows, &plan), ASCENDING[..4]);
    // One record before the cursor, one after it, and the one under the cursor gone.
    world.put(&world.home, "letters", json!({"id": "0", "sent_at": "2026-01-01T00:00:00Z"})).await;
    world.put(&world.home, "letters", json!({"id": "z", "sent_at": "2026-01-09T00:00:00Z"})).await;
    world.delete(&world.work, "letters", "same").await;
    let next = page.next.expect("there is a next page");
    let cursor = Some(sealer.seal_page(&Counting, plan.binding(), &next));
    let rows = world.all_pages(&world.owner(), &RecordsRequest { cursor, ..first }).await;
    let expected = ["home:a", "work:a0", "home:z", "home:b", "work:e"];
    assert_eq!(world.names(&rows, &plan), expected);
}

pub async fn a_count_is_exact_on_every_page(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    let request = RecordsRequest { limit: 3, count: true, ..listing("letters") };
    let plan = world.records_plan(&world.owner(), &request).await;
    let page = world.store.list_records(&plan).await.expect("pages are answered");
    assert_eq!((page.rows.len(), page.total), (3, Some(8)));
    let next = page.next.expect("there is a next page");
    let cursor = Some(world.sealer().await.seal_page(&Counting, plan.binding(), &next));
    assert_eq!(world.page(&world.owner(), &RecordsRequest { cursor, ..request }).await.total, Some(8));
    assert_eq!(world.page(&world.owner(), &listing("letters")).await.total, None, "not asked for");
}

pub async fn a_window_tells_total_and_bounds(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    let request = RecordsRequest { limit: 2, window: true, ..listing("letters") };
    let page = world.page(&world.owner(), &request).await;
    let window = page.window.expect("there are times");
    assert_eq!(page.total, Some(8));
    assert_eq!(window.earliest.to_rfc3339(), "2026-01-01T00:00:00.000Z");
    assert_eq!(window.latest.to_rfc3339(), "2026-01-03T00:00:00.000Z");
    let blind = world.client(&[json!([entry("letters", &[&world.home], &["id"])])]);
    let page = world.page(&blind, &request).await;
    assert_eq!((page.total, page.window), (Some(4), None), "bounds of a hidden field are not told");
}

pub async fn only_shown_fields_are_sent(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    let client = world.client(&[json!([entry("letters", &[&world.home], &["id", "text", "sent_at"])])]);
    let page = world.page(&client, &listing("letters")).await;
    let expected = json!({"id": "c", "sent_at": "2026-01-01T00:00:00Z", "text": "c"});
    assert_eq!(data(&page.rows[0]), expected);
    let fields = Some(vec!["text".to_owned()]);
    let page = world.page(&client, &RecordsRequest { fields, ..listing("letters") }).await;
    assert_eq!(data(&page.rows[0]), json!({"text": "c"}));
}

pub async fn an_empty_stream_is_an_empty_page(store: Arc<dyn Store>) {
    let world = two_desks(store).await;
    let request = RecordsRequest { count: true, window: true, ..listing("folders") };
    let page = world.page(&world.owner(), &request).await;
    assert_eq!((page.rows.len(), page.next, page.total, page.window), (0, None, Some(0), None));
}
