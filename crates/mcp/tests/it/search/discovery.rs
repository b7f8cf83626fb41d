//! The tool as it is listed, its arguments, and the requests it makes.

use serde_json::json;

use super::{hit, list};
use crate::support::{Fake, Host, Reply};

#[tokio::test]
async fn the_description_says_what_clients_look_for() {
    let fake = Fake::always(json!({})).await;
    let tools = Host::connect(&fake).await.tools().await;
    let tool = tools.iter().find(|tool| tool["name"] == "search").unwrap();
    let description = tool["description"].as_str().unwrap();
    for word in [
        "Read-only",
        "/v1/search",
        "/v1/schema",
        "capped at 100",
        "cursor",
        "connection_id",
        "connector_key",
        "self-contained",
        "fetch",
        "aggregate",
    ] {
        assert!(description.contains(word), "{word}");
    }
    assert!(!description.contains("200"));
    assert_eq!(tool["title"], "Search PDPP records");
    assert_eq!(tool["inputSchema"]["properties"]["limit"]["maximum"], 100);
    assert_eq!(tool["inputSchema"]["properties"]["mode"]["enum"], json!(["lexical", "semantic", "hybrid"]));
    assert_eq!(tool["inputSchema"]["required"], json!(["q"]));
    assert!(tool.to_string().len() < 1_300, "{}", tool.to_string().len());
}

#[tokio::test]
async fn every_argument_reaches_the_server() {
    let fake = Fake::always(list(&[])).await;
    let mut host = Host::connect(&fake).await;
    let filter = json!({"status": "paid", "total": 5, "open": true, "sent_at": {"gte": "2026-01-01", "lt": "2026-02-01"}});
    host.call(
        "search",
        json!({"q": "a & b", "streams": ["m", "n"], "limit": 7, "cursor": "p 2", "filter": filter,
        "connection_id": "cin_a"}),
    )
    .await;
    let seen = fake.last();
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("GET", "/v1/search"));
    let mut query = seen.query.clone();
    query.sort();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        query,
        [
            pair("connection_id", "cin_a"),
            pair("cursor", "p 2"),
            pair("filter[open]", "true"),
            pair("filter[sent_at][gte]", "2026-01-01"),
            pair("filter[sent_at][lt]", "2026-02-01"),
            pair("filter[status]", "paid"),
            pair("filter[total]", "5"),
            pair("limit", "7"),
            pair("q", "a & b"),
            pair("streams", "m"),
            pair("streams", "n"),
        ]
    );
}

/// Each mode has its route; a mode that the server lacks is its error, and no other route is tried.
#[tokio::test]
async fn modes_never_fall_back() {
    let fake = Fake::start(|_| Reply::error(404, "mode_not_available", "no such mode")).await;
    let mut host = Host::connect(&fake).await;
    for (mode, path) in
        [("lexical", "/v1/search"), ("semantic", "/v1/search/semantic"), ("hybrid", "/v1/search/hybrid")]
    {
        fake.forget();
        let result = host.call("search", json!({"q": "x", "mode": mode})).await;
        assert!(result.is_error);
        assert_eq!(result.code(), "mode_not_available");
        let paths: Vec<String> = fake.seen().into_iter().map(|seen| seen.path).collect();
        assert_eq!(paths, [path]);
    }
}

#[tokio::test]
async fn wrong_arguments_make_no_request() {
    let fake = Fake::always(list(&[])).await;
    let mut host = Host::connect(&fake).await;
    for (arguments, wanted) in [
        (json!({}), "q"),
        (json!({"q": ""}), "q"),
        (json!({"q": "x", "limit": 200}), "less than or equal to 100"),
        (json!({"q": "x", "limit": 0}), "too_small"),
        (json!({"q": "x", "mode": "fuzzy"}), "mode"),
        (json!({"q": "x", "filter": "a=b"}), "object"),
        (json!({"q": "x", "filter": {}}), "filter"),
        (json!({"q": "x", "stream": "m"}), "Unrecognized key"),
    ] {
        let result = host.call("search", arguments.clone()).await;
        assert!(result.is_error && result.text.contains(wanted), "{arguments}: {}", result.text);
    }
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn ten_hits_are_asked_for_at_most() {
    let fake = Fake::always(list(&[hit("c", "m", "1")])).await;
    let mut host = Host::connect(&fake).await;
    for (limit, asked) in [(json!(null), "10"), (json!(3), "3"), (json!(100), "10")] {
        let result = host.call("search", json!({"q": "x", "limit": limit})).await;
        assert_eq!(fake.last().params("limit"), [asked]);
        let requested = limit.as_u64().unwrap_or(10);
        assert!(result.text.contains(&format!(" requested={requested} served=1.")), "{}", result.text);
    }
}
