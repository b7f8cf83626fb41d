//! The same passages in `SQLite`'s own full-text index.
//!
//! One row for each passage, as our index has one document for each, and beside it a table of what passages are of:
//! message, field and time. A grant that shows some fields from some time on is a join with that table, as anybody
//! would write it: row numbers say nothing about time in an archive that grows by imports, edits and several
//! connections. Of the two ways of writing the order, the quicker one is taken for each query. What it would take
//! if row numbers did follow time is measured too, and shown without a bar.

use rusqlite::{CachedStatement, Connection};

use crate::archive::{Archive, author, sent_at_micros, text};

/// `MATCH` ranks every row that matches and joins in that order until ten are found.
const BY_RANK: &str = "SELECT passages.rowid FROM passages JOIN about ON about.id = passages.rowid
     WHERE passages MATCH ?1 AND about.field = 'text' AND about.sent_at >= ?2 ORDER BY rank LIMIT 10";
/// Every row that matches is joined, and what is left is ranked.
const BY_SCORE: &str = "SELECT passages.rowid FROM passages JOIN about ON about.id = passages.rowid
     WHERE passages MATCH ?1 AND about.field = 'text' AND about.sent_at >= ?2 ORDER BY bm25(passages) LIMIT 10";
const WHOLE: &str = "SELECT rowid FROM passages WHERE passages MATCH ?1 ORDER BY rank LIMIT 10";
const BY_ROWID: &str =
    "SELECT rowid FROM passages WHERE passages MATCH ?1 AND rowid >= ?2 ORDER BY rank LIMIT 10";

/// Texts from a message on.
pub(crate) struct Restriction {
    pub(crate) from: usize,
}

pub(crate) struct Fts {
    connection: Connection,
    pub(crate) text_bytes: u64,
}

impl Fts {
    pub(crate) fn make(archive: &Archive) -> Self {
        let mut connection = Connection::open_in_memory().expect("memory is there");
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE passages USING fts5(text, content='', tokenize='porter unicode61');
                 CREATE TABLE about (id INTEGER PRIMARY KEY, message INTEGER, field TEXT, sent_at INTEGER)",
            )
            .expect("the engine has full-text search");
        let transaction = connection.transaction().expect("a transaction");
        let mut text_bytes = 0;
        {
            let mut insert =
                transaction.prepare("INSERT INTO passages (rowid, text) VALUES (?, ?)").expect("a statement");
            let mut describe =
                transaction.prepare("INSERT INTO about VALUES (?, ?, ?, ?)").expect("a statement");
            for number in 0..archive.size {
                for (passage, field, text) in
                    [(number * 2, "text", text(number)), (number * 2 + 1, "author", author(number))]
                {
                    text_bytes += text.len() as u64;
                    insert.execute((row(passage), text)).expect("inserted");
                    let about = (row(passage), row(number), field, sent_at_micros(number));
                    describe.execute(about).expect("inserted");
                }
            }
        }
        transaction.commit().expect("committed");
        connection
            .execute_batch("INSERT INTO passages(passages) VALUES ('optimize'); ANALYZE")
            .expect("merged");
        Self { connection, text_bytes }
    }

    /// The best ten within a restriction.
    pub(crate) fn best(&self, words: &[String], within: Option<&Restriction>, form: Form) -> usize {
        let any = words.join(" OR ");
        match within {
            None => count(self.prepared(WHOLE), (any,)),
            Some(within) => {
                let sql = match form {
                    Form::ByRank => BY_RANK,
                    Form::ByScore => BY_SCORE,
                };
                count(self.prepared(sql), (any, sent_at_micros(within.from)))
            }
        }
    }

    /// The same where row numbers are known to follow time.
    pub(crate) fn best_by_rowid(&self, words: &[String], within: &Restriction) -> usize {
        count(self.prepared(BY_ROWID), (words.join(" OR "), row(within.from * 2)))
    }

    fn prepared(&self, sql: &str) -> CachedStatement<'_> {
        self.connection.prepare_cached(sql).expect("a statement")
    }
}

/// How the order is written.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    ByRank,
    ByScore,
}

impl Form {
    pub(crate) const ALL: [Self; 2] = [Self::ByRank, Self::ByScore];
}

fn count(mut statement: CachedStatement<'_>, values: impl rusqlite::Params) -> usize {
    let rows = statement.query_map(values, |row| row.get::<_, i64>(0)).expect("it runs");
    rows.collect::<Result<Vec<_>, _>>().expect("rows").len()
}

fn row(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
