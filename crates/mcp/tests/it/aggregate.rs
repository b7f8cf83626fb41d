//! `aggregate`: one line of numbers, and the calls it prints.

use serde_json::{Value, json};

use crate::budget::{assert_within_budget, tokens};
use crate::support::{CallResult, Fake, Host, Reply, Seen};

async fn aggregate(body: Value, given: Value) -> (CallResult, Fake) {
    let fake = Fake::always(body).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("aggregate", given).await;
    assert!(!result.is_error, "{}", result.text);
    assert_eq!(result.text.lines().count(), 1, "{}", result.text);
    assert_within_budget(&result);
    (result, fake)
}

#[tokio::test]
async fn scalars_are_one_short_sentence() {
    for (body, given, start) in [
        (json!({"value": 7}), json!({"stream": "messages", "metric": "count"}), "count(messages) = 7."),
        (
            json!({"value": 1290.5, "field": "amount"}),
            json!({"stream": "orders", "metric": "sum", "field": "amount"}),
            "sum(orders) field=amount = 1290.5.",
        ),
        (json!({"filtered_record_count": 9}), json!({"stream": "m", "metric": "count"}), "count(m) = 9."),
        (
            json!({"value": "2026-01-01"}),
            json!({"stream": "m", "metric": "max", "field": "at"}),
            "max(m) field=at = \"2026-01-01\".",
        ),
        (
            json!({"value": null, "filtered_record_count": 3}),
            json!({"stream": "m", "metric": "min", "field": "a"}),
            "min(m) field=a = null.",
        ),
    ] {
        let (result, _) = aggregate(body.clone(), given).await;
        assert!(result.text.starts_with(start), "{}", result.text);
        assert!(result.text.chars().count() <= 400, "{}", result.text);
        assert_eq!(result.structured["data"], body);
        assert_eq!(result.structured["request_id"], "req_1");
    }
}

/// S3-R1-S1: all groups are shown under whole keys, and those the server left out are one printed call away.
#[tokio::test]
async fn every_group_is_shown_and_the_printed_call_reaches_those_beyond_the_limit() {
    let fake = Fake::start(by_author(43)).await;
    let mut host = Host::connect(&fake).await;
    let given = json!({"stream": "messages", "metric": "count", "group_by": "author", "limit": 12,
        "filter": {"kind": "mail"}, "connection_id": "cin_a"});
    let result = host.call("aggregate", given).await;
    let start = r#"count(messages) group_by="author": 12 group(s) ["ana.gonzalez.00@example.com"=100, "#;
    assert!(result.text.starts_with(start), "{}", result.text);
    assert!(result.text.contains(r#""ana.gonzalez.11@example.com"=89] other_count="#), "{}", result.text);
    assert!(!result.text.contains("more_groups="), "{}", result.text);
    let (tool, args) = printed(&result.text);
    assert_eq!((tool, &args["limit"], &args["connection_id"]), ("aggregate", &json!(100), &json!("cin_a")));
    let rest = host.call(tool, args).await;
    assert_within_budget(&rest);
    for n in 0..43 {
        assert!(rest.text.contains(&format!("\"ana.gonzalez.{n:02}@example.com\"=")), "{}", rest.text);
    }
    assert!(rest.text.ends_with("other_count=0;"), "{}", rest.text);
    assert_eq!(fake.last().param("filter[kind]"), Some("mail"));
}

/// S3-R1-S1: no more groups are given at once, so the printed call reads the values behind them.
#[tokio::test]
async fn groups_beyond_the_largest_limit_are_reached_through_their_records() {
    let fake = Fake::start(by_author(300)).await;
    let mut host = Host::connect(&fake).await;
    let given = json!({"stream": "messages", "metric": "count", "group_by": "author", "limit": 100});
    let result = host.call("aggregate", given).await;
    assert_within_budget(&result);
    assert!(result.text.contains("\"ana.gonzalez.99@example.com\"="), "{}", result.text);
    let (tool, args) = printed(&result.text);
    assert_eq!((tool, &args), ("query_records", &json!({"stream": "messages", "fields": ["author"]})));
    assert!(!host.call(tool, args).await.is_error);
}

/// S3-R1-S1: later months than those the limit keeps are met by following the printed calls, each from the last
/// month before.
#[tokio::test]
async fn later_time_buckets_are_reached_by_the_printed_calls() {
    let fake = Fake::start(by_month(260)).await;
    let mut host = Host::connect(&fake).await;
    let mut given = json!({"stream": "messages", "metric": "count", "group_by_time": "sent_at",
        "granularity": "month", "filter": {"sent_at": {"gt": "1999-12-31", "lt": "2100-01-01"}}});
    let mut met = std::collections::BTreeSet::new();
    for _ in 0..6 {
        let result = host.call("aggregate", given.clone()).await;
        assert_within_budget(&result);
        met.extend((0..260).filter(|n| result.text.contains(&format!("\"{}\"=", month(*n)))));
        if !result.text.contains("To see the rest:") {
            break;
        }
        let (tool, args) = printed(&result.text);
        assert_eq!((tool, &args["filter"]["sent_at"]["lt"]), ("aggregate", &json!("2100-01-01")));
        assert_ne!(args, given);
        given = args;
    }
    assert_eq!(met.len(), 260);
}

/// S3-R1-S1: a server that sends more groups than a text holds is asked for the later ones.
#[tokio::test]
async fn time_buckets_that_do_not_fit_are_counted_and_reached() {
    let groups: Vec<Value> = (0..1_000).map(|n| json!({"key": month(n), "count": 3})).collect();
    let fake = Fake::start(move |seen: &Seen| {
        if seen.path == "/v1/schema" {
            return ranged("r=gte|lt");
        }
        let from = seen.param("filter[sent_at][gte]").unwrap_or("").to_owned();
        let later = groups.iter().filter(|group| group["key"].as_str().unwrap() >= from.as_str());
        Reply::json(&json!({"groups": later.collect::<Vec<_>>()}))
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let given = json!({"stream": "m", "metric": "count", "group_by_time": "sent_at", "granularity": "month"});
    let first = host.call("aggregate", given).await;
    assert!(tokens(&first.text) <= 2_500 && first.text.contains(" more_groups="), "{}", first.text);
    let (tool, args) = printed(&first.text);
    let second = host.call(tool, args.clone()).await;
    let start = args["filter"]["sent_at"]["gte"].as_str().unwrap();
    assert!(
        start > month(50).as_str() && second.text.contains(&format!("[\"{start}\"=3")),
        "{}",
        second.text
    );
}

/// S3-R1-S1: to group by a time is one thing and to filter by it another; no call is printed that a server would refuse.
#[tokio::test]
async fn a_time_that_cannot_be_filtered_by_is_not() {
    let given = json!({"stream": "messages", "metric": "count", "group_by_time": "sent_at", "granularity": "day",
        "limit": 100, "connection_id": "cin_a"});
    let full = json!({"sent_at": {"range_filter": {"declared": true, "usable": true, "operators": ["gte"]}}});
    let full = json!({"connectors": [{"streams": [{"name": "messages", "field_capabilities": full}]}]});
    let usable = [ranged("r"), ranged("r=lt|gte"), Reply::json(&full)];
    let refused = ["eq", "r=gt|lt", "r=unusable:field_not_granted"].map(ranged);
    let unknown = [Reply::json(&json!({"streams": []})), Reply::error(500, "api_error", "No.")];
    for (schemas, tool) in
        [(&usable[..], "aggregate"), (&refused, "query_records"), (&unknown, "query_records")]
    {
        for schema in schemas {
            let (schema, months) = (schema.clone(), by_month(260));
            let fake = Fake::start(move |seen| match seen.path.as_str() {
                "/v1/schema" => schema.clone(),
                "/v1/streams/messages/records" => Reply::json(&json!({"data": []})),
                _ => months(seen),
            })
            .await;
            let mut host = Host::connect(&fake).await;
            let result = host.call("aggregate", given.clone()).await;
            assert_within_budget(&result);
            let asked: Vec<_> = fake.seen().into_iter().filter(|seen| seen.path == "/v1/schema").collect();
            assert_eq!((asked.len(), asked[0].param("connection_id")), (1, Some("cin_a")));
            let (printed, args) = printed(&result.text);
            assert_eq!(printed, tool, "{}", result.text);
            let words =
                result.text.contains("repeat with a coarser granularity or a filter that takes fewer");
            assert_eq!(words, tool == "query_records", "{}", result.text);
            assert!(!host.call(printed, args).await.is_error);
        }
    }
    // A filter that was taken is taken again, and an answer that shows everything leaves nothing to ask.
    let fake = Fake::start(by_month(260)).await;
    let mut host = Host::connect(&fake).await;
    let mut filtered = given.clone();
    filtered["filter"] = json!({"sent_at": {"gte": "2000-01-01"}});
    assert_eq!(printed(&host.call("aggregate", filtered).await.text).0, "aggregate");
    let fake_of_few = Fake::start(by_month(50)).await;
    host = Host::connect(&fake_of_few).await;
    host.call("aggregate", given).await;
    for server in [fake, fake_of_few] {
        assert!(server.seen().iter().all(|seen| seen.path != "/v1/schema"));
    }
}

/// S3-R1-S1: the bucket of records without a time comes last, and a filter by time leaves it out.
#[tokio::test]
async fn records_without_a_time_are_said_to_be_left_out() {
    let fake = Fake::start(by_month(260)).await;
    let mut host = Host::connect(&fake).await;
    let given = json!({"stream": "messages", "metric": "count", "group_by_time": "sent_at",
        "granularity": "month", "limit": 100});
    let sentence = " Any records without a time are the last group, which no filter by time shows.";
    let first = host.call("aggregate", given.clone()).await;
    let (tool, args) = printed(&first.text);
    assert_eq!((tool, first.text.matches(sentence).count()), ("aggregate", 1), "{}", first.text);
    // Where such a filter stands already, there are none to be told of.
    let second = host.call(tool, args).await;
    assert!(!second.text.contains(sentence), "{}", second.text);
    let mut few = given;
    few["filter"] = json!({"sent_at": {"gte": "2019-01-01"}});
    assert!(!host.call("aggregate", few).await.text.contains(sentence));
}

/// A server with so many authors, the most frequent first, ten at a time unless it is told otherwise.
fn by_author(authors: usize) -> impl Fn(&Seen) -> Reply + Send + Sync {
    move |seen| {
        let limit = seen.param("limit").map_or(10, |limit| limit.parse().unwrap());
        let group =
            |n: usize| json!({"key": format!("ana.gonzalez.{n:02}@example.com"), "count": 100 - n.min(99)});
        let shown = authors.min(limit);
        Reply::json(&json!({"object": "aggregation", "group_by": "author", "limit": limit,
            "groups": (0..shown).map(group).collect::<Vec<_>>(), "other_count": authors - shown}))
    }
}

/// A server with so many months, the earliest first.
fn by_month(months: usize) -> impl Fn(&Seen) -> Reply + Send + Sync {
    move |seen| {
        if seen.path == "/v1/schema" {
            return ranged("r=gte|gt|lt");
        }
        let limit = seen.param("limit").map_or(10, |limit| limit.parse().unwrap());
        let from = seen.param("filter[sent_at][gte]").unwrap_or("");
        let keys: Vec<String> = (0..months).map(month).filter(|key| key.as_str() >= from).collect();
        let groups: Vec<Value> = keys.iter().take(limit).map(|key| json!({"key": key, "count": 3})).collect();
        Reply::json(&json!({"object": "aggregation", "group_by_time": "sent_at", "limit": limit,
            "other_count": 3 * (keys.len() - groups.len()), "groups": groups}))
    }
}

/// A schema in which the time has this flag.
fn ranged(flag: &str) -> Reply {
    let fields = json!({"sent_at": format!("t=timestamp,{flag},a=group_by_time")});
    Reply::json(&json!({"streams": [{"name": "messages", "field_capabilities": fields},
        {"name": "m", "field_capabilities": fields}]}))
}

fn month(n: usize) -> String {
    format!("{}-{:02}-01", 2000 + n / 12, n % 12 + 1)
}

/// The call that a text ends with.
fn printed(text: &str) -> (&str, Value) {
    let (before, args) = text.split_once(" args=").unwrap_or_else(|| panic!("a call: {text}"));
    let (_, tool) = before.rsplit_once(' ').unwrap();
    (tool, serde_json::from_str(args).unwrap_or_else(|_| panic!("arguments: {text}")))
}

#[tokio::test]
async fn time_buckets_name_their_zone() {
    let body = json!({"group_by_time": "sent_at", "granularity": "day", "time_zone": "UTC",
        "groups": [{"key": "2026-01-01T00:00:00", "count": 2}, {"key": null, "count": 1}]});
    let given = json!({"stream": "messages", "metric": "count", "group_by_time": "sent_at", "granularity": "day",
        "filter": {"sent_at": {"gte": "2026-01-01"}}, "connection_id": "cin_a"});
    let (result, fake) = aggregate(body, given).await;
    let expected = r#"count(messages) group_by_time="sent_at" granularity="day" time_zone="UTC": 2 group(s) ["2026-01-01T00:00:00"=2, null=1]"#;
    assert_eq!(result.text, expected);
    let seen = fake.last();
    assert_eq!(seen.param("filter[sent_at][gte]"), Some("2026-01-01"));
    assert_eq!(seen.param("connection_id"), Some("cin_a"));
}

/// S1-R4: long keys cost no more than their share, say that they are cut, and are read whole by the printed call.
#[tokio::test]
async fn long_keys_stay_within_the_budget() {
    let groups: Vec<Value> =
        (0..100).map(|n| json!({"key": format!("{n} {}", "lorem ipsum ".repeat(90)), "count": 1})).collect();
    let body = json!({"group_by": "body", "groups": groups});
    let (result, _) = aggregate(body, json!({"stream": "m", "metric": "count", "group_by": "body"})).await;
    assert_eq!(result.structured["truncated_keys"], 100);
    assert!(result.text.contains("\"99 lorem") && result.text.contains(" cut_keys=100;"), "{}", result.text);
    assert_eq!(printed(&result.text), ("query_records", json!({"stream": "m", "fields": ["body"]})));
    for text in ["記録された会話の全文", "🦊🐻\u{1F9E1} ", "0f8a-44c1-9b07-77e2 "] {
        let groups: Vec<Value> =
            (0..100).map(|n| json!({"key": format!("{n}{}", text.repeat(40)), "count": 1})).collect();
        let given = json!({"stream": "m", "metric": "count", "group_by": "body", "limit": 100});
        let (result, _) = aggregate(json!({"groups": groups, "other_count": 5}), given).await;
        assert_eq!(printed(&result.text).0, "query_records");
    }
    let (foreign, _) = aggregate(json!([1, "x"]), json!({"stream": "m", "metric": "count"})).await;
    assert!(foreign.text.starts_with("count(m) = null."), "{}", foreign.text);
}
