//! Numbers about many records, over all connections together.

use std::sync::Arc;

use pdpp_access::{AggregateRequest, FilterTerm};
use serde_json::{Value, json};

use super::world::{World, entry, groups, target, time};
use crate::{Aggregate, Store};

fn asking(metric: &str, field: Option<&str>) -> AggregateRequest {
    AggregateRequest {
        target: target("letters"),
        metric: Some(metric.to_owned()),
        field: field.map(str::to_owned),
        ..AggregateRequest::default()
    }
}

fn by(field: &str) -> AggregateRequest {
    AggregateRequest { group_by: Some(field.to_owned()), ..asking("count", None) }
}

fn by_time(granularity: &str, zone: &str) -> AggregateRequest {
    AggregateRequest {
        group_by_time: Some("sent_at".to_owned()),
        granularity: Some(granularity.to_owned()),
        time_zone: Some(zone.to_owned()),
        limit: Some("100".to_owned()),
        ..asking("count", None)
    }
}

async fn letters(store: Arc<dyn Store>) -> World {
    let world = World::new(store).await;
    let home = vec![
        json!({"id": "a", "sender": "anna", "stars": 1, "weight": 0.5, "read": true, "sent_at": "2026-01-05T00:00:00Z"}),
        json!({"id": "b", "sender": "ben", "stars": 2, "weight": 1, "sent_at": "2026-01-04T23:59:59Z"}),
        json!({"id": "c", "sender": null, "stars": null}),
    ];
    let work = vec![
        json!({"id": "d", "sender": "anna", "stars": 2, "weight": 0.25, "read": true, "sent_at": "2026-03-31T12:00:00Z"}),
        json!({"id": "e", "sender": "zoë", "stars": -7, "read": false, "sent_at": "2025-12-31T23:30:00Z"}),
    ];
    world.put_all(&world.home, "letters", home).await;
    world.put_all(&world.work, "letters", work).await;
    world
}

async fn value(world: &World, metric: &str, field: Option<&str>) -> Value {
    let aggregate = world.aggregate(&world.owner(), &asking(metric, field)).await;
    assert_eq!(aggregate.filtered_record_count, 5, "{metric}");
    assert_eq!(aggregate.groups, None, "{metric}");
    aggregate.value.expect("an ungrouped aggregate has a value")
}

/// Groups in their order, as text.
fn told(aggregate: &Aggregate) -> Vec<String> {
    let groups = aggregate.groups.iter().flatten();
    groups.map(|group| format!("{} {}", group.key, group.count)).collect()
}

pub async fn every_metric_spans_all_connections(store: Arc<dyn Store>) {
    let world = letters(store).await;
    assert_eq!(value(&world, "count", None).await, json!(5));
    assert_eq!(value(&world, "sum", Some("stars")).await, json!(-2));
    assert_eq!(value(&world, "min", Some("stars")).await, json!(-7));
    assert_eq!(value(&world, "max", Some("stars")).await, json!(2));
    assert_eq!(value(&world, "count_distinct", Some("stars")).await, json!(3));
    assert_eq!(value(&world, "count_distinct", Some("sender")).await, json!(3));
    assert_eq!(value(&world, "sum", Some("weight")).await, json!(1.75));
    assert_eq!(value(&world, "min", Some("weight")).await, json!(0.25));
    assert_eq!(value(&world, "max", Some("weight")).await.as_f64(), Some(1.0));
}

pub async fn the_ends_of_time_are_times(store: Arc<dyn Store>) {
    let world = letters(store).await;
    for (metric, expected) in [("min", "2025-12-31T23:30:00Z"), ("max", "2026-03-31T12:00:00Z")] {
        let found = value(&world, metric, Some("sent_at")).await;
        let found = found.as_str().and_then(pdpp_wire::Instant::parse);
        assert_eq!(found, Some(time(expected)), "{metric}");
    }
}

pub async fn nothing_sums_to_zero_and_has_no_ends(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"id": "a"})).await;
    for (metric, field, expected) in [
        ("sum", Some("stars"), json!(0)),
        ("min", Some("stars"), json!(null)),
        ("max", Some("sent_at"), json!(null)),
        ("count_distinct", Some("sender"), json!(0)),
    ] {
        let aggregate = world.aggregate(&world.owner(), &asking(metric, field)).await;
        assert_eq!((aggregate.filtered_record_count, aggregate.value), (1, Some(expected)), "{metric}");
    }
}

pub async fn groups_are_ordered_by_size_then_by_name(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let aggregate = world.aggregate(&world.owner(), &by("sender")).await;
    assert_eq!(told(&aggregate), [r#""anna" 2"#, r#""ben" 1"#, r#""zoë" 1"#, "null 1"]);
    assert_eq!((aggregate.value, aggregate.other_count), (None, 0));
}

pub async fn what_the_limit_cuts_is_counted(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let request = AggregateRequest { limit: Some("1".to_owned()), ..by("sender") };
    let aggregate = world.aggregate(&world.owner(), &request).await;
    assert_eq!((told(&aggregate), aggregate.other_count), (vec![r#""anna" 2"#.to_owned()], 3));
    assert_eq!(aggregate.filtered_record_count, 5);
}

pub async fn groups_have_the_type_of_their_field(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let read = groups(&world.aggregate(&world.owner(), &by("read")).await);
    assert_eq!(read, [("true".into(), 2), ("false".into(), 1), ("null".into(), 2)].into());
    let stars = groups(&world.aggregate(&world.owner(), &by("stars")).await);
    assert_eq!(stars, [("2".into(), 2), ("1".into(), 1), ("-7".into(), 1), ("null".into(), 1)].into());
}

pub async fn long_values_are_groups_of_their_own(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let (long, longer) = ("y".repeat(300), "y".repeat(301));
    let letter = |id: &str, sender: &str| json!({"id": id, "sender": sender});
    let letters = vec![letter("a", &long), letter("b", &longer), letter("c", &long)];
    world.put_all(&world.home, "letters", letters).await;
    let found = groups(&world.aggregate(&world.owner(), &by("sender")).await);
    assert_eq!(found, [(json!(long).to_string(), 2), (json!(longer).to_string(), 1)].into());
}

pub async fn time_is_cut_into_buckets_of_every_size(store: Arc<dyn Store>) {
    let world = letters(store).await;
    for (granularity, expected) in [
        ("year", vec![r#""2025-01-01" 1"#, r#""2026-01-01" 3"#, "null 1"]),
        ("quarter", vec![r#""2025-10-01" 1"#, r#""2026-01-01" 3"#, "null 1"]),
        ("month", vec![r#""2025-12-01" 1"#, r#""2026-01-01" 2"#, r#""2026-03-01" 1"#, "null 1"]),
        ("week", vec![r#""2025-12-29" 2"#, r#""2026-01-05" 1"#, r#""2026-03-30" 1"#, "null 1"]),
        (
            "day",
            vec![
                r#""2025-12-31" 1"#,
                r#""2026-01-04" 1"#,
                r#""2026-01-05" 1"#,
                r#""2026-03-31" 1"#,
                "null 1",
            ],
        ),
        (
            "hour",
            vec![
                r#""2025-12-31T23:00" 1"#,
                r#""2026-01-04T23:00" 1"#,
                r#""2026-01-05T00:00" 1"#,
                r#""2026-03-31T12:00" 1"#,
                "null 1",
            ],
        ),
        (
            "minute",
            vec![
                r#""2025-12-31T23:30" 1"#,
                r#""2026-01-04T23:59" 1"#,
                r#""2026-01-05T00:00" 1"#,
                r#""2026-03-31T12:00" 1"#,
                "null 1",
            ],
        ),
    ] {
        let aggregate = world.aggregate(&world.owner(), &by_time(granularity, "UTC")).await;
        assert_eq!(told(&aggregate), expected, "{granularity}");
    }
}

pub async fn buckets_follow_the_clock_on_the_wall(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    // Berlin loses 02:00 to 03:00 on 29 March 2026 and has it twice on 25 October.
    let moments = [
        "2026-03-28T22:30:00Z",
        "2026-03-28T23:30:00Z",
        "2026-03-29T00:30:00Z",
        "2026-03-29T01:30:00Z",
        "2026-03-29T21:59:00Z",
        "2026-03-29T22:00:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-25T02:30:00Z",
    ];
    let letters = moments.iter().map(|at| json!({"id": at, "sent_at": at})).collect();
    world.put_all(&world.home, "letters", letters).await;
    let days = world.aggregate(&world.owner(), &by_time("day", "Europe/Berlin")).await;
    let expected = [r#""2026-03-28" 1"#, r#""2026-03-29" 4"#, r#""2026-03-30" 1"#, r#""2026-10-25" 3"#];
    assert_eq!(told(&days), expected);
    let hours = world.aggregate(&world.owner(), &by_time("hour", "Europe/Berlin")).await;
    assert_eq!(
        told(&hours),
        [
            r#""2026-03-28T23:00" 1"#,
            r#""2026-03-29T00:00" 1"#,
            r#""2026-03-29T01:00" 1"#,
            r#""2026-03-29T03:00" 1"#,
            r#""2026-03-29T23:00" 1"#,
            r#""2026-03-30T00:00" 1"#,
            r#""2026-10-25T02:00" 2"#,
            r#""2026-10-25T03:00" 1"#,
        ]
    );
}

pub async fn zones_without_whole_hours_work_too(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.put(&world.home, "letters", json!({"id": "a", "sent_at": "2026-01-01T18:20:00Z"})).await;
    let hours = world.aggregate(&world.owner(), &by_time("hour", "Asia/Kathmandu")).await;
    assert_eq!(told(&hours), [r#""2026-01-02T00:00" 1"#]);
}

pub async fn the_limit_keeps_the_earliest_buckets(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let request = AggregateRequest { limit: Some("2".to_owned()), ..by_time("month", "UTC") };
    let aggregate = world.aggregate(&world.owner(), &request).await;
    assert_eq!(told(&aggregate), [r#""2025-12-01" 1"#, r#""2026-01-01" 2"#]);
    assert_eq!(aggregate.other_count, 2);
}

pub async fn filters_and_grants_narrow_what_is_counted(store: Arc<dyn Store>) {
    let world = letters(store).await;
    let filter = vec![FilterTerm { field: "sender".to_owned(), operator: None, operand: "anna".to_owned() }];
    let request = AggregateRequest { filter: filter.clone(), ..asking("sum", Some("stars")) };
    let aggregate = world.aggregate(&world.owner(), &request).await;
    assert_eq!((aggregate.filtered_record_count, aggregate.value), (2, Some(json!(3))));
    let grouped = AggregateRequest { filter, ..by("stars") };
    assert_eq!(told(&world.aggregate(&world.owner(), &grouped).await), ["1 1", "2 1"]);
    let client = world.client(&[json!([entry("letters", &[&world.home], &["id", "stars"])])]);
    let aggregate = world.aggregate(&client, &asking("sum", Some("stars"))).await;
    assert_eq!((aggregate.filtered_record_count, aggregate.value), (3, Some(json!(3))));
}
