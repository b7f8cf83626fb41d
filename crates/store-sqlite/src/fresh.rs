//! Entries of the ledger that are committed and not yet in its tables.
//!
//! A reader waits until its entry is committed. In the tables an entry touches a page of each index, and those pages are
//! most of what a commit writes; as the last row of one small table it touches one. So an entry is written there
//! first, and put into the tables with some hundred others by the writer's thread, or by whoever looks into the ledger
//! before that. Both happen in transactions: an entry is in one place or in the other, whenever a process is killed.

use std::sync::atomic::{AtomicU32, Ordering};

use pdpp_store::{Disclosure, StoreError};
use rusqlite::Connection;

use crate::SqliteStore;
use crate::fault::{Fault, Outcome};
use crate::ledger::insert;

/// Entries of this process after which its writer puts all that wait into the tables.
const MANY: u32 = 512;

/// How many entries this process has appended since it last asked for them to be put away.
#[derive(Debug, Default)]
pub(crate) struct Appended(AtomicU32);

impl Appended {
    /// Counts entries; says whether so many have come that they should be put away.
    fn count(&self, entries: usize) -> bool {
        let entries = u32::try_from(entries).unwrap_or(MANY);
        let before = self.0.fetch_add(entries, Ordering::Relaxed);
        let many = before.saturating_add(entries) >= MANY;
        if many {
            self.0.store(0, Ordering::Relaxed);
        }
        many
    }
}

impl SqliteStore {
    /// Commits entries.
    pub(crate) async fn append_fresh(&self, entries: Vec<Disclosure>) -> Result<(), StoreError> {
        let entries = entries.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let entries = entries.map_err(|error| StoreError::Backend(error.into()))?;
        let many = self.appended.count(entries.len());
        match <[String; 1]>::try_from(entries) {
            // One statement is a transaction by itself.
            Ok([entry]) => self.ledger().execute_here(move |connection| append(connection, &entry)).await?,
            Err(entries) => {
                let append_all = move |connection: &Connection| {
                    entries.iter().try_for_each(|entry| append(connection, entry))
                };
                self.ledger().write_here(append_all).await?;
            }
        }
        if many {
            self.ledger().write_later(put_away);
        }
        Ok(())
    }

    /// Puts away what was committed before, so that the tables have every entry.
    pub(crate) async fn put_away_fresh(&self) -> Result<(), StoreError> {
        let any = |connection: &Connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM fresh_disclosures)";
            Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get::<_, bool>(0))?)
        };
        if self.ledger().read(any).await? { self.ledger().write(put_away).await } else { Ok(()) }
    }
}

fn append(connection: &Connection, entry: &str) -> Outcome<()> {
    let sql = "INSERT INTO fresh_disclosures (entry) VALUES (?1)";
    connection.prepare_cached(sql)?.execute([entry])?;
    Ok(())
}

/// Puts every fresh entry into the tables, in the order they came. Not to be done outside a transaction.
pub(crate) fn put_away(connection: &Connection) -> Outcome<()> {
    let mut statement = connection.prepare_cached("SELECT entry FROM fresh_disclosures ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let json = row.get_ref(0)?.as_str().map_err(|_| Fault::damaged("a disclosure"))?;
        let entry: Disclosure = serde_json::from_str(json).map_err(|_| Fault::damaged("a disclosure"))?;
        insert(connection, &entry, json)?;
    }
    drop(rows);
    connection.prepare_cached("DELETE FROM fresh_disclosures")?.execute([])?;
    Ok(())
}
