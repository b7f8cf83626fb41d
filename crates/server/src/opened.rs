//! The store of a server or a command, and what only one kind of it can do.
//!
//! Everything that reads or writes asks the traits and cannot tell the kinds apart. A data directory can also be
//! checked, repaired, copied and begun anew; a database has tools of its own for that, so whoever needs one of those
//! asks for the directory and may be told in a sentence that there is none.

use std::fmt;
use std::sync::Arc;

use pdpp_access::Clock;
use pdpp_store::Store;
use pdpp_store_sqlite::SqliteStore;

/// A store that is open.
#[derive(Clone)]
pub(crate) enum OpenedStore {
    /// In the data directory itself.
    Directory(Arc<SqliteStore>),
    /// In a database that other processes, on other machines, use too.
    Database {
        store: Arc<dyn Store>,
        /// What time it is for all of them.
        clock: Arc<dyn Clock>,
        /// Whether its role is above row-level security.
        is_unguarded: bool,
    },
}

impl fmt::Debug for OpenedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory(_) => "Directory(..)",
            Self::Database { .. } => "Database(..)",
        })
    }
}

/// What was asked can be done to a data directory alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`pdpp {0}` needs a data directory, and this data is in a database: use pg_dump and the database's own tools \
     instead (see the guide)"
)]
pub struct NeedsDirectory(pub &'static str);

impl OpenedStore {
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Directory(store) => Arc::clone(store) as Arc<dyn Store>,
            Self::Database { store, .. } => Arc::clone(store),
        }
    }

    /// The clock all nodes share, where there may be several.
    pub(crate) fn clock(&self) -> Option<Arc<dyn Clock>> {
        match self {
            Self::Directory(_) => None,
            Self::Database { clock, .. } => Some(Arc::clone(clock)),
        }
    }

    /// The embedded store, for the command that cannot do without.
    pub(crate) fn directory(&self, command: &'static str) -> Result<&Arc<SqliteStore>, NeedsDirectory> {
        match self {
            Self::Directory(store) => Ok(store),
            Self::Database { .. } => Err(NeedsDirectory(command)),
        }
    }
}
