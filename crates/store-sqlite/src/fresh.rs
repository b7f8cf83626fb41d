//! Entries of the ledger that are committed and not yet in its tables.
//!
//! A reader waits until its entry is committed. In the tables an entry touches a page of each index, and those pages are
//! most of what a commit writes; as the last row of one small table it touches one. So an entry is written there
//! first, and put into the tables with some hundred others by the writer's thread, or by whoever looks into the ledger
//! before that. Both happen in transactions: an entry is in one place or in the other, whenever a process is killed.

use pdpp_store::{Disclosure, StoreError};
use rusqlite::Connection;

use crate::SqliteStore;
use crate::fault::{Fault, Outcome};
use crate::ledger::insert;

/// Entries that wait before the writer's thread puts them into the tables, whichever processes they came from. They
/// are numbered from 1 again when all are put away.
const MANY: i64 = 512;

impl SqliteStore {
    /// Commits entries.
    pub(crate) async fn append_fresh(&self, entries: Vec<Disclosure>) -> Result<(), StoreError> {
        let entries = entries.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let entries = entries.map_err(|error| StoreError::Backend(error.into()))?;
        let are_many = match <[String; 1]>::try_from(entries) {
            // One statement is a transaction by itself.
            Ok([entry]) => self.ledger().execute_here(move |connection| append(connection, &entry)).await?,
            Err(entries) => {
                let append_all = move |connection: &Connection| {
                    entries.iter().try_fold(false, |many, entry| Ok(append(connection, entry)? || many))
                };
                self.ledger().write_here(append_all).await?
            }
        };
        if are_many {
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

/// Says whether so many wait that they should be put away.
fn append(connection: &Connection, entry: &str) -> Outcome<bool> {
    let sql = "INSERT INTO fresh_disclosures (entry) VALUES (?1)";
    connection.prepare_cached(sql)?.execute([entry])?;
    Ok(connection.last_insert_rowid() % MANY == 0)
}

/// Puts every fresh entry into the tables, in the order they came. Not to be done outside a transaction. An entry that
/// only a later program can read stays where it is, and keeps no other from its place.
pub(crate) fn put_away(connection: &Connection) -> Outcome<()> {
    let unreadable = for_each(connection, |entry, json| insert(connection, entry, json))?;
    if !unreadable.is_empty() {
        tracing::warn!(entries = unreadable.len(), "the ledger has entries that this program cannot read");
    }
    let unreadable = serde_json::to_string(&unreadable).map_err(|error| StoreError::Backend(error.into()))?;
    let sql = "DELETE FROM fresh_disclosures WHERE id NOT IN (SELECT value FROM json_each(?1))";
    connection.prepare_cached(sql)?.execute([unreadable])?;
    Ok(())
}

/// How many fresh entries cannot be read.
pub(crate) fn unreadable(connection: &Connection) -> Outcome<usize> {
    Ok(for_each(connection, |_, _| Ok(()))?.len())
}

/// Goes through fresh entries in their order; gives the numbers of those that cannot be read.
pub(crate) fn for_each(
    connection: &Connection,
    mut visit: impl FnMut(&Disclosure, &str) -> Outcome<()>,
) -> Outcome<Vec<i64>> {
    let mut statement = connection.prepare_cached("SELECT id, entry FROM fresh_disclosures ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut unreadable = Vec::new();
    while let Some(row) = rows.next()? {
        let json = row.get_ref(1)?.as_str().map_err(|_| Fault::damaged("a disclosure"))?;
        match serde_json::from_str(json) {
            Ok(entry) => visit(&entry, json)?,
            Err(_) => unreadable.push(row.get(0)?),
        }
    }
    Ok(unreadable)
}
