//! Batches: several messages in one array, which only the revision 2025-03-26 has.
//!
//! The answers to the requests of a batch leave together, in one array, when the last of them is there.

use std::collections::{HashMap, HashSet};

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use serde_json::Value;

use crate::lines::message;

/// The revision with batches.
pub(crate) const REVISION: &str = "2025-03-26";
/// The most messages of a batch.
pub(crate) const MAX_MESSAGES: usize = 100;

/// What is known about the batches of one client.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    /// Whether the client and we agreed on the revision with batches.
    agreed: bool,
    next: u64,
    /// Which batch a request belongs to.
    members: HashMap<RequestId, u64>,
    open: HashMap<u64, OpenBatch>,
}

#[derive(Debug, Default)]
struct OpenBatch {
    missing: usize,
    answers: Vec<String>,
}

impl Batches {
    /// The messages of a batch, or why there can be none.
    pub(crate) fn open(&mut self, items: Vec<Value>) -> Result<Vec<RxJsonRpcMessage<RoleServer>>, ErrorData> {
        let refuse = |why: String| Err(ErrorData::invalid_request(why, None));
        if !self.agreed {
            return refuse(format!("Batches exist only in revision {REVISION}; send one message a line."));
        }
        if items.is_empty() || items.len() > MAX_MESSAGES {
            return refuse(format!("A batch holds 1 to {MAX_MESSAGES} messages."));
        }
        let mut messages = Vec::new();
        for item in items {
            match message(item) {
                Ok(message) => messages.extend(message),
                Err(complaint) => return Err(complaint.error),
            }
        }
        let ids: Vec<RequestId> = messages
            .iter()
            .filter_map(|message| match message {
                JsonRpcMessage::Request(request) => Some(request.id.clone()),
                _ => None,
            })
            .collect();
        let mut known: HashSet<&RequestId> = self.members.keys().collect();
        if !ids.iter().all(|id| known.insert(id)) {
            return refuse("Two requests have the same id.".to_owned());
        }
        if !ids.is_empty() {
            self.next += 1;
            self.open.insert(self.next, OpenBatch { missing: ids.len(), answers: Vec::new() });
            self.members.extend(ids.into_iter().map(|id| (id, self.next)));
        }
        Ok(messages)
    }

    /// What is to be written now that `item` is answered with `text`: the answer, a whole batch, or nothing yet.
    pub(crate) fn close(&mut self, item: &TxJsonRpcMessage<RoleServer>, text: String) -> Option<String> {
        let id = match item {
            JsonRpcMessage::Response(response) => {
                if let ServerResult::InitializeResult(result) = &response.result {
                    self.agreed = result.protocol_version.as_str() == REVISION;
                }
                Some(&response.id)
            }
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let Some(batch) = id.and_then(|id| self.members.remove(id)) else { return Some(text) };
        let open = self.open.get_mut(&batch)?;
        open.answers.push(text);
        open.missing -= 1;
        if open.missing > 0 {
            return None;
        }
        let whole = self.open.remove(&batch)?;
        Some(format!("[{}]", whole.answers.join(",")))
    }
}
