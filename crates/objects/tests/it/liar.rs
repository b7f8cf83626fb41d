//! A store that says what a test tells it to say: one answer per connection, byte for byte.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdpp_objects::{Credentials, Objects, Settings};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::suite::open;

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split_once(':').is_some_and(|(key, _)| key.eq_ignore_ascii_case(name));
        Some(self.head.lines().find(named)?.split_once(':')?.1.trim())
    }
}

/// What is sent, and whether the connection then stays open without a word.
pub(crate) struct Reply {
    pub(crate) bytes: Vec<u8>,
    pub(crate) hangs: bool,
}

/// An answer with these header lines and this body; its length is as told.
pub(crate) fn reply(status: &str, headers: &str, length: usize, body: &[u8]) -> Reply {
    let head = format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nETag: \"tag\"\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    Reply { bytes: [head.as_bytes(), body].concat(), hangs: false }
}

pub(crate) fn ok(body: &[u8]) -> Reply {
    reply("200 OK", "", body.len(), body)
}

pub(crate) struct Liar {
    pub(crate) objects: Objects,
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
}

impl Liar {
    pub(crate) fn count(&self, method: &str) -> usize {
        self.requests.lock().unwrap().iter().filter(|request| request.method == method).count()
    }
}

pub(crate) async fn liar(says: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Liar {
    liar_with(Settings::default(), says).await
}

/// The second argument of `says` counts the requests before this one.
pub(crate) async fn liar_with(
    settings: Settings,
    says: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
) -> Liar {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (log, says) = (Arc::clone(&requests), Arc::new(says));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (log, says) = (Arc::clone(&log), Arc::clone(&says));
            tokio::spawn(async move { answer(stream, &log, &*says).await });
        }
    });
    Liar { objects: open("s3://archive/some/prefix", &settings_for(endpoint, settings), 1), requests }
}

pub(crate) fn settings_for(endpoint: String, settings: Settings) -> Settings {
    let credentials = Credentials {
        access_key_id: "us".to_owned(),
        secret_access_key: "secret".to_owned(),
        session_token: None,
    };
    let patience = Duration::from_millis(300);
    Settings { endpoint: Some(endpoint), credentials: Some(credentials), patience, ..settings }
}

pub(crate) async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    log: &Mutex<Vec<Request>>,
    says: &(dyn Fn(&Request, usize) -> Reply + Send + Sync),
) {
    let mut received = Vec::new();
    let head_end = loop {
        if let Some(at) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut received).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let head = String::from_utf8(received[..head_end].to_vec()).unwrap();
    let method = head.split(' ').next().unwrap_or_default().to_owned();
    let mut request = Request { method, head, body: Vec::new() };
    let length: usize = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    while received.len() < head_end + length {
        if stream.read_buf(&mut received).await.unwrap_or(0) == 0 {
            return;
        }
    }
    request.body = received.split_off(head_end);
    let before = {
        let mut log = log.lock().unwrap();
        log.push(request.clone());
        log.len() - 1
    };
    let reply = says(&request, before);
    let _ = stream.write_all(&reply.bytes).await;
    let _ = stream.flush().await;
    if reply.hangs {
        tokio::time::sleep(Duration::from_mins(1)).await;
    }
    let _ = stream.shutdown().await;
}
