//! The protocol itself: both eras, malformed input, and what the handshake says.

use std::sync::Arc;
use std::time::Duration;

use pdpp_client::{Bearer, Client, FixedBearer, Limits, ProviderUrl};
use pdpp_mcp::{Adapter, Settings};
use serde_json::{Value, json};

use crate::support::{Fake, Host};

pub(crate) fn adapter(fake: &Fake) -> Adapter {
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

/// What comes before a conversation is opened and asks for nothing is passed over, in either era.
#[tokio::test]
async fn nothing_said_before_the_first_request_ends_the_process() {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": modern(json!({}))});
    let bare = json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list"});
    let discover =
        json!({"jsonrpc": "2.0", "id": 9, "method": "server/discover", "params": modern(json!({}))});
    for stray in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
        r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"no"}}"#,
    ] {
        let said = said_to(format!("{stray}\n{stray}\n{hello}\n").as_bytes()).await;
        assert_eq!(said.len(), 1, "{stray}: {said:?}");
        assert_eq!(said[0]["result"]["protocolVersion"], "2025-11-25", "{stray}");
        let said = said_to(format!("{bare}\n{discover}\n{stray}\n{list}\n").as_bytes()).await;
        assert_eq!(said.len(), 3, "{stray}: {said:?}");
        assert_eq!(said[0]["error"]["code"], -32602, "{stray}");
        assert!(said[2]["result"]["tools"].is_array(), "{stray}: {said:?}");
    }
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
async fn an_unknown_tool_is_a_result_the_model_can_read() {
    let fake = Fake::always(json!({})).await;
    let mut host = Host::connect(&fake).await;
    let result = host.call("no_such_tool", json!({})).await;
    assert!(result.is_error && result.text.contains("not found"), "{}", result.text);
    assert!(result.text.contains("search"));
    assert_eq!(fake.seen(), []);
}
