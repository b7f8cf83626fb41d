//! `search`: the hits and calls that its tests share. One file a subject below.

mod budget;
mod discovery;
mod evidence;
mod hostile;
mod ids;
mod notes;
mod shapes;
mod text;

use serde_json::{Value, json};

use crate::support::{CallResult, Fake, Host};

/// A hit as our own server sends it.
fn hit(connection: &str, stream: &str, key: &str) -> Value {
    json!({
        "object": "search_result",
        "stream": stream,
        "record_key": key,
        "result_id": format!("{connection}/{stream}:{key}"),
        "connector_id": "slack",
        "connection_id": connection,
        "connector_instance_id": connection,
        "display_name": "Acme Slack",
        "emitted_at": "2026-04-21T00:00:00Z",
        "authored_at": "2026-04-20T14:23:13Z",
        "record_url": format!("/v1/streams/{stream}/records/{key}?connection_id={connection}"),
        "matched_fields": ["text"],
        "evidence": "lexical_match",
        "score": {"kind": "bm25", "value": 12.5, "order": "higher_is_better"},
    })
}

/// The same hit with a proven window.
fn proven(connection: &str, stream: &str, key: &str, preview: &str) -> Value {
    let mut hit = hit(connection, stream, key);
    hit["evidence_excerpts"] = json!([{
        "object": "evidence_excerpt",
        "field_path": "text",
        "preview_text": preview,
        "start_chars": 700,
        "end_chars": 900,
        "match": [{"start_chars": 780, "end_chars": 789}],
        "total_chars": 1500,
        "truncated": true,
        "provenance": "lexical_match",
        "read": {
            "object": "field_window_read",
            "method": "GET",
            "route": format!("/v1/streams/{stream}/records/{key}/field-window"),
            "stream": stream,
            "record_id": key,
            "field": "text",
            "connection_id": connection,
            "offset_chars": 268,
            "limit_chars": 4096,
        },
    }]);
    hit
}

const PREVIEW: &str = "…we move funds with <mark>Hyperlane</mark> or LayerZero, decision Friday…";

/// An answer as our own server sends it.
fn list(hits: &[Value]) -> Value {
    json!({
        "object": "list",
        "url": "/v1/search",
        "data": hits,
        "has_more": false,
        "links": {"self": "/v1/search?q=x"},
        "meta": {
            "count": hits.len(),
            "count_accuracy": "exact",
            "recall": {"complete": true, "ranking_scope": "all_matches", "truncated": false,
                "ranked_candidate_count": hits.len(), "sources_searched_count": 1},
            "index": {"state": "current"},
            "sources": [],
            "warnings": [],
        },
    })
}

/// Searches a server that always gives this answer.
async fn search(body: Value, arguments: Value) -> CallResult {
    let fake = Fake::always(body).await;
    Host::connect(&fake).await.call("search", arguments).await
}

/// Asks for one word of these hits.
async fn hits(hits: &[Value]) -> CallResult {
    search(list(hits), json!({"q": "Hyperlane"})).await
}

/// The argument objects printed in the text, with their tools, read as a careful client reads them: what stands in
/// quotes is no syntax.
fn calls(text: &str) -> Vec<(String, Value)> {
    text.lines().filter_map(call).collect()
}

fn call(line: &str) -> Option<(String, Value)> {
    let mut rest = line;
    loop {
        let (quote, call) = (rest.find("=\""), rest.find(" read="));
        if quote.is_some_and(|quote| call.is_none_or(|call| quote < call)) {
            let mut value = serde_json::Deserializer::from_str(&rest[quote? + 1..]).into_iter::<String>();
            value.next()?.expect("what is quoted is a JSON string");
            rest = &rest[quote? + 1 + value.byte_offset()..];
            continue;
        }
        let (tool, args) = rest[call? + " read=".len()..].split_once(" args=")?;
        return Some((tool.to_owned(), serde_json::from_str(args).expect("args end their line")));
    }
}

/// What the first `id=` of the text names.
fn first_id(text: &str) -> String {
    let (_, rest) = text.split_once("id=").expect("an id");
    if rest.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        return values.next().expect("a string").expect("a string");
    }
    rest.split_whitespace().next().expect("an id").to_owned()
}

fn tokens(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}
