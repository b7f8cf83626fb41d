//! Reads what a client writes: a line, the messages in it, and a complaint about whatever is none.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex as StdMutex};

use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::locked;
use super::message::{Complaint, message};
use super::writer::Writer;
use crate::batch::Batches;

/// The longest line that is taken. Arguments are short; nothing a tool accepts comes near.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;

pub(super) struct Input<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Set inside a line that is already refused, until it ends.
    skipping: bool,
    waiting: VecDeque<RxJsonRpcMessage<RoleServer>>,
    batches: Arc<StdMutex<Batches>>,
    writer: Arc<Mutex<Writer<W>>>,
    /// What is being written beside the service.
    asides: JoinSet<()>,
}

enum Line {
    Whole,
    TooLong,
    End,
}

impl<R, W> Input<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(reader: R, batches: Arc<StdMutex<Batches>>, writer: Arc<Mutex<Writer<W>>>) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            skipping: false,
            waiting: VecDeque::new(),
            batches,
            writer,
            asides: JoinSet::new(),
        }
    }

    /// The next message, none at the end. The future may be dropped at any await.
    pub(super) async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(message) = self.waiting.pop_front() {
                // The library says nothing of a request that was cancelled, so its batch is told here.
                let due = locked(&self.batches).give_up(&message);
                if let Some(batch) = due {
                    self.say(batch);
                }
                return Some(message);
            }
            match self.read_line().await {
                Ok(Line::Whole) => self.take_line(),
                Ok(Line::TooLong) => {
                    let text = format!("The line is longer than {MAX_LINE_BYTES} bytes and was not read.");
                    self.say(Complaint::of_nobody(ErrorData::invalid_request(text, None)).text());
                }
                Ok(Line::End) => {
                    // Before the handshake nobody closes the stream, so what was wrong is said now.
                    self.finish().await;
                    return None;
                }
                Err(error) => {
                    tracing::debug!(%error, "the stream broke");
                    return None;
                }
            }
        }
    }

    /// Waits until everything is said.
    pub(super) async fn finish(&mut self) {
        while self.asides.join_next().await.is_some() {}
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
        match serde_json::from_slice::<Value>(text) {
            Err(error) => {
                let error = ErrorData::new(ErrorCode::PARSE_ERROR, format!("Parse error: {error}"), None);
                self.say(Complaint::of_nobody(error).text());
            }
            Ok(Value::Array(items)) => {
                let opened = locked(&self.batches).open(items);
                match opened {
                    Ok((messages, due)) => {
                        self.waiting.extend(messages);
                        if let Some(batch) = due {
                            self.say(batch);
                        }
                    }
                    Err(error) => self.say(Complaint::of_nobody(error).text()),
                }
            }
            Ok(value) => match message(value) {
                Ok(message) => self.waiting.extend(message),
                Err(complaint) => self.say(complaint.text()),
            },
        }
    }

    /// Writes beside the service. The write is a task of its own, because the future that reads may be dropped at any
    /// await and half a line must never leave.
    fn say(&mut self, line: String) {
        let writer = Arc::clone(&self.writer);
        while self.asides.try_join_next().is_some() {}
        self.asides.spawn(async move {
            if let Err(error) = writer.lock().await.write(line).await {
                tracing::debug!(%error, "an answer could not be written");
            }
        });
    }
}
