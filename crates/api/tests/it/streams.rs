//! Which streams exist, and what may be asked of each.

use expect_test::expect;

use crate::world::World;

#[tokio::test]
async fn a_client_sees_its_granted_streams_with_their_own_counts() {
    let world = World::new().await;
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "object": "list",
          "data": [
            {
              "object": "stream",
              "name": "messages",
              "record_count": 15,
              "last_updated": "2026-02-01T08:08:00.000Z",
              "connection_id": "HOME",
              "connector_instance_id": "HOME",
              "display_name": "Home",
              "freshness": {
                "status": "stale",
                "captured_at": "2026-02-01T08:08:00.000Z"
              }
            },
            {
              "object": "stream",
              "name": "attachments",
              "record_count": 3,
              "last_updated": "2026-02-01T09:00:00.000Z",
              "connection_id": "HOME",
              "connector_instance_id": "HOME",
              "display_name": "Home",
              "freshness": {
                "status": "stale",
                "captured_at": "2026-02-01T09:00:00.000Z"
              }
            },
            {
              "object": "stream",
              "name": "notes",
              "record_count": 12,
              "last_updated": "2026-02-12T18:00:00.000Z",
              "connection_id": "NOTES",
              "connector_instance_id": "NOTES",
              "display_name": "Notebook",
              "freshness": {
                "status": "unknown",
                "captured_at": "2026-02-12T18:00:00.000Z"
              }
            }
          ],
          "has_more": false,
          "links": {
            "self": "/v1/streams",
            "next": null
          },
          "meta": {
            "count": {
              "kind": "none"
            },
            "warnings": []
          }
        }"#]]
    .assert_eq(&world.get("client", "/v1/streams").await.show());
}

#[tokio::test]
async fn the_owner_sees_every_stream_of_every_connection() {
    let world = World::new().await;
    let body = world.get("owner", "/v1/streams").await.json();
    let line = |item: &serde_json::Value| {
        format!("{} {} {} {}", item["connector_id"], item["name"], item["display_name"], item["record_count"])
    };
    let lines: Vec<_> = body["data"].as_array().unwrap().iter().map(line).collect();
    expect![[r#"
        chat channels Work 1
        chat channels Home 2
        chat messages Work 9
        chat messages Home 36
        chat attachments Work 0
        chat attachments Home 3
        chat pins Work 0
        chat pins Home 1
        notes notes Notebook 12
        notes days Notebook 12"#]]
    .assert_eq(&lines.join("\n").replace('"', ""));
}

#[tokio::test]
async fn one_connection_can_be_listed_alone() {
    let world = World::new().await;
    let listed =
        async |query: &str| world.verdict("client", &world.path(&format!("/v1/streams?{query}"))).await;
    assert_eq!(listed("connection_id=HOME").await, "200 ok");
    assert_eq!(listed("connection_id=WORK").await, "404 connection_not_found (connection_id)");
    assert_eq!(
        listed("connection_id=HOME&connector_instance_id=WORK").await,
        "400 invalid_argument (connector_instance_id)"
    );
}

#[tokio::test]
async fn a_stream_is_described_whole_with_flags_for_this_token() {
    let world = World::new().await;
    let body = world.get("client", "/v1/streams/messages").await.json();
    assert_eq!(body["object"], "stream_metadata");
    assert_eq!(body["schema"]["properties"]["weight"]["type"], serde_json::json!(["number", "null"]));
    let flags = serde_json::json!({
        "text": body["field_capabilities"]["text"],
        "weight": body["field_capabilities"]["weight"],
        "expand": body["expand_capabilities"],
        "freshness": body["freshness"],
    });
    expect![[r#"
        {
          "text": {
            "role": "body",
            "schema": {
              "type": "string",
              "x_pdpp_role": "body"
            },
            "granted": true,
            "exact_filter": {
              "declared": true,
              "usable": true
            },
            "range_filter": {
              "declared": false,
              "usable": false
            },
            "lexical_search": {
              "declared": true,
              "usable": false
            },
            "semantic_search": {
              "declared": false,
              "usable": false
            },
            "aggregation": {
              "count_distinct": {
                "declared": false,
                "usable": false
              },
              "group_by": {
                "declared": false,
                "usable": false
              },
              "group_by_time": {
                "declared": false,
                "usable": false
              },
              "max": {
                "declared": false,
                "usable": false
              },
              "min": {
                "declared": false,
                "usable": false
              },
              "sum": {
                "declared": false,
                "usable": false
              }
            }
          },
          "weight": {
            "schema": {
              "type": [
                "number",
                "null"
              ]
            },
            "granted": false,
            "exact_filter": {
              "declared": true,
              "usable": false,
              "reason": "field_not_granted"
            },
            "range_filter": {
              "declared": true,
              "usable": false,
              "reason": "field_not_granted",
              "operators": [
                "gte",
                "lt"
              ]
            },
            "lexical_search": {
              "declared": false,
              "usable": false
            },
            "semantic_search": {
              "declared": false,
              "usable": false
            },
            "aggregation": {
              "count_distinct": {
                "declared": false,
                "usable": false
              },
              "group_by": {
                "declared": false,
                "usable": false
              },
              "group_by_time": {
                "declared": false,
                "usable": false
              },
              "max": {
                "declared": true,
                "usable": false,
                "reason": "field_not_granted"
              },
              "min": {
                "declared": true,
                "usable": false,
                "reason": "field_not_granted"
              },
              "sum": {
                "declared": true,
                "usable": false,
                "reason": "field_not_granted"
              }
            }
          },
          "expand": [
            {
              "name": "attachments",
              "stream": "attachments",
              "target_stream": "attachments",
              "cardinality": "has_many",
              "child_parent_key_field": "message_id",
              "foreign_key": "message_id",
              "default_limit": 5,
              "max_limit": 10,
              "granted": true,
              "usable": true
            }
          ],
          "freshness": {
            "status": "stale",
            "captured_at": "2026-02-01T08:08:00.000Z"
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&flags).unwrap());
}

#[tokio::test]
async fn connectors_list_their_streams_and_addresses() {
    let world = World::new().await;
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "object": "list",
          "data": [
            {
              "object": "connector",
              "source": {
                "kind": "connector",
                "id": "urn:pdpp:source:chat"
              },
              "connector_key": "chat",
              "connector_id": "chat",
              "stream_count": 2,
              "streams": [
                {
                  "object": "stream",
                  "name": "messages",
                  "record_count": 15,
                  "last_updated": "2026-02-01T08:08:00.000Z",
                  "freshness": {
                    "status": "stale",
                    "captured_at": "2026-02-01T08:08:00.000Z"
                  },
                  "capabilities": {
                    "records": true,
                    "stream_metadata": true,
                    "changes_since": true,
                    "exact_filters": true,
                    "range_filters": true,
                    "expand": true,
                    "aggregate": true,
                    "records_url": "/v1/streams/messages/records?connector_id=chat",
                    "metadata_url": "/v1/streams/messages?connector_id=chat",
                    "aggregate_url": "/v1/streams/messages/aggregate?connector_id=chat"
                  }
                },
                {
                  "object": "stream",
                  "name": "attachments",
                  "record_count": 3,
                  "last_updated": "2026-02-01T09:00:00.000Z",
                  "freshness": {
                    "status": "stale",
                    "captured_at": "2026-02-01T09:00:00.000Z"
                  },
                  "capabilities": {
                    "records": true,
                    "stream_metadata": true,
                    "changes_since": true,
                    "exact_filters": true,
                    "range_filters": false,
                    "expand": false,
                    "aggregate": true,
                    "records_url": "/v1/streams/attachments/records?connector_id=chat",
                    "metadata_url": "/v1/streams/attachments?connector_id=chat",
                    "aggregate_url": "/v1/streams/attachments/aggregate?connector_id=chat"
                  }
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
              "streams": [
                {
                  "object": "stream",
                  "name": "notes",
                  "record_count": 12,
                  "last_updated": "2026-02-12T18:00:00.000Z",
                  "freshness": {
                    "status": "unknown",
                    "captured_at": "2026-02-12T18:00:00.000Z"
                  },
                  "capabilities": {
                    "records": true,
                    "stream_metadata": true,
                    "changes_since": true,
                    "exact_filters": true,
                    "range_filters": true,
                    "expand": false,
                    "aggregate": true,
                    "records_url": "/v1/streams/notes/records?connector_id=notes",
                    "metadata_url": "/v1/streams/notes?connector_id=notes",
                    "aggregate_url": "/v1/streams/notes/aggregate?connector_id=notes"
                  }
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&world.get("client", "/v1/connectors").await.show());
}

#[tokio::test]
async fn the_deprecated_name_of_a_connection_works_with_a_warning() {
    let world = World::new().await;
    let body = world.get("owner", &world.path("/v1/streams?connector_instance_id=NOTES")).await.json();
    assert_eq!(body["meta"]["warnings"][0]["code"], "deprecated_alias_used");
    assert_eq!(body["data"].as_array().unwrap().len(), 2);
}
