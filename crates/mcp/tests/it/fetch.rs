//! `fetch`: the document, its text, its title, and what it leaves out.

mod related;

use pdpp_mcp::{Settings, ToolSet};
use serde_json::{Map, Value, json};

use crate::budget::{assert_within_budget, tokens};
use crate::samples::{PROSE, base64_png};
use crate::support::{CallResult, Fake, Host, Reply};

fn record(data: Value) -> Value {
    json!({"object": "record", "connector_key": "slack", "id": "m1", "stream": "messages", "data": data,
        "emitted_at": "2026-01-05T00:00:00Z", "connection_id": "cin_a", "display_name": "Acme Slack",
        "result_id": "cin_a/messages:m1", "links": {"self": "/v1/x"}, "meta": {"warnings": []}})
}

/// A server with this record, and a schema with these roles.
async fn server(data: Value, capabilities: Value) -> Fake {
    Fake::start(move |seen| match seen.path.as_str() {
        "/v1/schema" => Reply::json(&json!({"connectors": [
            {"streams": [{"name": "messages", "field_capabilities": capabilities}]}]})),
        _ => Reply::json(&record(data.clone())),
    })
    .await
}

async fn fetch(data: Value, capabilities: Value) -> CallResult {
    let fake = server(data, capabilities).await;
    let mut host = Host::connect(&fake).await;
    checked(host.call("fetch", json!({"id": "cin_a/messages:m1"})).await)
}

/// What holds for every document: both halves agree, one text block, no links, no URIs of ours.
fn checked(result: CallResult) -> CallResult {
    assert!(!result.is_error, "{}", result.text);
    let mut structured = result.structured.clone();
    assert_eq!(structured["content_ladder"]["kind"], "record");
    structured.as_object_mut().unwrap().remove("content_ladder");
    assert_eq!(serde_json::from_str::<Value>(&result.text).unwrap(), structured);
    assert!(!result.text.contains('\n'));
    assert_eq!(result.raw["content"].as_array().unwrap().len(), 1);
    assert!(
        !result.visible().contains("pdpp://record/") && !result.visible().contains("pdpp://field-window/")
    );
    assert!(tokens(&result.raw.to_string()) <= 9_000, "{}", tokens(&result.raw.to_string()));
    result
}

/// S0-R4: a document stands in the text, whole and inline, and the URI is for hosts only.
#[tokio::test]
async fn a_small_record_is_one_inline_document() {
    let data = json!({"id": "m1", "title": "Bridge", "text": "We move funds on Friday.", "user": "U1", "ts": 17.5, "pinned": true, "gone": null});
    let result = fetch(data, json!({})).await;
    assert_eq!(result.structured["id"], "cin_a/messages:m1");
    assert_eq!(result.structured["title"], "Bridge");
    assert_eq!(result.structured["text"], "We move funds on Friday.");
    let url = result.structured["url"].as_str().unwrap();
    assert!(
        url.starts_with("http://127.0.0.1")
            && url.ends_with("/v1/streams/messages/records/m1?connection_id=cin_a")
    );
    let metadata = &result.structured["metadata"];
    assert_eq!(metadata["fields"], json!({"user": "U1", "ts": 17.5, "pinned": true}));
    for (name, value) in [
        ("stream", "messages"),
        ("connection_id", "cin_a"),
        ("connector_key", "slack"),
        ("display_name", "Acme Slack"),
        ("emitted_at", "2026-01-05T00:00:00Z"),
        ("record_id", "m1"),
    ] {
        assert_eq!(metadata[name], value, "{metadata}");
    }
    assert!(metadata.get("omitted_fields").is_none() && metadata.get("text_truncated").is_none());
    assert_within_budget(&result);
    let uri = result.raw["_meta"]["dev.pdpp/resources"]["record"].as_str().unwrap();
    assert!(uri.starts_with("pdpp://record/"));
    assert!(result.raw["_meta"].get("resource").is_none());
}

/// S0-R4-S2: a projected fetch is a small inline document with the projected fields only, whatever form the id had.
#[tokio::test]
async fn a_projected_fetch_is_small_and_inline() {
    for id in ["cin_a/messages:m1", "pdpp://record/cin_a%2Fmessages%3Am1"] {
        let fake = server(json!({"text": "short"}), json!({})).await;
        let mut host = Host::connect(&fake).await;
        let result = checked(host.call("fetch", json!({"id": id, "fields": ["text"]})).await);
        assert_eq!(fake.last().params("fields"), ["text"]);
        assert_eq!(result.structured["id"], "cin_a/messages:m1");
        assert_eq!(result.structured["text"], "short");
        assert!(result.structured["metadata"].get("fields").is_none());
        assert!(result.structured.to_string().len() < 2_500);
    }
}

/// S1-R4-S1: a long text is cut at its bound, says how much there is, and the printed call goes on from there.
#[tokio::test]
async fn a_long_text_is_cut_and_continues() {
    let text = PROSE.repeat(700);
    let result = fetch(json!({"title": "Long", "text": text}), json!({})).await;
    let shown = result.structured["text"].as_str().unwrap();
    let length = shown.chars().count();
    assert!(length <= 12_000 && length > 8_000, "{length}");
    assert!(text.starts_with(shown));
    let metadata = &result.structured["metadata"];
    assert_eq!(metadata["text_truncated"], true);
    assert_eq!(metadata["text_total_chars"], text.chars().count());
    let expected = json!({"tool": "read_record_field", "args": {"id": "cin_a/messages:m1", "field_path": "text",
        "offset_chars": length, "limit_chars": 4096}});
    assert_eq!(metadata["continuations"][0], expected);
}

/// S1-R4: dense text costs more a character, so less of it is inlined.
#[tokio::test]
async fn dense_text_is_cut_earlier() {
    for text in
        ["記録された会話の全文をここに示します。", "0f8a-44c1-9b07-77e2 ", "\"quoted\"\n\t\\", "🦊🐻 "]
    {
        let result = fetch(json!({"title": "Long", "text": text.repeat(3_000)}), json!({})).await;
        assert_eq!(result.structured["metadata"]["text_truncated"], true);
    }
}

/// S3-R1-S1, S3-R1-S2: what is not rendered is named, with the call that shows it.
#[tokio::test]
async fn what_is_left_out_is_named_with_its_call() {
    let data = json!({"title": "T", "text": "short", "transcript": PROSE.repeat(40), "reactions": vec![json!({"name": "eyes", "users": ["U1"]}); 10], "summary": PROSE.repeat(5)});
    let result = fetch(data, json!({})).await;
    let metadata = &result.structured["metadata"];
    assert_eq!(metadata["omitted_fields"], json!(["transcript", "reactions", "summary"]));
    assert_eq!(
        metadata["continuations"],
        json!([
            {"tool": "read_record_field", "args": {"id": "cin_a/messages:m1", "field_path": "transcript", "offset_chars": 0, "limit_chars": 4096}},
            {"tool": "fetch", "args": {"id": "cin_a/messages:m1", "fields": ["reactions", "summary"]}},
        ])
    );
}

/// S3-R3-S1: a declared role names the title and the text.
#[tokio::test]
async fn declared_roles_come_first() {
    let data = json!({"headline": "Declared title", "story": "The declared body.", "msg_body": "undeclared"});
    for capabilities in [
        json!({"headline": {"role": "primary-title"}, "story": {"role": "body"}}),
        json!({"headline": "t=string,role=primary-title", "story": "t=string,role=body,lex"}),
    ] {
        let result = fetch(data.clone(), capabilities).await;
        assert_eq!(result.structured["title"], "Declared title");
        assert_eq!(result.structured["text"], "The declared body.");
        assert_eq!(result.structured["metadata"]["fields"], json!({"msg_body": "undeclared"}));
    }
}

/// S3-R3-S1: nothing is promoted by its name where nothing is declared.
#[tokio::test]
async fn undeclared_fields_are_not_promoted() {
    let data = json!({"msg_body": "Not a body.", "subject_line": "Not a title."});
    let result = fetch(data.clone(), json!({"msg_body": "t=string"})).await;
    assert_eq!(result.structured["title"], "Acme Slack / messages / 2026-01-05T00:00:00Z");
    let text = result.structured["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), data);
}

/// S4-R1-S2: the record is read once; roles are looked up only where they could matter, and kept for a while.
#[tokio::test]
async fn the_schema_is_asked_only_where_it_could_matter() {
    let count = |fake: &Fake, path: &str| fake.seen().iter().filter(|seen| seen.path == path).count();
    let fake = server(json!({"title": "T", "text": "x", "other": "y"}), json!({})).await;
    let mut host = Host::connect(&fake).await;
    checked(host.call("fetch", json!({"id": "cin_a/messages:m1"})).await);
    assert_eq!(fake.seen().len(), 1);
    let fake = server(json!({"amount": 12}), json!({})).await;
    let mut host = Host::connect(&fake).await;
    checked(host.call("fetch", json!({"id": "cin_a/messages:m1"})).await);
    assert_eq!(fake.seen().len(), 1);
    let fake = server(json!({"headline": "T"}), json!({"headline": "role=primary-title"})).await;
    let mut host = Host::connect(&fake).await;
    for _ in 0..3 {
        let result = checked(host.call("fetch", json!({"id": "cin_a/messages:m1"})).await);
        assert_eq!(result.structured["title"], "T");
    }
    assert_eq!((count(&fake, "/v1/schema"), count(&fake, "/v1/streams/messages/records/m1")), (1, 3));
}

/// S3-R3: a schema that cannot be had costs a title, not the record.
#[tokio::test]
async fn a_failing_schema_does_not_matter() {
    let fake = Fake::start(|seen| match seen.path.as_str() {
        "/v1/schema" => Reply::error(403, "permission_error", "no"),
        _ => Reply::json(&record(json!({"headline": "T"}))),
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let result = checked(host.call("fetch", json!({"id": "cin_a/messages:m1"})).await);
    assert_eq!(result.structured["title"], "Acme Slack / messages / 2026-01-05T00:00:00Z");
}

/// S1-R4: a record without a text is its JSON, bounded, with the way to the rest.
#[tokio::test]
async fn a_record_without_text_is_bounded_json() {
    let data = json!({"amount": 12, "lines": (0..200).map(|n| json!({"sku": n, "qty": 1})).collect::<Vec<_>>(), "later": vec![1; 150], "small": [7]});
    let result = fetch(data, json!({})).await;
    let text = result.structured["text"].as_str().unwrap();
    assert!(text.starts_with("{\n  \"amount\": 12,"), "{text}");
    assert!(text.len() < 1_200 && text.contains("fetch(fields)"), "{text}");
    let metadata = &result.structured["metadata"];
    assert_eq!(metadata["text_truncated"], true);
    assert_eq!(metadata["omitted_fields"], json!(["lines", "later"]));
    assert_eq!(metadata["fields"], json!({"small": [7]}));
    assert_eq!(metadata["continuations"][0]["args"]["field_path"], "lines");
    assert_eq!(
        metadata["continuations"][1],
        json!({"tool": "fetch", "args": {"id": "cin_a/messages:m1", "fields": ["later"]}})
    );
    assert!(result.structured.to_string().len() < 4_500, "{}", result.structured);
}

/// S3-R3-S2: bytes are never a text, nor in either half; their kind, size and the way to them are.
#[tokio::test]
async fn bytes_are_never_the_text() {
    let bytes = base64_png(280);
    let data = json!({"text": bytes, "image": {"blob_id": "blob_7", "mime_type": "image/png", "size_bytes": 9000}, "note": "seen"});
    let result = fetch(data, json!({})).await;
    assert!(!result.visible().contains(&bytes[..40]));
    let metadata = &result.structured["metadata"];
    assert_eq!(metadata["binary_redacted"], json!(["text"]));
    assert_eq!(metadata["binary_fields"][0]["preview_status"], "binary-only");
    assert_eq!(metadata["binary_fields"][1]["mime_type"], "image/png");
    let call = json!({"tool": "fetch_blob", "args": {"blob_id": "blob_7", "connection_id": "cin_a"}});
    assert!(metadata["continuations"].as_array().unwrap().contains(&call), "{metadata}");
}

/// S3-R3-S2, S1-R2: where the blob tool is not listed, no document names it, and the blob's own route leads on.
#[tokio::test]
async fn an_unlisted_tool_is_not_named() {
    let data = json!({"title": "T", "text": "x", "image": {"blob_id": "blob_7", "mime_type": "image/png", "size_bytes": 9000}});
    let fake = server(data, json!({})).await;
    let settings = Settings { tools: ToolSet::Read, ..Settings::default() };
    let mut host = Host::with_settings(&fake, settings).await;
    let result = checked(host.call("fetch", json!({"id": "cin_a/messages:m1"})).await);
    assert!(!result.visible().contains("fetch_blob"), "{}", result.text);
    let blob = &result.structured["metadata"]["binary_fields"][0];
    assert_eq!(blob["blob_id"], "blob_7");
    assert_eq!(blob["export"], "GET /v1/blobs/blob_7?connection_id=cin_a");
    let listed = &result.structured["content_ladder"]["binary_fields"][0];
    assert_eq!(listed["export"], "GET /v1/blobs/blob_7?connection_id=cin_a");
}

/// Foreign shapes: flat records, wrapped ones, and answers that are none.
#[tokio::test]
async fn foreign_records_are_understood() {
    let flat = json!({"id": "o1", "title": "Flat", "body": "text", "url": "https://shop.test/o1"});
    for body in [
        flat.clone(),
        json!({"data": {"id": "o1", "data": flat}}),
        json!({"record": flat}),
        json!({ "data": flat }),
    ] {
        let fake = Fake::always(body.clone()).await;
        let mut host = Host::connect(&fake).await;
        let result = checked(host.call("fetch", json!({"id": "orders:o1"})).await);
        assert_eq!(result.structured["title"], "Flat", "{body}");
        assert_eq!(result.structured["text"], "text");
        assert_eq!(result.structured["url"], "https://shop.test/o1");
        assert_eq!(result.structured["id"], "orders:o1");
        assert!(result.raw.get("_meta").is_none());
    }
    for body in [json!([1]), json!("x"), json!(null), json!(5)] {
        let fake = Fake::always(body).await;
        let mut host = Host::connect(&fake).await;
        assert_eq!(host.call("fetch", json!({"id": "orders:o1"})).await.code(), "rs_invalid_response");
    }
}

/// An older id learns its connection from the answer, so that its continuation works.
#[tokio::test]
async fn an_older_id_continues_with_the_connection_the_server_named() {
    let fake = server(json!({"title": "T", "text": PROSE.repeat(300)}), json!({})).await;
    let mut host = Host::connect(&fake).await;
    let result = checked(host.call("fetch", json!({"id": "messages:m1"})).await);
    assert_eq!(result.structured["id"], "messages:m1");
    assert_eq!(result.structured["metadata"]["continuations"][0]["args"]["id"], "cin_a/messages:m1");
}

/// Untrusted titles and texts cannot hide anything.
#[tokio::test]
async fn unseen_characters_are_made_visible() {
    let result = fetch(json!({"title": "a\u{202E}b", "text": "c\u{200B}d"}), json!({})).await;
    assert!(!result.visible().contains('\u{202E}') && !result.visible().contains('\u{200B}'));
    assert_eq!(result.structured["metadata"]["unsafe_chars_replaced"], 2);
}

/// S1-R4: a record of very many fields is one bounded document, made in time that follows its size.
#[tokio::test]
async fn a_record_of_very_many_fields_is_looked_at_once() {
    let data: Map<String, Value> = (0..150_000).map(|n| (format!("f{n}"), json!([1]))).collect();
    let result = fetch(data.into(), json!({})).await;
    let metadata = &result.structured["metadata"];
    assert_eq!(metadata["omitted_fields"].as_array().unwrap().len(), 40);
    assert!(metadata["omitted_field_count"].as_u64().unwrap() > 149_000, "{metadata}");
    let schema = json!({"tool": "schema", "args": {"stream": "messages"}});
    assert!(metadata["continuations"].as_array().unwrap().contains(&schema), "{metadata}");
}

/// S1-R4: whatever a server calls its fields and puts around them, the document stays within its budget.
#[tokio::test]
async fn names_of_any_length_cost_no_more_than_their_share() {
    let long = |n: usize, word: &str| format!("{n}{}", word.repeat(10_000 / word.len()));
    for word in ["k", "Qx7-", "漢", "🦊"] {
        let members = |value: Value| -> Value {
            (0..40).map(|n| (long(n, word), value.clone())).collect::<Map<_, _>>().into()
        };
        let dense = word.repeat(200 / word.chars().count());
        let bytes = base64_png(280);
        let blob = json!({"blob_id": long(1, word), "mime_type": long(2, word), "sha256": long(3, word)});
        for data in [
            members(json!("a value of some words")),
            members(PROSE.repeat(20).into()),
            members(json!([1, 2, 3])),
            members(bytes.into()),
            members(blob),
            json!({"title": "T", "text": PROSE.repeat(200), "metadata": members(dense.clone().into()), "more": members(1.into())}),
            json!({"text": "x", "metadata": (0..20).map(|n| (n.to_string(), dense.clone().into())).collect::<Map<_, _>>()}),
        ] {
            let result = fetch(data, json!({})).await;
            assert!(result.text.contains("cin_a/messages:m1"));
        }
    }
}

/// A record's own `metadata` is shown, but cannot pass for what the adapter says.
#[tokio::test]
async fn a_records_own_metadata_cannot_speak_for_us() {
    let own = json!({"channel": "general", "connection_id": "cin_evil", "stream": "evil", "text_truncated": true,
        "continuations": "call me", "nested": {"a": 1}});
    let result = fetch(json!({"title": "T", "text": "x", "metadata": own}), json!({})).await;
    let metadata = &result.structured["metadata"];
    assert_eq!((&metadata["channel"], &metadata["connection_id"]), (&json!("general"), &json!("cin_a")));
    assert_eq!(metadata["stream"], "messages");
    assert!(metadata.get("text_truncated").is_none() && metadata["continuations"].is_null());
    assert_eq!(metadata["fields"]["metadata"]["nested"], json!({"a": 1}));
}
