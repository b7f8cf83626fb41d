//! What can go wrong inside, before it is told by what the caller can do.

use deadpool_postgres::{BuildError, PoolError};
use pdpp_store::StoreError;

/// A failure below. `?` makes one from any side.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The server's own words, or those of the connection to it.
    Postgres(tokio_postgres::Error),
    /// Already decided.
    Store(StoreError),
}

/// What work on the database returns.
pub(crate) type Outcome<T> = Result<T, Fault>;

impl Fault {
    /// Something stored cannot be understood. The text goes to the log, so it names places, not contents.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Store(StoreError::Damaged(what.into()))
    }

    /// What the question leaned on has just changed; asking again helps.
    pub(crate) fn overtaken(what: &str) -> Self {
        Self::Store(StoreError::Busy(what.into()))
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Postgres(error),
            // Also when every connection is in use for so long: nobody's data is being changed, this node has too much to do.
            other => Self::Store(StoreError::Unreachable(other.into())),
        }
    }
}

impl From<BuildError> for Fault {
    fn from(error: BuildError) -> Self {
        Self::Store(StoreError::Backend(error.into()))
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Store(StoreError::Backend(error.into()))
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Store(error) => error,
            Fault::Postgres(error) => of_postgres(error),
        }
    }
}

fn of_postgres(error: tokio_postgres::Error) -> StoreError {
    // Without a code the server said nothing: the connection could not be made, or it broke.
    let Some(code) = error.code() else { return StoreError::Unreachable(error.into()) };
    match code.code() {
        // Serialization failure, deadlock, lock not available, statement cut off by its deadline.
        "40001" | "40P01" | "55P03" | "57014" => StoreError::Busy(error.into()),
        // No room, no rights, a replica that only reads.
        "25006" | "42501" | "53100" | "58030" => StoreError::Unwritable(error.into()),
        "XX001" | "XX002" => StoreError::Damaged("a page or an index of the database is broken".into()),
        // No such table or column: the schema is not ours, or not yet. Out of memory for locks: a setting of the server.
        "42P01" | "42703" | "3F000" | "53200" => StoreError::Backend(error.into()),
        other => match &other[..2] {
            // Connection exceptions, wrong credentials, too many connections, shutting down.
            "08" | "28" | "3D" | "53" | "57" => StoreError::Unreachable(error.into()),
            // A transaction that its node left alone for too long was ended, and the connection with it.
            _ if other == "25P03" => StoreError::Unreachable(error.into()),
            _ => StoreError::Backend(error.into()),
        },
    }
}
