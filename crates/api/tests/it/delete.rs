//! Deleting one record, and a whole stream.

use crate::world::World;

#[tokio::test]
async fn a_deleted_record_leaves_a_tombstone() {
    let world = World::new().await;
    let start = world.get("client", "/v1/streams/notes/records?changes_since=beginning&limit=100").await;
    let since: serde_json::Value = serde_json::from_slice(&start.bytes).unwrap();
    let since = since["next_changes_since"].as_str().unwrap();
    let path = "/v1/streams/notes/records/n_04?connector_id=notes";
    for _ in 0..2 {
        let gone = world.ask("owner", "DELETE", path, "").await;
        assert_eq!((gone.status, gone.bytes.len()), (204, 0));
    }
    assert_eq!(world.verdict("client", "/v1/streams/notes/records/n_04").await, "404 not_found");
    let news = world.get("client", &format!("/v1/streams/notes/records?changes_since={since}")).await.json();
    let expected = serde_json::json!([{
        "object": "record", "id": "n_04", "stream": "notes", "deleted": true,
        "deleted_at": "2026-03-01T12:00:00.000Z", "emitted_at": "2026-03-01T12:00:00.000Z",
        "connection_id": "NOTES", "connector_instance_id": "NOTES", "display_name": "Notebook",
        "result_id": "NOTES/notes:n_04",
    }]);
    assert_eq!(news["data"], expected);
}

#[tokio::test]
async fn a_purged_stream_expires_old_tokens() {
    let world = World::new().await;
    let start = world.get("client", "/v1/streams/notes/records?changes_since=beginning&limit=100").await;
    let since: serde_json::Value = serde_json::from_slice(&start.bytes).unwrap();
    let since = since["next_changes_since"].as_str().unwrap();
    assert_eq!(
        world.ask("owner", "DELETE", "/v1/streams/notes/records?connector_id=notes", "").await.status,
        204
    );
    let old = world.verdict("client", &format!("/v1/streams/notes/records?changes_since={since}")).await;
    assert_eq!(old, "410 cursor_expired (changes_since)");
    let body = world.get("client", "/v1/streams/notes/records?changes_since=beginning").await.json();
    assert_eq!(body["data"], serde_json::json!([]));
}

#[tokio::test]
async fn a_delete_must_say_where() {
    let world = World::new().await;
    for (path, expected) in [
        ("/v1/streams/notes/records/n_04", "400 invalid_request (connector_id)"),
        ("/v1/streams/nope/records/n_04?connector_id=notes", "404 not_found"),
        ("/v1/streams/messages/records?connector_id=chat", "400 ambiguous_connector_instance"),
    ] {
        assert_eq!(world.ask("owner", "DELETE", path, "").await.verdict(), expected, "{path}");
    }
}
