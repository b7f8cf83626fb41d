//! The protocol itself: both eras, malformed input, cancellation, and what the handshake says.

use std::sync::Arc;
use std::time::Duration;

use pdpp_client::{Bearer, Client, FixedBearer, Limits, ProviderUrl};
use pdpp_mcp::{Adapter, Settings};
use serde_json::{Value, json};

use crate::support::{Fake, Host, Reply};

fn adapter(fake: &Fake) -> Adapter {
    let bearer = Arc::new(FixedBearer(Bearer::new("client-token-of-the-tests")));
    let url = ProviderUrl::parse(&fake.url).unwrap();
    Adapter::new(Client::http(&url, bearer, Limits::default()).unwrap(), Settings::default())
}

/// The metadata every request of the newer era carries.
fn modern(params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[tokio::test]
async fn the_older_handshake_echoes_a_known_revision() {
    let fake = Fake::always(json!({"data": []})).await;
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut host = Host::silent(adapter(&fake));
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = host.request("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], answered, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "pdpp-mcp-server");
        assert_eq!(answer["result"]["capabilities"]["tools"].get("listChanged"), None);
        assert!(answer["result"].get("resultType").is_none());
        host.notify("notifications/initialized").await;
        assert_eq!(host.request("ping", json!({})).await["result"], json!({}));
    }
}

#[tokio::test]
async fn the_newer_era_needs_no_handshake() {
    let fake = Fake::always(json!({"data": []})).await;
    let mut host = Host::silent(adapter(&fake));
    let discovered = host.request("server/discover", modern(json!({}))).await;
    let versions = discovered["result"]["supportedVersions"].as_array().expect("versions").clone();
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");
    assert!(discovered["result"]["instructions"].as_str().unwrap().contains("schema"));
    let list = host.request("tools/list", modern(json!({}))).await;
    assert_eq!(list["result"]["resultType"], "complete");
    assert_eq!(list["result"]["cacheScope"], "private");
    assert!(list["result"]["ttlMs"].as_u64().unwrap() > 0);
    let again = host.request("tools/list", modern(json!({}))).await;
    assert_eq!(list["result"], again["result"]);
    let call = host.request("tools/call", modern(json!({"name": "list_streams", "arguments": {}}))).await;
    assert_eq!(call["result"]["resultType"], "complete");
    let missing = host.request("resources/read", modern(json!({"uri": "https://nowhere.test"}))).await;
    assert_eq!(missing["error"]["code"], -32602);
    let ping = host.request("ping", modern(json!({}))).await;
    assert_eq!(ping["error"]["code"], -32601);
}

#[tokio::test]
async fn whatever_is_written_the_server_answers_and_lives_on() {
    let fake = Fake::always(json!({"data": []})).await;
    let mut host = Host::connect(&fake).await;
    for (line, code) in [
        ("{not json", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        ("42", -32600),
        (r#""text""#, -32600),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":5}"#, -32600),
    ] {
        host.send_line(line).await;
        let answer = host.receive().await;
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    let unknown = host.request("no/such/method", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
    host.send_line(r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{}}"#).await;
    host.send_line("").await;
    assert_eq!(host.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_line_without_end_is_not_buffered() {
    let fake = Fake::always(json!({"data": []})).await;
    let mut host = Host::connect(&fake).await;
    let mut line = String::from(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#);
    line.push_str(&"a".repeat(64 * 1024 * 1024));
    line.push_str("\"}}");
    host.send_line(&line).await;
    let answer = host.receive().await;
    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer["error"]["message"].as_str().unwrap().contains("longer than"), "{answer}");
    assert_eq!(host.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn half_a_line_and_the_end_is_an_orderly_end() {
    let fake = Fake::always(json!({"data": []})).await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(pdpp_mcp::serve_lines(adapter(&fake), reader, writer));
    let (_answers, mut lines) = tokio::io::split(ours);
    tokio::io::AsyncWriteExt::write_all(&mut lines, br#"{"jsonrpc":"2.0","id":1,"meth"#).await.unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut lines).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(10), serving).await.expect("it ends");
    assert!(ended.unwrap().is_ok());
}

/// What the server writes until it ends, after it was given these bytes and no more.
async fn said_to(bytes: &[u8]) -> Vec<Value> {
    let fake = Fake::always(json!({"data": []})).await;
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(pdpp_mcp::serve_lines(adapter(&fake), reader, writer));
    let (mut answers, mut lines) = tokio::io::split(ours);
    tokio::io::AsyncWriteExt::write_all(&mut lines, bytes).await.unwrap();
    tokio::io::AsyncWriteExt::shutdown(&mut lines).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(10), serving).await.expect("it ends");
    assert!(ended.unwrap().is_ok());
    let mut said = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut answers, &mut said).await.unwrap();
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn a_last_line_without_its_end_is_answered() {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_streams", "arguments": {}}});
    let said = said_to(format!("{hello}\n{call}").as_bytes()).await;
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!((&said[1]["id"], &said[1]["result"]["isError"]), (&json!(2), &json!(false)), "{said:?}");
    let said = said_to(format!("{hello}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"meth").as_bytes()).await;
    assert_eq!(said.last().unwrap()["error"]["code"], -32700, "{said:?}");
}

#[tokio::test]
async fn a_batch_is_answered_together_in_the_revision_that_has_batches() {
    let fake = Fake::always(json!({"data": []})).await;
    let mut host = Host::silent(adapter(&fake));
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    host.request("initialize", params).await;
    host.notify("notifications/initialized").await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": 71, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/unheard_of"},
        {"jsonrpc": "2.0", "id": 72, "method": "tools/call", "params": {"name": "list_streams", "arguments": {}}},
    ]);
    host.send_line(&batch.to_string()).await;
    let answers = host.receive().await;
    let repeated =
        json!([{"jsonrpc": "2.0", "id": 9, "method": "ping"}, {"jsonrpc": "2.0", "id": 9, "method": "ping"}]);
    host.send_line(&repeated.to_string()).await;
    assert_eq!(host.receive().await["error"]["code"], -32600, "two requests with one id");
    let mut ids: Vec<u64> =
        answers.as_array().unwrap().iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [71, 72]);
}

/// A cancelled call stops its request: the server sees the connection close before it would have answered.
#[tokio::test]
async fn a_cancelled_call_is_abandoned() {
    let fake = Fake::start(|seen| {
        let slow = seen.param("connection_id") == Some("slow");
        let reply = Reply::json(&json!({"data": []}));
        if slow { reply.after(Duration::from_mins(1)) } else { reply }
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let call = json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call",
        "params": {"name": "list_streams", "arguments": {"connection_id": "slow"}}});
    host.send_line(&call.to_string()).await;
    while fake.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99, "reason": "enough"}});
    host.send_line(&cancel.to_string()).await;
    let quick = host.call("list_streams", json!({})).await;
    assert!(!quick.is_error);
}

#[tokio::test]
async fn an_unknown_tool_is_a_result_the_model_can_read() {
    let fake = Fake::always(json!({})).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("no_such_tool", json!({})).await;
    assert!(result.is_error && result.text.contains("not found"), "{}", result.text);
    assert!(result.text.contains("search"));
    assert_eq!(fake.seen(), []);
}
