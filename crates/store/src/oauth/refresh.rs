//! Refresh tokens: families of which one member is current.

use pdpp_access::{GrantStanding, SecretHash};
use pdpp_wire::{ClientId, FamilyId, Instant, SubjectId};

use crate::{NewToken, TokenKind};

/// A family about to be kept.
#[derive(Clone, Debug)]
pub struct NewFamily {
    /// Names it.
    pub family_id: FamilyId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// Who may refresh.
    pub client_id: ClientId,
    /// What its access tokens open.
    pub kind: TokenKind,
    /// The address its tokens are for.
    pub resource: Option<String>,
    /// The first refresh token.
    pub first: SecretHash,
    /// Now.
    pub created_at: Instant,
    /// When it ends, however often it is refreshed.
    pub expires_at: Instant,
}

/// A kept family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// Names it.
    pub family_id: FamilyId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// Who may refresh.
    pub client_id: ClientId,
    /// What its access tokens open.
    pub kind: TokenKind,
    /// The address its tokens are for.
    pub resource: Option<String>,
    /// How often it was refreshed.
    pub generation: u64,
    /// When it was refreshed last, or made.
    pub rotated_at: Instant,
    /// When it ends.
    pub expires_at: Instant,
    /// When it was revoked.
    pub revoked_at: Option<Instant>,
    /// The standing of its grants, in their order.
    pub grants: Vec<GrantStanding>,
}

/// A refresh token someone presents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentedRefresh {
    /// Its family.
    pub family: Family,
    /// Which member it is; the family's own generation when it is the current one.
    pub generation: u64,
}

/// One refresh.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// Of which family.
    pub family_id: FamilyId,
    /// The generation the caller saw as the current one.
    pub seen_generation: u64,
    /// The next refresh token; `None` when a lost answer is given again and the current one stays.
    pub successor: Option<SecretHash>,
    /// The access token.
    pub token: NewToken,
    /// Now.
    pub at: Instant,
}

/// What became of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotated {
    /// It holds.
    Done,
    /// Someone refreshed in between; look again.
    Overtaken,
    /// The family has ended, or has just been ended because no grant of it is left.
    Ended,
}
