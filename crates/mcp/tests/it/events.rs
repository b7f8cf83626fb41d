//! The event tools: what they send, what they say, and that a secret is shown once.

use serde_json::{Value, json};

use crate::support::{Fake, Host, Reply, Seen};
use crate::tokens::assert_affordable;

const SECRET: &str = "whsec_dGhpcyBpcyBhIHNlY3JldA==";

/// A server that keeps one subscription, and is so careless as to send its secret with everything.
fn server(seen: &Seen) -> Reply {
    let row = json!({"subscription_id": "sub_1", "status": "active", "callback_url": "https://u:p@hooks.example/x?key=1",
        "filters": {"streams": ["messages"]}, "secret": SECRET});
    match (seen.method.as_str(), seen.path.as_str()) {
        ("POST", "/v1/event-subscriptions") => Reply::status(
            201,
            &json!({"subscription_id": "sub_1", "secret": SECRET,
            "status": "pending_verification", "callback_url": "https://hooks.example/x", "created_at": "2026-01-01T00:00:00Z"}),
        ),
        ("GET", "/v1/event-subscriptions") => Reply::json(&json!({"data": [row, row, row]})),
        ("GET", "/v1/event-subscriptions/sub_1") => Reply::json(&row),
        ("PATCH", "/v1/event-subscriptions/sub_1") if seen.body.contains("rotate") => Reply::json(
            &json!({"subscription": {"subscription_id": "sub_1", "status": "active"}, "secret": SECRET}),
        ),
        ("PATCH", _) => {
            Reply::json(&json!({"subscription": {"subscription_id": "sub_1", "status": "disabled"}}))
        }
        ("DELETE", "/v1/event-subscriptions/sub_1") => Reply::bytes(204, "application/json", Vec::new()),
        ("POST", "/v1/event-subscriptions/sub_1/test-event") => {
            Reply::status(202, &json!({"event_id": "evt_9"}))
        }
        ("GET", "/.well-known/oauth-protected-resource") => {
            Reply::json(&json!({"resource": "https://x", "capabilities": {
            "client_event_subscriptions": {"supported": true, "stability": "reference_extension",
                "endpoint": "/v1/event-subscriptions", "event_types": ["pdpp.records.changed"],
                "callback_url": {"https_required": true, "localhost_exception": true}}}}))
        }
        _ => Reply::error(404, "not_found", "no such subscription"),
    }
}

async fn connected() -> (Fake, Host) {
    let fake = Fake::start(server).await;
    let host = Host::connect(&fake).await;
    (fake, host)
}

fn sent(fake: &Fake) -> (String, String, Value) {
    let seen = fake.last();
    (seen.method, seen.path, serde_json::from_str(&seen.body).unwrap_or(Value::Null))
}

#[tokio::test]
async fn capabilities_are_discovered() {
    let (fake, mut host) = connected().await;
    let result = host.call("discover_event_subscription_capabilities", json!({})).await;
    assert_eq!(sent(&fake).1, "/.well-known/oauth-protected-resource");
    assert_eq!(result.structured["supported"], true);
    assert_eq!(result.structured["capability"]["endpoint"], "/v1/event-subscriptions");
    assert_eq!(result.structured["data"]["resource"], "https://x");
    assert_eq!(result.structured["http_status"], 200);
    assert!(
        result.text.contains(
            "supported=true endpoint=\"/v1/event-subscriptions\" stability=\"reference_extension\""
        )
    );

    for silent in [
        json!({}),
        json!({"capabilities": {"client_event_subscriptions": {"supported": "yes"}}}),
        json!(null),
    ] {
        fake.rescript(move |_| Reply::json(&silent));
        let result = host.call("discover_event_subscription_capabilities", json!({})).await;
        assert!(!result.is_error && result.structured["supported"] == false);
        assert!(result.text.contains("poll with query_records and changes_since"), "{}", result.text);
    }
}

#[tokio::test]
async fn a_subscription_is_created_and_its_secret_shown_once() {
    let (fake, mut host) = connected().await;
    let arguments = json!({"callback_url": "https://hooks.example/x", "connection_id": "cin_a", "filters": {"streams": ["messages"]}});
    let result = host.call("create_event_subscription", arguments.clone()).await;
    assert_eq!(sent(&fake), ("POST".to_owned(), "/v1/event-subscriptions".to_owned(), arguments));
    let start = format!(
        "create_event_subscription: subscription_id=sub_1 status=pending_verification callback_host=\"hooks.example\". \
         one_time_secret={SECRET} (returned once — store it"
    );
    assert!(result.text.starts_with(&start), "{}", result.text);
    assert_eq!(result.structured["data"]["secret"], SECRET);
    assert_eq!(result.structured["http_status"], 201);
    host.call("create_event_subscription", json!({"callback_url": "https://a"})).await;
    assert_eq!(sent(&fake).2, json!({"callback_url": "https://a"}));
}

#[tokio::test]
async fn a_rotated_secret_is_shown_with_the_nested_id() {
    let (fake, mut host) = connected().await;
    let result = host
        .call("update_event_subscription", json!({"subscription_id": "sub_1", "rotate_secret": true}))
        .await;
    assert_eq!(sent(&fake).2, json!({"rotate_secret": true}));
    assert!(
        result.text.contains("subscription_id=sub_1 status=active")
            && result.text.contains("one_time_secret=whsec_")
    );
    assert_eq!(result.structured["data"]["secret"], SECRET);

    let result = host
        .call(
            "update_event_subscription",
            json!({"subscription_id": "sub_1", "enabled": false, "rotate_secret": false}),
        )
        .await;
    assert_eq!(
        sent(&fake),
        ("PATCH".to_owned(), "/v1/event-subscriptions/sub_1".to_owned(), json!({"enabled": false}))
    );
    assert!(result.text.contains("status=disabled") && !result.visible().contains("one_time_secret"));

    fake.forget();
    let result = host.call("update_event_subscription", json!({"subscription_id": "sub_1"})).await;
    assert!(result.code() == "invalid_arguments" && fake.seen().is_empty());
}

#[tokio::test]
async fn no_other_result_contains_a_secret() {
    let (_fake, mut host) = connected().await;
    let one = json!({"subscription_id": "sub_1"});
    for (tool, arguments, start) in [
        ("list_event_subscriptions", json!({}), "list_event_subscriptions: 3 subscription(s). "),
        (
            "get_event_subscription",
            one.clone(),
            "get_event_subscription: subscription_id=sub_1 status=active callback_host=\"hooks.example\"",
        ),
        ("delete_event_subscription", one.clone(), "delete_event_subscription: 204 No Content. "),
        ("send_test_event", one.clone(), "send_test_event: enqueued event_id=evt_9. "),
    ] {
        let result = host.call(tool, arguments).await;
        assert!(!result.is_error && result.text.starts_with(start), "{}", result.text);
        assert!(
            !result.visible().contains("whsec_") && !result.visible().contains("one_time_secret"),
            "{tool}"
        );
    }
    let result = host.call("delete_event_subscription", one).await;
    assert_eq!((&result.structured["data"], &result.structured["http_status"]), (&Value::Null, &json!(204)));
}

#[tokio::test]
async fn a_list_shows_one_line_for_each_and_no_keys_of_callbacks() {
    let (fake, mut host) = connected().await;
    let result = host.call("list_event_subscriptions", json!({})).await;
    let lines =
        result.text.lines().filter(|line| line.starts_with("subscription_id=sub_1 status=active")).count();
    assert_eq!(lines, 3);
    assert!(!result.text.contains("key=1") && !result.text.contains("u:p@"), "{}", result.text);
    let row = json!({"subscription_id": "sub_0123456789", "status": "active", "callback_url": "https://hooks.example/x",
        "filters": {"streams": ["messages", "orders"]}, "created_at": "2026-01-01T00:00:00Z"});
    fake.rescript(move |_| Reply::json(&json!({"data": vec![row.clone(); 1_000]})));
    let result = host.call("list_event_subscriptions", json!({})).await;
    assert_affordable(&result);
    assert!(result.text.contains("\nmore_subscriptions=") && result.text.contains("subscriptions_omitted="));
}

#[tokio::test]
async fn a_test_event_is_posted_with_an_empty_body() {
    let (fake, mut host) = connected().await;
    host.call("send_test_event", json!({"subscription_id": "sub_1"})).await;
    assert_eq!(
        sent(&fake),
        ("POST".to_owned(), "/v1/event-subscriptions/sub_1/test-event".to_owned(), json!({}))
    );
}

#[tokio::test]
async fn traversal_and_unknown_members_reach_no_server() {
    let (fake, mut host) = connected().await;
    for tool in [
        "get_event_subscription",
        "update_event_subscription",
        "delete_event_subscription",
        "send_test_event",
    ] {
        for id in ["../grants", "a/b", "..", "", "a\\b"] {
            let result = host.call(tool, json!({"subscription_id": id, "enabled": true})).await;
            assert!(result.is_error, "{tool} took {id}");
        }
    }
    let bad = json!({"callback_url": "https://a", "filters": {"stream": "x"}});
    assert_eq!(host.call("create_event_subscription", bad).await.code(), "invalid_arguments");
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn refusals_pass_through() {
    let (fake, mut host) = connected().await;
    let result = host.call("get_event_subscription", json!({"subscription_id": "sub_2"})).await;
    assert_eq!((result.code(), &result.structured["http_status"]), ("not_found", &json!(404)));
    fake.rescript(|_| Reply::error(400, "invalid_request", "callback_url must be https"));
    let result = host.call("create_event_subscription", json!({"callback_url": "http://a"})).await;
    assert!(result.is_error && result.text.contains("must be https"));
}
