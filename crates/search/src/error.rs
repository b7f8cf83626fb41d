//! Why the index could not be kept or asked.

use std::io::ErrorKind;
use std::panic::AssertUnwindSafe;

use pdpp_store::StoreError;
use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

/// What went wrong. The index is derived, so nothing here ever means that data is lost.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The engine below failed, or its files are damaged; rebuilding helps.
    #[error("the search index failed")]
    Index(#[from] TantivyError),
    /// The files could not be read or written.
    #[error("the search index cannot be read or written")]
    Files(#[from] std::io::Error),
    /// Reading the files came to where nothing sound leads: they are damaged, or there is a fault in the program.
    #[error("the search index could not be read")]
    Panicked,
    /// The store the index is derived from failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SearchError> for StoreError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Store(error) => error,
            other => Self::Backend(Box::new(other)),
        }
    }
}

impl SearchError {
    /// Whether a file was gone that the last list of files still named: a merge that ends at that moment does that,
    /// and the next list names what took its place.
    pub(crate) fn is_vanished_file(&self) -> bool {
        matches!(self, Self::Index(TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_))))
    }

    /// Whether the files are not what they should be, so that only beginning anew helps. One that cannot be opened just
    /// now, as when too many are open, is none of them; one that is still gone when it was asked for again is.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Index(
                TantivyError::DataCorruption(_)
                | TantivyError::IncompatibleIndex(_)
                | TantivyError::SchemaError(_)
                | TantivyError::OpenReadError(
                    OpenReadError::FileDoesNotExist(_) | OpenReadError::IncompatibleIndex(_),
                ),
            ) => true,
            Self::Index(
                TantivyError::IoError(error)
                | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. }),
            ) => is_garbled(error),
            Self::Files(error) => is_garbled(error),
            _ => false,
        }
    }

    /// Whether another process is writing; its work is as good as ours.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self, Self::Index(TantivyError::LockFailure(..)))
    }
}

/// Whether a file could be read, and is cut short or says what it cannot say.
fn is_garbled(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
}

/// A panic as an error, so that whoever asked is answered and whoever works goes on.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(SearchError::Panicked))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;

    fn of_opening(error: OpenReadError) -> SearchError {
        TantivyError::from(error).into()
    }

    fn of_io(kind: ErrorKind) -> SearchError {
        of_opening(OpenReadError::IoError { io_error: Arc::new(kind.into()), filepath: PathBuf::new() })
    }

    #[test]
    fn only_what_a_rebuild_helps_against_is_damage() {
        for damage in [
            of_io(ErrorKind::UnexpectedEof),
            of_io(ErrorKind::InvalidData),
            of_opening(OpenReadError::FileDoesNotExist(PathBuf::new())),
            io::Error::from(ErrorKind::InvalidData).into(),
        ] {
            assert!(damage.is_damage(), "{damage:?}");
        }
        for passing in [
            of_io(ErrorKind::Other),
            of_io(ErrorKind::PermissionDenied),
            of_io(ErrorKind::StorageFull),
            // Too many open files.
            io::Error::from_raw_os_error(24).into(),
            SearchError::Panicked,
        ] {
            assert!(!passing.is_damage(), "{passing:?}");
        }
    }
}
