//! Which streams exist, and what may be asked of each.

use expect_test::expect;

use crate::world::World;

#[tokio::test]
async fn a_client_sees_its_granted_streams_with_their_own_counts() {
    let world = World::new().await;
    expect![[""]].assert_eq(&world.get("client", "/v1/streams").await.show());
}

#[tokio::test]
async fn the_owner_sees_every_stream_of_every_connection() {
    let world = World::new().await;
    let body = world.get("owner", "/v1/streams").await.json();
    let line = |item: &serde_json::Value| {
        format!("{} {} {} {}", item["connector_id"], item["name"], item["display_name"], item["record_count"])
    };
    let lines: Vec<_> = body["data"].as_array().unwrap().iter().map(line).collect();
    expect![[""]].assert_eq(&lines.join("\n").replace('"', ""));
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
    expect![[""]].assert_eq(&serde_json::to_string_pretty(&flags).unwrap());
}

#[tokio::test]
async fn connectors_list_their_streams_and_addresses() {
    let world = World::new().await;
    expect![[""]].assert_eq(&world.get("client", "/v1/connectors").await.show());
}

#[tokio::test]
async fn the_deprecated_name_of_a_connection_works_with_a_warning() {
    let world = World::new().await;
    let body = world.get("owner", &world.path("/v1/streams?connector_instance_id=NOTES")).await.json();
    assert_eq!(body["meta"]["warnings"][0]["code"], "deprecated_alias_used");
    assert_eq!(body["data"].as_array().unwrap().len(), 2);
}
