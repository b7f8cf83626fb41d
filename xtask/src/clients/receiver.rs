//! A receiver of events on loopback that answers every challenge.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST_REQUEST: usize = 64 * 1024;

/// Listens until it is dropped.
#[derive(Debug)]
pub(super) struct Receiver {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Receiver {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no loopback port is free")?;
        let address = listener.local_addr().context("the loopback port has no address")?;
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let listen = move || {
            for stream in listener.incoming().flatten().take_while(|_| !seen.load(Ordering::Relaxed)) {
                // Whoever does not finish a request is told nothing, and the sender tries again.
                let _ = answer(stream);
            }
        };
        Ok(Self { address, is_over, thread: Some(thread::spawn(listen)) })
    }

    /// Host and port.
    pub(super) fn host(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The listener looks at that when somebody comes.
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Says the challenge of an event back.
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 4096];
    let event = loop {
        let length = stream.read(&mut part)?;
        request.extend_from_slice(&part[..length]);
        if let Some(event) = body_of(&request) {
            break event;
        }
        if length == 0 || request.len() > LONGEST_REQUEST {
            return Ok(());
        }
    };
    let body = json!({ "challenge": event["data"]["challenge"] }).to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The body of a request once all of it is there.
fn body_of(request: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(request).ok()?;
    let (_, body) = text.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}
