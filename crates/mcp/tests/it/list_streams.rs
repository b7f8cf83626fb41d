//! `list_streams`.

use serde_json::{Value, json};

use crate::support::{Fake, Host};
use crate::tokens::assert_affordable;

#[tokio::test]
async fn streams_are_listed_with_the_scoped_bearer() {
    let body = json!({"object": "list", "has_more": false, "data": [
        {"object": "stream", "name": "messages", "connection_id": "cin_s1", "display_name": "Acme Slack",
         "source": {"connector_key": "slack"}, "record_count": 120},
        {"object": "stream", "name": "notes", "connector_instance_id": "cin_n", "record_count": 0}]});
    let fake = Fake::always(body.clone()).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("list_streams", json!({"connection_id": "cin_a"})).await;
    assert_eq!(
        result.text,
        "PDPP streams: 2 stream(s)\n\
         stream name=\"messages\" connection_id=\"cin_s1\" connector_key=\"slack\" display_name=\"Acme Slack\" record_count=120\n\
         stream name=\"notes\" connection_id=\"cin_n\" record_count=0"
    );
    assert_eq!(result.structured["data"], body);
    assert_eq!(result.structured["request_id"], "req_1");
    let seen = fake.last();
    assert_eq!((seen.path.as_str(), seen.param("connection_id")), ("/v1/streams", Some("cin_a")));
    assert_eq!(seen.authorization, "Bearer client-token-of-the-tests");
}

#[tokio::test]
async fn a_long_list_is_counted_and_continued() {
    let row = |n: usize| {
        json!({"object": "stream", "name": format!("stream_{n}"), "connection_id": "cin_a", "record_count": n,
            "display_name": "Home", "last_updated": "2026-01-01T00:00:00Z",
            "freshness": {"status": "current", "captured_at": "2026-01-01T00:00:00Z"}})
    };
    let fake = Fake::always(json!({"object": "list", "data": (0..400).map(row).collect::<Vec<_>>()})).await;
    let result = Host::connect(&fake).await.call("list_streams", json!({})).await;
    assert_affordable(&result);
    assert!(result.text.starts_with("PDPP streams: 400 stream(s)\n"));
    assert!(result.text.contains("\nmore_streams=350; call schema()"), "{}", result.text);
    let kept = result.structured["data"]["data"].as_array().unwrap().len();
    assert_eq!(result.structured["data"]["streams_omitted"], 400 - kept);
    assert!(kept > 100 && result.text.contains(&format!("streams_omitted={}", 400 - kept)));
}

#[tokio::test]
async fn foreign_lists_are_understood_or_empty() {
    for (body, count) in [
        (json!(["a", "b"]), 2),
        (json!({"streams": [{"name": "a"}]}), 1),
        (Value::Null, 0),
        (json!({"data": 5}), 0),
    ] {
        let fake = Fake::always(body).await;
        let result = Host::connect(&fake).await.call("list_streams", json!({})).await;
        assert!(result.text.starts_with(&format!("PDPP streams: {count} stream(s)")), "{}", result.text);
    }
}
