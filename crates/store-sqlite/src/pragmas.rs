//! How a connection is set up.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::fault::{Outcome, is_busy};

/// How long a connection waits for another process's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one attempt to empty the log waits for readers.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_millis(200);
/// Statements a connection keeps compiled. The record queries of a few hundred streams fit.
const STATEMENTS: usize = 512;

/// How sure an acknowledged commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Survives the loss of power: every commit reaches the disk. For the archive.
    Full,
    /// Survives the death of the process; the loss of power may cost the last moments. For the
    /// ledger: each read appends to it, and a disk flush per read would be most of a read's cost.
    Process,
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Writer,
}

/// Opens a database file; the file exists already, with its permissions.
pub(crate) fn open(path: &Path, role: Role, durability: Durability) -> Outcome<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    use_wal(&connection)?;
    set_up(&connection, role, durability)?;
    Ok(connection)
}

/// Opens a database that lives and dies with its connection.
pub(crate) fn open_in_memory() -> Outcome<Connection> {
    let connection = Connection::open_in_memory()?;
    set_up(&connection, Role::Writer, Durability::Process)?;
    Ok(connection)
}

/// Two processes that switch a new file to WAL at the same moment find it locked, and the engine
/// does not wait for them: so we do.
fn use_wal(connection: &Connection) -> Outcome<()> {
    let mut attempt = 0;
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if is_busy(&error) && attempt < 100 => {
                attempt += 1;
                thread::sleep(Duration::from_millis(20));
            }
            other => return Ok(other?),
        }
    }
}

/// Copies the write-ahead log into the database and empties it. Says whether that was possible: a
/// reader of an older state, or another writer, may stand in the way.
pub(crate) fn empty_log(connection: &Connection) -> Outcome<bool> {
    connection.busy_timeout(CHECKPOINT_TIMEOUT)?;
    let was_busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(!was_busy?)
}

fn set_up(connection: &Connection, role: Role, durability: Durability) -> Outcome<()> {
    // A batch of records touches thousands of index pages. A long log lets those that several
    // batches touch be copied back once: 16,400 records a second on 200,000, not 8,700 to 13,600. Of
    // the ledger's, whoever fills it copies it back and waits for the disk, which should be few reads.
    let (synchronous, log_pages) = match durability {
        Durability::Full => ("FULL", 65_536),
        Durability::Process => ("NORMAL", 4_000),
    };
    // Pages are read through the map, which the system shares and takes back; the caches of our
    // own are for what a transaction has not written yet.
    let cache_kib = match role {
        Role::Reader => 2_048,
        Role::Writer => 32_768,
    };
    connection.execute_batch(&format!(
        "PRAGMA synchronous = {synchronous};
         PRAGMA secure_delete = ON;
         PRAGMA foreign_keys = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -{cache_kib};
         PRAGMA mmap_size = 1073741824;
         PRAGMA wal_autocheckpoint = {log_pages};
         PRAGMA journal_size_limit = 67108864;
         PRAGMA trusted_schema = OFF;"
    ))?;
    // A plan that looked at a bound value is made anew for every other value, because another partial index
    // might fit it. Ours test for missing values only, and the planner was a seventh of a page's cost.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    if role == Role::Reader {
        connection.pragma_update(None, "query_only", true)?;
    }
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}
