//! The content ladder of records: kinds, sizes, and the call for each field.

use std::collections::BTreeMap;

use pdpp_mcp::{Settings, ToolSet};
use serde_json::{Map, Value, json};

use crate::budget::{assert_within_budget, tokens};
use crate::samples::{PROSE, base64_png};
use crate::support::{CallResult, Fake, Host, Reply};

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

/// S3-R3-S2, S1-R2: where the blob tool is not listed, nothing names it, and the blob's own route leads on.
#[tokio::test]
async fn an_unlisted_tool_is_not_named() {
    let result = query(Settings { tools: ToolSet::Read, ..Settings::default() }).await;
    assert!(!result.visible().contains("fetch_blob"), "{}", result.text);
    assert!(result.text.contains("binary-only field_path=image_blob"), "{}", result.text);
    let export = "GET /v1/blobs/blob_7?connection_id=cin_a";
    assert!(result.text.contains(&format!("export={export}")), "{}", result.text);
    assert_eq!(result.structured["content_ladder"]["records"][0]["binary_fields"][1]["export"], export);
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

/// The statuses of the ladder's fields, by name.
fn statuses(entry: &Value) -> BTreeMap<String, String> {
    ["field_windows", "json_fields"]
        .iter()
        .flat_map(|kind| entry[kind].as_array().into_iter().flatten())
        .map(|field| {
            [&field["field_path"], &field["preview_status"]].map(|it| it.as_str().unwrap().to_owned())
        })
        .map(|[name, status]| (name, status))
        .collect()
}

fn of_fields(data: &Value) -> Value {
    json!({"object": "record", "id": "m1", "stream": "messages", "connection_id": "cin_a", "data": data})
}

/// S1-R4-S1, S3-R3: of a record that had to be cut, the ladder calls complete only what is shown whole.
#[tokio::test]
async fn a_cut_field_is_not_called_complete() {
    let data = json!({"text": "word after word ".repeat(131_072), "note": "A few words.", "lines": vec![PROSE; 400], "tags": ["a", "b"]});
    let fake = Fake::always(json!({"object": "list", "data": [of_fields(&data)]})).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("query_records", json!({"stream": "messages"})).await;
    assert_within_budget(&result);
    let statuses = statuses(&result.structured["content_ladder"]["records"][0]);
    let shown = &result.structured["data"]["data"][0]["data"];
    for (name, status) in &statuses {
        let whole = shown[name] == data[name];
        assert_eq!(status, if whole { "complete" } else { "truncated" }, "{name}");
    }
    assert_eq!((&*statuses["text"], &*statuses["note"]), ("truncated", "complete"));
}

/// S1-R4-S1, S3-R3: the ladder of a document calls complete only what the document, or the ladder, shows whole.
#[tokio::test]
async fn a_document_calls_complete_only_what_it_shows() {
    let mut overflowing = json!({"title": format!("{}end", PROSE.repeat(4)), "text": PROSE.repeat(27_000), "note": "A few words."});
    for n in 0..9 {
        overflowing[format!("long{n}")] = format!("{}{n}", PROSE.repeat(60)).into();
        overflowing[format!("lines{n}")] = vec![json!({"sku": n, "words": PROSE}); 30].into();
    }
    let small = json!({"text": "All of it.", "note": "A few words.", "lines": [{"sku": 1, "words": PROSE}], "tags": vec!["a tag"; 120]});
    for (data, complete) in [
        (overflowing, vec!["note"]),
        (small, vec!["lines", "note", "text"]),
        (json!({"tags": vec!["a tag"; 60]}), vec!["tags"]),
        (json!({"tags": vec!["a tag"; 600]}), vec![]),
    ] {
        let fake = Fake::always(of_fields(&data)).await;
        let mut host = Host::connect(&fake).await;
        let result = host.call("fetch", json!({"id": "cin_a/messages:m1"})).await;
        assert!(tokens(&result.raw.to_string()) <= 9_000);
        let ladder = &result.structured["content_ladder"];
        let found: Vec<String> = statuses(ladder)
            .into_iter()
            .filter(|(_, status)| status == "complete")
            .map(|(name, _)| name)
            .collect();
        assert_eq!(found, complete, "{ladder}");
        for name in found {
            let metadata = &result.structured["metadata"];
            let omitted =
                metadata["omitted_fields"].as_array().is_some_and(|it| it.contains(&name.clone().into()));
            assert!(!omitted, "{name} is omitted, and complete: {metadata}");
        }
    }
}

/// S1-R4: names of any length do not make a ladder that crowds out its page.
#[tokio::test]
async fn names_of_any_length_cost_no_more_than_their_share() {
    let named = |length: usize| -> Value {
        let name = |n: usize| format!("{n}{}", "Qx7-".repeat(length / 4));
        (0..40).map(|n| (name(n), json!([PROSE]))).collect::<Map<_, _>>().into()
    };
    for length in [100, 190, 10_000] {
        let fake = Fake::always(json!({"object": "list", "data": [of_fields(&named(length))]})).await;
        let mut host = Host::connect(&fake).await;
        let result = host.call("query_records", json!({"stream": "messages"})).await;
        assert!(!result.is_error, "{}", result.text);
        let ladder = tokens(&result.structured["content_ladder"].to_string());
        assert!(ladder <= 1_250, "{length}: {ladder}");
    }
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

/// S1-R2: servers take a list of fields apart at commas, so that a name with one is read by window, or with its record.
#[tokio::test]
async fn a_name_with_a_comma_stands_in_no_list_of_fields() {
    let data = json!({"g,h": vec!["a tag"; 30], "note": "x"});
    let whole = data.clone();
    let fake = Fake::start(move |seen| {
        let row = |connection: &str| {
            let mut row = json!({"object": "record", "id": "m1", "stream": "messages", "data": whole});
            if !connection.is_empty() {
                row["connection_id"] = connection.into();
            }
            row
        };
        let split = seen.params("fields").iter().any(|list| list.contains(','));
        match seen.path.as_str() {
            _ if split => Reply::error(400, "unknown_field", "There is no field 'g'."),
            "/v1/schema" => Reply::json(&json!({"streams": [{"name": "messages"}]})),
            path if path.ends_with("/field-window") => {
                assert_eq!(seen.param("field"), Some("g,h"));
                Reply::json(&json!({"object": "field_window", "field": {"path": "g,h", "type": "json"},
                    "window": {"text": "[]", "start_chars": 0, "end_chars": 2, "total_chars": 2, "limit_chars": 4_096,
                        "complete": true, "has_more": false}}))
            }
            path if path.ends_with("/records") => Reply::json(&json!({"object": "list",
                "data": [row(seen.param("connection_id").unwrap_or_default())]})),
            _ => Reply::json(&row(seen.param("connection_id").unwrap_or_default())),
        }
    })
    .await;
    let mut host = Host::connect(&fake).await;
    for (tool, given, read) in [
        ("query_records", json!({"stream": "messages", "connection_id": "cin_a"}), "read_record_field"),
        ("query_records", json!({"stream": "messages"}), "fetch"),
        ("fetch", json!({"id": "cin_a/messages:m1"}), "read_record_field"),
        ("fetch", json!({"id": "messages:m1"}), "schema"),
    ] {
        let result = host.call(tool, given.clone()).await;
        let ladder = &result.structured["content_ladder"];
        let entry = if tool == "fetch" { ladder } else { &ladder["records"][0] };
        let call = &entry["json_fields"][0]["read"];
        assert_eq!(call["tool"], read, "{given}: {call}");
        let next = host.call(read, call["args"].clone()).await;
        assert!(!next.is_error, "{}", next.text);
    }
    // The text of a page whose record does not fit names the same field.
    let large = json!({"g,h": vec!["a tag of some words"; 4_000]});
    for (connection, read) in
        [(json!("cin_a"), "read_record_field args={"), (json!(null), "fetch args={\"id\":\"messages:m1\"}")]
    {
        let row = json!({"object": "record", "id": "m1", "stream": "messages", "connection_id": connection, "data": large});
        let fake = Fake::always(json!({"data": [row]})).await;
        let result = Host::connect(&fake).await.call("query_records", json!({"stream": "messages"})).await;
        assert!(result.text.contains(read) && !result.text.contains("\"fields\""), "{}", result.text);
    }
}

/// S1-R2: the same holds for every other call that would name such a field.
#[tokio::test]
async fn no_tool_prints_a_name_with_a_comma_in_a_list_of_fields() {
    let hit = json!({"object": "search_result", "stream": "orders", "record_key": "o1",
        "evidence_excerpts": [{"field_path": "g,h", "preview_text": "a quay", "truncated": true}]});
    let fake = Fake::start(move |seen| match seen.path.as_str() {
        "/v1/search" => Reply::json(&json!({"data": [hit]})),
        path if path.ends_with("/aggregate") => {
            Reply::json(&json!({"groups": [{"key": "a", "count": 2}], "other_count": 9}))
        }
        _ => Reply::error(422, "field_not_text", "The field holds no text."),
    })
    .await;
    let mut host = Host::connect(&fake).await;
    for (tool, given, printed) in [
        ("search", json!({"q": "quay"}), r#"read=fetch args={"id":"orders:o1"}"#),
        (
            "aggregate",
            json!({"stream": "orders", "metric": "count", "group_by": "g,h", "limit": 100}),
            r#"query_records args={"stream":"orders"}"#,
        ),
        (
            "read_record_field",
            json!({"id": "cin_a/orders:o1", "field_path": "g,h"}),
            r#""next_call":{"tool":"fetch","args":{"id":"cin_a/orders:o1"}}"#,
        ),
    ] {
        let result = host.call(tool, given).await;
        assert!(result.text.contains(printed), "{}", result.text);
    }
}
