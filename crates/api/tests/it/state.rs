//! What connectors remember.

use expect_test::expect;
use pdpp_access::Secret;
use pdpp_store::{Authority as _, NewToken, TokenKind};
use pdpp_testkit::{client_id, grant};
use pdpp_wire::{Grant, Instant, TokenId};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn named_streams_are_replaced_and_others_kept() {
    let world = World::new().await;
    let put = async |body: &'static str| world.ask("owner", "PUT", "/v1/state/notes", body).await;
    assert_eq!(put(r#"{"state":{"notes":{"uid":1},"days":7}}"#).await.status, 200);
    assert_eq!(put(r#"{"state":{"notes":{"uid":2}}}"#).await.status, 200);
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "object": "stream_state",
          "connector_id": "notes",
          "grant_id": null,
          "state": {
            "days": 7,
            "notes": {
              "uid": 2
            }
          },
          "updated_at": "2026-03-01T12:00:00.000Z"
        }"#]]
    .assert_eq(&world.get("owner", "/v1/state/notes").await.show());
    let own = world.get("owner", &world.path("/v1/state/notes?connector_instance_id=NOTES")).await.json();
    assert_eq!(own["state"], serde_json::json!({}));
}

#[tokio::test]
async fn a_bad_state_is_refused() {
    let world = World::new().await;
    for (path, body, expected) in [
        ("/v1/state/nope", "{}", "404 not_found"),
        ("/v1/state/notes", "{", "400 invalid_request"),
        ("/v1/state/notes", "[]", "400 invalid_request"),
        ("/v1/state/notes", r#"{"state":{},"other":1}"#, "400 invalid_request"),
        ("/v1/state/notes", r#"{"state":{"a":1,"a":2}}"#, "400 invalid_request"),
        ("/v1/state/notes", r#"{"state":{"nope":1}}"#, "404 not_found (state)"),
        ("/v1/state/notes?grant_id=grt_none", r#"{"state":{}}"#, "404 not_found (grant_id)"),
        (
            "/v1/state/notes?connector_instance_id=HOME",
            r#"{"state":{}}"#,
            "400 connector_instance_connector_mismatch (connector_instance_id)",
        ),
    ] {
        let body = if path == "/v1/state/nope" { r#"{"state":{}}"# } else { body };
        assert_eq!(
            world.ask("owner", "PUT", &world.path(path), body).await.verdict(),
            expected,
            "{path} {body}"
        );
    }
    let deep = format!(r#"{{"state":{{"notes":{}1{}}}}}"#, "[".repeat(80), "]".repeat(80));
    assert_eq!(world.ask("owner", "PUT", "/v1/state/notes", deep).await.verdict(), "413 resource_limit");
}

/// Stores a grant as consent would.
async fn store(world: &World, grant: Grant) {
    let token = NewToken {
        hash: Secret::presented(format!("token of {}", grant.grant_id)).hash(),
        token_id: TokenId::parse(format!("tok_{}", grant.grant_id)).unwrap(),
        subject_id: grant.subject.id.clone(),
        kind: TokenKind::Client { client_id: client_id(), grant_ids: vec![grant.grant_id.clone()] },
        issued_at: Instant::parse("2026-01-01").unwrap(),
        expires_at: None,
        resource: None,
        family_id: None,
    };
    world.store.issue(&[grant], &token).await.unwrap();
}

#[tokio::test]
async fn a_continuous_grant_has_a_memory_of_its_own() {
    let world = World::new().await;
    let notes = || grant(&world.catalogue.sources[1]).stream("notes", &["id"]);
    store(&world, notes().id("grt_one").build()).await;
    let put = async |path: &'static str, body: &'static str| {
        let answer = world.ask("owner", "PUT", &world.path(path), body).await;
        assert_eq!(answer.verdict(), "200 ok", "{path}");
        answer.json()
    };
    put("/v1/state/notes", r#"{"state":{"notes":{"uid":1},"days":7}}"#).await;
    let kept = put("/v1/state/notes?grant_id=grt_one", r#"{"state":{"notes":{"uid":9}}}"#).await;
    assert_eq!((&kept["grant_id"], &kept["state"]), (&json!("grt_one"), &json!({"notes": {"uid": 9}})));
    put("/v1/state/notes?grant_id=grt_one&connection_id=NOTES", r#"{"state":{"notes":5}}"#).await;
    for (path, expected) in [
        ("/v1/state/notes", json!({"days": 7, "notes": {"uid": 1}})),
        ("/v1/state/notes?grant_id=grt_one", json!({"notes": {"uid": 9}})),
        ("/v1/state/notes?grant_id=grt_one&connector_instance_id=NOTES", json!({"notes": 5})),
        ("/v1/state/notes?connector_instance_id=NOTES", json!({})),
    ] {
        assert_eq!(world.get("owner", &world.path(path)).await.json()["state"], expected, "{path}");
    }
}

#[tokio::test]
async fn only_a_continuous_grant_of_the_connector_keeps_state_and_only_of_its_streams() {
    let world = World::new().await;
    let [chat, notes] = [&world.catalogue.sources[0], &world.catalogue.sources[1]];
    let other = pdpp_wire::SubjectId::parse("owner_other").unwrap();
    for grant in [
        grant(notes).id("grt_one").stream("notes", &["id"]),
        grant(notes).id("grt_once").stream("notes", &["id"]).single_use(),
        grant(notes).id("grt_foreign").stream("notes", &["id"]).subject(&other),
        grant(chat).id("grt_chat").stream("messages", &["id"]),
    ] {
        store(&world, grant.build()).await;
    }
    for (id, body, expected) in [
        ("grt_one", r#"{"state":{"notes":1}}"#, "200 ok"),
        ("grt_one", r#"{"state":{"days":1}}"#, "404 not_found (state)"),
        ("grt_once", r#"{"state":{}}"#, "400 invalid_request (grant_id)"),
        ("grt_chat", r#"{"state":{}}"#, "400 invalid_request (grant_id)"),
        ("grt_foreign", r#"{"state":{}}"#, "404 not_found (grant_id)"),
        ("grt_none", r#"{"state":{}}"#, "404 not_found (grant_id)"),
        ("..%2F", r#"{"state":{}}"#, "404 not_found (grant_id)"),
    ] {
        let path = format!("/v1/state/notes?grant_id={id}");
        assert_eq!(world.ask("owner", "PUT", &path, body).await.verdict(), expected, "{id} {body}");
        if !expected.ends_with("(state)") {
            assert_eq!(world.verdict("owner", &path).await, expected, "{id}");
        }
    }
    let kept = world.get("owner", "/v1/state/notes?grant_id=grt_one").await.json();
    assert_eq!(kept["state"], json!({"notes": 1}), "a refused update leaves nothing behind");
}
