//! The whole server over a real data directory whose database is made to fail from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use pdpp_api::{ApiLimits, ApiSettings, router};
use pdpp_server::{Personal, owner_subject};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

const MANIFEST: &str = r#"{
  "protocol_version": "0.1.0", "connector_key": "notes",
  "streams": [{
    "name": "notes", "semantics": "mutable_state", "primary_key": ["id"],
    "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
    "query": {"aggregations": {"count": true}}
  }]
}"#;
const INGEST: &str = "/v1/ingest/notes?connector_id=notes";

/// A data directory, a server over it, and the owner's token.
struct Desk {
    router: Router,
    token: String,
    directory: TempDir,
}

impl Desk {
    async fn new() -> Self {
        let desk = Self::open(TempDir::new().unwrap()).await;
        assert_eq!(desk.ask("POST", "/connectors", MANIFEST).await.0, 201);
        desk
    }

    async fn open(directory: TempDir) -> Self {
        let personal = Personal::open(directory.path()).unwrap();
        let settings = ApiSettings {
            public_url: None,
            resource_name: "Test".to_owned(),
            authorization_servers: Vec::new(),
            allowed_hosts: Vec::new(),
            limits: ApiLimits::default(),
        };
        let router = router(personal.api_state(settings).await.unwrap());
        let token = personal.authority().owner_token(&owner_subject(), None).await.unwrap().access_token;
        Self { router, token: token.reveal().to_owned(), directory }
    }

    /// The same directory, after this was done to its database while no server ran.
    async fn reopened(self, sql: &str) -> Self {
        let Self { router, directory, .. } = self;
        drop(router);
        database(&directory).execute_batch(sql).unwrap();
        Self::open(directory).await
    }

    /// Does something to the database behind the server's back.
    fn tamper(&self, sql: &str) {
        database(&self.directory).execute_batch(sql).unwrap();
    }

    async fn ask(&self, method: &str, path: &str, body: impl Into<Body>) -> (u16, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("authorization", format!("Bearer {}", self.token))
            .body(body.into())
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Status, then `ok` or the code.
    async fn verdict(&self, method: &str, path: &str, body: impl Into<Body>) -> String {
        let (status, body) = self.ask(method, path, body).await;
        format!("{status} {}", body["error"]["code"].as_str().unwrap_or("ok"))
    }

    /// How many rows the database itself holds of what a write brings: records, and entries of their log.
    fn rows(&self) -> [i64; 2] {
        let database = database(&self.directory);
        let count = |table: &str| {
            let sql = format!("SELECT COUNT(*) FROM {table}");
            database.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        [count("records"), count("revisions")]
    }

    /// How many records there are, by the count and by the changes since the beginning.
    async fn records(&self) -> [u64; 2] {
        let count = self.ask("GET", "/v1/streams/notes/aggregate?metric=count", "").await.1["value"].as_u64();
        let (mut changes, mut cursor) = (0, "changes_since=beginning".to_owned());
        loop {
            let page = self.ask("GET", &format!("/v1/streams/notes/records?limit=100&{cursor}"), "").await.1;
            changes += page["data"].as_array().map_or(0, Vec::len) as u64;
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("cursor={next}"),
                None => return [count.unwrap_or(0), changes],
            }
        }
    }
}

fn database(directory: &TempDir) -> Connection {
    Connection::open(directory.path().join("store.db")).unwrap()
}

fn lines(count: usize) -> String {
    let line = |n| json!({"key": format!("n_{n}"), "data": {"id": format!("n_{n}")}}).to_string();
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

/// The store fails when it comes to this record.
fn failing_at(key: &str) -> String {
    format!(
        "CREATE TRIGGER fails BEFORE INSERT ON records WHEN NEW.key = '{key}'
         BEGIN SELECT RAISE(ABORT, 'no room left in /secret/place'); END"
    )
}

#[tokio::test]
async fn a_server_whose_store_does_not_answer_is_alive_but_not_ready() {
    let desk = Desk::new().await;
    assert_eq!(desk.ask("GET", "/readyz", "").await, (200, json!({"status": "ready"})));
    desk.tamper("ALTER TABLE meta RENAME TO mislaid");
    assert_eq!(
        desk.ask("GET", "/readyz", "").await,
        (503, json!({"status": "starting", "failing": "store"}))
    );
    assert_eq!(desk.ask("GET", "/healthz", "").await, (200, json!({"status": "ok"})));
    desk.tamper("ALTER TABLE mislaid RENAME TO meta");
    assert_eq!(desk.ask("GET", "/readyz", "").await, (200, json!({"status": "ready"})));
}

#[tokio::test]
async fn a_batch_that_fails_halfway_leaves_nothing_and_succeeds_when_it_is_sent_again() {
    let desk = Desk::new().await;
    desk.tamper(&failing_at("n_7"));
    let (status, body) = desk.ask("POST", INGEST, lines(12)).await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("ingest_batch_storage_error")));
    assert!(!body.to_string().contains("secret"), "{body}");
    assert_eq!(desk.rows(), [0, 0]);
    desk.tamper("DROP TRIGGER fails");
    for _ in 0..2 {
        let (status, receipt) = desk.ask("POST", INGEST, lines(12)).await;
        assert_eq!((status, &receipt["records_accepted"]), (200, &json!(12)));
        assert_eq!((desk.records().await, desk.rows()), ([12, 12], [12, 12]));
    }
    let streams = desk.ask("GET", "/v1/streams", "").await.1;
    assert_eq!(streams["data"].as_array().unwrap().len(), 1, "the failed batch left no second connection");
}

#[tokio::test]
async fn a_body_of_several_batches_that_fails_in_the_second_may_be_sent_again_whole() {
    let desk = Desk::new().await;
    desk.tamper(&failing_at("n_1200"));
    assert_eq!(desk.verdict("POST", INGEST, lines(1_500)).await, "503 ingest_batch_storage_error");
    assert_eq!(desk.records().await, [1_000, 1_000], "what was committed before stays, whole");
    desk.tamper("DROP TRIGGER fails");
    let receipt = desk.ask("POST", INGEST, lines(1_500)).await.1;
    assert_eq!(receipt["records_accepted"], 1_500);
    assert_eq!((desk.records().await, desk.rows()), ([1_500, 1_500], [1_500, 1_500]));
}

#[tokio::test]
async fn a_failed_delete_deletes_nothing() {
    let desk = Desk::new().await;
    desk.ask("POST", INGEST, lines(3)).await;
    desk.tamper(
        "CREATE TRIGGER fails BEFORE UPDATE ON records WHEN NEW.key = 'n_2' AND NEW.deleted_seq IS NOT NULL
         BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    let gone = ["n_0", "n_1", "n_2"].map(|key| json!({"key": key, "op": "delete"}).to_string()).join("\n");
    assert_eq!(desk.verdict("POST", INGEST, gone.clone()).await, "503 ingest_batch_storage_error");
    assert_eq!(desk.records().await, [3, 3]);
    desk.tamper("DROP TRIGGER fails");
    assert_eq!(desk.verdict("POST", INGEST, gone).await, "200 ok");
    assert_eq!(desk.records().await[0], 0);
}

#[tokio::test]
async fn a_database_another_process_keeps_locked_answers_busy_and_serves_reads() {
    let desk = Desk::new().await;
    desk.ask("POST", INGEST, lines(3)).await;
    let other = database(&desk.directory);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let put = desk.verdict("PUT", "/v1/state/notes", r#"{"state":{"notes":1}}"#);
    let (put, records) = tokio::join!(put, desk.records());
    assert_eq!((put.as_str(), records), ("503 connector_instance_busy", [3, 3]));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(desk.verdict("PUT", "/v1/state/notes", r#"{"state":{"notes":1}}"#).await, "200 ok");
}

#[tokio::test]
async fn a_removed_connection_takes_nothing_and_a_paused_one_everything() {
    let desk = Desk::new().await;
    desk.ask("POST", INGEST, lines(3)).await;
    let listed = desk.ask("GET", "/v1/streams", "").await.1;
    let id = listed["data"][0]["connection_id"].as_str().unwrap().to_owned();
    let asks = [
        ("POST", format!("{INGEST}&connector_instance_id={id}")),
        ("POST", format!("/v1/blobs?connector_id=notes&stream=notes&record_key=n_1&connection_id={id}")),
        ("GET", format!("/v1/state/notes?connector_instance_id={id}")),
        ("GET", format!("/v1/streams/notes/records?connection_id={id}")),
    ];
    let mut desk = desk;
    for (status, expected) in
        [("removed", "400 connector_instance_inactive"), ("paused", "200 ok"), ("active", "200 ok")]
    {
        desk = desk.reopened(&format!("UPDATE connections SET status = '{status}'")).await;
        for (method, path) in &asks {
            let body = if path.starts_with(INGEST) { lines(3) } else { String::new() };
            let verdict = desk.verdict(method, path, body).await.replace("201 ok", "200 ok");
            assert_eq!(verdict, expected, "{status} {method} {path}");
        }
    }
}
