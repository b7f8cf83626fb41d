//! A directory held by one process alone, as long as it takes to put another in its place.

use std::path::Path;
use std::time::Duration;

use pdpp_store::StoreError;
use rusqlite::{Connection, OpenFlags};

use crate::fault::{Fault, Outcome};

/// How long others are waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Holds a data directory: whoever opens it meanwhile waits.
#[derive(Debug)]
pub struct Alone {
    _connection: Connection,
}

impl Alone {
    /// Holds the directory, unless another process has it open.
    pub fn hold(directory: &Path) -> Result<Option<Self>, StoreError> {
        match try_hold(directory) {
            Ok(held) => Ok(Some(held)),
            Err(fault) if fault.is_busy() => Ok(None),
            Err(fault) => Err(fault.into()),
        }
    }
}

/// Every connection to a database with a write-ahead log keeps a shared lock on its file as long as it lives. One that
/// wants the log for itself needs the exclusive one.
fn try_hold(directory: &Path) -> Outcome<Alone> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(directory.join("store.db"), flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.execute_batch("BEGIN EXCLUSIVE; COMMIT;").map_err(Fault::from)?;
    Ok(Alone { _connection: connection })
}
