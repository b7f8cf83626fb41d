//! A stranger's server: it listens on this machine and misbehaves on command.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdpp_egress::{BoxStream, RootCertStore};
use rustls::ServerConfig;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What the server does with one request.
pub(crate) enum Act {
    /// Writes this and leaves politely.
    Say(String),
    /// Writes this and leaves without a word of farewell.
    BreakOff(String),
    /// Writes the first, then the second over and over with a pause in between.
    Trickle(String, &'static str, Duration),
    /// Writes the first, then the second over and over as long as anybody takes it.
    Flood(String, String),
    /// Says nothing and stays.
    Hang,
}

impl Act {
    /// An answer with a head that fits its body.
    pub(crate) fn answer(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::Say(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}"))
    }

    pub(crate) fn ok(body: &str) -> Self {
        Self::answer("200 OK", "", body)
    }
}

#[derive(Default)]
pub(crate) struct Seen {
    /// Connections accepted.
    pub(crate) connections: AtomicUsize,
    /// Requests, head and body.
    pub(crate) requests: Mutex<Vec<String>>,
    /// Connections that the other side closed.
    pub(crate) closed: AtomicUsize,
    /// Bytes of floods that were taken.
    pub(crate) flooded: AtomicUsize,
}

pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) roots: RootCertStore,
    pub(crate) seen: Arc<Seen>,
}

impl Site {
    /// A server with a certificate for `name`; the script gets the number of the request, from 0.
    pub(crate) async fn start(name: &str, script: impl Fn(usize) -> Act + Send + Sync + 'static) -> Self {
        let (acceptor, roots) = certificate(name);
        Self::serve(Some(acceptor), roots, script).await
    }

    /// A server without encryption.
    pub(crate) async fn plain(script: impl Fn(usize) -> Act + Send + Sync + 'static) -> Self {
        Self::serve(None, RootCertStore::empty(), script).await
    }

    async fn serve(
        acceptor: Option<TlsAcceptor>,
        roots: RootCertStore,
        script: impl Fn(usize) -> Act + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, script) = (Arc::new(Seen::default()), Arc::new(script));
        let watched = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                watched.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, script, acceptor) = (Arc::clone(&watched), Arc::clone(&script), acceptor.clone());
                tokio::spawn(async move {
                    let stream: BoxStream = match acceptor {
                        None => Box::new(stream),
                        Some(acceptor) => match acceptor.accept(stream).await {
                            Ok(stream) => Box::new(stream),
                            Err(_) => return,
                        },
                    };
                    converse(stream, &seen, &*script).await;
                });
            }
        });
        Self { address, roots, seen }
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Waits until there is a request.
    pub(crate) async fn requested(&self) {
        while self.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }
}

/// Takes connections and never says anything, not even to agree on encryption.
pub(crate) async fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut taken: Vec<TcpStream> = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            taken.push(stream);
        }
    });
    address
}

async fn converse(mut stream: BoxStream, seen: &Seen, script: &(dyn Fn(usize) -> Act + Send + Sync)) {
    let Some(request) = read_request(&mut stream).await else { return };
    let number = {
        let mut requests = seen.requests.lock().unwrap();
        requests.push(request);
        requests.len() - 1
    };
    match script(number) {
        Act::Say(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
        Act::BreakOff(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
            let _ = stream.flush().await;
            return;
        }
        Act::Trickle(start, piece, pause) => {
            let _ = stream.write_all(start.as_bytes()).await;
            while stream.write_all(piece.as_bytes()).await.is_ok() && stream.flush().await.is_ok() {
                tokio::time::sleep(pause).await;
            }
        }
        Act::Flood(start, piece) => {
            let _ = stream.write_all(start.as_bytes()).await;
            while stream.write_all(piece.as_bytes()).await.is_ok() {
                seen.flooded.fetch_add(piece.len(), Ordering::SeqCst);
            }
        }
        Act::Hang => {}
    }
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    seen.closed.fetch_add(1, Ordering::SeqCst);
}

/// Head and body of one request.
async fn read_request(stream: &mut BoxStream) -> Option<String> {
    let mut text = String::new();
    let mut buffer = [0; 4_096];
    loop {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if !text.starts_with(|c: char| c.is_ascii_uppercase()) {
            // Not HTTP, an offer of encryption for instance: answered as servers answer it, at once.
            return Some(text);
        }
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
            return Some(text);
        }
    }
}

/// A certificate for this name, and the authorities who vouch for it.
fn certificate(name: &str) -> (TlsAcceptor, RootCertStore) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    (TlsAcceptor::from(Arc::new(config)), roots)
}
