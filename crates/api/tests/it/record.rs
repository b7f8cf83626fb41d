//! One record.

use expect_test::expect;

use crate::world::World;

#[tokio::test]
async fn one_record_carries_its_handle_and_size() {
    let world = World::new().await;
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "connector_key": "urn:pdpp:source:chat",
          "object": "record",
          "id": "m_20",
          "stream": "messages",
          "data": {
            "id": "m_20",
            "author": "chloë"
          },
          "emitted_at": "2026-01-11T08:15:00.000Z",
          "connection_id": "HOME",
          "connector_instance_id": "HOME",
          "display_name": "Home",
          "result_id": "HOME/messages:m_20",
          "record_json_bytes": 31,
          "links": {
            "self": "/v1/streams/messages/records/m_20?fields=id,author"
          },
          "meta": {
            "count": {
              "kind": "none"
            },
            "warnings": []
          }
        }"#]]
    .assert_eq(&world.get("client", "/v1/streams/messages/records/m_20?fields=id,author").await.show());
}

#[tokio::test]
async fn a_record_outside_the_grant_looks_like_one_that_never_was() {
    let world = World::new().await;
    let hidden = world.get("client", "/v1/streams/messages/records/m_00").await;
    let absent = world.get("client", "/v1/streams/messages/records/never").await;
    assert_eq!(hidden.verdict(), "404 not_found");
    assert_eq!(hidden.show(), absent.show());
}

#[tokio::test]
async fn an_id_under_two_connections_asks_for_one() {
    let world = World::new().await;
    let path = "/v1/streams/messages/records/m_00?connector_id=chat";
    expect![[r#"
        409
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "error": {
            "type": "api_error",
            "code": "ambiguous_connection",
            "message": "Record 'm_00' is present under more than one connection. Retry with `connection_id`.",
            "request_id": "req_test",
            "available_connections": [
              {
                "connection_id": "WORK",
                "display_name": "Work"
              },
              {
                "connection_id": "HOME",
                "display_name": "Home"
              }
            ],
            "retry_with": "connection_id"
          }
        }"#]]
    .assert_eq(&world.get("owner", path).await.show());
    let path = world.path("/v1/streams/messages/records/m_00?connection_id=WORK");
    assert_eq!(world.get("owner", &path).await.json()["data"]["text"], "Same key as at home, other words.");
}

#[tokio::test]
async fn a_compound_key_is_read_back_and_named_by_a_uri() {
    let world = World::new().await;
    let path = "/v1/streams/days/records/%5B%22anna%22%2C%222026-02-01%22%5D?connector_id=notes";
    let body = world.get("owner", path).await.json();
    assert_eq!(body["id"], r#"["anna","2026-02-01"]"#);
    assert!(body["result_id"].as_str().unwrap().starts_with("pdpp://record/"));
}

#[tokio::test]
async fn a_blob_reference_says_where_its_bytes_are() {
    let world = World::new().await;
    let path = world.path("/v1/streams/messages/records/x_blob?connection_id=HOME&fields=blob_ref");
    let body = world.get("owner", &path).await.json();
    let id = pdpp_testkit::sample::chat::blob_id();
    assert_eq!(body["data"]["blob_ref"]["fetch_url"], format!("/v1/blobs/{id}"));
}
