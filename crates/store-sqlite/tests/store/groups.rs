//! Groups by a field of which almost every record has a value of its own.

use std::cmp::Reverse;

use pdpp_access::AggregateRequest;
use pdpp_store::{Aggregate, Records as _};
use pdpp_store_sqlite::SqliteStore;
use serde_json::{Value, json};

use crate::support::{Desk, of, options};

/// Folders or times of the letters of each connection.
async fn desk(field: &str, values: [Vec<Value>; 2]) -> Desk {
    let desk = Desk::empty(SqliteStore::in_memory(options()).unwrap()).await;
    for (connection, values) in values.into_iter().enumerate() {
        let letters = values.into_iter().enumerate();
        let letters = letters.map(|(n, value)| json!({"id": format!("l{n:04}"), field: value}));
        desk.put(connection, "letters", letters.collect()).await;
    }
    desk
}

async fn grouped(desk: &Desk, field: &str, limit: usize) -> Aggregate {
    let request = AggregateRequest {
        target: of("letters"),
        metric: Some("count".into()),
        group_by: Some(field.into()),
        limit: Some(limit.to_string()),
        ..Default::default()
    };
    desk.store.aggregate(&desk.aggregate(&desk.owner(), &request).await).await.unwrap()
}

/// With the number of records that were read for it.
async fn traced(desk: &Desk, field: &str, limit: usize) -> (Aggregate, usize) {
    desk.store.trace_statements();
    let aggregate = grouped(desk, field, limit).await;
    let traced = desk.store.take_traced();
    (aggregate, traced.iter().filter(|traced| traced.sql.contains("FROM records")).count())
}

/// The n-th second of a day.
fn time(n: usize) -> String {
    format!("2026-01-01T{:02}:{:02}:{:02}Z", n / 3_600, n / 60 % 60, n % 60)
}

fn told(aggregate: &Aggregate) -> Vec<(u64, String)> {
    aggregate.groups.iter().flatten().map(|group| (group.count, group.key.to_string())).collect()
}

/// What the answer must be: every value counted, all of them sorted.
fn expected(values: &[Vec<Value>; 2], limit: usize) -> Vec<(u64, String)> {
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for value in values.iter().flatten() {
        *counts.entry(value.to_string()).or_default() += 1;
    }
    let mut groups: Vec<_> = counts.into_iter().map(|(key, count)| (count, key)).collect();
    groups.sort_by_key(|(count, key)| (Reverse(*count), key.clone()));
    groups.truncate(limit);
    groups
}

#[tokio::test]
async fn among_many_groups_of_one_those_whose_text_comes_first_are_shown() {
    // Quotes and signs sort otherwise as JSON than as text; some folders are in both connections.
    let folder = |n: u32| match n % 5 {
        0 => json!(format!("\"{n}")),
        1 => json!(format!("\t{n}")),
        2 => json!(format!("shared {}", n / 50)),
        3 => Value::Null,
        _ => json!(format!("f{}", n.wrapping_mul(7_919) % 1_000)),
    };
    let values = [(0..600).map(folder).collect(), (300..900).map(folder).collect()];
    let desk = desk("folder", values.clone()).await;
    for limit in [1, 7, 30, 100] {
        let aggregate = grouped(&desk, "folder", limit).await;
        assert_eq!(told(&aggregate), expected(&values, limit), "{limit}");
        let shown: u64 = told(&aggregate).iter().map(|(count, _)| count).sum();
        assert_eq!(aggregate.other_count, 1_200 - shown);
    }
}

#[tokio::test]
async fn long_and_short_texts_compete_by_their_text() {
    let folder = |n: u32| {
        json!(format!("{n:03}{}", if n.is_multiple_of(2) { "x".repeat(200) } else { String::new() }))
    };
    let values = [(0..60).map(folder).collect(), (50..90).map(folder).collect()];
    let desk = desk("folder", values.clone()).await;
    for limit in [1, 10, 15, 100] {
        assert_eq!(told(&grouped(&desk, "folder", limit).await), expected(&values, limit), "{limit}");
    }
}

#[tokio::test]
async fn flags_of_all_connections_are_counted_together() {
    let values = [vec![json!(true), json!(false), json!(true)], vec![json!(false), json!(true)]];
    let desk = desk("read", values.clone()).await;
    for limit in [1, 2] {
        assert_eq!(told(&grouped(&desk, "read", limit).await), expected(&values, limit), "{limit}");
    }
}

#[tokio::test]
async fn of_many_times_only_a_bounded_number_of_records_is_read() {
    let desk =
        desk("filed_at", [0, 700].map(|from| (from..from + 900).map(|n| json!(time(n))).collect())).await;
    let (aggregate, reads) = traced(&desk, "filed_at", 3).await;
    // Two hundred moments are in both connections; the first of them by their text are shown.
    let first = [700, 701, 702].map(|n| (2, format!("{:?}", time(n))));
    assert_eq!(told(&aggregate), first);
    assert_eq!(reads, 200);
}

#[tokio::test]
async fn of_more_times_of_one_size_than_compete_the_earliest_do() {
    let desk =
        desk("filed_at", [0, 900].map(|from| (from..from + 900).map(|n| json!(time(n))).collect())).await;
    let (aggregate, reads) = traced(&desk, "filed_at", 3).await;
    assert_eq!(told(&aggregate), [0, 1, 2].map(|n| (1, format!("{:?}", time(n)))));
    assert_eq!((reads, aggregate.other_count), (1_000, 1_797));
}
