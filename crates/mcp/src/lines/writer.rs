//! Writes what the service answers, a line each. The tool list is written once per era and repeated from memory.

use std::io;
use std::sync::{Arc, Mutex as StdMutex, OnceLock};

use rmcp::model::{JsonRpcMessage, ServerResult};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::locked;
use crate::batch::Batches;
use crate::outcome::write_answer;

pub(super) struct Writer<W> {
    stream: W,
    batches: Arc<StdMutex<Batches>>,
    /// The tool list in the newer and the older era.
    lists: [OnceLock<String>; 2],
}

impl<W: AsyncWrite + Send + Unpin> Writer<W> {
    pub(super) fn new(stream: W, batches: Arc<StdMutex<Batches>>) -> Self {
        Self { stream, batches, lists: Default::default() }
    }

    pub(super) async fn send(&mut self, item: TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
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

    pub(super) async fn write(&mut self, mut line: String) -> io::Result<()> {
        line.push('\n');
        self.stream.write_all(line.as_bytes()).await?;
        self.stream.flush().await
    }
    pub(super) async fn shutdown(&mut self) -> io::Result<()> {
        self.stream.shutdown().await
    }
}
