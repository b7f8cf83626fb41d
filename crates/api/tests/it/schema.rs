//! The schema document.

use expect_test::expect;

use crate::world::World;

#[tokio::test]
async fn the_compact_view_flags_what_a_client_may_use() {
    let world = World::new().await;
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "object": "schema",
          "detail": "compact",
          "bearer": {
            "token_kind": "client",
            "scope": "grant",
            "grant_ids": [
              "grt_chat",
              "grt_notes"
            ],
            "client_id": "assistant",
            "expires_at": "2026-12-31T00:00:00Z"
          },
          "connector_count": 2,
          "stream_count": 3,
          "connectors": [
            {
              "object": "connector",
              "source": {
                "kind": "connector",
                "id": "urn:pdpp:source:chat"
              },
              "connector_key": "chat",
              "connector_id": "chat",
              "stream_count": 2,
              "granted_connections": [
                {
                  "connection_id": "HOME",
                  "display_name": "Home"
                }
              ],
              "streams": [
                {
                  "name": "messages",
                  "primary_key": [
                    "id"
                  ],
                  "cursor_field": "sent_at",
                  "time_constraint": {
                    "field": "sent_at",
                    "since": "2026-01-10T00:00:00.000Z"
                  },
                  "field_capabilities": {
                    "author": "t=string,role=actor,eq,a=count_distinct|group_by",
                    "blob_ref": "t=object,g=false",
                    "channel_id": "t=string,role=thread,g=false,eq=unusable:field_not_granted",
                    "edited": "t=boolean|null,g=false,eq=unusable:field_not_granted",
                    "id": "t=string,eq",
                    "meta": "t=object,g=false",
                    "sent_at": "t=string|null,role=event-time,eq,r=gte|gt|lte|lt,a=count_distinct|group_by_time|max|min",
                    "stars": "t=integer,g=false,eq=unusable:field_not_granted,r=unusable:field_not_granted",
                    "tags": "t=array,g=false",
                    "text": "t=string,role=body,eq,lex=unusable",
                    "weight": "t=number|null,g=false,eq=unusable:field_not_granted,r=unusable:field_not_granted"
                  },
                  "expand_capabilities": [
                    {
                      "name": "attachments",
                      "stream": "attachments",
                      "target_stream": "attachments",
                      "cardinality": "has_many",
                      "granted": true,
                      "usable": true,
                      "foreign_key": "message_id",
                      "max_limit": 10,
                      "default_limit": 5
                    }
                  ]
                },
                {
                  "name": "attachments",
                  "primary_key": [
                    "id"
                  ],
                  "field_capabilities": {
                    "blob_ref": "t=object,role=media,g=false",
                    "content": "t=string,g=false,eq=unusable:field_not_granted",
                    "id": "t=string,eq",
                    "message_id": "t=string,eq",
                    "name": "t=string,role=primary-title,eq"
                  },
                  "expand_capabilities": []
                }
              ]
            },
            {
              "object": "connector",
              "source": {
                "kind": "connector",
                "id": "urn:pdpp:source:notes"
              },
              "connector_key": "notes",
              "connector_id": "notes",
              "stream_count": 1,
              "granted_connections": [
                {
                  "connection_id": "NOTES",
                  "display_name": "Notebook"
                }
              ],
              "streams": [
                {
                  "name": "notes",
                  "primary_key": [
                    "id"
                  ],
                  "cursor_field": "updated_at",
                  "field_capabilities": {
                    "body": "t=string,role=body,eq,lex=unusable",
                    "folder": "t=string|null,g=false,eq=unusable:field_not_granted",
                    "id": "t=string,eq",
                    "pinned": "t=boolean,g=false,eq=unusable:field_not_granted",
                    "title": "t=string,role=primary-title,eq,lex=unusable",
                    "updated_at": "t=string,role=event-time,g=false,eq=unusable:field_not_granted,r=unusable:field_not_granted",
                    "words": "t=integer,g=false,eq=unusable:field_not_granted,r=unusable:field_not_granted"
                  },
                  "expand_capabilities": []
                }
              ]
            }
          ],
          "links": {
            "self": "/v1/schema?view=compact"
          },
          "meta": {
            "count": {
              "kind": "none"
            },
            "warnings": []
          }
        }"#]].assert_eq(&world.get("client", "/v1/schema?view=compact").await.show());
}

#[tokio::test]
async fn the_full_view_holds_every_stream_once() {
    let world = World::new().await;
    let body = world.get("owner", "/v1/schema").await.json();
    assert!(body.get("connector_count").is_none());
    assert_eq!(body["bearer"], serde_json::json!({"token_kind": "owner", "scope": "owner"}));
    let names: Vec<_> = body["connectors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| {
            let streams = c["streams"]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s["name"].as_str().unwrap())
                .collect::<Vec<_>>();
            format!("{}: {}", c["connector_key"].as_str().unwrap(), streams.join(" "))
        })
        .collect();
    assert_eq!(names, ["chat: channels messages attachments pins", "notes: notes days"]);
}

#[tokio::test]
async fn scoping_filters_and_never_fails() {
    let world = World::new().await;
    let counts = async |query: &str| {
        let body = world.get("owner", &world.path(&format!("/v1/schema?{query}"))).await.json();
        (body["connector_count"].as_u64(), body["stream_count"].as_u64())
    };
    assert_eq!(counts("stream=messages").await, (Some(1), Some(1)));
    assert_eq!(counts("connection_id=NOTES").await, (Some(1), Some(2)));
    assert_eq!(counts("stream=nonsense").await, (Some(0), Some(0)));
    assert_eq!(counts("connection_id=nonsense&view=COMPACT").await, (Some(0), Some(0)));
    assert_eq!(counts("connector_id=whatever&unheard_of=1").await, (None, None));
}

#[tokio::test]
async fn full_detail_needs_one_stream() {
    let world = World::new().await;
    assert_eq!(world.verdict("owner", "/v1/schema?detail=full").await, "400 invalid_request (detail)");
    assert_eq!(world.verdict("owner", "/v1/schema?detail=full&stream=messages").await, "200 ok");
    assert_eq!(world.verdict("owner", "/v1/schema?detail=full&view=compact").await, "200 ok");
}

#[tokio::test]
async fn full_detail_of_a_stream_two_sources_declare_asks_for_a_connection() {
    let world = World::new().await;
    let manifest = include_str!("second_chat.json");
    assert_eq!(world.ask("owner", "POST", "/connectors", manifest).await.status, 201);
    let line = r#"{"key":"z1","data":{"id":"z1"}}"#;
    assert_eq!(
        world.ask("owner", "POST", "/v1/ingest/messages?connector_id=letters", line).await.status,
        200
    );
    let refused = world.get("owner", "/v1/schema?detail=full&stream=messages").await;
    assert_eq!(refused.verdict(), "409 ambiguous_schema_detail (connection_id)");
    assert_eq!(refused.json()["error"]["retry_with"], "connection_id");
    assert_eq!(refused.json()["error"]["available_connections"].as_array().unwrap().len(), 3);
    assert_eq!(world.verdict("owner", "/v1/schema?stream=messages").await, "200 ok");
}

#[tokio::test]
async fn the_compact_view_stays_small() {
    let world = World::new().await;
    let all = world.get("owner", "/v1/schema?view=compact").await.bytes.len();
    let one = world.get("owner", "/v1/schema?view=compact&stream=messages").await.bytes.len();
    assert!(all <= 60_000 && one <= 6_000, "{all} {one}");
}
