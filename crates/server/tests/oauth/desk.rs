//! A data directory with the sample archive, the server's router over it, and an owner.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use pdpp_server::{ConfigFile, Personal, Server, owner_subject};
use pdpp_testkit::sample::{self, Loaded};
use pdpp_testkit::{FixedClock, SeededEntropy};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

/// The introspection credential of every desk.
pub(crate) const RESOURCE_SERVER: (&str, &str) = ("rs", "a secret of the resource server");

pub(crate) struct Desk {
    pub(crate) router: Router,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) personal: Personal,
    pub(crate) loaded: Loaded,
    pub(crate) issuer: String,
    pub(crate) owner: String,
    pub(crate) directory: TempDir,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    /// Status and error code, in either envelope.
    pub(crate) fn verdict(&self) -> String {
        let error = &self.body["error"];
        let code = error.as_str().or(error["code"].as_str()).unwrap_or("ok");
        format!("{} {code}", self.status)
    }

    #[track_caller]
    pub(crate) fn expect(self, verdict: &str) -> Self {
        assert_eq!(self.verdict(), verdict, "{:#}", self.body);
        self
    }

    #[track_caller]
    pub(crate) fn text(&self, member: &str) -> String {
        self.body[member].as_str().unwrap_or_else(|| panic!("no `{member}` in {:#}", self.body)).to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Desk {
    pub(crate) async fn new() -> Self {
        Self::seeded(1).await
    }

    pub(crate) async fn seeded(seed: u64) -> Self {
        Self::set_up(seed, |_| {}).await
    }

    /// A desk with other settings.
    pub(crate) async fn set_up(seed: u64, change: impl FnOnce(&mut ConfigFile)) -> Self {
        let directory = TempDir::new().unwrap();
        let clock = Arc::new(FixedClock::default());
        let personal =
            Personal::open_with(directory.path(), clock.clone(), Arc::new(SeededEntropy::new(seed))).unwrap();
        let loaded = sample::loaded(&*personal.store()).await;
        let mut file = ConfigFile {
            listen: Some("127.0.0.1:0".parse().unwrap()),
            introspection_id: Some(RESOURCE_SERVER.0.to_owned()),
            introspection_secret: Some(pdpp_access::Secret::presented(RESOURCE_SERVER.1)),
            ..ConfigFile::default()
        };
        change(&mut file);
        let server = Server::bind(personal.clone(), file.resolve().unwrap()).await.unwrap();
        let owner = personal.authority().owner_token(&owner_subject(), None).await.unwrap();
        Self {
            router: server.router(),
            issuer: format!("http://{}", server.address()),
            owner: owner.access_token.reveal().to_owned(),
            clock,
            personal,
            loaded,
            directory,
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str, bearer: Option<&str>) -> Answer {
        self.send(request("GET", path, bearer).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn json(&self, path: &str, bearer: Option<&str>, body: &Value) -> Answer {
        let request = request("POST", path, bearer).header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    pub(crate) async fn form(&self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        let request = request("POST", path, None).header("content-type", "application/x-www-form-urlencoded");
        self.send(request.body(Body::from(encoded(pairs))).unwrap()).await
    }

    /// What a token reads of the notebook: status and code.
    pub(crate) async fn read(&self, token: &str) -> String {
        self.get("/v1/streams/notes/records?limit=1", Some(token)).await.verdict()
    }
}

pub(crate) fn request(method: &str, path: &str, bearer: Option<&str>) -> axum::http::request::Builder {
    let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1");
    match bearer {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    }
}

pub(crate) fn encoded(pairs: &[(&str, &str)]) -> String {
    let encode = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        text.bytes()
            .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect::<String>()
    };
    pairs
        .iter()
        .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
        .collect::<Vec<_>>()
        .join("&")
}

/// The members of an address's query.
pub(crate) fn query_of(location: &str) -> std::collections::BTreeMap<String, String> {
    let query = location.split_once('?').map_or("", |(_, query)| query);
    let decode = |text: &str| {
        let (mut bytes, mut rest) = (Vec::new(), text.bytes());
        while let Some(byte) = rest.next() {
            if byte == b'%' {
                let hex: String = rest.by_ref().take(2).map(char::from).collect();
                bytes.push(u8::from_str_radix(&hex, 16).unwrap());
            } else {
                bytes.push(byte);
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}
