//! Why the authority did not do what it was asked.

use pdpp_access::Denial;
use pdpp_store::StoreError;
use pdpp_wire::Code;

/// A refusal the caller can act on, or breakage below.
#[derive(Debug, thiserror::Error)]
pub enum AuthFault {
    /// The request cannot be granted; the denial says why and what to choose from.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AuthFault {
    pub(crate) fn denied(code: Code, message: impl Into<String>) -> Self {
        Self::Denied(Denial::new(code, message))
    }
}
