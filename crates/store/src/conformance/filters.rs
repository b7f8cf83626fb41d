//! Filters: every kind of test on every kind of field.

use std::sync::Arc;

use pdpp_access::{FilterTerm, RecordsRequest};
use serde_json::json;

use super::world::{World, keys, listing};
use crate::Store;

fn term(field: &str, operator: Option<&str>, operand: &str) -> FilterTerm {
    FilterTerm { field: field.to_owned(), operator: operator.map(str::to_owned), operand: operand.to_owned() }
}

async fn letters(store: Arc<dyn Store>) -> World {
    let world = World::new(store).await;
    let home = vec![
        json!({"id": "a", "sender": "anna", "stars": 1, "weight": 0.5, "read": true,
            "sent_at": "2026-01-01T00:00:00Z", "text": "x".repeat(500)}),
        json!({"id": "b", "sender": "bén", "stars": 2, "weight": 2, "read": false,
            "sent_at": "2026-01-02T01:00:00+01:00", "text": "x".repeat(501)}),
        json!({"id": "c", "sender": null, "stars": null, "weight": null, "read": null, "sent_at": null}),
    ];
    world.put_all(&world.home, "letters", home).await;
    let work = vec![
        json!({"id": "d", "sender": "anna", "stars": 3, "weight": 2.5, "sent_at": "2026-01-03T00:00:00Z"}),
        json!({"id": "e", "sender": "null", "stars": -4, "weight": -1.25, "sent_at": "2026-01-02T00:00:00Z"}),
        json!({"id": "f"}),
    ];
    world.put_all(&world.work, "letters", work).await;
    world
}

async fn check(world: &World, filter: Vec<FilterTerm>, expected: &[&str]) {
    let described = format!("{filter:?}");
    for limit in [1, 100] {
        let request = RecordsRequest { filter: filter.clone(), limit, ..listing("letters") };
        let mut found = keys(&world.all_pages(&world.owner(), &request).await);
        found.sort();
        assert_eq!(found, expected, "{described}, {limit} a page");
    }
    let counted = RecordsRequest { filter, limit: 1, count: true, ..listing("letters") };
    assert_eq!(world.page(&world.owner(), &counted).await.total, Some(expected.len() as u64), "{described}");
}

pub async fn text_is_matched_exactly(store: Arc<dyn Store>) {
    let world = letters(store).await;
    check(&world, vec![term("sender", None, "anna")], &["a", "d"]).await;
    check(&world, vec![term("sender", None, "bén")], &["b"]).await;
    check(&world, vec![term("sender", None, "Anna")], &[]).await;
    check(&world, vec![term("sender", None, "ann")], &[]).await;
    check(&world, vec![term("id", None, "c")], &["c"]).await;
}

pub async fn long_texts_are_told_apart(store: Arc<dyn Store>) {
    let world = letters(store).await;
    check(&world, vec![term("text", None, &"x".repeat(500))], &["a"]).await;
    check(&world, vec![term("text", None, &"x".repeat(501))], &["b"]).await;
    check(&world, vec![term("text", None, &"x".repeat(502))], &[]).await;
}

pub async fn null_is_a_word_in_text_and_absence_elsewhere(store: Arc<dyn Store>) {
    let world = letters(store).await;
    check(&world, vec![term("sender", None, "null")], &["e"]).await;
    check(&world, vec![term("stars", None, "null")], &["c", "f"]).await;
    check(&world, vec![term("weight", None, "null")], &["c", "f"]).await;
    check(&world, vec![term("read", None, "null")], &["c", "d", "e", "f"]).await;
    check(&world, vec![term("sent_at", None, "null")], &["c", "f"]).await;
}

pub async fn booleans_and_numbers_are_matched_by_value(store: Arc<dyn Store>) {
    let world = letters(store).await;
    check(&world, vec![term("read", None, "true")], &["a"]).await;
    check(&world, vec![term("read", None, "false")], &["b"]).await;
    check(&world, vec![term("stars", None, "-4")], &["e"]).await;
    check(&world, vec![term("weight", None, "2")], &["b"]).await;
    check(&world, vec![term("weight", None, "2.0")], &["b"]).await;
    check(&world, vec![term("weight", None, "2.5")], &["d"]).await;
}

pub async fn one_moment_is_matched_in_every_spelling(store: Arc<dyn Store>) {
    let world = letters(store).await;
    for spelling in ["2026-01-02", "2026-01-02T00:00:00Z", "2026-01-01T19:00:00-05:00"] {
        check(&world, vec![term("sent_at", None, spelling)], &["b", "e"]).await;
    }
}

pub async fn every_range_operator_holds_at_its_border(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let table: [(&str, &str, [&[&str]; 4]); 3] = [
        ("stars", "2", [&["b", "d"], &["d"], &["a", "b", "e"], &["a", "e"]]),
        ("weight", "2.0", [&["b", "d"], &["d"], &["a", "b", "e"], &["a", "e"]]),
        ("sent_at", "2026-01-02", [&["b", "d", "e"], &["d"], &["a", "b", "e"], &["a"]]),
    ];
    for (field, operand, expected) in table {
        for (operator, expected) in ["gte", "gt", "lte", "lt"].into_iter().zip(expected) {
            check(&world, vec![term(field, Some(operator), operand)], expected).await;
        }
    }
}

pub async fn a_range_can_be_broken_where_values_are_whole(store: Arc<dyn Store>) {
    let world = letters(store).await;
    check(&world, vec![term("weight", Some("gt"), "1.99")], &["b", "d"]).await;
    check(&world, vec![term("weight", Some("lt"), "2.01")], &["a", "b", "e"]).await;
}

pub async fn several_terms_hold_together(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let both = vec![term("sender", None, "anna"), term("stars", Some("gte"), "2")];
    check(&world, both, &["d"]).await;
    let between = vec![term("stars", Some("gt"), "-4"), term("stars", Some("lt"), "3")];
    check(&world, between, &["a", "b"]).await;
    let never = vec![term("sender", None, "anna"), term("sender", None, "bén")];
    check(&world, never, &[]).await;
}

pub async fn a_filtered_page_keeps_the_order(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let filter = vec![term("stars", Some("lte"), "3")];
    let request = RecordsRequest { filter, limit: 1, ..listing("letters") };
    assert_eq!(keys(&world.all_pages(&world.owner(), &request).await), ["a", "b", "e", "d"]);
    let request = RecordsRequest { order: Some("desc".to_owned()), ..request };
    assert_eq!(keys(&world.all_pages(&world.owner(), &request).await), ["d", "e", "b", "a"]);
}
