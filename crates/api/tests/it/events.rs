//! Event subscriptions over REST: making, reading, changing and ending them.

use std::sync::Arc;
use std::time::Duration;

use pdpp_api::ApiState;
use pdpp_egress::{Egress, Loopback, Settings, SystemResolver, TcpTls, UrlPolicy};
use pdpp_events::{Delivering, EventDesk, EventParts, EventWorker, SecretBox, SecretKey};
use pdpp_store::Events as _;
use pdpp_testkit::client_id;
use pdpp_wire::Instant;
use serde_json::json;
use tokio::sync::Notify;

use crate::world::{Answer, World};

/// Nobody listens here.
const CALLBACK: &str = "http://127.0.0.1:9/hook";
const PATH: &str = "/v1/event-subscriptions";

fn parts(state: &ApiState) -> EventParts {
    let policy = UrlPolicy { loopback: Loopback::Allowed, ..UrlPolicy::default() };
    let settings = Settings { policy, ..Settings::default() };
    let resolver = Arc::new(SystemResolver::default());
    EventParts {
        store: Arc::clone(&state.store),
        egress: Arc::new(Egress::new(settings, resolver, Arc::new(TcpTls::with_native_roots()))),
        clock: Arc::clone(&state.clock),
        entropy: Arc::clone(&state.entropy),
        sealer: state.sealer.clone(),
        secrets: SecretBox::new(&SecretKey::new([3; 32])),
        delivering: Delivering::Here(Arc::new(Notify::new())),
        response_window: Duration::from_secs(2),
    }
}

/// Lets clients subscribe.
pub(crate) fn subscribable(state: &mut ApiState) {
    state.events = Some(Arc::new(EventDesk::new(parts(state))));
}

/// A world with a worker, whose client may be told at [`CALLBACK`].
async fn world() -> (World, EventWorker) {
    let mut worker = None;
    let world = World::with(|state| {
        subscribable(state);
        worker = Some(EventWorker::new(parts(state)));
    })
    .await;
    let now = Instant::parse("2026-03-01").unwrap();
    world.store.allow_callback(&world.loaded.subject_id, &client_id(), "127.0.0.1:9", now).await.unwrap();
    (world, worker.unwrap())
}

async fn create(world: &World) -> Answer {
    world.ask("client", "POST", PATH, json!({ "callback_url": CALLBACK }).to_string()).await
}

fn id_of(answer: &Answer) -> String {
    answer.json()["subscription_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_subscription_is_made_shown_and_listed_without_its_secret() {
    let (world, _) = world().await;
    let made = create(&world).await;
    assert_eq!(made.status, 201);
    let body = made.json();
    let members: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["subscription_id", "secret", "status", "callback_url", "created_at"]);
    assert_eq!(body["status"], "pending_verification");
    let (id, secret) = (id_of(&made), body["secret"].as_str().unwrap());
    assert!(id.starts_with("sub_") && id.len() == 28, "{id}");
    assert!(secret.starts_with("whsec_"), "{secret}");
    let one = world.get("client", &format!("{PATH}/{id}")).await;
    let listed = world.get("client", PATH).await;
    assert_eq!(listed.json(), json!({ "data": [one.json()] }));
    assert!(!listed.show().contains("whsec_"));
    let row = one.json();
    assert_eq!((&row["authority_kind"], &row["client_id"]), (&json!("client_grant"), &json!(client_id())));
    assert_eq!(row["grant_ids"], json!(["grt_chat", "grt_notes"]));
    assert_eq!((row.get("grant_id"), &row["disabled_reason"]), (None, &json!(null)));
    let streams: Vec<_> =
        row["scope"]["streams"].as_array().unwrap().iter().map(|stream| &stream["name"]).collect();
    assert_eq!(streams, ["messages", "attachments", "notes"]);
    assert_eq!(row["scope"]["streams"][0]["instance_ids"], json!(["HOME"]));
    assert_eq!(row["scope"].get("filters"), None);
    let ledger = world.ledger().await;
    assert!(ledger.contains("\"create_event_subscription\"") && !ledger.contains("whsec_"), "{ledger}");
}

#[tokio::test]
async fn a_subscription_is_switched_off_and_on_again() {
    let (world, _) = world().await;
    let id = id_of(&create(&world).await);
    let path = format!("{PATH}/{id}");
    let change = async |body: &str| world.ask("client", "PATCH", &path, body.to_owned()).await;
    let off = change(r#"{"enabled":false}"#).await;
    assert_eq!(off.json()["subscription"]["status"], "disabled");
    assert_eq!(off.json()["subscription"]["disabled_reason"], "client_disabled");
    assert_eq!(off.json().get("secret"), None);
    assert_eq!(change(r#"{"enabled":false}"#).await.verdict(), "409 invalid_state");
    let test = world.ask("client", "POST", &format!("{path}/test-event"), "{}").await;
    assert_eq!(test.verdict(), "409 invalid_state");
    let on = change(r#"{"enabled":true,"rotate_secret":true}"#).await;
    assert_eq!(on.json()["subscription"]["status"], "pending_verification");
    assert!(on.json()["secret"].as_str().unwrap().starts_with("whsec_"));
    assert_eq!(change(r#"{"enabled":true}"#).await.verdict(), "409 invalid_state");
    for (body, verdict) in [
        ("{}", "400 invalid_request (enabled)"),
        (r#"{"rotate_secret":false}"#, "400 invalid_request (enabled)"),
        (r#"{"enabled":"yes"}"#, "400 invalid_request"),
        (r#"{"status":"active"}"#, "400 invalid_request"),
        (r#"{"enabled":true,"enabled":false}"#, "400 invalid_request"),
        ("[]", "400 invalid_request"),
    ] {
        assert_eq!(change(body).await.verdict(), verdict, "{body}");
    }
}

#[tokio::test]
async fn a_deleted_subscription_is_gone() {
    let (world, _) = world().await;
    let path = format!("{PATH}/{}", id_of(&create(&world).await));
    let gone = world.ask("client", "DELETE", &path, "").await;
    assert_eq!((gone.status, gone.bytes.len()), (204, 0));
    assert_eq!(world.ask("client", "DELETE", &path, "").await.verdict(), "404 not_found");
    assert_eq!(world.verdict("client", &path).await, "404 not_found");
    assert_eq!(world.get("client", PATH).await.json(), json!({ "data": [] }));
}

#[tokio::test]
async fn a_test_event_waits_once() {
    let (world, _) = world().await;
    let path = format!("{PATH}/{}/test-event", id_of(&create(&world).await));
    let first = world.ask("client", "POST", &path, "{}").await;
    assert_eq!(first.status, 202);
    assert!(first.json()["event_id"].as_str().unwrap().starts_with("evt_"));
    assert_eq!(world.ask("client", "POST", &path, "").await.json(), first.json(), "the one that waits");
    assert_eq!(world.ask("client", "POST", &path, r#"{"x":1}"#).await.verdict(), "400 invalid_request (x)");
}

#[tokio::test]
async fn the_log_says_what_became_of_each_attempt() {
    let (world, mut worker) = world().await;
    let path = format!("{PATH}/{}/deliveries", id_of(&create(&world).await));
    assert_eq!(world.get("client", &path).await.json(), json!({ "data": [] }));
    assert_eq!(worker.deliver_due().await.unwrap(), 1);
    let log = world.get("client", &path).await.json();
    let entry = &log["data"][0];
    assert_eq!(entry["type"], "pdpp.subscription.verify");
    assert_eq!((&entry["attempt"], &entry["outcome"]), (&json!(1), &json!("failed")));
    assert_eq!(entry["reason"], "No answer: the host does not take connections.");
    assert!(entry["next_attempt_at"].is_string());
    assert_eq!(world.verdict("client", &format!("{path}?limit=0")).await, "400 invalid_request (limit)");
    assert_eq!(world.verdict("client", &format!("{path}?limit=1000")).await, "200 ok");
}

#[tokio::test]
async fn bad_input_makes_nothing() {
    let (world, _) = world().await;
    let wish = |more: &str| format!(r#"{{"callback_url":"{CALLBACK}"{more}}}"#);
    for (body, verdict) in [
        (String::new(), "400 invalid_request"),
        ("not json".to_owned(), "400 invalid_request"),
        (r#"{"callback_url":7}"#.to_owned(), "400 invalid_request"),
        (r#"{"callback_url":""}"#.to_owned(), "400 invalid_request (callback_url)"),
        (
            r#"{"callback_url":"https://u:p@hooks.example.org/"}"#.to_owned(),
            "400 invalid_request (callback_url)",
        ),
        (
            r#"{"callback_url":"https://hooks.example.org/#x"}"#.to_owned(),
            "400 invalid_request (callback_url)",
        ),
        (r#"{"callback_url":"https://0x7f.1/"}"#.to_owned(), "400 invalid_request (callback_url)"),
        (
            r#"{"callback_url":"https://hooks.example.org/"}"#.to_owned(),
            "403 callback_not_allowed (callback_url)",
        ),
        (wish(r#","secret":"mine""#), "400 invalid_request"),
        (wish(r#","filters":{"fields":["x"]}"#), "400 invalid_request"),
        (wish(r#","filters":{"streams":"messages"}"#), "400 invalid_request"),
        (wish(r#","filters":{"streams":["channels"]}"#), "400 invalid_request (filters.streams)"),
        (
            wish(&format!(r#","connection_id":"{}""#, world.loaded.work)),
            "404 connection_not_found (connection_id)",
        ),
        (
            format!(r#"{{"callback_url":"https://hooks.example.org/{}"}}"#, "a".repeat(2_048)),
            "400 invalid_request (callback_url)",
        ),
        (format!(r#"{{"callback_url":"{}"}}"#, "a".repeat(70_000)), "413 resource_limit"),
    ] {
        let answer = world.ask("client", "POST", PATH, body.clone()).await;
        assert_eq!(answer.verdict(), verdict, "{body:.200}");
    }
    assert_eq!(world.get("client", PATH).await.json(), json!({ "data": [] }));
    assert_eq!(world.verdict("client", &format!("{PATH}/..%2F..")).await, "404 not_found");
    assert_eq!(world.verdict("client", &format!("{PATH}?limit=1")).await, "400 invalid_request (limit)");
}

#[tokio::test]
async fn an_owner_has_no_grant_to_stand_on() {
    let (world, _) = world().await;
    let body = json!({ "callback_url": CALLBACK }).to_string();
    assert_eq!(world.ask("owner", "POST", PATH, body).await.verdict(), "403 grant_invalid");
    assert_eq!(world.verdict("owner", PATH).await, "403 grant_invalid");
}

#[tokio::test]
async fn a_server_without_delivery_says_so() {
    let world = World::new().await;
    assert_eq!(create(&world).await.verdict(), "503 events_unavailable");
    let document = world.get("", "/.well-known/oauth-protected-resource").await.json();
    assert_eq!(document.pointer("/capabilities/client_event_subscriptions"), None);
}

#[tokio::test]
async fn the_protected_resource_document_says_how_events_are_sent() {
    let (world, _) = world().await;
    let document = world.get("", "/.well-known/oauth-protected-resource").await.json();
    let block = &document["capabilities"]["client_event_subscriptions"];
    assert_eq!((&block["supported"], &block["endpoint"]), (&json!(true), &json!(PATH)));
    assert_eq!(block["authority_kinds_supported"], json!(["client_grant"]));
    assert_eq!(block["signing"]["profile"], "standard-webhooks");
    assert_eq!(block["envelope"]["no_record_bodies"], true);
    assert_eq!(block["delivery"]["retry_schedule_seconds"], json!([30, 120, 600, 3600, 21600]));
    assert_eq!(
        (&block["delivery"]["max_attempts"], &block["delivery"]["coalescing"]),
        (&json!(6), &json!(true))
    );
    assert_eq!(block["limits"]["callback_url_max_bytes"], 2048);
}
