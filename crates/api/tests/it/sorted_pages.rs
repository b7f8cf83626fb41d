//! Pages whose order no index gives: a rare range on one field, ordered by another.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::world::World;

const RECORDS: usize = 3_000;
const PAGE: usize = 20;

const MANIFEST: &str = r#"{
  "protocol_version": "0.1.0", "connector_key": "meter",
  "streams": [{
    "name": "readings", "semantics": "mutable_state", "primary_key": ["id"], "cursor_field": "at",
    "schema": {"type": "object", "required": ["id"], "properties": {
      "id": {"type": "string"}, "kind": {"type": "string"}, "score": {"type": ["integer", "null"]},
      "at": {"type": ["string", "null"], "format": "date-time"}}},
    "query": {"range_filters": {"score": ["gte", "gt", "lte", "lt"], "at": ["gte", "lt"]}}
  }]
}"#;

/// One reading: what it is filtered and ordered by.
#[derive(Clone, Debug)]
struct Reading {
    key: String,
    at: Option<String>,
    kind: &'static str,
    score: Option<i64>,
}

impl Reading {
    /// The nth of many, all over the place: times collide, some are missing, high scores are rare.
    fn nth(n: usize) -> Self {
        let scrambled = n * 7_919 % RECORDS;
        let (day, hour) = (1 + scrambled / 24 % 28, scrambled % 24);
        let at = (!n.is_multiple_of(31)).then(|| format!("2026-02-{day:02}T{hour:02}:00:00Z"));
        let score = (n % 17 != 3).then(|| i64::try_from(n * 31 % 1_000).unwrap());
        Self { key: format!("r_{:04}", n * 13 % RECORDS), at, kind: ["even", "odd"][n % 2], score }
    }

    fn line(&self) -> String {
        let mut data = json!({"id": self.key, "kind": self.kind, "score": self.score});
        if let Some(at) = &self.at {
            data["at"] = json!(at);
        }
        json!({"key": self.key, "data": data}).to_string()
    }
}

/// Whether a filter lets a reading pass.
type Passes = fn(&Reading) -> bool;

async fn metered() -> (World, Vec<Reading>) {
    let world = World::new().await;
    assert_eq!(world.ask("owner", "POST", "/connectors", MANIFEST).await.status, 201);
    let readings: Vec<Reading> = (0..RECORDS).map(Reading::nth).collect();
    let lines = readings.iter().map(Reading::line).collect::<Vec<_>>().join("\n");
    let receipt = world.ask("owner", "POST", "/v1/ingest/readings?connector_id=meter", lines).await.json();
    assert_eq!(receipt["records_accepted"], RECORDS);
    (world, readings)
}

/// The keys that pass, by time and key, those without a time last by key.
fn truth(readings: &[Reading], passes: impl Fn(&Reading) -> bool, ascending: bool) -> Vec<String> {
    let mut kept: Vec<&Reading> = readings.iter().filter(|reading| passes(reading)).collect();
    kept.sort_by(|a, b| {
        let within = (&a.at, &a.key).cmp(&(&b.at, &b.key));
        let within = if ascending { within } else { within.reverse() };
        a.at.is_none().cmp(&b.at.is_none()).then(within)
    });
    kept.iter().map(|reading| reading.key.clone()).collect()
}

/// Every page of a request, each as the keys it shows; the filter's own count must agree.
async fn pages(world: &World, query: &str) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!(
            "/v1/streams/readings/records?connector_id=meter&limit={PAGE}&count=exact&{query}{cursor}"
        );
        let body = world.get("owner", &path).await.json();
        let records = body["data"].as_array().unwrap_or_else(|| panic!("{path}: {body}"));
        pages.push(records.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect());
        let Some(next) = body["next_cursor"].as_str() else {
            let total: usize = pages.iter().map(Vec::len).sum();
            assert_eq!(body["meta"]["count"]["value"], Value::from(total), "{query}");
            return pages;
        };
        cursor = format!("&cursor={next}");
    }
}

#[tokio::test]
async fn every_page_of_a_rare_range_in_another_fields_order_is_the_truth() {
    let (world, readings) = metered().await;
    let filters: [(&str, Passes); 5] = [
        ("filter[score][gte]=985", |reading| reading.score >= Some(985)),
        ("filter[score][lt]=15", |reading| reading.score.is_some_and(|score| score < 15)),
        ("filter[score][gt]=400&filter[score][lte]=430", |reading| {
            reading.score > Some(400) && reading.score <= Some(430)
        }),
        ("filter[score][gte]=960&filter[kind]=odd", |reading| {
            reading.score >= Some(960) && reading.kind == "odd"
        }),
        // Rare and late: the walk in order meets none of them for long.
        ("filter[score][gte]=920&filter[at][gte]=2026-02-22T00:00:00Z", |reading| {
            reading.score >= Some(920) && reading.at.as_deref() >= Some("2026-02-22T00:00:00Z")
        }),
    ];
    world.store.trace_statements();
    for (filter, passes) in filters {
        for (order, ascending) in [("order=asc", true), ("order=desc", false)] {
            let expected = truth(&readings, passes, ascending);
            assert!(expected.len() > PAGE, "{filter} passes {} records", expected.len());
            let expected: Vec<Vec<String>> = expected.chunks(PAGE).map(<[String]>::to_vec).collect();
            assert_eq!(pages(&world, &format!("{filter}&{order}")).await, expected, "{filter} {order}");
        }
    }
    // A walk looks for as long as it has patience; a page it was given up for asks for so many.
    let traced = world.store.take_traced();
    let given_up: Vec<_> = traced
        .iter()
        .filter(|traced| traced.sql.contains("ORDER BY t.ord") && traced.sql.contains("LIMIT ?"))
        .collect();
    assert!(given_up.len() > filters.len(), "{} pages were not walked", given_up.len());
    let is_sorted = |plan: &[String]| plan.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY"));
    let walked: Vec<_> = given_up.iter().filter(|traced| !is_sorted(&traced.plan)).collect();
    assert!(walked.is_empty(), "given up for the same walk: {walked:?}");
}

#[tokio::test]
async fn pages_that_are_walked_and_pages_that_are_sorted_agree() {
    let (world, readings) = metered().await;
    // Most records pass, so the walk never gives up; the last page ends among those without a time.
    let expected = truth(&readings, |reading| reading.score >= Some(50), true);
    let walked: Vec<String> = pages(&world, "filter[score][gte]=50").await.concat();
    let places: HashMap<&String, usize> = walked.iter().enumerate().map(|(at, key)| (key, at)).collect();
    assert_eq!((walked.len(), places.len()), (expected.len(), expected.len()), "each record once");
    let sorted: Vec<String> = pages(&world, "filter[score][gte]=985&order=asc").await.concat();
    let ascending: Vec<String> = pages(&world, "filter[score][gte]=50&order=asc").await.concat();
    assert_eq!(ascending, expected);
    let rare: Vec<String> = ascending.into_iter().filter(|key| sorted.contains(key)).collect();
    assert_eq!(rare, sorted, "the rare ones stand in the same order among the many");
}
