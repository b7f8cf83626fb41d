//! The owner's browsers, and how often something was tried.

use pdpp_wire::{Instant, SessionId, SubjectId};

/// One signed-in browser of the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerSession {
    /// Its public name.
    pub session_id: SessionId,
    /// Who is signed in.
    pub subject_id: SubjectId,
    /// Since when.
    pub created_at: Instant,
    /// Until when.
    pub expires_at: Instant,
    /// When it was used last.
    pub last_used_at: Instant,
    /// When it was ended.
    pub revoked_at: Option<Instant>,
}

/// How often something was tried in the present window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// So often, this time included.
    pub count: u32,
    /// When the window ends.
    pub window_ends: Instant,
}
