//! Puts right what can be made again from the records: counts, columns, and files that belong to nobody.

use std::fmt;
use std::fs;
use std::sync::Arc;

use pdpp_store::StoreError;
use rusqlite::{Connection, params};

use crate::SqliteStore;
use crate::fault::Outcome;
use crate::manifests;
use crate::verify::stray_files;

impl SqliteStore {
    /// Repairs, in one transaction, and says what was done.
    pub async fn repair(&self) -> Result<Vec<String>, StoreError> {
        let files = Arc::clone(&self.blob_files);
        self.write(move |connection| {
            let mut done = Vec::new();
            for wrong in miscounted(connection)? {
                connection.execute(
                    "UPDATE scopes SET live_count = ? WHERE id = ?",
                    params![wrong.counted, wrong.scope_id],
                )?;
                done.push(format!("counted {} anew", wrong.stream));
            }
            for wrong in unfilled(connection)? {
                manifests::refill(connection, wrong.table)?;
                done.push(format!("filled the columns of {} anew", wrong.stream));
            }
            for path in stray_files(connection, &files)? {
                fs::remove_file(&path)?;
                done.push(format!("removed {}", path.display()));
            }
            Ok(done)
        })
        .await
    }
}

/// A stream of a connection whose number of records is wrong.
pub(crate) struct Miscounted {
    scope_id: i64,
    stream: String,
    kept: i64,
    counted: i64,
}

impl fmt::Display for Miscounted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stream {} holds {} records and says {}", self.stream, self.counted, self.kept)
    }
}

pub(crate) fn miscounted(connection: &Connection) -> Outcome<Vec<Miscounted>> {
    let sql = "SELECT s.id, s.stream, s.live_count, count(r.id) FROM scopes AS s
               LEFT JOIN records AS r ON r.scope_id = s.id AND r.deleted_seq IS NULL
               GROUP BY s.id HAVING s.live_count <> count(r.id)";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(Miscounted { scope_id: row.get(0)?, stream: row.get(1)?, kept: row.get(2)?, counted: row.get(3)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A stream whose columns do not stand for exactly its live records.
pub(crate) struct Unfilled {
    table: i64,
    stream: String,
    wrong: i64,
}

impl fmt::Display for Unfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} records of the stream {} cannot be filtered rightly", self.wrong, self.stream)
    }
}

pub(crate) fn unfilled(connection: &Connection) -> Outcome<Vec<Unfilled>> {
    let tables = {
        let mut statement = connection.prepare("SELECT id, stream FROM field_tables")?;
        statement
            .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
            .collect::<Result<Vec<_>, _>>()?
    };
    let mut wrong = Vec::new();
    for (table, stream) in tables {
        let sql = format!(
            "SELECT (SELECT count(*) FROM field_tables AS t
                     JOIN scopes AS s ON s.subject_id = t.subject_id AND s.connector_key = t.connector_key
                                     AND s.stream = t.stream
                     JOIN records AS r ON r.scope_id = s.id AND r.deleted_seq IS NULL
                     WHERE t.id = ?1 AND NOT EXISTS (SELECT 1 FROM fields_{table} AS f WHERE f.record_id = r.id))
                  + (SELECT count(*) FROM fields_{table} AS f
                     WHERE NOT EXISTS (SELECT 1 FROM records AS r WHERE r.id = f.record_id AND r.deleted_seq IS NULL))"
        );
        let count: i64 = connection.query_row(&sql, [table], |row| row.get(0))?;
        if count > 0 {
            wrong.push(Unfilled { table, stream, wrong: count });
        }
    }
    Ok(wrong)
}
