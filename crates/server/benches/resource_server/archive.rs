//! An archive of chat messages from a fixed seed, loaded through the router as any client would.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use pdpp_access::{Authorizer, Sealer, SearchPlan, SearchRequest, Secret, TokenAuthority as _};
use pdpp_api::{ApiLimits, ApiSettings};
use pdpp_auth::{GrantOrder, SelectionArgs, local_client_id, parse_selections};
use pdpp_server::{Personal, owner_subject};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{AccessMode, RecordKey};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::measure::now;

/// Lines in one request.
const LINES: usize = 10_000;
pub(crate) const AUTHORS: u64 = 200;

pub(crate) struct Archive {
    pub(crate) directory: PathBuf,
    /// Removes the directory in the end.
    _temporary: Option<TempDir>,
    pub(crate) size: usize,
    pub(crate) client: String,
    /// The texts of the last tenth of the messages, and nothing else.
    pub(crate) narrow: String,
    pub(crate) loading: Duration,
    router: Router,
    personal: Personal,
}

impl Archive {
    pub(crate) async fn make(size: usize) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().to_owned();
        Self { _temporary: Some(directory), ..Self::open(path, size, 0).await }
    }

    /// The archive of a directory that stays, loaded unless it is there already.
    pub(crate) async fn kept(directory: PathBuf, size: usize) -> Self {
        let directory = directory.join(size.to_string());
        let loaded = if directory.exists() { size } else { 0 };
        std::fs::create_dir_all(&directory).expect("a directory");
        Self::open(directory, size, loaded).await
    }

    async fn open(directory: PathBuf, size: usize, loaded: usize) -> Self {
        let personal = Personal::open(&directory).expect("the store opens");
        let (router, owner) = serve(&personal, loaded == 0).await;
        let mut loading = Duration::ZERO;
        for start in (loaded..size).step_by(LINES) {
            let body = lines(start..(start + LINES).min(size));
            let started = now();
            let request = request("POST", "/v1/ingest/messages?connector_id=bench", &owner, body);
            let answer = send(&router, request).await;
            loading += started.elapsed();
            assert_eq!(answer["records_rejected"], json!(0), "{answer}");
        }
        let client = grant(&personal, "messages:author,channel,text,sent_at,stars", None).await;
        let since = sent_at(size - size / 10, 0);
        let narrow = grant(&personal, "messages:text", Some(&since)).await;
        Self { directory, _temporary: None, size, client, narrow, loading, router, personal }
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        send(&self.router, request("GET", path, &self.client, String::new())).await
    }

    /// Answers a read and gives only its length: the caller measures, and must not measure parsing.
    pub(crate) async fn get_bytes(&self, path: &str) -> usize {
        self.get_bytes_as(&self.client, path).await
    }

    pub(crate) async fn get_bytes_as(&self, token: &str, path: &str) -> usize {
        let request = request("GET", path, token, String::new());
        let response = self.router.clone().oneshot(request).await.expect("the router answers");
        assert!(response.status().is_success(), "{path}: {}", response.status());
        to_bytes(response.into_body(), usize::MAX).await.expect("a whole body").len()
    }
}

impl Archive {
    /// Where the narrow grant begins.
    pub(crate) fn narrow_from(&self) -> usize {
        self.size - self.size / 10
    }

    /// Waits until everything loaded is indexed.
    pub(crate) async fn wait_for_index(&self) {
        for _ in 0..6_000 {
            let ready = self.router.clone().oneshot(request("GET", "/readyz", "", String::new())).await;
            if ready.expect("the router answers").status().is_success() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the index does not catch up");
    }

    /// The plan of a search, as the router makes it.
    pub(crate) async fn search_plan(&self, token: &str, q: &str) -> SearchPlan {
        let principal =
            self.personal.authority().introspect(&Secret::presented(token)).await.expect("a token");
        let store = self.personal.store();
        let catalogue = store.catalogue(&owner_subject()).await.expect("a catalogue");
        let request = SearchRequest { q: q.to_owned(), limit: 10, ..SearchRequest::default() };
        let sealer = Sealer::new(&store.sealing_key().await.expect("a key"));
        Authorizer::new(&principal, &catalogue).search(&request, &sealer).expect("a plan")
    }

    /// Reads records as the router does before it shows them.
    pub(crate) async fn read_bare(&self, plan: &SearchPlan, hits: Vec<(usize, RecordKey)>) {
        self.personal.store().find_hits(plan, &hits).await.expect("records");
    }
}

async fn serve(personal: &Personal, is_new: bool) -> (Router, String) {
    let manifest = Manifest::from_document(manifest()).expect("the manifest is valid");
    let store = personal.store();
    let subject = owner_subject();
    if is_new {
        store.put_manifest(&subject, &manifest, pdpp_store::OnConflict::Refuse).await.expect("registered");
        store.create_connection(&subject, manifest.key(), None).await.expect("connected");
    }
    let expires = personal.clock().now().plus_seconds(86_400);
    let owner = personal.authority().owner_token(&subject, Some(expires)).await.expect("an owner token");
    let settings = ApiSettings {
        public_url: None,
        resource_name: "Bench".to_owned(),
        authorization_servers: Vec::new(),
        allowed_hosts: Vec::new(),
        // What is measured is a request, not the pause between too many.
        limits: ApiLimits { requests_per_minute: 0, ..ApiLimits::default() },
    };
    let state = personal.api_state(settings).await.expect("the parts fit");
    (pdpp_api::router(state), owner.access_token.reveal().to_owned())
}

async fn grant(personal: &Personal, stream: &str, since: Option<&str>) -> String {
    let catalogue = personal.store().catalogue(&owner_subject()).await.expect("a catalogue");
    let streams = [stream.to_owned()];
    let selection = SelectionArgs {
        streams: &streams,
        connection: None,
        since,
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
        let mut roll = dice(number);
        let line = json!({"key": format!("m_{number:07}"), "emitted_at": "2026-01-01T00:00:00Z", "data": {
            "id": format!("m_{number:07}"), "author": format!("author_{}", roll(AUTHORS)),
            "channel": format!("channel_{}", roll(40)), "text": self::text(number), "stars": roll(6),
            "sent_at": sent_at(number, roll(60_000_000)),
            "private_note": "not for everyone"}});
        let _ = writeln!(text, "{line}");
    }
    text
}

/// What is drawn for a message, in its order.
fn dice(number: usize) -> impl FnMut(u64) -> u64 {
    let mut dice = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % below
    }
}

/// Who wrote a message.
pub(crate) fn author(number: usize) -> String {
    format!("author_{}", dice(number)(AUTHORS))
}

/// A message every minute and a half, more or less.
fn sent_at(number: usize, later_micros: u64) -> String {
    let later = i64::try_from(later_micros).unwrap_or(0);
    pdpp_wire::Instant::from_micros(sent_at_micros(number) + later).to_rfc3339()
}

pub(crate) fn sent_at_micros(number: usize) -> i64 {
    1_600_000_000_000_000 + i64::try_from(number as u64 * 90_000_000).unwrap_or(0)
}

fn manifest() -> Value {
    json!({"connector_key": "bench", "streams": [{
        "name": "messages", "semantics": "mutable_state", "primary_key": ["id"], "cursor_field": "sent_at",
        "consent_time_field": "sent_at", "selection": {"fields": true, "resources": true},
        "schema": {"type": "object", "required": ["id"], "properties": {
            "id": {"type": "string"}, "author": {"type": "string", "x_pdpp_role": "actor"},
            "channel": {"type": "string", "x_pdpp_role": "thread"},
            "text": {"type": "string", "x_pdpp_role": "body"}, "stars": {"type": "integer"}, "private_note": {"type": "string"},
            "sent_at": {"type": "string", "format": "date-time"}}},
        "query": {"search": {"lexical_fields": ["text", "author"]}, "range_filters": {"sent_at": ["gte", "lt"]},
            "aggregations": {"count": true, "group_by": ["author"], "sum": ["stars"]}}}]})
}

/// How many different words there are; how often each occurs falls with its rank, as in talk.
const VOCABULARY: f64 = 30_000.0;

const FUNCTION_WORDS: [&str; 12] =
    ["the", "and", "of", "to", "we", "is", "with", "that", "for", "they", "have", "from"];

/// The text of a message: twelve to forty words.
pub(crate) fn text(number: usize) -> String {
    let mut dice = (number as u64).wrapping_mul(0xd1b5_4a32_d192_ed03) | 1;
    let mut roll = || {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice
    };
    let count = 12 + roll() % 29;
    let words: Vec<String> = (0..count)
        .map(|_| match roll() {
            // Every third word is one of those every text of the language has.
            dice if dice % 3 == 0 => FUNCTION_WORDS[usize::try_from(dice / 3 % 12).unwrap_or(0)].to_owned(),
            dice => word(rank(dice)),
        })
        .collect();
    words.join(" ")
}

/// A rank, drawn so that the first ten are together as frequent as the next ninety.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "53 of 64 random bits are enough, and ranks are small"
)]
fn rank(dice: u64) -> u64 {
    VOCABULARY.powf((dice >> 11) as f64 / (1_u64 << 53) as f64) as u64
}

/// A word of its own for every rank, that looks like one and has no ending to be cut off.
pub(crate) fn word(rank: u64) -> String {
    const ONSETS: [&str; 16] =
        ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "v", "z", "br", "kr", "tr"];
    const VOWELS: [&str; 4] = ["a", "o", "u", "ai"];
    let mut spelled = String::from("w");
    let mut rest = rank + 64;
    while rest > 0 {
        let syllable = usize::try_from(rest % 64).unwrap_or(0);
        spelled.push_str(VOWELS[syllable % 4]);
        spelled.push_str(ONSETS[syllable / 4]);
        rest /= 64;
    }
    spelled + "o"
}
