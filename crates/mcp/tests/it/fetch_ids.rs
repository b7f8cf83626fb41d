//! Ids that `fetch` takes and refuses: every row of the grammar's table.

use serde_json::{Value, json};

use crate::support::{Fake, Host, Reply};

const CANONICAL: &str = "pdpp://record/eyJ2IjoxLCJraW5kIjoicmVjb3JkIiwiY29ubmVjdGlvbl9pZCI6ImNpbl9hMSIsInN0cmVhbSI6Im5vdGVzIiwicmVjb3JkX2lkIjoibjQyIn0";

fn uri(payload: &Value) -> String {
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(payload.to_string());
    format!("pdpp://record/{encoded}")
}

fn payload(kind: &str, version: u64, connection: Value, record_id: &str) -> String {
    uri(
        &json!({"v": version, "kind": kind, "connection_id": connection, "stream": "notes", "record_id": record_id}),
    )
}

async fn server() -> Fake {
    Fake::always(json!({"object": "record", "id": "o1", "data": {"title": "A title", "text": "A text"}}))
        .await
}

/// S4-R1, S0-R5-S3, S1-R2-S1: each accepted form reaches its path with its connection, in one request.
#[tokio::test]
async fn accepted_ids_reach_their_record() {
    let slash = payload("record", 1, json!("cin_a1"), "octo/hello");
    // Id, `connection_id` argument, path, `connection_id` parameter, id of the document.
    let rows = [
        // Rows 1 to 7: the plain grammars.
        ("orders:o1", None, "orders/records/o1", None, "orders:o1"),
        ("orders:o1", Some("cin_b"), "orders/records/o1", Some("cin_b"), "orders:o1"),
        ("cin_a/orders:o1", None, "orders/records/o1", Some("cin_a"), "cin_a/orders:o1"),
        ("cin_a/orders:o1", Some("cin_a"), "orders/records/o1", Some("cin_a"), "cin_a/orders:o1"),
        (
            "cin_s/messages:C08:17.139",
            None,
            "messages/records/C08%3A17.139",
            Some("cin_s"),
            "cin_s/messages:C08:17.139",
        ),
        ("a:b/orders:o1", None, "orders/records/o1", Some("a:b"), "a:b/orders:o1"),
        // Row 24: a space.
        ("orders:o 1", None, "orders/records/o%201", None, "orders:o 1"),
        // Rows 25 to 27: the URI in its encodings.
        (
            "pdpp://record/cin_s%2Fmessages%3Am1",
            None,
            "messages/records/m1",
            Some("cin_s"),
            "cin_s/messages:m1",
        ),
        ("pdpp://record/orders%3Ao1", None, "orders/records/o1", None, "orders:o1"),
        (CANONICAL, None, "notes/records/n42", Some("cin_a1"), "cin_a1/notes:n42"),
        // Row 31: a key with a slash has no other form.
        (&slash, None, "notes/records/octo%2Fhello", Some("cin_a1"), &slash),
        // Row 36: it reads like an older id, and the server decides.
        ("result:1", None, "result/records/1", None, "result:1"),
    ];
    let fake = server().await;
    let mut host = Host::connect(&fake).await;
    for (id, argument, path, connection, document_id) in rows {
        fake.forget();
        let mut given = json!({"id": id});
        if let Some(argument) = argument {
            given["connection_id"] = argument.into();
        }
        let result = host.call("fetch", given).await;
        assert!(!result.is_error, "{id}: {}", result.text);
        let seen = fake.seen();
        assert_eq!(seen.len(), 1, "{id}");
        assert_eq!(seen[0].path, format!("/v1/streams/{path}"));
        assert_eq!(seen[0].param("connection_id"), connection, "{id}");
        assert_eq!(result.structured["id"], document_id);
        let document: Value = serde_json::from_str(&result.text).unwrap();
        assert_eq!(document["id"], document_id);
    }
}

/// S4-R1-S5: an id that names no record costs no request, and the error says what is wrong.
#[tokio::test]
async fn refused_ids_make_no_request() {
    let characters = "invalid characters";
    let rows: Vec<(String, &str, &str)> = vec![
        (String::new(), "invalid_arguments", "is required"),
        ("noseparator".to_owned(), "invalid_record_id", "connection_id/stream:record_id"),
        ("orders:".to_owned(), "invalid_record_id", "stream:record_id"),
        (":o1".to_owned(), "invalid_record_id", "stream:record_id"),
        ("cin_a/".to_owned(), "invalid_record_id", "is required"),
        ("/orders:o1".to_owned(), "invalid_record_id", "is required"),
        ("cin_a/orders".to_owned(), "invalid_record_id", "stream:record_id"),
        ("cin_a/extra/orders:o1".to_owned(), "invalid_record_id", characters),
        ("cin_a/orders:../../etc/passwd".to_owned(), "invalid_record_id", characters),
        ("../cin_a/orders:o1".to_owned(), "invalid_record_id", characters),
        ("orders:../../etc/passwd".to_owned(), "invalid_record_id", characters),
        ("orders:..".to_owned(), "invalid_record_id", characters),
        ("orders:a..b".to_owned(), "invalid_record_id", characters),
        ("orders:a\\b".to_owned(), "invalid_record_id", characters),
        ("orders:.".to_owned(), "invalid_record_id", characters),
        (".:o1".to_owned(), "invalid_record_id", characters),
        (payload("field-window", 1, json!("cin_a1"), "n42"), "invalid_record_id", "malformed"),
        (payload("record", 2, json!("cin_a1"), "n42"), "invalid_record_id", "malformed"),
        (payload("record", 1, Value::Null, "n42"), "invalid_record_id", "connection_id is required"),
        (payload("record", 1, json!("cin_a1"), "../n42"), "invalid_record_id", characters),
        ("pdpp://record/".to_owned(), "invalid_record_id", "is required"),
        ("pdpp://record/%E0%A4%A".to_owned(), "invalid_record_id", "malformed"),
        (CANONICAL.replace("record/", "field-window/"), "invalid_record_id", characters),
        ("https://shop.test/o2".to_owned(), "invalid_record_id", characters),
    ];
    let fake = server().await;
    let mut host = Host::connect(&fake).await;
    for (id, code, part) in rows {
        let result = host.call("fetch", json!({"id": id})).await;
        assert!(result.is_error, "{id}");
        assert_eq!(result.code(), code, "{id}: {}", result.text);
        assert!(result.text.contains(part), "{id}: {}", result.text);
        assert!(result.structured["error"]["message"].as_str().unwrap().contains(part));
    }
    assert!(fake.seen().is_empty());
}

/// S4-R1-S4: an id with one connection and an argument with another is refused before any request.
#[tokio::test]
async fn two_connections_conflict() {
    let fake = server().await;
    let mut host = Host::connect(&fake).await;
    for id in ["cin_a/orders:o1", "pdpp://record/cin_a%2Forders%3Ao1"] {
        let result = host.call("fetch", json!({"id": id, "connection_id": "cin_b"})).await;
        assert_eq!(result.code(), "conflicting_connection_id");
        let expected = "id embeds connection_id 'cin_a' but the connection_id argument is 'cin_b'";
        assert!(result.text.contains(expected), "{}", result.text);
    }
    assert!(fake.seen().is_empty());
}

async fn two_sources() -> Fake {
    Fake::start(|seen| match seen.param("connection_id") {
        Some(connection) => Reply::json(&json!({
            "object": "record", "id": "o1", "stream": "orders", "connection_id": connection,
            "data": {"title": format!("Order at {connection}"), "text": "paid"},
        })),
        None => Reply::status(409, &json!({"error": {
            "type": "invalid_request_error", "code": "ambiguous_connection", "message": "Several connections.",
            "retry_with": "connection_id",
            "available_connections": [{"connection_id": "cin_a"}, {"connection_id": "cin_b"}],
        }})),
    })
    .await
}

/// S4-R1-S2: an id taken from the text opens its record alone, on a grant with several sources.
#[tokio::test]
async fn a_self_contained_id_needs_nothing_else() {
    let fake = two_sources().await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("fetch", json!({"id": "cin_b/orders:o1"})).await;
    assert!(!result.is_error, "{}", result.text);
    assert_eq!(result.structured["id"], "cin_b/orders:o1");
    assert_eq!(result.structured["title"], "Order at cin_b");
    assert_eq!(fake.seen().len(), 1);
}

/// S4-R1-S3: an older id may be ambiguous; the server's envelope says between what, and the argument decides.
#[tokio::test]
async fn an_older_id_may_need_its_connection() {
    let fake = two_sources().await;
    let mut host = Host::connect(&fake).await;
    let refused = host.call("fetch", json!({"id": "orders:o1"})).await;
    assert!(refused.is_error);
    assert_eq!(refused.code(), "ambiguous_connection");
    assert_eq!(refused.structured["error"]["available_connections"][1]["connection_id"], "cin_b");
    assert_eq!(refused.structured["http_status"], 409);
    assert!(refused.text.contains("cin_a") && refused.text.contains("cin_b"));
    let result = host.call("fetch", json!({"id": "orders:o1", "connection_id": "cin_b"})).await;
    assert_eq!((result.is_error, &result.structured["id"]), (false, &json!("orders:o1")));
}

/// S1-R2-S1: the tool that takes the URI says so.
#[tokio::test]
async fn the_description_names_every_form() {
    let fake = server().await;
    let mut host = Host::connect(&fake).await;
    let tools = host.tools().await;
    let fetch = tools.iter().find(|tool| tool["name"] == "fetch").unwrap();
    let described = fetch["inputSchema"]["properties"]["id"]["description"].as_str().unwrap();
    for form in ["connection_id/stream:record_id", "stream:record_id", "pdpp://record/"] {
        assert!(described.contains(form), "{described}");
    }
}
