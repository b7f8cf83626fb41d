//! What surrounds every request.

use std::time::Duration;

use axum::body::Body;
use expect_test::expect;
use pdpp_api::{Verb, routes};

use crate::world::{Answer, World, request};

#[tokio::test]
async fn a_sane_request_id_is_echoed_and_any_other_replaced() {
    let world = World::new().await;
    let ask = async |id: &[u8]| {
        let mut request = request("", "GET", "/nowhere", Body::empty());
        request.headers_mut().insert("request-id", http::HeaderValue::from_bytes(id).unwrap());
        Answer::of(&world, world.send(request).await).await
    };
    let echoed = ask(b"abc-123").await;
    assert_eq!(echoed.header("request-id"), Some("abc-123"));
    assert_eq!(echoed.header("x-request-id"), Some("abc-123"));
    assert_eq!(echoed.json()["error"]["request_id"], "abc-123");
    for odd in [b"with space".as_slice(), b"\xff", &b"x".repeat(129)] {
        let minted = ask(odd).await.header("request-id").unwrap().to_owned();
        assert!(minted.len() == 20 && minted.starts_with("req_"), "{minted}");
    }
}

#[tokio::test]
async fn only_the_spoken_version_is_served() {
    let world = World::new().await;
    let ask = async |version: &str| {
        let mut request = request("", "GET", "/healthz", Body::empty());
        request.headers_mut().insert("pdpp-version", version.parse().unwrap());
        Answer::of(&world, world.send(request).await).await
    };
    assert_eq!(ask("2026-04-06").await.header("pdpp-version"), Some("2026-04-06"));
    assert_eq!(ask("2020-01-01").await.verdict(), "400 unsupported_version");
}

#[tokio::test]
async fn a_foreign_host_is_misdirected() {
    let world = World::with(|state| state.settings.allowed_hosts = vec!["data.test".to_owned()]).await;
    let ask = async |host: Option<&str>| {
        let mut request = request("", "GET", "/healthz", Body::empty());
        if let Some(host) = host {
            request.headers_mut().insert("host", host.parse().unwrap());
        }
        Answer::of(&world, world.send(request).await).await.verdict()
    };
    assert_eq!(ask(Some("data.test:443")).await, "200 ok");
    assert_eq!(ask(Some("evil.test")).await, "421 misdirected_request");
    assert_eq!(ask(None).await, "421 misdirected_request");
}

#[tokio::test]
async fn unknown_routes_and_methods_answer_in_the_envelope() {
    let world = World::new().await;
    expect![[r#"
        404
        content-type: application/json
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "error": {
            "type": "not_found_error",
            "code": "not_found",
            "message": "There is no such route; `/openapi.json` lists every one.",
            "request_id": "req_test"
          }
        }"#]]
    .assert_eq(&world.get("owner", "/v1/nowhere").await.show());
    assert_eq!(world.verdict("owner", "/v1/streams/").await, "404 not_found");
    let refused = world.ask("owner", "PATCH", "/v1/streams/messages/records", "").await;
    assert_eq!(refused.verdict(), "405 method_not_allowed");
    assert_eq!(refused.header("allow"), Some("GET, DELETE, HEAD"));
}

#[tokio::test]
async fn every_get_answers_head_with_the_same_status_and_headers() {
    let world = World::new().await;
    for route in routes().iter().filter(|route| route.method == Verb::Get) {
        let path = route
            .path
            .replace("{stream}", "messages")
            .replace("{id}", "m_20")
            .replace("{connector_id}", "chat");
        let get = world.get("client", &path).await;
        let head = world.ask("client", "HEAD", &path, "").await;
        assert_eq!(head.status, get.status, "{path}");
        assert!(head.bytes.is_empty(), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
        if get.status == 200 && !path.contains("records") {
            assert_eq!(head.header("content-length"), Some(get.bytes.len().to_string().as_str()), "{path}");
        }
    }
}

#[tokio::test]
async fn a_panic_or_a_broken_authority_is_an_api_error_without_its_cause() {
    let world = World::new().await;
    for token in ["panics", "breaks"] {
        let answer = world.get(token, "/v1/streams").await;
        assert_eq!(answer.verdict(), "500 api_error");
        assert!(!answer.show().contains("secret"), "{}", answer.show());
    }
}

/// Whoever is told to try again may; a failure inside would have them give up.
#[tokio::test]
async fn a_store_that_cannot_look_a_token_up_now_says_so() {
    let world = World::new().await;
    for (token, verdict) in [("busy", "503 connector_instance_busy"), ("away", "503 store_unavailable")] {
        assert_eq!(world.verdict(token, "/v1/streams").await, verdict);
    }
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_ended() {
    let world = World::with(|state| state.settings.limits.read_deadline = Duration::from_millis(30)).await;
    assert_eq!(world.verdict("hangs", "/v1/streams").await, "504 deadline_exceeded");
}

#[tokio::test]
async fn more_requests_than_may_run_at_once_wait_their_turn() {
    let world = World::with(|state| {
        state.settings.limits.concurrent_requests = 1;
        state.settings.limits.read_deadline = Duration::from_millis(60);
    })
    .await;
    let (slow, waiting) =
        tokio::join!(world.verdict("hangs", "/v1/streams"), world.verdict("hangs", "/v1/streams"));
    assert_eq!((slow.as_str(), waiting.as_str()), ("504 deadline_exceeded", "504 deadline_exceeded"));
    assert_eq!(world.verdict("owner", "/v1/connectors").await, "200 ok");
}
