//! What the tools that read records say of themselves.

use serde_json::{Value, json};

use crate::support::{Fake, Host, Reply};

async fn tool(name: &str) -> Value {
    let fake = Fake::always(json!({})).await;
    let tools = Host::connect(&fake).await.tools().await;
    tools.into_iter().find(|tool| tool["name"] == name).unwrap()
}

#[track_caller]
fn mentions(text: &Value, parts: &[&str]) {
    let text = text.as_str().unwrap();
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// S2-R4-S1: descriptions send the model to pages, projections, aggregates and search before wide reads.
#[tokio::test]
async fn descriptions_say_what_models_need() {
    let query = tool("query_records").await;
    mentions(
        &query["description"],
        &[
            "Read-only",
            "/v1/streams/{stream}/records",
            "at most 25 records",
            "capped at 100",
            "limit_clamped",
            "previews up to the first 5 records",
            "structured output",
            "structuredContent.data",
            "cursor",
            "fields",
            "aggregate",
            "search",
            "connection_id",
            "connector_key",
            "/v1/schema",
        ],
    );
    let arguments = &query["inputSchema"]["properties"];
    mentions(
        &arguments["changes_since"]["description"],
        &["beginning", "next_changes_since", "Do not pass an ISO timestamp"],
    );
    mentions(
        &arguments["connection_id"]["description"],
        &["available_connections", "connector_key", "connection_id"],
    );
    for name in ["query_records", "aggregate"] {
        let filter = &tool(name).await["inputSchema"]["properties"]["filter"];
        mentions(
            &filter["description"],
            &[
                "typed object filter",
                "pre-encoded query string",
                "filter[field]",
                "filter[field][op]",
                "gte",
                "gt",
                "lte",
                "lt",
                "GET /v1/schema",
            ],
        );
        assert_eq!(filter["type"], "object");
    }
    mentions(
        &tool("aggregate").await["description"],
        &[
            "Read-only",
            "/v1/streams/{stream}/aggregate",
            "never record bodies",
            "query_records",
            "XOR",
            "other_count",
            "connection_id",
            "connector_key",
            "/v1/schema",
        ],
    );
    mentions(
        &tool("fetch").await["description"],
        &[
            "Read-only",
            "/v1/streams/{stream}/records/{record_id}",
            "fields",
            "if the projection excludes every text-like field",
            "compact JSON for the projected record",
            "search",
            "aggregate",
            "ambiguous_connection",
            "409",
            "connection_id",
            "connector_key",
        ],
    );
}

#[tokio::test]
async fn limits_and_choices_are_in_the_input_schema() {
    let query = tool("query_records").await;
    let limit = &query["inputSchema"]["properties"]["limit"];
    assert_eq!((&limit["minimum"], &limit["maximum"]), (&json!(1), &json!(100)));
    assert_eq!(query["inputSchema"]["properties"]["count"]["enum"], json!(["none", "estimated", "exact"]));
    assert_eq!(query["inputSchema"]["additionalProperties"], false);
    let aggregate = tool("aggregate").await;
    let arguments = &aggregate["inputSchema"]["properties"];
    assert_eq!(arguments["metric"]["enum"], json!(["count", "sum", "min", "max", "count_distinct"]));
    let granularities = json!(["minute", "hour", "day", "week", "month", "quarter", "year"]);
    assert_eq!(arguments["granularity"]["enum"], granularities);
}

/// A whole number is an integer to JSON Schema however it is written, so a call that fits the schema is taken.
#[tokio::test]
async fn whole_numbers_are_integers_however_they_are_written() {
    let fake = Fake::start(|_| Reply::json(&json!({"object": "list", "has_more": false, "data": []}))).await;
    let mut host = Host::connect(&fake).await;
    for limit in ["5", "5.0", "5e0", "0.5e1"] {
        let arguments: Value = serde_json::from_str(&format!(
            r#"{{"stream":"messages","limit":{limit},
            "expand":["author"],"expand_limit":{{"author":{limit}}}}}"#
        ))
        .unwrap();
        let result = host.call("query_records", arguments).await;
        assert!(!result.is_error, "{limit}: {}", result.text);
        let seen = fake.last();
        assert_eq!(seen.param("limit"), Some("5"), "{limit}");
        assert_eq!(seen.param("expand_limit[author]"), Some("5"), "{limit}");
    }
    fake.forget();
    for (limit, reason) in [
        ("5.5", "expected an integer"),
        ("1e300", "expected an integer"),
        ("0.0", "too_small"),
        ("-5.0", "too_small"),
        ("101.0", "too_big"),
        ("\"5\"", "expected an integer"),
    ] {
        let arguments = format!(r#"{{"stream":"messages","limit":{limit}}}"#);
        let result = host.call("query_records", serde_json::from_str(&arguments).unwrap()).await;
        assert!(result.is_error && result.text.contains(reason), "{limit}: {}", result.text);
    }
    let half: Value = json!({"stream": "messages", "expand_limit": {"author": 2.5}});
    assert_eq!(host.call("query_records", half).await.code(), "invalid_expand");
    assert_eq!(fake.seen(), []);
}
