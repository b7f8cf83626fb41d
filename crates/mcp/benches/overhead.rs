//! Measures what the adapter adds to a read: tool calls over lines, before a server of the same process that answers
//! at once from memory. What is left is the adapter's own work. The name of a call measures that call alone.

#![expect(clippy::print_stdout, reason = "printing the table is what a benchmark is for")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on stops")]

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use pdpp_client::{Bearer, Client, FixedBearer, InProcess, Limits};
use pdpp_mcp::{Adapter, Settings, serve_lines};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt as _};

const ROUNDS: usize = 1_000;
const WARM_UP: usize = 50;
const SENTENCE: &str = "We moved the boat to the north quay, and the winter storage is paid until March. ";

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(measure());
}

async fn measure() {
    let (service, asked) = server();
    let bearer = Arc::new(FixedBearer(Bearer::new("bench")));
    let client = Client::in_process(service, "http://127.0.0.1:7663", bearer, Limits::default());
    let (ours, theirs) = tokio::io::duplex(1024 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(serve_lines(Adapter::new(client, Settings::default()), reader, writer));
    let (reader, mut writer) = tokio::io::split(ours);
    let mut reader = BufReader::new(reader);
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}});
    let calls = [
        ("ping", json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})),
        (
            "page of 25, two fields",
            call("query_records", json!({"stream": "messages", "fields": ["id", "author"]})),
        ),
        ("page, all fields", call("query_records", json!({"stream": "messages"}))),
        ("search", call("search", json!({"q": "winter storage", "limit": 10}))),
        ("search of 3", call("search", json!({"q": "winter storage", "limit": 3}))),
        ("fetch", call("fetch", json!({"id": "cin_5f1c0a9be2d44e07/messages:m_0001"}))),
    ];
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    println!("| Call | Median | Least | Requests | Result |\n| --- | ---: | ---: | ---: | ---: |");
    for (name, message) in [("", hello)].into_iter().chain(calls) {
        if !name.is_empty() && only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let mut times = Vec::new();
        let (mut line, mut requests) = (String::new(), 0);
        let rounds = if name.is_empty() { 1 } else { ROUNDS };
        for _ in 0..rounds {
            line.clear();
            let before = asked.load(Ordering::Relaxed);
            let start = Instant::now();
            writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
            reader.read_line(&mut line).await.unwrap();
            times.push(start.elapsed());
            requests = asked.load(Ordering::Relaxed) - before;
        }
        assert!(!line.contains("\"isError\":true"), "{line}");
        if !name.is_empty() {
            let least = times.iter().min().map_or(0, Duration::as_micros);
            println!(
                "| {name} | {} µs | {least} µs | {requests} | {} bytes |",
                median(&times).as_micros(),
                line.len()
            );
        }
    }
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.iter().skip(WARM_UP).copied().collect::<Vec<_>>();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A server that makes each answer once, and counts.
fn server() -> (InProcess, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let known = Arc::new(Mutex::new(HashMap::<String, Bytes>::new()));
    let service = tower::service_fn(move |request: http::Request<Full<Bytes>>| {
        counted.fetch_add(1, Ordering::Relaxed);
        let target = request.uri().to_string();
        let body = known.lock().unwrap().entry(target).or_insert_with_key(|target| answer(target)).clone();
        let response = http::Response::builder()
            .header("content-type", "application/json")
            .header("request-id", "req_0123456789abcdef")
            .body(Full::new(body).map_err(|never: Infallible| match never {}).boxed_unsync())
            .unwrap();
        async move { Ok::<_, BoxError>(response) }
    });
    (BoxCloneSyncService::new(service.map_err(BoxError::from)), asked)
}

fn answer(target: &str) -> Bytes {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let limit =
        query.split('&').find_map(|pair| pair.strip_prefix("limit=")).map_or(25, |n| n.parse().unwrap());
    let page = |rows: Vec<Value>, meta: Value| {
        json!({"object": "list", "url": path, "has_more": true, "next_cursor": "c".repeat(160), "data": rows,
            "links": {"self": path}, "meta": meta})
    };
    let body = if path == "/v1/search" {
        let meta = json!({"count": 40, "count_accuracy": "exact", "recall": {"complete": true, "ranking_scope": "all_matches",
            "truncated": false, "ranked_candidate_count": 40, "sources_searched_count": 1}, "index": {"state": "current"},
            "sources": [{"connection_id": "cin_5f1c0a9be2d44e07", "stream": "messages", "count": 40}], "warnings": []});
        page((0..limit).map(hit).collect(), meta)
    } else if path.ends_with("/records") {
        page((0..limit).map(|n| record(n, query.contains("fields="))).collect(), json!({"warnings": []}))
    } else {
        record(1, false)
    };
    body.to_string().into()
}

fn record(number: usize, projected: bool) -> Value {
    let key = format!("m_{number:04}");
    let data = if projected {
        json!({"id": key, "author": "Ana"})
    } else {
        json!({"id": key, "author": "Ana", "text": SENTENCE.repeat(3), "sent_at": "2025-09-01T16:07:00Z"})
    };
    json!({"object": "record", "id": key, "stream": "messages", "data": data, "emitted_at": "2025-09-01T16:12:00Z",
        "result_id": format!("cin_5f1c0a9be2d44e07/messages:{key}"), "connector_instance_id": "cin_5f1c0a9be2d44e07",
        "connection_id": "cin_5f1c0a9be2d44e07", "display_name": "Harbour chat"})
}

fn hit(number: usize) -> Value {
    let key = format!("m_{number:04}");
    json!({"object": "search_result", "stream": "messages", "record_key": key,
        "result_id": format!("cin_5f1c0a9be2d44e07/messages:{key}"), "connector_id": "harbour-chat",
        "connection_id": "cin_5f1c0a9be2d44e07", "connector_instance_id": "cin_5f1c0a9be2d44e07",
        "display_name": "Harbour chat", "emitted_at": "2025-09-01T16:12:00Z", "authored_at": "2025-09-01T16:07:00Z",
        "record_url": format!("/v1/streams/messages/records/{key}?connection_id=cin_5f1c0a9be2d44e07"),
        "matched_fields": ["text"], "evidence": "lexical_match",
        "score": {"kind": "bm25", "value": 11.25, "order": "higher_is_better"},
        "evidence_excerpts": [{"object": "evidence_excerpt", "field_path": "text",
            "preview_text": format!("The <mark>winter</mark> <mark>storage</mark> is paid. {SENTENCE}{SENTENCE}"),
            "start_chars": 0, "end_chars": 186, "match": [{"start_chars": 46, "end_chars": 60}], "total_chars": 279,
            "truncated": true, "provenance": "lexical_match",
            "read": {"object": "field_window_read", "method": "GET",
                "route": format!("/v1/streams/messages/records/{key}/field-window"), "stream": "messages",
                "record_id": key, "field": "text", "connection_id": "cin_5f1c0a9be2d44e07", "offset_chars": 0,
                "limit_chars": 4096}}]})
}
