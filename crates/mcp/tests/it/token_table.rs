//! What each tool costs, on answers of the shapes our own server sends. The table stands in the reference and is
//! compared here; `UPDATE_EXPECT=1` writes it anew.

use std::fmt::Write as _;

use expect_test::expect_file;
use serde_json::{Value, json};

use crate::field_window::windows_of;
use crate::support::{Fake, Host, Reply, Seen};

const SENTENCE: &str =
    "We moved the boat to the north quay, and the winter storage is paid until the end of March. ";

fn record(number: usize) -> Value {
    let key = format!("m_{number:04}");
    json!({"object": "record", "id": key, "record_key": key, "result_id": format!("cin_5f1c0a9be2d44e07/messages:{key}"),
        "stream": "messages", "connector_id": "harbour-chat", "connection_id": "cin_5f1c0a9be2d44e07",
        "connector_instance_id": "cin_5f1c0a9be2d44e07", "display_name": "Harbour chat",
        "emitted_at": "2025-09-01T16:12:00Z",
        "data": {"id": key, "channel_id": "c_harbour", "author": "Ana", "text": SENTENCE.repeat(3), "stars": number,
            "sent_at": "2025-09-01T16:07:00Z"}})
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
            "preview_text": format!("We moved the boat to the north quay, and the <mark>winter</mark> <mark>storage</mark> is paid until the end of March. {}", SENTENCE),
            "start_chars": 0, "end_chars": 186, "match": [{"start_chars": 46, "end_chars": 60}], "total_chars": 279,
            "truncated": true, "provenance": "lexical_match",
            "read": {"object": "field_window_read", "method": "GET",
                "route": format!("/v1/streams/messages/records/{key}/field-window"), "stream": "messages",
                "record_id": key, "field": "text", "connection_id": "cin_5f1c0a9be2d44e07", "offset_chars": 0,
                "limit_chars": 4096}}]})
}

fn script(seen: &Seen) -> Reply {
    let limit = seen.param("limit").and_then(|limit| limit.parse().ok()).unwrap_or(25);
    match seen.path.as_str() {
        "/v1/search" => Reply::json(
            &json!({"object": "list", "url": "/v1/search", "data": (0..limit).map(hit).collect::<Vec<_>>(),
            "has_more": true, "next_cursor": "c".repeat(160), "links": {"self": "/v1/search"},
            "meta": {"count": 40, "count_accuracy": "exact", "recall": {"complete": true, "ranking_scope": "all_matches",
                "truncated": false, "ranked_candidate_count": 40, "sources_searched_count": 1},
                "index": {"state": "current"}, "sources": [{"connection_id": "cin_5f1c0a9be2d44e07", "stream": "messages", "count": 40}],
                "warnings": []}}),
        ),
        "/v1/streams" => {
            Reply::json(&json!({"object": "list", "data": [{"object": "stream", "name": "messages",
            "connection_id": "cin_5f1c0a9be2d44e07", "connector_key": "harbour-chat", "display_name": "Harbour chat",
            "record_count": 240}]}))
        }
        "/v1/schema" => Reply::json(
            &json!({"object": "schema", "bearer": {"kind": "client"}, "connectors": [{"connector_key": "harbour-chat",
            "display_name": "Harbour chat", "stream_count": 1,
            "granted_connections": [{"connection_id": "cin_5f1c0a9be2d44e07", "display_name": "Harbour chat"}],
            "streams": [{"name": "messages", "primary_key": ["id"], "cursor_field": "sent_at", "field_capabilities": {
                "id": "t=string,eq", "author": "t=string,role=actor,eq,a=group_by", "text": "t=string,role=body,lex",
                "sent_at": "t=timestamp,role=event-time,r=gte|gt|lte|lt,a=group_by_time"}}]}]}),
        ),
        path if path.ends_with("/records") => {
            Reply::json(&json!({"object": "list", "url": path, "has_more": true,
            "next_cursor": "c".repeat(160), "data": (0..limit).map(record).collect::<Vec<_>>(), "links": {"self": path},
            "meta": {"warnings": []}}))
        }
        path if path.ends_with("/aggregate") => {
            Reply::json(&json!({"object": "aggregation", "stream": "messages", "metric": "count",
            "group_by": "author", "groups": [{"key": "Ana", "count": 90}, {"key": "Bruno", "count": 80}, {"key": "Emre", "count": 70}],
            "filtered_record_count": 240, "other_count": 0}))
        }
        path if path.starts_with("/v1/blobs/") => Reply::bytes(200, "text/plain", SENTENCE.repeat(100)),
        path if path.ends_with("/field-window") => windows_of(&SENTENCE.repeat(200))(seen),
        _ => Reply::json(&record(1)),
    }
}

#[tokio::test]
async fn the_cost_of_each_tool_is_in_the_reference() {
    let bpe = tiktoken_rs::o200k_base_singleton();
    let fake = Fake::start(script).await;
    let mut host = Host::connect(&fake).await;
    let mut page = String::from(
        "# What MCP results cost\n\nMeasured by a test (`crates/mcp/tests/it/token_table.rs`) on answers of the shapes our own server \
         sends: chat messages of 279 characters, excerpts of 186, a text field of 18,600. Tokens are o200k. The budgets: text \
         at most 2,500 tokens, a whole result at most 9,000.\n\n\
         | Call | Text, bytes | Text, tokens | Structured, bytes | Structured, tokens | Whole, tokens |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let tools = Value::from(host.tools().await).to_string();
    let list = bpe.encode_ordinary(&tools).len();
    for (tool, arguments) in [
        ("schema", json!({})),
        ("schema", json!({"stream": "messages"})),
        ("list_streams", json!({})),
        ("search", json!({"q": "winter storage", "limit": 3})),
        ("search", json!({"q": "winter storage"})),
        ("query_records", json!({"stream": "messages", "limit": 5})),
        ("query_records", json!({"stream": "messages"})),
        ("aggregate", json!({"stream": "messages", "metric": "count", "group_by": "author"})),
        ("fetch", json!({"id": "cin_5f1c0a9be2d44e07/messages:m_0001"})),
        ("read_record_field", json!({"id": "cin_5f1c0a9be2d44e07/messages:m_0001", "field_path": "text"})),
        ("fetch_blob", json!({"blob_id": "blob_7"})),
    ] {
        let result = host.call(tool, arguments.clone()).await;
        assert!(!result.is_error, "{tool}: {}", result.text);
        let content = with_one_tag(&result.raw["content"].to_string());
        let structured = result.structured.to_string();
        let count = |text: &str| bpe.encode_ordinary(text).len();
        let (text_tokens, structured_tokens) = (count(&content), count(&structured));
        assert!(text_tokens <= 2_500 && text_tokens + structured_tokens <= 9_000, "{tool} {arguments}");
        let _ = writeln!(
            page,
            "| `{tool}` `{arguments}` | {} | {text_tokens} | {} | {structured_tokens} | {} |",
            content.len(),
            structured.len(),
            text_tokens + structured_tokens
        );
    }
    let _ = writeln!(
        page,
        "\n`tools/list` with all fifteen tools: {} bytes, {list} tokens (at most 16,384 bytes, 4,000 tokens).",
        tools.len()
    );
    assert!(tools.len() <= 16_384 && list <= 4_000);
    expect_file!["../../../../docs/reference/mcp-tokens.md"].assert_eq(&page);
}

/// The frame around field text is marked with a word that differs from run to run; the table must not.
fn with_one_tag(content: &str) -> String {
    let Some((_, rest)) = content.split_once("--- field text ") else { return content.to_owned() };
    content.replace(&rest[..16], "0123456789abcdef")
}
