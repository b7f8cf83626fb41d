//! Batches: several messages in one array, which only the revision 2025-03-26 has.
//!
//! The answers to the requests of a batch leave together, in one array, when the last of them is there or was given up.

use std::collections::HashMap;

use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use serde_json::Value;

use crate::lines::{Complaint, message};

type Message = RxJsonRpcMessage<RoleServer>;

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

impl OpenBatch {
    /// The answers in one array; none when there is nothing to say.
    fn whole(&self) -> Option<String> {
        (!self.answers.is_empty()).then(|| format!("[{}]", self.answers.join(",")))
    }
}

impl Batches {
    /// The messages of a batch, and what is to be written already; or why there can be no batch. What is no message
    /// has an answer of its own, beside those to the others.
    pub(crate) fn open(&mut self, items: Vec<Value>) -> Result<(Vec<Message>, Option<String>), ErrorData> {
        let refuse = |why: String| Err(ErrorData::invalid_request(why, None));
        if !self.agreed {
            return refuse(format!("Batches exist only in revision {REVISION}; send one message a line."));
        }
        if items.is_empty() || items.len() > MAX_MESSAGES {
            return refuse(format!("A batch holds 1 to {MAX_MESSAGES} messages."));
        }
        self.next += 1;
        let (mut batch, mut messages) = (OpenBatch::default(), Vec::new());
        for item in items {
            match message(item).and_then(|message| self.admit(message)) {
                Ok(message) => messages.extend(message),
                Err(complaint) => batch.answers.push(complaint.text()),
            }
        }
        batch.missing = self.members.values().filter(|member| **member == self.next).count();
        if batch.missing == 0 {
            return Ok((messages, batch.whole()));
        }
        self.open.insert(self.next, batch);
        Ok((messages, None))
    }

    /// Notes a request of the newest batch. An answer under an id that is taken would be for the other request, so the
    /// complaint names none.
    fn admit(&mut self, message: Option<Message>) -> Result<Option<Message>, Box<Complaint>> {
        if let Some(JsonRpcMessage::Request(request)) = &message {
            if self.members.contains_key(&request.id) {
                let error = ErrorData::invalid_request("Two requests have the same id.", None);
                return Err(Box::new(Complaint::of_nobody(error)));
            }
            self.members.insert(request.id.clone(), self.next);
        }
        Ok(message)
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
        match id.and_then(|id| self.members.remove(id)) {
            Some(batch) => self.less(batch, Some(text)),
            None => Some(text),
        }
    }

    /// What is to be written now that a client cancels a request: a batch that waited for nothing else.
    pub(crate) fn give_up(&mut self, message: &Message) -> Option<String> {
        let JsonRpcMessage::Notification(notification) = message else { return None };
        let ClientNotification::CancelledNotification(cancelled) = &notification.notification else {
            return None;
        };
        let batch = self.members.remove(cancelled.params.request_id.as_ref()?)?;
        self.less(batch, None)
    }

    /// A batch waits for one answer less.
    fn less(&mut self, batch: u64, answer: Option<String>) -> Option<String> {
        let open = self.open.get_mut(&batch)?;
        open.answers.extend(answer);
        open.missing -= 1;
        if open.missing > 0 { None } else { self.open.remove(&batch)?.whole() }
    }
}
