//! `/mcp` on a running server: who may come in, and what they get.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{Request, Response};

use crate::support::{Pdpp, Server};

struct Endpoint {
    agent: Agent,
    url: String,
}

/// A status, the headers, and the body as JSON if it is any.
struct Said {
    status: u16,
    response: Response<()>,
    body: Value,
}

impl Said {
    fn header(&self, name: &str) -> &str {
        self.response.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Endpoint {
    fn of(server: &Server) -> Self {
        let agent = Agent::config_builder().http_status_as_error(false).build().into();
        Self { agent, url: format!("http://{}/mcp", server.address()) }
    }

    fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Said {
        let mut request = Request::builder().method(method).uri(&self.url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self.agent.run(request.body(body.to_owned()).unwrap()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        let status = response.status().as_u16();
        let (parts, _) = response.into_parts();
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Said { status, response: Response::from_parts(parts, ()), body }
    }

    fn post(&self, token: &str, message: &Value) -> Said {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        self.send("POST", &headers, &message.to_string())
    }
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

#[test]
fn strangers_are_challenged_and_owners_sent_away() {
    let pdpp = Pdpp::with_sample();
    let owner = pdpp.owner_token();
    let server = pdpp.serve();
    let endpoint = Endpoint::of(&server);
    let stranger = endpoint.send("POST", &[("content-type", "application/json")], "{}");
    assert_eq!(stranger.status, 401);
    let metadata = format!("http://{}/.well-known/oauth-protected-resource/mcp", server.address());
    assert!(stranger.header("www-authenticate").contains(&format!("resource_metadata=\"{metadata}\"")));
    assert_eq!(stranger.body["error"]["resource_metadata"], json!(metadata));
    assert!(stranger.body["error"]["next_step"].is_string());
    let refused = endpoint.post(&owner, &call("schema", json!({})));
    assert_eq!((refused.status, &refused.body["error"]["code"]), (403, &json!("permission_error")));
    let message = refused.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("grant-scoped client or MCP package token"), "{message}");
    assert!(message.contains("owner-agent REST onboarding"), "{message}");
    assert_eq!(endpoint.post("nonsense", &call("schema", json!({}))).status, 401);
}

/// A host keeps its connection, and its next message may come with a better token.
#[test]
fn a_refused_message_leaves_its_connection_open() {
    let pdpp = Pdpp::with_sample();
    let server = pdpp.serve();
    let mut connection = TcpStream::connect(server.address()).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let body = call("schema", json!({})).to_string();
    for _ in 0..2 {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer nonsense\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            server.address(),
            body.len()
        );
        connection.write_all(head.as_bytes()).unwrap();
        // What comes later is what a slow way does to a message.
        std::thread::sleep(Duration::from_millis(100));
        connection.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        let mut part = [0; 4096];
        while !answer.contains("}}") {
            let length = connection.read(&mut part).unwrap();
            assert!(length > 0, "the connection was closed after {answer:?}");
            answer.push_str(std::str::from_utf8(&part[..length]).unwrap());
        }
        assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    }
}

#[test]
fn a_client_token_reads_and_the_ledger_says_so() {
    let pdpp = Pdpp::with_sample();
    let (token, grant) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let endpoint = Endpoint::of(&server);
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let welcome = endpoint.post(&token, &hello);
    assert_eq!(welcome.status, 200, "{}", welcome.body);
    assert_eq!(welcome.header("mcp-session-id"), "");
    assert!(welcome.header("content-type").starts_with("application/json"));
    let found = endpoint.post(&token, &call("search", json!({"q": "long hose"})));
    let text = found.body["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("<mark>long</mark> <mark>hose</mark>"), "{text}");
    assert!(pdpp.ok(&["audit", "--json"]).contains("\"mcp\""), "the ledger names the door");
    pdpp.ok(&["grant", "revoke", &grant]);
    assert_eq!(endpoint.post(&token, &call("search", json!({"q": "long hose"}))).status, 403);
    let ledger = pdpp.ok(&["audit", "--json"]);
    let refusals: Vec<Value> = ledger
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|entry| entry["door"] == "mcp" && entry["refused"] == "grant_revoked")
        .collect();
    assert_eq!(refusals.len(), 1, "a token that opens nothing is written down: {ledger}");
}

#[test]
fn the_endpoint_is_stateless_and_strict_about_its_input() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let endpoint = Endpoint::of(&server);
    let bearer = format!("Bearer {token}");
    let both = "application/json, text/event-stream";
    let send = |method: &str, content_type: &str, accept: &str, body: &str| {
        let headers =
            [("authorization", bearer.as_str()), ("content-type", content_type), ("accept", accept)];
        endpoint.send(method, &headers, body)
    };
    for method in ["GET", "DELETE"] {
        let said = endpoint.send(method, &[("authorization", &bearer), ("accept", "text/event-stream")], "");
        assert_eq!((said.status, said.header("allow")), (405, "POST"), "{method}");
    }
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(send("POST", "application/json", both, ping).status, 200);
    assert_eq!(send("POST", "application/json", "application/json", ping).status, 406);
    assert_eq!(send("POST", "text/plain", both, ping).status, 415);
    let broken = send("POST", "application/json", both, "{not json");
    assert_eq!((broken.status, &broken.body["error"]["code"]), (400, &json!(-32700)));
    let batch = format!("[{ping},{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}}]");
    let together = send("POST", "application/json", both, &batch);
    assert_eq!(
        (together.status, together.body.as_array().map(Vec::len)),
        (200, Some(2)),
        "{}",
        together.body
    );
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", both),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    assert_eq!(endpoint.send("POST", &headers, &batch).status, 400, "only one revision has batches");
    let notified = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(send("POST", "application/json", both, notified).status, 202);
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", both),
        ("origin", "https://evil.test"),
    ];
    assert_eq!(endpoint.send("POST", &headers, ping).status, 403, "a page of another origin is refused");
}

/// The two transports are one engine.
#[test]
fn results_are_the_same_over_http_and_over_standard_streams() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;

    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let endpoint = Endpoint::of(&server);
    let url = format!("http://{}", server.address());
    let mut command = pdpp.command(&["mcp", "--provider-url", &url]);
    command
        .env("PDPP_CLIENT_TOKEN", &token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |message: &Value| -> Value {
        writeln!(stdin, "{message}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    ask(&hello);
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    assert_eq!(ask(&list)["result"], endpoint.post(&token, &list).body["result"]);
    for message in [
        call("list_streams", json!({})),
        call("query_records", json!({"stream": "messages", "limit": 3})),
        call("query_records", json!({"stream": "channels"})),
        call("aggregate", json!({"stream": "messages", "metric": "count"})),
    ] {
        let (mut here, mut there) = (ask(&message), endpoint.post(&token, &message).body);
        for answer in [&mut here, &mut there] {
            // Each request has an id of its own, and cursors are sealed with a fresh nonce.
            let text = answer.to_string();
            let ids =
                [answer["result"]["structuredContent"]["request_id"].as_str().unwrap_or("none").to_owned()];
            let same = ids.iter().fold(text, |text, id| text.replace(id.as_str(), "REQUEST"));
            *answer = serde_json::from_str(&cursors_aside(&same)).unwrap();
        }
        assert_eq!(here, there, "{message}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Sealed positions differ each time they are made.
fn cursors_aside(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    for marker in ["cursor"] {
        while let Some(at) = rest.find(marker) {
            let (head, tail) = rest.split_at(at + marker.len());
            out.push_str(head);
            let end = tail.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(tail.len());
            let (between, value) = tail.split_at(end);
            let length = value
                .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
                .unwrap_or(value.len());
            out.push_str(between);
            rest = if length > 40 {
                out.push_str("CURSOR");
                &value[length..]
            } else {
                value
            };
        }
    }
    out.push_str(rest);
    out
}
