//! What the authorization of one request costs, beside a bare look at the token's row; and how many refreshes a second
//! one core gives, beside bare commits.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use pdpp_access::{Authorizer, Secret, Target, TokenAuthority as _};
use pdpp_server::{ConfigFile, Personal, Server, SystemClock, SystemEntropy, owner_subject};
use pdpp_testkit::sample;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::measure::{Bar, Row, median, micros, now};

const ROUNDS: usize = 5_000;
const REFRESHES: usize = 500;
/// Tokens of others, so that the row is not the only one.
const OTHERS: usize = 500;

pub(crate) async fn rows() -> Vec<Row> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let personal = Personal::open_with(directory.path(), Arc::new(SystemClock), Arc::new(SystemEntropy))
        .expect("a store");
    sample::loaded(&*personal.store()).await;
    let authority = personal.authority();
    let owner = authority.owner_token(&owner_subject(), None).await.expect("an owner token");
    for _ in 0..OTHERS {
        authority.owner_token(&owner_subject(), None).await.expect("another token");
    }
    let settings = ConfigFile {
        listen: Some("127.0.0.1:0".parse().expect("an address")),
        requests_per_minute: Some(0),
        ..ConfigFile::default()
    };
    let server =
        Server::bind(personal.clone(), settings.resolve().expect("settings")).await.expect("a server");
    let client = Client::connect(
        server.router(),
        &format!("http://{}", server.address()),
        owner.access_token.reveal(),
    )
    .await;

    let bare =
        Connection::open_with_flags(directory.path().join("store.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)
            .expect("the store opens");
    let checked = check(&personal, &client.access).await;
    let seen = look(&bare, &client.access);
    let refreshed = refresh(&client).await;
    let committed = commit(&directory.path().join("beside.db"));
    vec![
        Row {
            path: "token introspected and its grant checked, beside the bare row".to_owned(),
            ours: micros(checked),
            beside: micros(seen),
            ratio: checked.as_secs_f64() / seen.as_secs_f64(),
            bar: Bar::None,
        },
        Row {
            path: "refreshes a second through the router, beside bare commits".to_owned(),
            ours: per_second(refreshed),
            beside: per_second(committed),
            ratio: committed.as_secs_f64() / refreshed.as_secs_f64(),
            bar: Bar::None,
        },
    ]
}

fn per_second(each: Duration) -> String {
    format!("{:.0}/s", 1.0 / each.as_secs_f64())
}

/// As the router does before it reads anything.
async fn check(personal: &Personal, token: &str) -> Duration {
    let (authority, store) = (personal.authority(), personal.store());
    let (token, target) =
        (Secret::presented(token), Target { stream: "notes".to_owned(), ..Target::default() });
    let mut timings = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let started = now();
        let principal = authority.introspect(&token).await.expect("a live token");
        let catalogue = store.catalogue(&owner_subject()).await.expect("a catalogue");
        Authorizer::new(&principal, &catalogue).stream(&target).expect("a granted stream");
        timings.push(started.elapsed());
    }
    median(&mut timings)
}

fn look(bare: &Connection, token: &str) -> Duration {
    let hash = Secret::presented(token).hash();
    let sql = "SELECT token_id, kind, client_id, expires_at, revoked_at FROM tokens WHERE hash = ?";
    let mut timings = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let started = now();
        let mut statement = bare.prepare_cached(sql).expect("the statement is valid");
        let found = statement.query_row([hash.as_bytes()], |row| row.get::<_, String>(0));
        timings.push(started.elapsed());
        assert!(!found.expect("the token").is_empty());
    }
    median(&mut timings)
}

/// One refresh; each takes the successor of the one before.
async fn refresh(client: &Client) -> Duration {
    let mut token = client.refresh.clone();
    let mut timings = Vec::with_capacity(REFRESHES);
    for _ in 0..REFRESHES {
        let form = format!("grant_type=refresh_token&client_id={}&refresh_token={token}", client.id);
        let started = now();
        let answer = client.form("/oauth/token", form).await;
        timings.push(started.elapsed());
        token = text(&answer, "refresh_token");
    }
    median(&mut timings)
}

/// One commit of one small row, as durable as the store's own.
fn commit(path: &std::path::Path) -> Duration {
    let connection = Connection::open(path).expect("a database");
    connection.pragma_update(None, "journal_mode", "WAL").expect("a log");
    connection
        .execute_batch("CREATE TABLE t (hash BLOB PRIMARY KEY) STRICT, WITHOUT ROWID")
        .expect("a table");
    let mut timings = Vec::with_capacity(REFRESHES);
    for round in 0..REFRESHES {
        let started = now();
        connection.execute("INSERT INTO t VALUES (?)", [round.to_be_bytes()]).expect("a row");
        timings.push(started.elapsed());
    }
    median(&mut timings)
}

/// A client that was let in.
struct Client {
    router: Router,
    id: String,
    access: String,
    refresh: String,
}

impl Client {
    async fn connect(router: Router, issuer: &str, owner: &str) -> Self {
        let mut client = Self { router, id: String::new(), access: String::new(), refresh: String::new() };
        let metadata = json!({ "client_name": "Bench", "grant_types": ["refresh_token", DEVICE] });
        client.id = text(&client.json("/oauth/register", "", &metadata).await, "client_id");
        let details = json!([{
            "type": "https://pdpp.dev/data-access", "source": { "id": "urn:pdpp:source:notes" },
            "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "continuous",
            "streams": [{ "name": "notes" }],
        }]);
        let ask = format!(
            "client_id={}&resource={}&authorization_details={}",
            client.id,
            encoded(&format!("{issuer}/mcp")),
            encoded(&details.to_string())
        );
        let started = client.form("/oauth/device_authorization", ask).await;
        let code = json!({ "user_code": started["user_code"] });
        let shown = client.json("/consent/review", owner, &code).await;
        let decision = json!({
            "user_code": started["user_code"], "approval_review_revision": shown["approval_review_revision"],
        });
        client.json("/consent/approve", owner, &decision).await;
        let poll = format!(
            "grant_type={DEVICE}&client_id={}&device_code={}",
            client.id,
            text(&started, "device_code")
        );
        let tokens = client.form("/oauth/token", poll).await;
        client.access = text(&tokens, "access_token");
        client.refresh = text(&tokens, "refresh_token");
        client
    }

    async fn json(&self, path: &str, bearer: &str, body: &Value) -> Value {
        self.send(path, "application/json", bearer, body.to_string()).await
    }

    async fn form(&self, path: &str, form: String) -> Value {
        self.send(path, "application/x-www-form-urlencoded", "", form).await
    }

    async fn send(&self, path: &str, media: &str, bearer: &str, body: String) -> Value {
        let mut request = Request::builder()
            .method("POST")
            .uri(path)
            .header("host", "127.0.0.1")
            .header("content-type", media);
        if !bearer.is_empty() {
            request = request.header("authorization", format!("Bearer {bearer}"));
        }
        let request = request.body(Body::from(body)).expect("a request");
        let response = self.router.clone().oneshot(request).await.expect("the router answers");
        let status = response.status();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.expect("a whole body");
        assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&bytes));
        serde_json::from_slice(&bytes).expect("JSON")
    }
}

const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

fn text(answer: &Value, member: &str) -> String {
    answer[member].as_str().unwrap_or_else(|| panic!("no `{member}` in {answer}")).to_owned()
}

fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
