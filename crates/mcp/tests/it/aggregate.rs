//! `aggregate`: one line of numbers.

use serde_json::{Value, json};

use crate::budget::assert_within_budget;
use crate::support::{CallResult, Fake, Host};

async fn aggregate(body: Value, given: Value) -> (CallResult, Fake) {
    let fake = Fake::always(body).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("aggregate", given).await;
    assert!(!result.is_error, "{}", result.text);
    assert!(result.text.chars().count() <= 400, "{}", result.text);
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
        assert_eq!(result.structured["data"], body);
        assert_eq!(result.structured["request_id"], "req_1");
    }
}

/// S3-R1-S1: groups that are not shown are counted, and the way to them is said.
#[tokio::test]
async fn groups_are_shown_five_at_a_time_and_the_rest_is_counted() {
    let groups: Vec<Value> = (1..=12).map(|n| json!({"key": format!("U{n}"), "count": 20 - n})).collect();
    let body = json!({"object": "aggregation", "group_by": "user_id", "groups": groups, "other_count": 31});
    let (result, fake) =
        aggregate(body, json!({"stream": "messages", "metric": "count", "group_by": "user_id", "limit": 12}))
            .await;
    let start = r#"count(messages) group_by="user_id": 12 group(s) ["U1"=19, "U2"=18, "U3"=17, "U4"=16, "U5"=15] more_groups=7; other_count=31;"#;
    assert!(result.text.starts_with(start), "{}", result.text);
    assert!(result.text.contains("aggregate again with a filter"), "{}", result.text);
    assert_eq!(result.structured["data"]["groups"].as_array().unwrap().len(), 12);
    assert_eq!(
        (fake.last().path.as_str(), fake.last().param("limit")),
        ("/v1/streams/messages/aggregate", Some("12"))
    );
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

/// S1-R4: long keys cost no more than their share, and say that they are cut.
#[tokio::test]
async fn long_keys_stay_within_the_budget() {
    let groups: Vec<Value> =
        (0..100).map(|n| json!({"key": format!("{n} {}", "lorem ipsum ".repeat(90)), "count": 1})).collect();
    let body = json!({"group_by": "body", "groups": groups});
    let (result, _) = aggregate(body, json!({"stream": "m", "metric": "count", "group_by": "body"})).await;
    assert_eq!(result.structured["truncated_keys"], 100);
    let (foreign, _) = aggregate(json!([1, "x"]), json!({"stream": "m", "metric": "count"})).await;
    assert!(foreign.text.starts_with("count(m) = null."), "{}", foreign.text);
}
