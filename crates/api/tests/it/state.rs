//! What connectors remember.

use expect_test::expect;

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
