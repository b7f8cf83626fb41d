//! Connector manifests.

use crate::world::World;

#[tokio::test]
async fn a_manifest_is_registered_once_and_replaced_only_when_asked() {
    let world = World::new().await;
    let first = include_str!("second_chat.json").to_owned();
    let other =
        first.replace("\"id\": { \"type\": \"string\" }", "\"id\": { \"type\": \"string\" }, \"x\": {}");
    let register = async |path: &str, body: String| world.ask("owner", "POST", path, body).await;
    let made = register("/connectors", first.clone()).await;
    assert_eq!(made.status, 201);
    assert_eq!(made.json(), serde_json::json!({"connector_id": "letters", "connector_key": "letters"}));
    assert_eq!(register("/connectors", first.clone()).await.status, 201);
    assert_eq!(register("/connectors", other.clone()).await.verdict(), "409 manifest_conflict");
    assert_eq!(register("/connectors?replace=true", other.clone()).await.status, 201);
    let stored = world.get("owner", "/connectors/letters").await.json();
    assert_eq!(stored, serde_json::from_str::<serde_json::Value>(&other).unwrap());
}

#[tokio::test]
async fn a_client_reads_only_the_manifests_of_its_sources() {
    let world = World::new().await;
    assert_eq!(world.ask("owner", "POST", "/connectors", include_str!("second_chat.json")).await.status, 201);
    assert_eq!(world.verdict("client", "/connectors/chat").await, "200 ok");
    assert_eq!(world.verdict("client", "/connectors/letters").await, "404 not_found");
    assert_eq!(world.verdict("owner", "/connectors/letters").await, "200 ok");
    assert_eq!(world.verdict("", "/connectors/chat").await, "401 authentication_error");
}

#[tokio::test]
async fn a_manifest_with_a_fault_is_refused_by_its_place() {
    let world = World::new().await;
    let refused = world.ask("owner", "POST", "/connectors", r#"{"connector_key":"x","streams":[]}"#).await;
    assert_eq!(refused.verdict(), "400 connector_invalid");
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("streams"));
    assert_eq!(world.ask("owner", "POST", "/connectors", "{").await.verdict(), "400 invalid_request");
    let large = format!(r#"{{"connector_key":"{}"}}"#, "x".repeat(2 * 1024 * 1024));
    assert_eq!(world.ask("owner", "POST", "/connectors", large).await.verdict(), "413 resource_limit");
}

#[tokio::test]
async fn a_schema_nothing_can_be_checked_against_is_refused_before_it_is_stored() {
    let world = World::new().await;
    for schema in [r#"{"type":5,"properties":{"id":{}}}"#, r#"{"properties":{"id":{"pattern":"("}}}"#] {
        let body = format!(
            r#"{{"connector_key":"x","streams":[{{"name":"s","primary_key":["id"],"schema":{schema}}}]}}"#
        );
        let refused = world.ask("owner", "POST", "/connectors", body).await;
        assert_eq!(refused.verdict(), "400 connector_invalid", "{schema}");
        assert_eq!(world.verdict("owner", "/connectors/x").await, "404 not_found");
    }
}
