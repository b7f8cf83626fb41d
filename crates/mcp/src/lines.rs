//! One JSON-RPC message per line, on any pair of streams.
//!
//! Whatever a client writes, the process lives on and the client hears what was wrong: a line that is no JSON, one
//! that is no message, a batch where the revision has none, a line longer than is taken. The tool list is written
//! once per era and repeated from memory.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, OnceLock, PoisonError};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    RequestMetaObject, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServiceExt as _, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::Adapter;
use crate::batch::Batches;
use crate::outcome::write_answer;

/// The longest line that is taken. Arguments are short; nothing a tool accepts comes near.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

/// Serves the adapter on two streams until the first one ends.
pub async fn serve_lines<R, W>(adapter: Adapter, reader: R, writer: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match adapter.writing().serve(Lines::new(reader, writer)).await {
        Ok(running) => running,
        // The client left before it said anything, which is an orderly end.
        Err(error) => {
            tracing::debug!(%error, "the client left during the handshake");
            return Ok(());
        }
    };
    running.waiting().await.map(|_| ()).map_err(io::Error::other)
}

struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Set inside a line that is already refused, until it ends.
    skipping: bool,
    waiting: VecDeque<RxJsonRpcMessage<RoleServer>>,
    batches: Arc<StdMutex<Batches>>,
    writer: Arc<Mutex<Writer<W>>>,
    /// Complaints that are being written.
    complaints: JoinSet<()>,
}

struct Writer<W> {
    stream: W,
    batches: Arc<StdMutex<Batches>>,
    /// The tool list in the newer and the older era.
    lists: [OnceLock<String>; 2],
}

enum Line {
    Whole,
    TooLong,
    End,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn new(reader: R, writer: W) -> Self {
        let batches = Arc::new(StdMutex::new(Batches::default()));
        let writer = Writer { stream: writer, batches: Arc::clone(&batches), lists: Default::default() };
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            skipping: false,
            waiting: VecDeque::new(),
            batches,
            writer: Arc::new(Mutex::new(writer)),
            complaints: JoinSet::new(),
        }
    }

    /// Reads one line. The future may be dropped at any await without losing bytes: what was consumed stands in
    /// `self.line`.
    async fn read_line(&mut self) -> io::Result<Line> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                // A last line may lack its end.
                return Ok(if self.line.is_empty() { Line::End } else { Line::Whole });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let too_long = self.line.len() + taken > MAX_LINE_BYTES;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            if self.skipping {
                self.skipping = end.is_none();
            } else if too_long {
                self.line = Vec::new();
                self.skipping = end.is_none();
                return Ok(Line::TooLong);
            } else if end.is_some() {
                return Ok(Line::Whole);
            }
        }
    }

    /// Takes the line apart: a message, several, or a complaint that is answered here.
    fn take_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line).trim_ascii();
        if text.is_empty() {
            return;
        }
        let complaint = match serde_json::from_slice::<Value>(text) {
            Err(error) => ErrorData::new(ErrorCode::PARSE_ERROR, format!("Parse error: {error}"), None),
            Ok(Value::Array(items)) => match locked(&self.batches).open(items) {
                Ok(messages) => return self.waiting.extend(messages),
                Err(complaint) => complaint,
            },
            Ok(value) => match message(value) {
                Ok(message) => return self.waiting.extend(message),
                Err(complaint) => return self.complain(&complaint.id, &complaint.error),
            },
        };
        self.complain(&Value::Null, &complaint);
    }

    /// Answers beside the service. The write is a task of its own, because this future may be dropped at any
    /// await and half a line must never leave.
    fn complain(&mut self, id: &Value, complaint: &ErrorData) {
        let answer = serde_json::json!({"jsonrpc": "2.0", "id": id, "error": complaint}).to_string();
        let writer = Arc::clone(&self.writer);
        while self.complaints.try_join_next().is_some() {}
        self.complaints.spawn(async move {
            if let Err(error) = writer.lock().await.write(answer).await {
                tracing::debug!(%error, "a complaint could not be written");
            }
        });
    }
}

fn locked(batches: &StdMutex<Batches>) -> MutexGuard<'_, Batches> {
    batches.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is wrong with a message, and whose request it was.
pub(crate) struct Complaint {
    pub(crate) id: Value,
    pub(crate) error: ErrorData,
}

/// The message everybody sends, in its usual shape; whatever else comes is given back. The protocol library tries one
/// kind of message after the other, and says of each in words why it is another.
fn tool_call(mut value: Value) -> Result<RxJsonRpcMessage<RoleServer>, Value> {
    let id = match value.get("id") {
        Some(Value::Number(number)) => number.as_i64().map(RequestId::Number),
        Some(Value::String(text)) => Some(RequestId::String(text.as_str().into())),
        _ => None,
    };
    let usual = value["jsonrpc"] == "2.0"
        && value["method"] == "tools/call"
        && value.as_object().is_some_and(|message| message.len() == 4)
        && value["params"].as_object().is_some_and(|params| {
            params.iter().all(|(name, value)| match name.as_str() {
                "name" => value.is_string(),
                "arguments" | "_meta" => value.is_object(),
                _ => false,
            }) && params.contains_key("name")
        });
    let (true, Some(id)) = (usual, id) else { return Err(value) };
    let mut member = |name: &str| match value["params"].get_mut(name).map(Value::take) {
        Some(Value::Object(members)) => Some(members),
        _ => None,
    };
    let (arguments, meta) = (member("arguments"), member("_meta"));
    let name = value["params"]["name"].as_str().unwrap_or_default().to_owned();
    let mut params = CallToolRequestParams::new(name);
    params.arguments = arguments;
    let mut request = CallToolRequest::new(params);
    if let Some(meta) = meta {
        request.extensions.insert(RequestMetaObject::from(meta));
    }
    Ok(JsonRpcMessage::request(ClientRequest::CallToolRequest(request), id))
}

/// A message, nothing for a notification nobody knows, or a complaint.
pub(crate) fn message(value: Value) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Box<Complaint>> {
    let value = match tool_call(value) {
        Ok(call) => return Ok(Some(call)),
        Err(other) => other,
    };
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    let is_notification = id.is_none() && value.get("method").is_some_and(Value::is_string);
    match serde_json::from_value(value) {
        Ok(message) => Ok(Some(message)),
        Err(_) if is_notification => Ok(None),
        Err(error) => {
            let complaint = ErrorData::invalid_request(format!("Invalid request: {error}"), None);
            Err(Box::new(Complaint { id: id.unwrap_or(Value::Null), error: complaint }))
        }
    }
}

impl<W: AsyncWrite + Send + Unpin> Writer<W> {
    async fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let text = self.text_of(&item)?;
        let due = locked(&self.batches).close(&item, text);
        // The message is taken apart after it was written: nobody should wait for that.
        match due {
            Some(text) => self.write(text).await,
            None => Ok(()),
        }
    }

    fn text_of(&self, item: &TxJsonRpcMessage<RoleServer>) -> io::Result<String> {
        let JsonRpcMessage::Response(response) = item else { return Ok(serde_json::to_string(item)?) };
        let list = match &response.result {
            ServerResult::ListToolsResult(list) => list,
            ServerResult::CallToolResult(result) => {
                let written = write_answer(&response.id, result)?;
                return Ok(written.map_or_else(|| serde_json::to_string(item), Ok)?);
            }
            _ => return Ok(serde_json::to_string(item)?),
        };
        let kept = &self.lists[usize::from(list.result_type.is_none())];
        if kept.get().is_none() {
            // A second writer would write the same.
            let _ = kept.set(serde_json::to_string(list)?);
        }
        let id = serde_json::to_string(&response.id)?;
        Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, kept.get().map_or("{}", String::as_str)))
    }

    async fn write(&mut self, mut line: String) -> io::Result<()> {
        line.push('\n');
        self.stream.write_all(line.as_bytes()).await?;
        self.stream.flush().await
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move { writer.lock().await.send(item).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                return Some(message);
            }
            match self.read_line().await {
                Ok(Line::Whole) => self.take_line(),
                Ok(Line::TooLong) => {
                    let text = format!("The line is longer than {MAX_LINE_BYTES} bytes and was not read.");
                    self.complain(&Value::Null, &ErrorData::invalid_request(text, None));
                }
                Ok(Line::End) => {
                    // Before the handshake nobody closes the stream, so what was wrong is said now.
                    while self.complaints.join_next().await.is_some() {}
                    return None;
                }
                Err(error) => {
                    tracing::debug!(%error, "the stream broke");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        while self.complaints.join_next().await.is_some() {}
        self.writer.lock().await.stream.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_call_is_read_as_the_protocol_library_reads_it() {
        let call = |id: Value, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let usual = [
            call(json!(1), json!({"name": "search", "arguments": {"q": "winter"}})),
            call(json!("a"), json!({"arguments": {}, "name": "search"})),
            call(json!(-3), json!({"name": "nothing"})),
            call(json!(1), json!({"name": "search", "arguments": {}, "_meta": {}})),
            call(
                json!(1),
                json!({"name": "fetch", "_meta": {"progressToken": 7, "x": [1]}, "arguments": {"id": "a:b"}}),
            ),
            json!({"method": "tools/call", "params": {"name": "x"}, "id": 4, "jsonrpc": "2.0"}),
        ];
        for value in usual {
            let theirs: RxJsonRpcMessage<RoleServer> = serde_json::from_value(value.clone()).unwrap();
            let Ok(ours) = tool_call(value.clone()) else { panic!("{value} is usual") };
            // What is written again holds the metadata too, which stands beside the parameters.
            assert_eq!(serde_json::to_value(&ours).unwrap(), serde_json::to_value(&theirs).unwrap());
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        }
        for value in [
            call(json!(1.5), json!({"name": "x"})),
            call(json!(null), json!({"name": "x"})),
            call(json!(1), json!({"name": "x", "arguments": null})),
            call(json!(1), json!({"name": "x", "arguments": []})),
            call(json!(1), json!({"name": 1})),
            call(json!(1), json!({"arguments": {}})),
            call(json!(1), json!({"name": "x", "requestState": "s"})),
            call(json!(1), json!([])),
            json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x"}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}, "result": 1}),
            json!({"jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": {"name": "x"}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            json!([]),
        ] {
            assert_eq!(tool_call(value.clone()).err(), Some(value));
        }
    }
}
