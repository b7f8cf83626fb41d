//! A receiver that takes events, echoes challenges, and misbehaves on command.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdpp_egress::RootCertStore;
use rustls::ServerConfig;
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// What the receiver does with one event.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// A status with further header lines, each ending in a line break.
    Answer(&'static str, &'static str),
    /// This body, whatever was asked.
    Say(&'static str),
    /// Takes the event and never answers.
    Hang,
    /// Takes the event and leaves.
    Drop,
    /// Answers well, with far too much.
    Flood,
    /// Answers well, one byte at a time and without end.
    Trickle,
    /// Sends the caller elsewhere.
    Redirect(String),
}

/// One event as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) raw: String,
    pub(crate) event: Value,
    /// Whether it was answered as it should be.
    pub(crate) is_answered: bool,
}

impl Taken {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap()
    }
}

#[derive(Default)]
struct Inside {
    script: Mutex<VecDeque<Act>>,
    taken: Mutex<Vec<Taken>>,
}

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    inside: Arc<Inside>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let inside = Arc::new(Inside::default());
        let shared = Arc::clone(&inside);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let inside = Arc::clone(&shared);
                tokio::spawn(async move { converse(stream, &inside).await });
            }
        });
        Self { address, inside }
    }

    /// A receiver that speaks TLS with a certificate for this name, and who vouches for it.
    pub(crate) async fn encrypted(name: &str) -> (Self, RootCertStore) {
        let (acceptor, roots) = certificate(name);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let inside = Arc::new(Inside::default());
        let shared = Arc::clone(&inside);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (inside, acceptor) = (Arc::clone(&shared), acceptor.clone());
                tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        converse(stream, &inside).await;
                    }
                });
            }
        });
        (Self { address, inside }, roots)
    }

    /// An address where nobody listens.
    pub(crate) fn nowhere() -> Self {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        Self { address, inside: Arc::default() }
    }

    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook?key=1", self.address)
    }

    /// What to do next; well-behaved when there is nothing left to do.
    pub(crate) fn then(&self, acts: impl IntoIterator<Item = Act>) {
        self.inside.script.lock().unwrap().extend(acts);
    }

    /// Everything that came since the last look.
    pub(crate) fn take(&self) -> Vec<Taken> {
        std::mem::take(&mut self.inside.taken.lock().unwrap())
    }

    /// The types of what came since the last look.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.take().iter().map(|taken| taken.kind().to_owned()).collect()
    }
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(stream: S, inside: &Inside) {
    let mut stream = BufReader::new(stream);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
            None if line.trim().is_empty() => break,
            None => headers.push((":line".to_owned(), line.trim_end().to_owned())),
        }
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let raw = String::from_utf8(body).unwrap();
    let event: Value = serde_json::from_str(&raw).unwrap();
    let act = inside.script.lock().unwrap().pop_front();
    let is_answered = act.is_none();
    inside.taken.lock().unwrap().push(Taken { headers, raw, event: event.clone(), is_answered });
    let answer = match act {
        None => well_behaved(&event),
        Some(Act::Say(body)) => said(body),
        Some(Act::Answer(status, headers)) => {
            format!("HTTP/1.1 {status}\r\n{headers}content-length: 2\r\nconnection: close\r\n\r\nno")
        }
        Some(Act::Drop) => return,
        Some(Act::Hang) => {
            tokio::time::sleep(Duration::from_mins(5)).await;
            return;
        }
        Some(Act::Redirect(to)) => {
            format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
        }
        Some(Act::Trickle) => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await;
            while stream.write_all(b"x").await.is_ok() && stream.flush().await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            return;
        }
        Some(Act::Flood) => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n").await;
            let flood = vec![b'x'; 65_536];
            while stream.write_all(&flood).await.is_ok() {}
            return;
        }
    };
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn certificate(name: &str) -> (TlsAcceptor, RootCertStore) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), roots)
}

fn well_behaved(event: &Value) -> String {
    match event["data"].get("challenge") {
        Some(challenge) => said(&serde_json::json!({ "challenge": challenge }).to_string()),
        None => "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned(),
    }
}

fn said(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}
