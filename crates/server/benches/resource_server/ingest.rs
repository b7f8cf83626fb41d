//! Durable ingest, beside bare inserts of the same rows into the same tables in one transaction.

use std::time::Duration;

use pdpp_server::Personal;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::archive::Archive;
use crate::measure::{Bar, Row, now};

/// Rows inserted for the baseline; a rate needs no more.
const MOST: usize = 200_000;

pub(crate) fn against_bare_inserts(archive: &Archive) -> Row {
    let bare = bare_inserts(archive);
    let rate = |count: usize, time: Duration| {
        f64::from(u32::try_from(count).expect("millions of records, not billions")) / time.as_secs_f64()
    };
    let (ours, beside) = (rate(archive.size, archive.loading), rate(archive.size.min(MOST), bare));
    Row {
        path: format!("durable ingest of {} records, beside bare inserts in one transaction", archive.size),
        ours: format!("{ours:.0}/s"),
        beside: format!("{beside:.0}/s"),
        ratio: ours / beside,
        bar: Bar::AtLeast(0.25),
    }
}

/// Copies the finished rows into the tables of a fresh store, with their indexes, without validation.
fn bare_inserts(archive: &Archive) -> Duration {
    let fresh = tempfile::tempdir().expect("a temporary directory");
    drop(Personal::open(fresh.path()).expect("a fresh store opens"));
    let source =
        Connection::open_with_flags(archive.directory.join("store.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)
            .expect("the store opens");
    let mut target = Connection::open(fresh.path().join("store.db")).expect("the store opens");
    target.pragma_update(None, "journal_mode", "wal").expect("a journal");
    target.pragma_update(None, "synchronous", "full").expect("durable");
    let fields: i64 = source
        .query_row("SELECT id FROM field_tables WHERE stream = 'messages'", [], |row| row.get(0))
        .expect("one row");
    let fields = format!("fields_{fields}");
    let mut schema = source.prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = ?").expect("a statement");
    let statements = schema.query_map([&fields], |row| row.get::<_, Option<String>>(0)).expect("the schema");
    for sql in statements.filter_map(|sql| sql.expect("a row")) {
        target.execute_batch(&sql).expect("the table is made");
    }
    let tables: Vec<_> = ["records", &fields, "change_log", "revisions"]
        .map(|table| (table.to_owned(), rows(&source, table)))
        .into();
    let started = now();
    let transaction = target.transaction().expect("a transaction");
    // Row by row over the tables, as records arrive.
    {
        let mut inserts: Vec<_> = tables
            .iter()
            .map(|(table, rows)| {
                let marks = vec!["?"; rows[0].len()].join(",");
                transaction.prepare(&format!("INSERT INTO {table} VALUES ({marks})")).expect("a statement")
            })
            .collect();
        for index in 0..tables[0].1.len() {
            for ((_, rows), insert) in tables.iter().zip(&mut inserts) {
                insert.execute(params_from_iter(&rows[index])).expect("a row is inserted");
            }
        }
    }
    transaction.commit().expect("committed");
    started.elapsed()
}

fn rows(source: &Connection, table: &str) -> Vec<Vec<Value>> {
    let mut statement = source.prepare(&format!("SELECT * FROM {table} LIMIT {MOST}")).expect("a statement");
    let count = statement.column_count();
    let read =
        |row: &rusqlite::Row<'_>| (0..count).map(|index| row.get(index)).collect::<Result<Vec<Value>, _>>();
    statement.query_map([], read).expect("it runs").map(|row| row.expect("a row")).collect()
}
