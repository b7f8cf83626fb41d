//! Reads through the router, beside the bare SQL for the same rows.

use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::archive::{AUTHORS, Archive};
use crate::measure::{Bar, Row, median, micros, now};

const ROUNDS: usize = 1_000;
const AGGREGATES: usize = 15;

/// The middle timings over one archive.
pub(crate) struct Timings {
    page: Duration,
    bare_page: Duration,
    record: Duration,
    window: Duration,
    aggregate: Duration,
}

pub(crate) async fn measure(archive: &Archive) -> Timings {
    let bare = Bare::open(archive);
    let (mut page, mut bare_page) = (Vec::new(), Vec::new());
    let (mut record, mut window, mut aggregate) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let author = format!("author_{}", (round as u64 * 37) % AUTHORS);
        let path = format!("/v1/streams/messages/records?limit=25&filter%5Bauthor%5D={author}");
        page.push(time(archive, &path).await);
        let started = now();
        assert!(bare.page(&author) > 20);
        bare_page.push(started.elapsed());
        let id = format!("m_{:07}", (round * 7919) % archive.size);
        record.push(time(archive, &format!("/v1/streams/messages/records/{id}")).await);
        let read = format!("/v1/streams/messages/records/{id}/field-window?field=text&limit_chars=64");
        window.push(time(archive, &read).await);
    }
    for _ in 0..AGGREGATES {
        aggregate.push(time(archive, "/v1/streams/messages/aggregate?metric=count&group_by=author").await);
    }
    assert_eq!(archive.get("/v1/streams/messages/aggregate?metric=count").await["value"], archive.size);
    Timings {
        page: median(&mut page),
        bare_page: median(&mut bare_page),
        record: median(&mut record),
        window: median(&mut window),
        aggregate: median(&mut aggregate),
    }
}

/// Pages and nothing else.
pub(crate) async fn pages(archive: &Archive, count: usize) {
    for round in 0..count {
        let author = format!("author_{}", (round as u64 * 37) % AUTHORS);
        archive
            .get_bytes(&format!("/v1/streams/messages/records?limit=25&filter%5Bauthor%5D={author}"))
            .await;
    }
}

async fn time(archive: &Archive, path: &str) -> Duration {
    let started = now();
    archive.get_bytes(path).await;
    started.elapsed()
}

pub(crate) fn against_engine(timings: &Timings, size: usize) -> Vec<Row> {
    vec![Row {
        path: format!("page of 25 filtered on a declared field, {size} records, beside the bare SQL"),
        ours: micros(timings.page),
        beside: micros(timings.bare_page),
        ratio: timings.page.as_secs_f64() / timings.bare_page.as_secs_f64(),
        bar: Bar::AtMost(3.0),
    }]
}

pub(crate) fn growth(before: &Timings, after: &Timings, sizes: [usize; 2]) -> Vec<Row> {
    let row = |name: &str, before: Duration, after: Duration, bar: f64| Row {
        path: format!("{name}: {} records beside {}", sizes[1], sizes[0]),
        ours: micros(after),
        beside: micros(before),
        ratio: after.as_secs_f64() / before.as_secs_f64(),
        bar: Bar::AtMost(bar),
    };
    vec![
        row("filtered page", before.page, after.page, 1.5),
        row("one record", before.record, after.record, 1.5),
        row("field window", before.window, after.window, 1.5),
        row("count by a declared field", before.aggregate, after.aggregate, 10.0),
    ]
}

/// The same rows straight from the engine.
struct Bare {
    connection: Connection,
    sql: String,
    scope: i64,
}

impl Bare {
    fn open(archive: &Archive) -> Self {
        let path = archive.directory.join("store.db");
        let connection =
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the store opens");
        connection.pragma_update(None, "cache_size", -65_536).expect("a cache");
        let one = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("one row");
        let scope = one("SELECT id FROM scopes WHERE stream = 'messages'");
        let table = one("SELECT id FROM field_tables WHERE stream = 'messages'");
        let layout: String = connection
            .query_row("SELECT layout FROM field_tables WHERE stream = 'messages'", [], |row| row.get(0))
            .expect("one row");
        let layout: serde_json::Value = serde_json::from_str(&layout).expect("JSON");
        let columns = layout["columns"].as_array().expect("columns");
        let author =
            columns.iter().position(|column| column[0] == "author").expect("a column for the author");
        let sql = format!(
            "SELECT r.key, r.emitted_at, r.history, r.data FROM fields_{table} t JOIN records r ON r.id = t.record_id
             WHERE t.scope_id = ? AND t.f{author} = ? ORDER BY t.ord DESC, t.key DESC LIMIT 26"
        );
        Self { connection, sql, scope }
    }

    fn page(&self, author: &str) -> usize {
        let mut statement = self.connection.prepare_cached(&self.sql).expect("the statement is valid");
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(3)?));
        let rows = statement.query_map((self.scope, author), read).expect("it runs");
        rows.collect::<Result<Vec<_>, _>>().expect("rows").len()
    }
}
