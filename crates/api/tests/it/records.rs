//! Pages of records.

use expect_test::expect;
use serde_json::Value;

use crate::world::World;

#[tokio::test]
async fn a_page_holds_exactly_the_granted_fields() {
    let world = World::new().await;
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "object": "list",
          "url": "/v1/streams/messages/records",
          "data": [
            {
              "object": "record",
              "id": "x_blob",
              "stream": "messages",
              "data": {
                "id": "x_blob",
                "author": "ben",
                "sent_at": "2026-02-01T08:08:00Z",
                "text": "The minutes."
              },
              "emitted_at": "2026-02-01T08:08:00.000Z",
              "connection_id": "HOME",
              "connector_instance_id": "HOME",
              "display_name": "Home",
              "result_id": "HOME/messages:x_blob"
            },
            {
              "object": "record",
              "id": "x_nested",
              "stream": "messages",
              "data": {
                "id": "x_nested",
                "author": "anna",
                "sent_at": "2026-02-01T08:07:00Z",
                "text": "See the meta."
              },
              "emitted_at": "2026-02-01T08:07:00.000Z",
              "connection_id": "HOME",
              "connector_instance_id": "HOME",
              "display_name": "Home",
              "result_id": "HOME/messages:x_nested"
            }
          ],
          "has_more": true,
          "next_cursor": "SEALED",
          "links": {
            "self": "/v1/streams/messages/records?limit=2&count=exact&window=exact",
            "next": "/v1/streams/messages/records?limit=2&count=exact&window=exact&cursor=SEALED"
          },
          "meta": {
            "count": {
              "kind": "exact",
              "value": 15
            },
            "warnings": [],
            "window": {
              "total": 15,
              "earliest_at": "2026-01-10T08:15:00.000Z",
              "latest_at": "2026-02-01T08:08:00.000Z"
            }
          }
        }"#]]
    .assert_eq(
        &world.get("client", "/v1/streams/messages/records?limit=2&count=exact&window=exact").await.show(),
    );
}

async fn ids(world: &World, token: &str, query: &str) -> Vec<String> {
    let body = world.get(token, &world.path(&format!("/v1/streams/messages/records?{query}"))).await.json();
    let records = body["data"].as_array().unwrap_or_else(|| panic!("{query}: {body}"));
    records.iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_repeat() {
    let world = World::new().await;
    for query in ["order=desc", "order=asc", "sort=sent_at", "sort=-sent_at", "filter[author]=anna"] {
        let whole = ids(&world, "owner", &format!("connector_id=chat&limit=100&{query}")).await;
        let mut path = format!("/v1/streams/messages/records?connector_id=chat&limit=7&{query}");
        let mut paged = Vec::new();
        loop {
            let answer = world.get("owner", &path).await;
            let body: Value = serde_json::from_slice(&answer.bytes).unwrap();
            paged.extend(
                body["data"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap().to_owned()),
            );
            assert_eq!(body["has_more"], !body["links"]["next"].is_null());
            assert_eq!(body["has_more"], body.get("next_cursor").is_some());
            match body["links"]["next"].as_str() {
                Some(next) => path = next.to_owned(),
                None => break,
            }
        }
        assert_eq!(paged, whole, "{query}");
    }
}

#[tokio::test]
async fn filters_select_by_value_and_by_range() {
    let world = World::new().await;
    let found = async |query: &str| {
        ids(&world, "owner", &format!("connection_id=HOME&limit=100&{query}")).await.len()
    };
    assert_eq!(found("filter[author]=anna&filter[channel_id]=c_harbour").await, 2);
    assert_eq!(found("filter[sent_at][gte]=2026-01-10&filter[sent_at][lt]=2026-01-11").await, 2);
    assert_eq!(found("filter[stars]=4").await, 4);
    assert_eq!(found("filter[author]=nobody").await, 0);
}

#[tokio::test]
async fn a_projection_shows_exactly_what_was_asked() {
    let world = World::new().await;
    let shown = async |token: &str, query: &str| {
        let body =
            world.get(token, &format!("/v1/streams/messages/records?limit=1&order=asc&{query}")).await.json();
        body["data"][0]["data"].to_string()
    };
    assert_eq!(shown("client", "fields=author,id").await, r#"{"id":"m_18","author":"anna"}"#);
    assert_eq!(
        shown("client", "view=headline").await,
        r#"{"id":"m_18","author":"anna","sent_at":"2026-01-10T08:15:00Z"}"#
    );
}

#[tokio::test]
async fn a_limit_above_the_most_is_lowered_and_said() {
    let world = World::new().await;
    let body = world.get("owner", "/v1/streams/messages/records?connector_id=chat&limit=500").await.json();
    assert_eq!(
        body["meta"]["warnings"][0]["detail"],
        serde_json::json!({"requested_limit": 500, "max_limit": 100})
    );
}

#[tokio::test]
async fn expansion_attaches_children_one_level_deep() {
    let world = World::new().await;
    let path = "/v1/streams/messages/records?fields=id&limit=1&expand=attachments&filter[id]=x_blob";
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "object": "list",
          "url": "/v1/streams/messages/records",
          "data": [
            {
              "object": "record",
              "id": "x_blob",
              "stream": "messages",
              "data": {
                "id": "x_blob"
              },
              "emitted_at": "2026-02-01T08:08:00.000Z",
              "connection_id": "HOME",
              "connector_instance_id": "HOME",
              "display_name": "Home",
              "result_id": "HOME/messages:x_blob",
              "expanded": {
                "attachments": {
                  "object": "list",
                  "has_more": false,
                  "data": [
                    {
                      "object": "record",
                      "id": "a_1",
                      "stream": "attachments",
                      "data": {
                        "id": "a_1",
                        "message_id": "x_blob",
                        "name": "minutes.txt"
                      },
                      "emitted_at": "2026-02-01T09:00:00.000Z",
                      "connection_id": "HOME",
                      "connector_instance_id": "HOME",
                      "display_name": "Home",
                      "result_id": "HOME/attachments:a_1"
                    }
                  ]
                }
              }
            }
          ],
          "has_more": false,
          "links": {
            "self": "/v1/streams/messages/records?fields=id&limit=1&expand=attachments&filter[id]=x_blob",
            "next": null
          },
          "meta": {
            "count": {
              "kind": "none"
            },
            "warnings": []
          }
        }"#]]
    .assert_eq(&world.get("client", path).await.show());
}

#[tokio::test]
async fn a_has_one_relation_is_a_record_or_null() {
    let world = World::new().await;
    let path = world.path("/v1/streams/channels/records?connection_id=HOME&order=asc&expand=pin&expand=messages&expand_limit[messages]=1");
    let body = world.get("owner", &path).await.json();
    assert_eq!(body["data"][0]["expanded"]["pin"], Value::Null);
    assert_eq!(body["data"][1]["expanded"]["pin"]["id"], "p_1");
    assert_eq!(body["data"][0]["expanded"]["messages"]["data"].as_array().unwrap().len(), 1);
    assert_eq!(body["data"][0]["expanded"]["messages"]["has_more"], true);
}
