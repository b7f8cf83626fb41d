//! The content ladder of records: kinds, sizes, and the call for each field.

use pdpp_mcp::{Settings, ToolSet};
use serde_json::{Value, json};

use crate::budget::assert_within_budget;
use crate::samples::base64_png;
use crate::support::{CallResult, Fake, Host};

fn page() -> Value {
    json!({"object": "list", "data": [{"object": "record", "id": "m1", "stream": "messages", "connection_id": "cin_a", "data": {
        "id": "m1",
        "text": "Some words to read.",
        "status": "paid",
        "user": {"id": "U1", "url": "https://x.test/u1", "name": "Anna"},
        "image_data": base64_png(280),
        "image_blob": {"blob_id": "blob_7", "mime_type": "image/png", "size_bytes": 9000, "sha256": "ab12"},
        "files": [{"name": "a", "thumb": base64_png(280)}],
    }}]})
}

async fn query(settings: Settings) -> CallResult {
    let fake = Fake::always(page()).await;
    let mut host = Host::with_settings(&fake, settings).await;
    let result = host.call("query_records", json!({"stream": "messages"})).await;
    assert!(!result.is_error, "{}", result.text);
    assert_within_budget(&result);
    result
}

/// S1-R4, S3-R3: each field by its kind, with its size and its call.
#[tokio::test]
async fn each_field_has_its_kind_and_its_call() {
    let result = query(Settings::default()).await;
    let ladder = &result.structured["content_ladder"];
    assert_eq!(
        (ladder["kind"].as_str(), ladder["read_tool"].as_str()),
        (Some("record_set"), Some("read_record_field"))
    );
    let entry = &ladder["records"][0];
    assert_eq!(entry["id"], "cin_a/messages:m1");
    assert_eq!((entry["stream"].as_str(), entry["record_id"].as_str()), (Some("messages"), Some("m1")));
    assert_eq!(entry["handle_semantics"], "live_lookup");
    assert_eq!(
        entry["field_windows"],
        json!([{"field_path": "text", "text_like": true, "preview_status": "complete",
        "size_chars": 19, "read": {"tool": "read_record_field", "args":
            {"id": "cin_a/messages:m1", "field_path": "text", "offset_chars": 0, "limit_chars": 4096}}}])
    );
    let names: Vec<&Value> =
        entry["json_fields"].as_array().unwrap().iter().map(|field| &field["field_path"]).collect();
    assert_eq!(names, ["user", "files"]);
    assert_eq!(
        entry["json_fields"][0]["read"],
        json!({"tool": "fetch", "args": {"id": "cin_a/messages:m1", "fields": ["user"]}})
    );
    assert!(!result.visible().contains("record_uri"));
}

/// S3-R3-S2: bytes show kind, size and the way to them; the bytes themselves are in neither half.
#[tokio::test]
async fn bytes_are_metadata_with_a_call() {
    let result = query(Settings::default()).await;
    let body = base64_png(280);
    assert!(!result.visible().contains(&body[..40]));
    let fields = &result.structured["content_ladder"]["records"][0]["binary_fields"];
    assert_eq!(fields[0]["field_path"], "image_data");
    assert_eq!(
        (fields[0]["mime_type"].as_str(), fields[0]["size_bytes"].as_u64()),
        (Some("image/png"), Some(288))
    );
    assert_eq!(
        fields[0]["export"],
        "GET /v1/streams/messages/records/m1?fields=image_data&connection_id=cin_a"
    );
    assert_eq!(
        fields[1]["read"],
        json!({"tool": "fetch_blob", "args": {"blob_id": "blob_7", "connection_id": "cin_a"}})
    );
    assert_eq!(fields[2]["field_path"], "files.0.thumb");
    assert_eq!(
        result.structured["binary_redacted"],
        json!(["data.0.data.image_data", "data.0.data.files.0.thumb"])
    );
    for line in [
        "record[0] binary-only field_path=image_data mime_type=image/png size_bytes=288 metadata only; export=GET /v1/streams/messages/records/m1?fields=image_data",
        r#"record[0] binary-only field_path=image_blob mime_type=image/png size_bytes=9000 fetch_blob args={"blob_id":"blob_7","connection_id":"cin_a"}"#,
        "record[0] more_binary_fields=1",
    ] {
        assert!(result.text.contains(line), "{}", result.text);
    }
    // Ordinary objects with an id or a url are no blobs.
    assert!(
        result.text.contains(r#""user":{"id":"U1","url":"https://x.test/u1","name":"Anna"}"#),
        "{}",
        result.text
    );
}

/// S3-R3-S2: where the blob tool is not listed, nothing names it.
#[tokio::test]
async fn an_unlisted_tool_is_not_named() {
    let result = query(Settings { tools: ToolSet::Read, ..Settings::default() }).await;
    assert!(!result.visible().contains("fetch_blob"), "{}", result.text);
    assert!(result.text.contains("binary-only field_path=image_blob"), "{}", result.text);
}

/// S1-R4-S1: a record with a huge text, inline bytes and a stored blob at once.
#[tokio::test]
async fn a_record_of_all_large_kinds_is_bounded_and_leads_on() {
    let mut body = page();
    body["data"][0]["data"]["text"] = "word after word ".repeat(131_072).into();
    let fake = Fake::always(body).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "messages"})).await;
    assert_within_budget(&result);
    assert!(!result.visible().contains(&base64_png(280)[..40]));
    for part in [
        "record[0] truncated chars=",
        "\"field_path\":\"text\"",
        "fetch_blob args=",
        "size_bytes=9000",
        "image/png",
        "binary-only",
    ] {
        assert!(result.text.contains(part), "{part}: {}", result.text);
    }
    assert_eq!(result.structured["truncated_fields"][0]["total_chars"], 2_097_152);
    let fetched = host.call("fetch", json!({"id": "cin_a/messages:m1"})).await;
    assert!(!fetched.is_error);
}

/// W5: without an identity there is no entry, and without entries no ladder.
#[tokio::test]
async fn rows_without_identity_have_no_ladder() {
    let fake = Fake::always(json!({"data": [{"amount": 1}, {"amount": 2}]})).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "orders"})).await;
    assert!(result.structured.get("content_ladder").is_none());
    assert!(
        !result.text.contains("ids:") && result.text.contains(r#"record[1] {"amount":2}"#),
        "{}",
        result.text
    );
}
