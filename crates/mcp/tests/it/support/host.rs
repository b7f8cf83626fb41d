//! A host: it speaks the protocol over a pair of pipes and shows what a model would see.

use std::sync::Arc;
use std::time::Duration;

use pdpp_client::{Bearer, Client, FixedBearer, Limits, ProviderUrl};
use pdpp_mcp::{Adapter, Settings, serve_lines};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::Fake;

/// The token of every test. It must appear in nothing a model sees.
pub(crate) const TOKEN: &str = "client-token-of-the-tests";

/// One connected host.
pub(crate) struct Host {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    next_id: u64,
    /// What the server said at the handshake.
    pub(crate) welcome: Value,
}

/// The result of a tool call.
#[derive(Clone, Debug)]
pub(crate) struct CallResult {
    /// The whole result, as it came.
    pub(crate) raw: Value,
    /// The text of the first block.
    pub(crate) text: String,
    /// The structured half.
    pub(crate) structured: Value,
    pub(crate) is_error: bool,
}

impl CallResult {
    /// The code of an error result.
    pub(crate) fn code(&self) -> &str {
        self.structured["error"]["code"].as_str().unwrap_or("")
    }

    /// Everything a model may see: both halves, without hidden metadata.
    pub(crate) fn visible(&self) -> String {
        format!("{} {}", self.raw["content"], self.structured)
    }
}

impl Host {
    /// A host before an adapter with the usual settings.
    pub(crate) async fn connect(fake: &Fake) -> Self {
        Self::with_settings(fake, Settings::default()).await
    }

    /// A host before an adapter with other settings.
    pub(crate) async fn with_settings(fake: &Fake, settings: Settings) -> Self {
        let limits = Limits {
            deadline: Duration::from_secs(2),
            longest_pause: Duration::from_millis(1_100),
            max_bytes: 8 * 1024 * 1024,
        };
        let bearer = Arc::new(FixedBearer(Bearer::new(TOKEN)));
        let client = Client::http(&ProviderUrl::parse(&fake.url).unwrap(), bearer, limits).unwrap();
        Self::before(Adapter::new(client, settings)).await
    }

    /// A host before any adapter.
    pub(crate) async fn before(adapter: Adapter) -> Self {
        let mut host = Self::silent(adapter);
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"},
        });
        host.welcome = host.request("initialize", params).await["result"].clone();
        host.notify("notifications/initialized").await;
        host
    }

    /// A host that has not said anything yet.
    pub(crate) fn silent(adapter: Adapter) -> Self {
        let (ours, theirs) = tokio::io::duplex(1024 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        tokio::spawn(serve_lines(adapter, reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        Self { reader: BufReader::new(reader), writer, next_id: 0, welcome: Value::Null }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send_line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
            .await;
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Sends a notification.
    pub(crate) async fn notify(&mut self, method: &str) {
        self.send_line(&json!({"jsonrpc": "2.0", "method": method}).to_string()).await;
    }

    /// Writes one line, whatever it is.
    pub(crate) async fn send_line(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    /// The next message of the server.
    pub(crate) async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = tokio::time::timeout(Duration::from_secs(20), self.reader.read_line(&mut line));
        assert!(read.await.expect("the server answers").unwrap() > 0, "the server has gone");
        serde_json::from_str(&line).expect("every line is JSON")
    }

    /// Calls a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> CallResult {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let raw = answer["result"].clone();
        assert!(raw.is_object(), "a call has a result: {answer}");
        assert!(!raw.to_string().contains(TOKEN), "the token leaked: {raw}");
        CallResult {
            text: raw["content"][0]["text"].as_str().unwrap_or("").to_owned(),
            structured: raw["structuredContent"].clone(),
            is_error: raw["isError"] == true,
            raw,
        }
    }

    /// The tools as the server lists them.
    pub(crate) async fn tools(&mut self) -> Vec<Value> {
        let list = self.request("tools/list", json!({})).await;
        list["result"]["tools"].as_array().expect("tools are a list").clone()
    }
}
