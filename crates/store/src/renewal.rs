//! What ends when an archive comes back from a backup.

/// What ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Renewed {
    /// Grants that were active.
    pub grants: u64,
    /// Tokens that could still be shown.
    pub tokens: u64,
}
