//! What can go wrong inside, before it is told by what the caller can do.

use pdpp_store::StoreError;
use rusqlite::ErrorCode;

/// A failure on a worker's thread. `?` makes one from either side.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The engine's own words.
    Sqlite(rusqlite::Error),
    /// Already decided.
    Store(StoreError),
}

/// What a closure on a worker's thread returns.
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

    /// Whether the engine was told to stop in the middle.
    pub(crate) fn is_interrupted(&self) -> bool {
        let code = |error: &rusqlite::Error| error.sqlite_error_code();
        matches!(self, Self::Sqlite(error) if code(error) == Some(ErrorCode::OperationInterrupted))
    }

    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Sqlite(error) if is_busy(error))
    }
}

pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Store(StoreError::Unwritable(error.into()))
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Store(error) => error,
            Fault::Sqlite(error) => of_sqlite(error),
        }
    }
}

fn of_sqlite(error: rusqlite::Error) -> StoreError {
    use rusqlite::Error as Sqlite;
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(error.into()),
        Some(
            ErrorCode::DiskFull
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied,
        ) => StoreError::Unwritable(error.into()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(error.to_string()),
        _ => match error {
            Sqlite::FromSqlConversionFailure(..)
            | Sqlite::InvalidColumnType(..)
            | Sqlite::IntegralValueOutOfRange(..) => StoreError::Damaged(error.to_string()),
            other => StoreError::Backend(other.into()),
        },
    }
}
