//! Whatever batches are made of, both stores end up with the same rows.
//!
//! The embedded store applies a record at a time and leaves a trace of each; this one applies a batch in memory and
//! writes what came out. The same batches, of few keys that come often, must lead to the same archive.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/mod.rs"]
mod support;

use std::sync::Arc;

use pdpp_store::{Admission, AdmittedRecord, Applied, OnConflict, Quota, Store, WriteTarget};
use pdpp_store_sqlite::SqliteStore;
use pdpp_testkit::{FixedClock, SeededEntropy};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, Instant, StreamName, SubjectId};
use serde_json::{Map, Value, json};

const BATCHES: usize = 120;

fn manifest(order: &str, consent: &str) -> Manifest {
    let stream = |name: &str, semantics: &str| {
        json!({
            "name": name, "semantics": semantics, "primary_key": ["id"], "cursor_field": order,
            "consent_time_field": consent, "selection": {"fields": true, "resources": true},
            "schema": {"type": "object", "required": ["id"], "properties": {
                "id": {"type": "string"}, "name": {"type": "string"},
                "rank": {"type": ["number", "null"]}, "at": {"type": "string", "format": "date-time"},
                "seen": {"type": "string", "format": "date-time"},
                "blob_ref": {"type": "object", "required": ["blob_id"], "properties": {
                    "blob_id": {"type": "string"}, "mime_type": {"type": "string"},
                    "sha256": {"type": "string"}, "size_bytes": {"type": "integer"}}}}}
        })
    };
    let streams = [stream("notes", "mutable_state"), stream("posts", "append_only")];
    let document = json!({"protocol_version": "0.1.0", "connector_key": "desk", "version": "1",
        "display_name": "Desk", "streams": streams});
    Manifest::from_document(document).unwrap()
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn blob(&mut self) -> String {
        format!("blob_sha256_{}", self.roll(4).to_string().repeat(64))
    }

    fn key(&mut self) -> String {
        format!("k{}", self.roll(6))
    }

    fn data(&mut self, key: &str) -> Value {
        let mut members = vec![("id", json!(key)), ("name", json!(format!("n{}", self.roll(3))))];
        if self.roll(2) == 0 {
            let rank = match self.roll(4) {
                0 => json!(null),
                1 => json!(1),
                2 => json!(2.5),
                _ => json!(1.0),
            };
            members.push(("rank", rank));
        }
        for field in ["at", "seen"] {
            if self.roll(3) == 0 {
                members.push((field, json!(format!("2026-01-0{}T00:00:00Z", 1 + self.roll(4)))));
            }
        }
        if self.roll(3) == 0 {
            members.push(("blob_ref", json!({"blob_id": self.blob()})));
        }
        let turn = usize::try_from(self.roll(members.len() as u64)).unwrap();
        members.rotate_left(turn);
        Value::Object(
            members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>(),
        )
    }

    fn batch(&mut self, admission: &Admission<'_>) -> Vec<AdmittedRecord> {
        let size = 1 + self.roll(14);
        let mut record = || {
            let (key, at) =
                (self.key(), Instant::from_micros(1_000_000 * i64::try_from(self.roll(50)).unwrap()));
            if self.roll(4) == 0 {
                return admission.delete(&json!(key), at).unwrap();
            }
            admission.upsert(&json!(key), self.data(&key), at).unwrap()
        };
        (0..size).map(|_| record()).collect()
    }
}

/// A store under test, and its one connection.
struct Side {
    store: Arc<dyn Store>,
    connection: ConnectionId,
}

impl Side {
    async fn new(store: Arc<dyn Store>) -> Self {
        let manifest = manifest("rank", "at");
        store.put_manifest(&subject(), &manifest, OnConflict::Refuse).await.unwrap();
        let made = store.create_connection(&subject(), manifest.key(), None).await.unwrap().unwrap();
        Self { store, connection: made.connection_id }
    }

    fn target(&self, stream: &str) -> WriteTarget {
        let stream = StreamName::parse(stream).unwrap();
        WriteTarget { subject_id: subject(), connection_id: self.connection.clone(), stream }
    }

    async fn apply(&self, stream: &str, batch: Vec<AdmittedRecord>) -> Vec<Applied> {
        self.store.apply(&self.target(stream), batch).await.unwrap()
    }
}

fn subject() -> SubjectId {
    SubjectId::parse("owner").unwrap()
}

/// A row as one text; both databases understand the statement.
fn row(columns: &str) -> String {
    let columns = columns.split(", ").map(|column| format!("coalesce(CAST({column} AS TEXT), '-')"));
    columns.collect::<Vec<_>>().join(" || '|' || ")
}

const RECORD: &str = "s.stream, r.key, r.created_seq, r.version, r.deleted_seq, r.deleted_at, r.emitted_at, \
    r.emitted_top, r.consent_at, r.history, r.blob_id, r.data";
const LOGGED: &str = "sequence, stream, kind, record_key";

fn embedded(database: &rusqlite::Connection) -> Vec<String> {
    let queries = [
        format!("SELECT 'record ' || {} FROM records r JOIN scopes s ON s.id = r.scope_id", row(RECORD)),
        format!(
            "SELECT 'revision ' || {} FROM revisions v JOIN records r ON r.id = v.record_id
             JOIN scopes s ON s.id = v.scope_id",
            row("s.stream, v.sequence, r.key")
        ),
        format!(
            "SELECT 'past ' || {} FROM past_lives p JOIN records r ON r.id = p.record_id
             JOIN scopes s ON s.id = r.scope_id",
            row("s.stream, r.key, p.created_seq, p.deleted_seq, p.consent_at")
        ),
        format!("SELECT 'count ' || {} FROM scopes", row("stream, live_count")),
        format!("SELECT 'log ' || {} FROM change_log", row(LOGGED)),
        format!("SELECT 'bound ' || {} FROM blob_bindings", row("stream, record_key, json_path, blob_id")),
        "SELECT 'blob ' || blob_id FROM blobs".to_owned(),
        format!(
            "SELECT 'used ' || {} FROM subjects WHERE subject_id = 'owner'",
            row("used_records, used_bytes")
        ),
    ];
    let read = |sql: &String| {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = queries.iter().flat_map(read).collect();
    rows.sort();
    rows
}

async fn served(database: &tokio_postgres::Client) -> Vec<String> {
    let scope = "JOIN scopes s ON s.subject_id = r.subject_id AND s.scope_id = r.scope_id";
    let queries = [
        format!("SELECT 'record ' || {} FROM records r {scope}", row(RECORD)),
        format!("SELECT 'revision ' || {} FROM revisions r {scope}", row("s.stream, r.sequence, r.key")),
        format!(
            "SELECT 'past ' || {} FROM past_lives r {scope}",
            row("s.stream, r.key, r.created_seq, r.deleted_seq, r.consent_at")
        ),
        format!("SELECT 'count ' || {} FROM scopes", row("stream, live_count")),
        format!("SELECT 'log ' || {} FROM change_log", row(LOGGED)),
        format!("SELECT 'bound ' || {} FROM blob_bindings", row("stream, record_key, json_path, blob_id")),
        "SELECT 'blob ' || blob_id FROM blobs".to_owned(),
        format!(
            "SELECT 'used ' || {} FROM subjects WHERE subject_id = 'owner'",
            row("used_records, used_bytes")
        ),
    ];
    let mut rows: Vec<String> = Vec::new();
    for sql in &queries {
        rows.extend(database.query(sql, &[]).await.unwrap().iter().map(|row| row.get::<_, String>(0)));
    }
    rows.sort();
    rows
}

/// Every live record has exactly its stream's fields, each beside the record's place; nobody else has any.
async fn check_fields(database: &tokio_postgres::Client, order: &str) {
    let sql = "SELECT r.key, r.deleted_seq IS NULL, r.ord, r.data,
                   array(SELECT f.field FROM record_fields f WHERE f.subject_id = r.subject_id
                         AND f.scope_id = r.scope_id AND f.key = r.key AND f.ord IS NOT DISTINCT FROM r.ord
                         AND (f.value IS NULL) = ((r.data::json ->> (ARRAY['id', 'name', 'rank', 'at', 'seen'])[f.field + 1]) IS NULL)
                         ORDER BY f.field)
               FROM records r";
    let mut live = 0;
    for row in database.query(sql, &[]).await.unwrap() {
        let (key, is_live): (&str, bool) = (row.get(0), row.get(1));
        let expected: &[i32] = if is_live { &[0, 1, 2, 3, 4] } else { &[] };
        assert_eq!(row.get::<_, Vec<i32>>(4), expected, "{key}");
        let data: Option<Value> =
            row.get::<_, Option<&str>>(3).map(|data| serde_json::from_str(data).unwrap());
        let is_ordered = data.is_some_and(|data| !data[order].is_null());
        assert_eq!(row.get::<_, Option<&[u8]>>(2).is_some(), is_ordered, "{key}");
        live += i64::from(is_live);
    }
    let rows = database.query_one("SELECT count(*) FROM record_fields", &[]).await.unwrap();
    assert_eq!(rows.get::<_, i64>(0), live * 5, "no rows are left over");
}

/// An upload for a record, as both databases would have it.
async fn bind(
    dice: &mut Dice,
    sides: [&Side; 2],
    lite: &rusqlite::Connection,
    server: &tokio_postgres::Client,
) {
    let (key, blob, path) = (dice.key(), dice.blob(), format!("/p{}", dice.roll(2)));
    for (index, side) in sides.into_iter().enumerate() {
        let connection = &side.connection;
        // Only the server's bytes lie under names of their own.
        let (column, upload) = if index == 0 { ("", "") } else { ("upload, ", "'u', ") };
        let sql = format!(
            "INSERT INTO blobs (subject_id, blob_id, {column}size_bytes, mime_type)
                 VALUES ('owner', '{blob}', {upload}1, 'x') ON CONFLICT DO NOTHING;
             INSERT INTO blob_bindings (subject_id, connection_id, stream, record_key, json_path, blob_id, mime_type)
                 VALUES ('owner', '{connection}', 'notes', '{key}', '{path}', '{blob}', 'x') ON CONFLICT DO NOTHING;"
        );
        if index == 0 {
            lite.execute_batch(&sql).unwrap();
        } else {
            server.batch_execute(&sql).await.unwrap();
        }
    }
}

#[tokio::test]
async fn the_same_batches_lead_to_the_same_rows() {
    let home = tempfile::tempdir().unwrap();
    let options =
        pdpp_store_sqlite::Options::new(Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()));
    let embedded_side = Side::new(Arc::new(SqliteStore::open(home.path(), options).unwrap())).await;
    let (store, database) = support::fresh_store();
    let served_side = Side::new(store).await;
    let lite = rusqlite::Connection::open(home.path().join("store.db")).unwrap();
    let (server, connection) = tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    server.batch_execute("SET pdpp.subject = '*'").await.unwrap();

    let sides = [&embedded_side, &served_side];
    let declared = manifest("rank", "at");
    let mut dice = Dice(20_261_117);
    let (mut order, mut outcomes) = ("rank", Vec::new());
    for round in 0..BATCHES {
        let stream = if dice.roll(4) == 0 { "posts" } else { "notes" };
        let admission = Admission::new(declared.find_stream(stream).unwrap()).unwrap();
        let batch = dice.batch(&admission);
        let expected = embedded_side.apply(stream, batch.clone()).await;
        assert_eq!(served_side.apply(stream, batch).await, expected, "round {round}");
        outcomes.extend(expected);
        if dice.roll(3) == 0 {
            bind(&mut dice, sides, &lite, &server).await;
        }
        if let 50 | 80 = round {
            let bounds = (round == 50).then_some((5, 300));
            let (records, bytes) = bounds.unzip();
            for side in sides {
                let quota = Quota { records, bytes, requests_per_minute: None };
                assert!(side.store.set_quota(&subject(), quota).await.unwrap());
            }
        }
        if round % 40 == 25 {
            for side in sides {
                side.store.purge_stream(&side.target("posts")).await.unwrap();
            }
        }
        if round % 40 == 39 {
            let consent = if round < 80 { "seen" } else { "at" };
            order = if order == "rank" { "at" } else { "rank" };
            for side in sides {
                let replaced = manifest(order, consent);
                side.store.put_manifest(&subject(), &replaced, OnConflict::Replace).await.unwrap();
            }
        }
        assert_same(&embedded(&lite), &served(&server).await, round);
        check_fields(&server, order).await;
    }
    assert!(outcomes.iter().any(|one| matches!(one, Applied::OverQuota(_))), "a quota was met");
    for seen in [Applied::Added, Applied::Updated, Applied::Unchanged, Applied::Deleted] {
        assert!(outcomes.iter().filter(|one| **one == seen).count() > 20, "{seen:?} was tried often");
    }
    for side in sides {
        side.store.remove_connection(&subject(), &side.connection).await.unwrap().unwrap();
    }
    assert_same(&embedded(&lite), &served(&server).await, BATCHES);
    check_fields(&server, order).await;
}

fn assert_same(embedded: &[String], served: &[String], round: usize) {
    let missing: Vec<_> = embedded.iter().filter(|row| !served.contains(row)).collect();
    let extra: Vec<_> = served.iter().filter(|row| !embedded.contains(row)).collect();
    assert!(missing.is_empty() && extra.is_empty(), "round {round}: missing {missing:#?}, extra {extra:#?}");
}
