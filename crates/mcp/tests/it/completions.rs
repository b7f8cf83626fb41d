//! Completions from the live schema, and silence when there is none.

use serde_json::{Value, json};

use crate::support::{Fake, Host, Reply};

fn schema() -> Value {
    json!({"object": "schema", "connectors": [
        {"connector_key": "slack", "granted_connections": [{"connection_id": "cin_s1"}, {"connection_id": "cin_s2"}], "streams": [
            {"name": "messages", "field_capabilities": {"text": "t=string,lex", "secret": "t=string,g=false", "sent_at": "t=timestamp"}},
            {"name": "message_files", "granted_connections": [{"connection_id": "cin_s2"}], "field_capabilities": {"name": "t=string"}}]},
        {"connector_key": "shop", "granted_connections": [{"connection_id": "cin_a"}], "streams": [
            {"name": "orders", "field_capabilities": {"total": "t=number"}}, {"name": "bad\u{202e}name"}]}]})
}

async fn values(host: &mut Host, argument: &str, value: &str, chosen: Value) -> Vec<String> {
    let params = json!({"ref": {"type": "ref/prompt", "name": "find_evidence"},
        "argument": {"name": argument, "value": value}, "context": {"arguments": chosen}});
    listed(&host.request("completion/complete", params).await)
}

fn listed(answer: &Value) -> Vec<String> {
    serde_json::from_value(answer["result"]["completion"]["values"].clone()).expect("a completion has values")
}

#[tokio::test]
async fn streams_connections_and_fields_complete_from_the_schema() {
    let fake = Fake::always(schema()).await;
    let mut host = Host::connect(&fake).await;
    assert_eq!(values(&mut host, "stream", "", json!({})).await, ["messages", "message_files", "orders"]);
    assert_eq!(fake.last().param("view"), Some("compact"));
    assert_eq!(values(&mut host, "stream", "ORD", json!({})).await, ["orders"]);
    assert_eq!(values(&mut host, "stream", "files", json!({})).await, ["message_files"]);
    assert_eq!(
        values(&mut host, "connection_id", "cin_", json!({"stream": "messages"})).await,
        ["cin_s1", "cin_s2"]
    );
    assert_eq!(fake.last().param("stream"), Some("messages"));
    let chosen = json!({"stream": "messages", "connection_id": "cin_s1"});
    assert_eq!(values(&mut host, "field_path", "", chosen).await, ["text", "sent_at"]);
    assert_eq!(values(&mut host, "question", "", json!({})).await, [""; 0]);
}

#[tokio::test]
async fn the_stream_template_completes() {
    let fake = Fake::always(schema()).await;
    let mut host = Host::connect(&fake).await;
    let params = json!({"ref": {"type": "ref/resource", "uri": "pdpp://stream/{name}"}, "argument": {"name": "name", "value": "me"}});
    assert_eq!(listed(&host.request("completion/complete", params).await), ["messages", "message_files"]);
    let params = json!({"ref": {"type": "ref/resource", "uri": "pdpp://record/{handle}"}, "argument": {"name": "handle", "value": ""}});
    assert!(listed(&host.request("completion/complete", params).await).is_empty());
}

#[tokio::test]
async fn a_hundred_values_are_the_most() {
    let streams: Vec<Value> = (0..250).map(|n| json!({"name": format!("s{n}")})).collect();
    let fake = Fake::always(json!({"streams": streams})).await;
    let mut host = Host::connect(&fake).await;
    let params = json!({"ref": {"type": "ref/prompt", "name": "summarize_stream"}, "argument": {"name": "stream", "value": "s"}});
    let completion = host.request("completion/complete", params).await["result"]["completion"].clone();
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(250), &json!(true)));
}

#[tokio::test]
async fn failures_give_empty_lists() {
    let fake = Fake::start(|_| Reply::error(403, "grant_revoked", "gone")).await;
    let mut host = Host::connect(&fake).await;
    assert!(values(&mut host, "stream", "", json!({})).await.is_empty());
    fake.rescript(|_| Reply::bytes(200, "text/html", "<html>"));
    assert!(values(&mut host, "stream", "", json!({})).await.is_empty());
    fake.rescript(|_| Reply::json(&json!([5])));
    assert!(values(&mut host, "field_path", "", json!({"stream": "x"})).await.is_empty());
    let params =
        json!({"ref": {"type": "ref/prompt", "name": "nope"}, "argument": {"name": "stream", "value": ""}});
    assert!(listed(&host.request("completion/complete", params).await).is_empty());
}
