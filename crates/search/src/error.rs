//! Why the index could not be kept or asked.

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

    /// Whether the files are not what they should be, so that only beginning anew helps.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Index(
                TantivyError::DataCorruption(_)
                    | TantivyError::OpenReadError(_)
                    | TantivyError::IncompatibleIndex(_)
                    | TantivyError::SchemaError(_)
            )
        )
    }

    /// Whether another process is writing; its work is as good as ours.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self, Self::Index(TantivyError::LockFailure(..)))
    }
}
