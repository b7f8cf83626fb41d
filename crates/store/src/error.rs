//! Breakage of a backend, by what the caller can do about it.

use crate::OverQuota;

/// Why a backend could not keep its promise. Absence is `None`, refusal is a `Denial`; this is neither.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another writer holds the store; trying again helps.
    #[error("the store is busy")]
    Busy(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server that keeps the store does not answer, or the way to it broke in the middle; trying again helps.
    #[error("the store cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No room, or no permission to write.
    #[error("the store cannot be written")]
    Unwritable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The owner may not have as much.
    #[error(transparent)]
    OverQuota(#[from] OverQuota),
    /// What is stored cannot be understood.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// The bytes of attachments lie elsewhere than where this process would look for them; the sentence says where, and
    /// what to do.
    #[error("{0}")]
    Misplaced(String),
    /// The store was written by a newer version of this program.
    #[error("the store has schema version {found}; this program knows up to {known}")]
    TooNew {
        /// What the store says.
        found: i64,
        /// What this program knows.
        known: i64,
    },
    /// The store was written by an older version of this program, and is brought up to date only when told to.
    #[error("the store has schema version {found}, this program needs {needed}; run `pdpp migrate`")]
    TooOld {
        /// What the store says; zero when it has no schema of ours at all.
        found: i64,
        /// What this program needs.
        needed: i64,
    },
    /// Anything else below.
    #[error("the store failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}
