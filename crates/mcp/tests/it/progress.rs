//! Progress: a call that takes several requests says so to clients that asked, in both eras and over both transports.

use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use pdpp_client::{Bearer, Client, FixedBearer, Limits, ProviderUrl};
use pdpp_mcp::{Adapter, HttpEndpoint, Settings};
use serde_json::{Value, json};

use crate::samples::PROSE;
use crate::support::{Fake, Host, Reply};

/// Fat records, so that a page is asked for twice; and a schema with relations, so that expanding takes two more.
async fn server() -> Fake {
    Fake::start(|seen| {
        if seen.path == "/v1/schema" {
            let relation = json!({"name": "author", "target_stream": "users"});
            return Reply::json(&json!({"streams": [{"name": "messages", "expand_capabilities": [relation]}]}));
        }
        let limit = seen.param("limit").and_then(|limit| limit.parse().ok()).unwrap_or(25);
        let row = |n: usize| json!({"id": format!("m{n}"), "stream": "messages", "data": {"text": PROSE.repeat(20)}});
        Reply::json(&json!({"data": (0..limit).map(row).collect::<Vec<_>>(), "has_more": true, "next_cursor": "c"}))
    })
    .await
}

fn adapter(fake: &Fake) -> Adapter {
    let bearer = Arc::new(FixedBearer(Bearer::new("client-token-of-the-tests")));
    let url = ProviderUrl::parse(&fake.url).unwrap();
    Adapter::new(Client::http(&url, bearer, Limits::default()).unwrap(), Settings::default())
}

fn modern(mut meta: Value) -> Value {
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "tests", "version": "1"});
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    meta
}

fn call(arguments: Value, meta: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call",
        "params": {"name": "query_records", "arguments": arguments, "_meta": meta}})
}

/// The progress that was reported under a token before the answer.
#[track_caller]
fn reported(messages: &[Value], token: &Value) -> Vec<f64> {
    let (answer, reports) = messages.split_last().unwrap();
    assert!(answer["result"]["isError"] != true && answer["id"] == 77, "{answer}");
    let progress = |report: &Value| {
        assert_eq!(report["method"], "notifications/progress");
        assert_eq!(&report["params"]["progressToken"], token);
        assert!(report["params"]["message"].as_str().unwrap().contains("request"));
        report["params"]["progress"].as_f64().unwrap()
    };
    reports.iter().map(progress).collect()
}

async fn over_lines(host: &mut Host, message: Value) -> Vec<Value> {
    host.send_line(&message.to_string()).await;
    let mut messages = Vec::new();
    loop {
        messages.push(host.receive().await);
        if messages.last().unwrap()["id"] == 77 {
            return messages;
        }
    }
}

#[tokio::test]
async fn further_requests_are_reported_over_lines_in_both_eras() {
    let fake = server().await;
    let arguments = json!({"stream": "messages", "expand": ["author"]});
    let mut older = Host::before(adapter(&fake)).await;
    let messages = over_lines(&mut older, call(arguments.clone(), json!({"progressToken": "t-1"}))).await;
    assert_eq!(reported(&messages, &json!("t-1")), [1.0, 2.0]);
    let mut newer = Host::silent(adapter(&fake));
    let messages = over_lines(&mut newer, call(arguments.clone(), modern(json!({"progressToken": 5})))).await;
    assert_eq!(reported(&messages, &json!(5)), [1.0, 2.0]);
    let silent = over_lines(&mut newer, call(arguments, modern(json!({})))).await;
    assert_eq!(silent.len(), 1, "who gave no token hears nothing");
}

#[tokio::test]
async fn one_request_has_no_progress_to_report() {
    let fake = server().await;
    let mut host = Host::before(adapter(&fake)).await;
    let message = call(json!({"stream": "messages", "limit": 1}), json!({"progressToken": "t"}));
    assert_eq!(over_lines(&mut host, message).await.len(), 1);
}

async fn over_http(fake: &Fake, message: &Value, version: &str) -> (String, String) {
    let request = http::Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", version)
        .header("mcp-method", "tools/call")
        .header("mcp-name", "query_records")
        .body(Full::new(bytes::Bytes::from(message.to_string())))
        .unwrap();
    let endpoint = HttpEndpoint::new(["http://localhost:*"]);
    let answer = endpoint.answer(adapter(fake), request).await;
    let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (kind, String::from_utf8(body.to_vec()).unwrap())
}

/// Ruling: JSON unless a call emits progress.
#[tokio::test]
async fn progress_over_http_turns_the_answer_into_events() {
    let fake = server().await;
    let arguments = json!({"stream": "messages", "expand": ["author"]});
    for (meta, version) in [
        (json!({"progressToken": "t-1"}), "2025-11-25"),
        (modern(json!({"progressToken": "t-1"})), "2026-07-28"),
    ] {
        let (kind, body) = over_http(&fake, &call(arguments.clone(), meta), version).await;
        assert!(kind.starts_with("text/event-stream"), "{version} {kind}: {body}");
        let messages: Vec<Value> = body
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok())
            .collect();
        assert_eq!(reported(&messages, &json!("t-1")), [1.0, 2.0]);
        let one = call(
            json!({"stream": "messages", "limit": 1}),
            if version == "2026-07-28" {
                modern(json!({"progressToken": 1}))
            } else {
                json!({"progressToken": 1})
            },
        );
        let (kind, body) = over_http(&fake, &one, version).await;
        assert!(kind.starts_with("application/json"), "{version} {kind}: {body}");
    }
}

/// A batch has one answer, so there is nowhere to report to, and no answer is lost.
#[tokio::test]
async fn a_batch_over_http_keeps_its_answers() {
    let fake = server().await;
    let batch = json!([call(json!({"stream": "messages"}), json!({"progressToken": "t"}))]);
    let (kind, body) = over_http(&fake, &batch, "2025-03-26").await;
    assert!(kind.starts_with("application/json"), "{kind}: {body}");
    let answers: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answers[0]["id"], 77, "{answers}");
}
