//! A resource server that answers as scripted and remembers every request.
//!
//! The real server cannot be made to answer in foreign shapes, hang, break off or change its mind between two
//! calls; this one can. It listens on a real socket, so the real HTTP client is under test too.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http_body_util::BodyExt as _;
use serde_json::Value;

/// One request, as the server saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// The path, still percent-encoded.
    pub(crate) path: String,
    /// The decoded parameters, in order.
    pub(crate) query: Vec<(String, String)>,
    pub(crate) authorization: String,
    pub(crate) range: Option<String>,
    pub(crate) body: String,
}

impl Seen {
    /// The first value of a parameter.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a parameter.
    pub(crate) fn params(&self, name: &str) -> Vec<&str> {
        self.query.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) delay: Duration,
}

impl Reply {
    pub(crate) fn json(body: &Value) -> Self {
        Self::status(200, body)
    }

    pub(crate) fn status(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("request-id", "req_1".to_owned()),
            ],
            body: body.to_string().into_bytes(),
            delay: Duration::ZERO,
        }
    }

    pub(crate) fn bytes(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", media_type.to_owned())];
        Self { status, headers, body: body.into(), delay: Duration::ZERO }
    }

    /// The protocol's error envelope.
    pub(crate) fn error(status: u16, code: &str, message: &str) -> Self {
        let error = serde_json::json!({"type": "invalid_request_error", "code": code, "message": message});
        Self::status(status, &serde_json::json!({"error": error}))
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

type Script = dyn Fn(&Seen) -> Reply + Send + Sync;

/// The server. It stops when it is dropped with its runtime.
#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    abandoned: Arc<AtomicUsize>,
    script: Arc<Mutex<Arc<Script>>>,
}

/// Counts a request whose connection closed before it was answered.
struct Waiting(Option<Arc<AtomicUsize>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(abandoned) = &self.0 {
            abandoned.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Fake {
    /// Starts a server that answers by this script.
    pub(crate) async fn start(script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let script = Arc::new(Mutex::new(Arc::new(script) as Arc<Script>));
        let fake = Self { url, seen: Arc::default(), abandoned: Arc::default(), script };
        let answering = fake.clone();
        let service = axum::Router::new().fallback(move |request: Request| {
            let fake = answering.clone();
            async move { fake.answer(request).await }
        });
        tokio::spawn(async move { axum::serve(listener, service).await });
        fake
    }

    /// Starts a server that answers every request with one body.
    pub(crate) async fn always(body: Value) -> Self {
        Self::start(move |_| Reply::json(&body)).await
    }

    /// From now on, answers by another script.
    pub(crate) fn rescript(&self, script: impl Fn(&Seen) -> Reply + Send + Sync + 'static) {
        *self.script.lock().unwrap() = Arc::new(script);
    }

    /// Every request so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The last request.
    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().expect("the server was asked")
    }

    /// Forgets the requests so far.
    pub(crate) fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }

    /// Waits until so many requests were given up before they were answered.
    pub(crate) async fn abandoned(&self, requests: usize) {
        let given_up = async {
            while self.abandoned.load(Ordering::SeqCst) < requests {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), given_up).await.expect("the connection closes");
    }

    async fn answer(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let text = |name: &str| {
            parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
        };
        let seen = Seen {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: parameters(parts.uri.query().unwrap_or("")),
            authorization: text("authorization"),
            range: Some(text("range")).filter(|range| !range.is_empty()),
            body: String::from_utf8_lossy(&body).into_owned(),
        };
        self.seen.lock().unwrap().push(seen.clone());
        let script = Arc::clone(&self.script.lock().unwrap());
        let reply = script(&seen);
        let mut waiting = Waiting(Some(Arc::clone(&self.abandoned)));
        tokio::time::sleep(reply.delay).await;
        waiting.0 = None;
        let mut response = Response::builder().status(reply.status);
        for (name, value) in &reply.headers {
            response = response.header(*name, value);
        }
        response.body(Body::from(reply.body)).unwrap()
    }
}

fn parameters(query: &str) -> Vec<(String, String)> {
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte == b'%' {
                bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..2]).unwrap(), 16).unwrap());
                rest = &after[2..];
            } else {
                bytes.push(byte);
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    let pairs = query.split('&').filter(|part| !part.is_empty());
    pairs
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(k, v)| (decode(k), decode(v)))
        .collect()
}
