//! Grants and tokens at rest. Tokens are hashes only.

use async_trait::async_trait;
use pdpp_access::{GrantStanding, SecretHash};
use pdpp_wire::{ClientId, FamilyId, Grant, GrantId, Instant, SubjectId, TokenId};

use crate::StoreError;

/// Keeps grants and tokens.
#[async_trait]
pub trait Authority: Send + Sync {
    /// Stores new grants and the token bound to them, all or nothing.
    async fn issue(&self, grants: &[Grant], token: &NewToken) -> Result<(), StoreError>;

    /// Stores another token for existing grants. A single-use grant gives one token, ever.
    async fn issue_token(&self, token: &NewToken) -> Result<IssueOutcome, StoreError>;

    /// The token with this hash, with the standing of each of its grants.
    async fn find_token(&self, hash: &SecretHash) -> Result<Option<StoredToken>, StoreError>;

    /// One grant.
    async fn find_grant(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
    ) -> Result<Option<StoredGrant>, StoreError>;

    /// What a grant says and whether it still stands, without what is told about its use: that is kept elsewhere and
    /// takes longer to find, and whoever reads under a grant asks with every call.
    async fn find_standing(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
    ) -> Result<Option<GrantStanding>, StoreError> {
        Ok(self.find_grant(subject_id, grant_id).await?.map(|grant| grant.standing))
    }

    /// All grants, newest first.
    async fn list_grants(&self, subject_id: &SubjectId) -> Result<Vec<StoredGrant>, StoreError>;

    /// Revokes a grant from now on, and with it every line of refresh tokens that has no other grant
    /// left. Access tokens stay as they are: they answer that their grant was revoked. `None` when there
    /// is no such grant; else the earlier revocation, if there was one.
    async fn revoke_grant(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
        at: Instant,
    ) -> Result<Option<StoredGrant>, StoreError>;

    /// Revokes every owner token, and every line of refresh tokens that gives such.
    async fn revoke_owner_tokens(&self, subject_id: &SubjectId, at: Instant) -> Result<u64, StoreError>;

    /// The owner's passphrase hash (a PHC string), when one was set.
    async fn find_passphrase(&self, subject_id: &SubjectId) -> Result<Option<String>, StoreError>;

    /// Sets the owner's passphrase hash.
    async fn set_passphrase(&self, subject_id: &SubjectId, phc: &str) -> Result<(), StoreError>;
}

/// A token about to be stored.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What will be recognised.
    pub hash: SecretHash,
    /// Its public name.
    pub token_id: TokenId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// What it opens.
    pub kind: TokenKind,
    /// Now.
    pub issued_at: Instant,
    /// When it ends.
    pub expires_at: Option<Instant>,
    /// The address it is for, when its client named one.
    pub resource: Option<String>,
    /// The refresh tokens it was given beside; it ends with them.
    pub family_id: Option<FamilyId>,
}

/// What a token opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Everything of its subject.
    Owner,
    /// What these grants allow.
    Client {
        /// The client.
        client_id: ClientId,
        /// In the order they were given.
        grant_ids: Vec<GrantId>,
    },
}

/// What became of a request for another token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueOutcome {
    /// Stored.
    Issued,
    /// A single-use grant already gave its token.
    Consumed,
    /// A grant does not exist.
    UnknownGrant,
}

/// A stored token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// Its public name.
    pub token_id: TokenId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// What it opens.
    pub kind: TokenKind,
    /// When it ends.
    pub expires_at: Option<Instant>,
    /// When it was revoked.
    pub revoked_at: Option<Instant>,
    /// When it was given.
    pub issued_at: Instant,
    /// The address it is for.
    pub resource: Option<String>,
    /// The refresh tokens it was given beside.
    pub family_id: Option<FamilyId>,
    /// The standing of its grants, in their order.
    pub grants: Vec<GrantStanding>,
}

/// A stored grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGrant {
    /// Names it.
    pub grant_id: GrantId,
    /// Document and revocation.
    pub standing: GrantStanding,
    /// Whether a single-use grant already gave its token.
    pub consumed: bool,
    /// When a token of it was last used to read.
    pub last_used_at: Option<Instant>,
}
