//! An archive of chat messages from a fixed seed, loaded through the router as any client would.

use std::fmt::Write as _;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use pdpp_api::{ApiLimits, ApiSettings};
use pdpp_auth::{GrantOrder, SelectionArgs, local_client_id, parse_selections};
use pdpp_server::{Personal, owner_subject};
use pdpp_wire::AccessMode;
use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::measure::now;

/// Lines in one request.
const LINES: usize = 10_000;
pub(crate) const AUTHORS: u64 = 200;

pub(crate) struct Archive {
    pub(crate) directory: TempDir,
    pub(crate) size: usize,
    pub(crate) client: String,
    pub(crate) loading: Duration,
    router: Router,
}

impl Archive {
    pub(crate) async fn make(size: usize) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let personal = Personal::open(directory.path()).expect("a fresh store opens");
        let (router, owner) = serve(&personal).await;
        let mut loading = Duration::ZERO;
        for start in (0..size).step_by(LINES) {
            let body = lines(start..(start + LINES).min(size));
            let started = now();
            let request = request("POST", "/v1/ingest/messages?connector_id=bench", &owner, body);
            let answer = send(&router, request).await;
            loading += started.elapsed();
            assert_eq!(answer["records_rejected"], json!(0), "{answer}");
        }
        let client = grant(&personal).await;
        Self { directory, size, client, loading, router }
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        send(&self.router, request("GET", path, &self.client, String::new())).await
    }

    /// Answers a read and gives only its length: the caller measures, and must not measure parsing.
    pub(crate) async fn get_bytes(&self, path: &str) -> usize {
        let request = request("GET", path, &self.client, String::new());
        let response = self.router.clone().oneshot(request).await.expect("the router answers");
        assert!(response.status().is_success(), "{path}: {}", response.status());
        to_bytes(response.into_body(), usize::MAX).await.expect("a whole body").len()
    }
}

async fn serve(personal: &Personal) -> (Router, String) {
    let manifest = Manifest::from_document(manifest()).expect("the manifest is valid");
    let store = personal.store();
    let subject = owner_subject();
    store.put_manifest(&subject, &manifest, pdpp_store::OnConflict::Refuse).await.expect("registered");
    store.create_connection(&subject, manifest.key(), None).await.expect("connected");
    let expires = personal.clock().now().plus_seconds(86_400);
    let owner = personal.authority().owner_token(&subject, Some(expires)).await.expect("an owner token");
    let settings = ApiSettings {
        public_url: None,
        resource_name: "Bench".to_owned(),
        authorization_servers: Vec::new(),
        allowed_hosts: Vec::new(),
        limits: ApiLimits::default(),
    };
    let state = personal.api_state(settings).await.expect("the parts fit");
    (pdpp_api::router(state), owner.access_token.reveal().to_owned())
}

async fn grant(personal: &Personal) -> String {
    let catalogue = personal.store().catalogue(&owner_subject()).await.expect("a catalogue");
    let streams = ["messages:author,channel,text,sent_at,stars".to_owned()];
    let selection = SelectionArgs {
        streams: &streams,
        connection: None,
        since: None,
        until: None,
        purpose_code: pdpp_auth::DEFAULT_PURPOSE,
        purpose_description: None,
        access_mode: AccessMode::Continuous,
    };
    let order = GrantOrder {
        client_id: local_client_id("bench"),
        selections: parse_selections(&catalogue, &selection).expect("a selection"),
        expires_at: None,
    };
    let issued = personal.authority().create_grants(&owner_subject(), order).await.expect("a grant");
    issued.access_token.reveal().to_owned()
}

fn request(method: &str, path: &str, token: &str, body: String) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("content-type", "application/x-ndjson")
        .header("authorization", format!("Bearer {token}"))
        .body(Body::from(body))
        .expect("a request")
}

async fn send(router: &Router, request: Request<Body>) -> Value {
    let response = router.clone().oneshot(request).await.expect("the router answers");
    let body = to_bytes(response.into_body(), usize::MAX).await.expect("a whole body");
    serde_json::from_slice(&body).expect("JSON")
}

fn lines(range: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    for number in range {
        let mut dice = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut roll = |below: u64| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            dice % below
        };
        let words: Vec<&str> =
            (0..12 + roll(30)).map(|_| WORDS[usize::try_from(roll(32)).unwrap_or(0)]).collect();
        let line = json!({"key": format!("m_{number:07}"), "emitted_at": "2026-01-01T00:00:00Z", "data": {
            "id": format!("m_{number:07}"), "author": format!("author_{}", roll(AUTHORS)),
            "channel": format!("channel_{}", roll(40)), "text": words.join(" "), "stars": roll(6),
            "sent_at": pdpp_wire::Instant::from_micros(1_600_000_000_000_000 + i64::try_from(number).unwrap_or(0) * 90_000_000
                + i64::try_from(roll(60_000_000)).unwrap_or(0)).to_rfc3339(),
            "private_note": "not for everyone"}});
        let _ = writeln!(text, "{line}");
    }
    text
}

fn manifest() -> Value {
    json!({"connector_key": "bench", "streams": [{
        "name": "messages", "semantics": "mutable_state", "primary_key": ["id"], "cursor_field": "sent_at",
        "consent_time_field": "sent_at", "selection": {"fields": true, "resources": true},
        "schema": {"type": "object", "required": ["id"], "properties": {
            "id": {"type": "string"}, "author": {"type": "string"}, "channel": {"type": "string"},
            "text": {"type": "string"}, "stars": {"type": "integer"}, "private_note": {"type": "string"},
            "sent_at": {"type": "string", "format": "date-time"}}},
        "query": {"range_filters": {"sent_at": ["gte", "lt"]},
            "aggregations": {"count": true, "group_by": ["author"], "sum": ["stars"]}}}]})
}

const WORDS: [&str; 32] = [
    "rope", "tide", "harbour", "ferry", "letter", "garden", "window", "engine", "berth", "lamp", "winter",
    "market", "choir", "ticket", "bridge", "paper", "kettle", "storm", "meadow", "anchor", "signal",
    "basket", "copper", "violin", "ladder", "orchard", "pebble", "saddle", "timber", "velvet", "willow",
    "zephyr",
];
