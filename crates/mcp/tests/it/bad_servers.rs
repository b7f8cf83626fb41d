//! Resource servers that hang, break, lie or refuse: each gives a typed error in both halves, and the next call works.

use std::time::Duration;

use pdpp_mcp::{BearerKind, Settings};
use serde_json::{Value, json};

use crate::budget::{assert_within_budget, tokens};
use crate::support::{CallResult, Fake, Host, Reply, Seen};

async fn call(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (Fake, CallResult) {
    let fake = Fake::start(script).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("list_streams", json!({})).await;
    let seen = fake.clone();
    fake.rescript(|_| Reply::json(&json!({"data": []})));
    assert!(!host.call("list_streams", json!({})).await.is_error, "the next call works");
    (seen, result)
}

/// The error stands whole in the text and again in the structure.
fn assert_complete(result: &CallResult, code: &str) {
    assert!(result.is_error);
    assert_eq!(result.code(), code, "{}", result.text);
    let line = result.text.lines().find(|line| line.starts_with('{')).expect("the error is in the text");
    let error: Value = serde_json::from_str(line).unwrap();
    assert_eq!(error, result.structured["error"]);
    assert!(!error["message"].as_str().unwrap_or("").is_empty());
    assert!(result.text.chars().count() <= 4_000);
}

#[tokio::test]
async fn a_server_that_hangs_is_a_timeout() {
    let (_, result) = call(|_| Reply::json(&json!({})).after(Duration::from_secs(30))).await;
    assert_complete(&result, "rs_timeout");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    let mut fake = Fake::always(json!({})).await;
    fake.url = "http://127.0.0.1:9".to_owned();
    let result = Host::connect(&fake).await.call("list_streams", json!({})).await;
    assert_complete(&result, "rs_unreachable");
}

#[tokio::test]
async fn html_and_broken_json_are_invalid_responses() {
    for body in ["<html><body>Welcome</body></html>", "{\"data\": [", "", "\u{1b}[31mhello"] {
        let (_, result) = call(move |_| Reply::bytes(200, "text/html", body)).await;
        assert_complete(&result, "rs_invalid_response");
        assert!(!result.text.contains("Welcome"));
    }
}

#[tokio::test]
async fn an_answer_without_end_is_too_large() {
    let (_, result) = call(|_| Reply::bytes(200, "application/json", vec![b' '; 9 * 1024 * 1024])).await;
    assert_complete(&result, "response_too_large");
}

#[tokio::test]
async fn refusals_pass_through_unchanged() {
    let error = json!({
        "type": "invalid_request_error", "code": "ambiguous_connection", "message": "Several sources.",
        "retry_with": "connection_id", "discovery_hint": "schema",
        "available_connections": [
            {"connection_id": "cin_a", "connector_key": "shop", "display_name": "Home"},
            {"connection_id": "cin_b", "connector_key": "shop", "display_name": "Work"},
        ],
    });
    let body = json!({"error": error});
    let (_, result) = call(move |_| Reply::status(409, &body)).await;
    assert_eq!(result.code(), "ambiguous_connection");
    assert_eq!(result.structured["http_status"], 409);
    for (name, value) in error.as_object().unwrap() {
        assert_eq!(&result.structured["error"][name], value);
    }
    assert_eq!(result.structured["error"]["request_id"], "req_1");
    assert!(result.text.contains(r#"Repeat the call with one of: "connection_id":"cin_a" ("Home"); "connection_id":"cin_b" ("Work")"#), "{}", result.text);
}

#[tokio::test]
async fn foreign_error_bodies_become_the_one_shape() {
    let oauth = json!({"error": "invalid_grant", "error_description": "It ended."});
    let (_, result) = call(move |_| Reply::status(400, &oauth)).await;
    assert_complete(&result, "invalid_grant");
    assert_eq!(result.structured["error"]["message"], "It ended.");
    let (_, result) = call(|_| Reply::bytes(418, "text/plain", "short and stout")).await;
    assert_complete(&result, "http_418");
    assert_eq!(result.structured["error"]["message"], "short and stout");
    let (_, result) = call(|_| Reply::bytes(500, "text/html", "<h1>Oops</h1>")).await;
    assert_complete(&result, "http_500");
    let bare = json!({"code": "weird", "message": "No envelope."});
    let (_, result) = call(move |_| Reply::status(400, &bare)).await;
    assert_complete(&result, "weird");
}

/// S3-R1: a refused credential is never replaced by another one; the owner is told what to do.
#[tokio::test]
async fn a_refused_credential_is_reported_and_not_replaced() {
    let (fake, result) = call(|_| Reply::error(401, "authentication_error", "The token has expired.")).await;
    assert_complete(&result, "authentication_error");
    assert!(result.text.contains("pdpp connect"), "{}", result.text);
    assert!(fake.seen().iter().all(|seen| seen.authorization == "Bearer client-token-of-the-tests"));
}

#[tokio::test]
async fn a_busy_server_is_asked_once_more() {
    let (fake, result) =
        call(|_| Reply::error(429, "rate_limit_exceeded", "Too many.").header("retry-after", "1")).await;
    assert_complete(&result, "rate_limit_exceeded");
    assert_eq!(result.structured["error"]["retry_after_seconds"], 1);
    assert_eq!(fake.seen().len(), 3, "two tries, then the call that works");
    let (fake, result) =
        call(|_| Reply::error(503, "connector_instance_busy", "Busy.").header("retry-after", "3600")).await;
    assert_complete(&result, "connector_instance_busy");
    assert_eq!(fake.seen().len(), 2, "an hour is not waited for");
}

#[tokio::test]
async fn hostile_error_text_stays_inside_its_quotes() {
    let (_, result) = call(|_| Reply::error(400, "bad", "line\nid=evil/x:y\u{202e}\u{1b}[2J")).await;
    assert_eq!(result.text.lines().count(), 1, "{}", result.text);
    assert!(!result.visible().contains('\u{202e}') && !result.text.contains('\u{1b}'));
    let (_, long) = call(|_| Reply::error(400, "bad", &"x".repeat(100_000))).await;
    assert!(long.text.chars().count() <= 4_000);
    assert!(long.structured.to_string().len() <= 6_000);
}

/// Whatever an error lists, it is bounded, says how much is left out, and the text is the same error with the calls first.
#[tokio::test]
async fn an_error_that_lists_hundreds_of_things_is_bounded() {
    let connection = |n: usize| json!({"connection_id": format!("cin_{n:04}"), "connector_key": "mail", "display_name": format!("Inbox {n}"), "streams": ["messages", "threads"]});
    let mut error = json!({"type": "invalid_request_error", "code": "ambiguous_connection", "message": "Several sources.",
        "retry_with": "connection_id", "available_connections": (0..500).map(connection).collect::<Vec<_>>()});
    let body = json!({"error": error});
    let (_, result) = call(move |_| Reply::status(409, &body)).await;
    assert_complete(&result, "ambiguous_connection");
    let first = result.text.lines().next().unwrap();
    assert!(
        first.starts_with(r#"Repeat the call with one of: "connection_id":"cin_0000" ("Inbox 0"); "#),
        "{first}"
    );
    assert!(first.ends_with(r#"("Inbox 11"); 488 more in schema args={}"#), "{first}");
    let shown = &result.structured["error"];
    assert_eq!(shown["available_connections"].as_array().unwrap().len(), 12);
    assert_eq!(shown["available_connections"][11], connection(11));
    assert_eq!(
        (&shown["available_connections_omitted"], &shown["retry_with"]),
        (&json!(488), &json!("connection_id"))
    );
    // As much in a shape nobody foresaw.
    error["details"] = json!({"path": [vec![0; 90], vec![1; 90]]});
    error["available_connections"] = (0..500).map(|n| json!({"connection_id": format!("{n}{}", "c".repeat(700)), "display_name": "x\"".repeat(500)})).collect();
    for n in 0..500 {
        error[format!("member_{n}")] = "y\\".repeat(400).into();
    }
    let body = json!({"error": error});
    let (_, result) = call(move |_| Reply::status(409, &body)).await;
    assert_complete(&result, "ambiguous_connection");
    assert!(result.structured["error"]["members_omitted"].as_u64().unwrap() >= 500, "{}", result.text);
    assert!(result.structured.to_string().len() <= 6_000);
}

/// The same bound holds where an error is the protocol's own.
#[tokio::test]
async fn a_resource_that_cannot_be_read_says_so_in_bounds() {
    let ids: Vec<Value> = (0..3_000).map(|n| json!({"connection_id": format!("cin_{n}")})).collect();
    let error =
        json!({"code": "ambiguous_connection", "message": "m".repeat(50_000), "available_connections": ids});
    let body = json!({"error": error});
    let fake = Fake::start(move |_| Reply::status(409, &body)).await;
    let mut host = Host::connect(&fake).await;
    let read = host.request("resources/read", json!({"uri": "pdpp://stream/orders"})).await;
    let shown = &read["error"]["data"]["error"];
    assert_eq!(
        (&shown["code"], &shown["available_connections_omitted"]),
        (&json!("ambiguous_connection"), &json!(2_988))
    );
    assert!(read.to_string().len() <= 8_000, "{}", read.to_string().len());
}

/// A token of the environment goes before any that is kept, so connecting again changes nothing about it.
#[tokio::test]
async fn a_refused_token_of_the_environment_is_named() {
    let fake = Fake::start(|_| Reply::error(401, "invalid_token", "The token has expired.")).await;
    let settings = Settings { bearer: BearerKind::Unknown, ..Settings::default() };
    let result = Host::with_settings(&fake, settings).await.call("list_streams", json!({})).await;
    assert_complete(&result, "invalid_token");
    let error = &result.structured["error"];
    assert!(error["next_step"].as_str().unwrap().contains("PDPP_CLIENT_TOKEN"), "{error}");
    assert_eq!(
        error["reconnect"],
        format!("replace PDPP_CLIENT_TOKEN, or remove it and run pdpp connect {}", fake.url)
    );
}

/// S3-R1: a server that says the token is the owner's gets no further request with it, and the model sees none of it.
#[tokio::test]
async fn an_owners_token_is_refused_as_soon_as_the_server_says_so() {
    let schema = json!({"object": "schema", "bearer": {"token_kind": "owner", "scope": "owner"},
        "connectors": [{"connector_key": "secret-source", "streams": [{"name": "diary"}]}]});
    let fake = Fake::always(schema).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("schema", json!({})).await;
    assert_complete(&result, "owner_token_refused");
    assert!(!result.visible().contains("diary"));
    assert_complete(&host.call("list_streams", json!({})).await, "owner_token_refused");
    assert_eq!(fake.seen().len(), 1);
}

/// S3-R1: a token of unknown kind is looked at before any tool reads with it, whichever tool comes first.
#[tokio::test]
async fn an_owners_token_opens_no_tool() {
    let schema = json!({"object": "schema", "bearer": {"token_kind": "owner", "scope": "owner"}});
    let fake = Fake::start(move |seen| match seen.path.as_str() {
        "/v1/schema" => Reply::json(&schema),
        _ => Reply::json(&json!({"data": [{"id": "m1", "data": {"text": "diary"}}]})),
    })
    .await;
    for (tool, arguments) in [
        ("schema", json!({})),
        ("list_streams", json!({})),
        ("query_records", json!({"stream": "diary"})),
        ("aggregate", json!({"stream": "diary", "metric": "count"})),
        ("search", json!({"q": "diary"})),
        ("fetch", json!({"id": "cin_a/diary:m1"})),
        ("read_record_field", json!({"id": "cin_a/diary:m1", "field_path": "text"})),
        ("fetch_blob", json!({"blob_id": "blob_1"})),
        ("discover_event_subscription_capabilities", json!({})),
        ("list_event_subscriptions", json!({})),
    ] {
        fake.forget();
        let settings = Settings { bearer: BearerKind::Unknown, ..Settings::default() };
        let mut host = Host::with_settings(&fake, settings).await;
        let result = host.call(tool, arguments).await;
        assert_complete(&result, "owner_token_refused");
        let paths: Vec<String> = fake.seen().into_iter().map(|seen| seen.path).collect();
        assert_eq!(paths, ["/v1/schema"], "{tool} read with the owner's token");
        let read = host.request("resources/read", json!({"uri": "pdpp://stream/diary"})).await;
        assert_eq!(read["error"]["data"]["error"]["code"], "owner_token_refused", "{read}");
    }
}

/// A client's token is asked about once, and a server that will not say is not asked in vain for a call.
#[tokio::test]
async fn a_clients_token_is_looked_at_once() {
    let fake =
        Fake::always(json!({"object": "schema", "bearer": {"token_kind": "client"}, "data": []})).await;
    let settings = || Settings { bearer: BearerKind::Unknown, ..Settings::default() };
    let mut host = Host::with_settings(&fake, settings()).await;
    for _ in 0..2 {
        assert!(!host.call("list_streams", json!({})).await.is_error);
    }
    let paths: Vec<String> = fake.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/v1/schema", "/v1/streams", "/v1/streams"]);
    let fake = Fake::start(|seen| match seen.path.as_str() {
        "/v1/schema" => Reply::error(500, "api_error", "No."),
        _ => Reply::json(&json!({"data": []})),
    })
    .await;
    let mut host = Host::with_settings(&fake, settings()).await;
    assert!(!host.call("list_streams", json!({})).await.is_error);
}

/// S1-R4: an error is bounded by what it costs, not by its letters alone: those of a rare script are four tokens each.
#[tokio::test]
async fn an_error_in_a_rare_script_costs_no_more_than_a_result_may() {
    let rare = "\u{13080}\u{13171}\u{131CB}".repeat(1_000);
    let choices: Vec<Value> =
        (0..20).map(|n| json!({"connection_id": format!("cin_{n}"), "display_name": rare})).collect();
    let mut wide = json!({"code": "weird", "message": rare, "type": rare, "param": rare, "next_step": rare,
        "reconnect": rare, "available_connections": choices});
    for n in 0..100 {
        wide[format!("{n}{rare}")] = rare.clone().into();
    }
    let errors = [
        json!({"code": "weird", "message": rare.chars().take(2_000).collect::<String>()}),
        json!({"code": "weird", "message": "Several.", "available_connections": choices}),
        json!({"code": "weird", "message": rare, "details": vec![rare.clone(); 30]}),
        wide,
    ];
    for error in errors {
        let body = json!({"error": error});
        let (fake, result) = call(move |_| Reply::status(409, &body)).await;
        assert_complete(&result, "weird");
        assert_within_budget(&result);
        let body = json!({"error": error});
        fake.rescript(move |_| Reply::status(409, &body));
        let mut host = Host::connect(&fake).await;
        let read = host.request("resources/read", json!({"uri": "pdpp://stream/orders"})).await;
        assert!(tokens(&read.to_string()) <= 9_000, "{read}");
    }
    // What the model sent is repeated to it, and may be of any script too.
    let fake = Fake::always(json!({"data": []})).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("list_streams", json!({ rare: 1 })).await;
    assert_complete(&result, "invalid_arguments");
    assert_within_budget(&result);
}
