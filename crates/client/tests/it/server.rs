//! A server that misbehaves on command.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one request.
pub(crate) enum Act {
    /// Writes this head and body, and keeps the connection.
    Answer(&'static str, String),
    /// Promises more than it writes, and leaves.
    BreakOff,
    /// Promises so many bytes and writes them until nobody takes them.
    Flood(usize),
    /// Reads on and says nothing.
    Hang,
}

impl Act {
    pub(crate) fn ok(body: impl Into<String>) -> Self {
        Self::Answer("200 OK", body.into())
    }
}

/// What happened so far.
#[derive(Default)]
pub(crate) struct Seen {
    /// The requests, heads and bodies as they came.
    pub(crate) requests: Mutex<Vec<String>>,
    /// Connections accepted.
    pub(crate) connections: AtomicUsize,
    /// Connections the client closed.
    pub(crate) closed: AtomicUsize,
    /// Bytes of a flood that were taken.
    pub(crate) flooded: AtomicUsize,
}

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) seen: Arc<Seen>,
}

impl Server {
    /// Starts a server; the script gets the number of the request, from 0, and its text.
    pub(crate) async fn start(script: impl Fn(usize, &str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen, script) = (Arc::new(Seen::default()), Arc::new(script));
        let watched = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                watched.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, script) = (Arc::clone(&watched), Arc::clone(&script));
                tokio::spawn(async move { converse(stream, &seen, &*script).await });
            }
        });
        Self { url, seen }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Waits until the client has closed a connection.
    pub(crate) async fn until_closed(&self) {
        for _ in 0..500 {
            if self.seen.closed.load(Ordering::SeqCst) > 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the client kept its connection");
    }
}

async fn converse(mut stream: TcpStream, seen: &Seen, script: &(dyn Fn(usize, &str) -> Act + Send + Sync)) {
    while let Some(request) = read_request(&mut stream).await {
        let act = {
            let mut requests = seen.requests.lock().unwrap();
            requests.push(request);
            script(requests.len() - 1, requests.last().unwrap())
        };
        match act {
            Act::Answer(head, body) => {
                let text = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                stream.write_all(text.as_bytes()).await.unwrap();
            }
            Act::BreakOff => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await.unwrap();
                return;
            }
            Act::Flood(bytes) => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
                stream.write_all(head.as_bytes()).await.unwrap();
                let piece = vec![b'x'; 64 * 1024];
                for _ in 0..bytes / piece.len() {
                    if stream.write_all(&piece).await.is_err() {
                        seen.closed.fetch_add(1, Ordering::SeqCst);
                        return;
                    }
                    seen.flooded.fetch_add(piece.len(), Ordering::SeqCst);
                }
            }
            Act::Hang => {
                let mut rest = [0; 64];
                while let Ok(1..) = stream.read(&mut rest).await {}
                seen.closed.fetch_add(1, Ordering::SeqCst);
                return;
            }
        }
    }
}

/// The next request with its body, if one comes.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let whole = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = whole.split_once("\r\n\r\n") {
            let length = head.to_lowercase().split("content-length: ").nth(1).map_or(0, |rest| {
                rest.lines().next().and_then(|digits| digits.trim().parse::<usize>().ok()).unwrap_or(0)
            });
            if body.len() >= length {
                return Some(whole);
            }
        }
        match stream.read(&mut piece).await {
            Ok(count @ 1..) => text.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
}
