//! What the authorization server keeps: clients, requests for consent, codes, refresh tokens, sessions.
//!
//! Everything that can be redeemed is here as a hash only. Each method is one step: what it says happened
//! happened whole, and of two callers who decide, redeem or rotate the same thing at once, one wins and the
//! other is told so. Times are passed in; nothing here looks at a clock.

mod client;
mod refresh;
mod request;
mod session;

use async_trait::async_trait;
use pdpp_access::SecretHash;
use pdpp_wire::{ApprovalId, ClientId, FamilyId, Instant, SessionId, SubjectId};

pub use client::{ClientPut, ClientSource, RegisteredClient};
pub use refresh::{Family, NewFamily, PresentedRefresh, Rotated, Rotation};
pub use request::{
    AgentAttached, Approval, Decided, Flow, NewRequest, Polled, Redeemed, Redemption, RequestHandle,
    RequestState, Staged, StagedRequest,
};
pub use session::{Attempts, OwnerSession};

use crate::StoreError;

/// Keeps what the authorization server works with.
#[async_trait]
pub trait OAuth: Send + Sync {
    /// Keeps a client, or what is now known of one. When its security hash is another than before, all its
    /// access ends in the same step. The time it was first seen stays.
    async fn put_client(&self, client: &RegisteredClient, at: Instant) -> Result<ClientPut, StoreError>;

    /// One client.
    async fn find_client(&self, client_id: &ClientId) -> Result<Option<RegisteredClient>, StoreError>;

    /// All clients, newest first.
    async fn list_clients(&self) -> Result<Vec<RegisteredClient>, StoreError>;

    /// Forgets a client and ends all its access: grants, tokens, refresh tokens, requests. Says whether it
    /// was known.
    async fn remove_client(&self, client_id: &ClientId, at: Instant) -> Result<bool, StoreError>;

    /// Keeps a request for consent, unless so many wait already.
    async fn stage_request(&self, request: &NewRequest, most_pending: u32) -> Result<Staged, StoreError>;

    /// The request with this handle, whatever became of it.
    async fn find_request(&self, handle: &RequestHandle) -> Result<Option<StagedRequest>, StoreError>;

    /// Requests that wait for a decision at this time, whoever they are for, oldest first.
    async fn list_requests(&self, at: Instant) -> Result<Vec<StagedRequest>, StoreError>;

    /// Names the owner a request is for, unless one is named already. Says whether it is for this one: nobody else is
    /// shown it from then on.
    async fn address_request(
        &self,
        approval_id: &ApprovalId,
        subject_id: &SubjectId,
    ) -> Result<bool, StoreError>;

    /// Requests for this owner that wait for a decision at this time, oldest first.
    async fn list_addressed(
        &self,
        subject_id: &SubjectId,
        at: Instant,
    ) -> Result<Vec<StagedRequest>, StoreError>;

    /// Gives a waiting request the handle its consent page is reached by, instead of any earlier one.
    async fn open_request(
        &self,
        approval_id: &ApprovalId,
        consent: &SecretHash,
        at: Instant,
    ) -> Result<bool, StoreError>;

    /// Remembers what the owner looked at last, as opaque text.
    async fn review_request(
        &self,
        approval_id: &ApprovalId,
        review: &str,
        at: Instant,
    ) -> Result<bool, StoreError>;

    /// Lets one requester wait for a request's outcome with a polling code; the first one only.
    async fn attach_agent(
        &self,
        approval_id: &ApprovalId,
        agent_id: &str,
        polling: &SecretHash,
        at: Instant,
    ) -> Result<AgentAttached, StoreError>;

    /// The request with this handle, and whether its asker came back sooner than its interval allows. An
    /// impatient asker's interval grows.
    async fn poll_request(&self, handle: &RequestHandle, at: Instant) -> Result<Option<Polled>, StoreError>;

    /// Stores the grants and marks the request approved, if it still waits.
    async fn approve_request(&self, approval: &Approval) -> Result<Decided, StoreError>;

    /// Marks the request denied, if it still waits.
    async fn deny_request(
        &self,
        approval_id: &ApprovalId,
        subject_id: &SubjectId,
        at: Instant,
    ) -> Result<Decided, StoreError>;

    /// Gives an approved request its tokens, once.
    async fn redeem_request(&self, redemption: &Redemption) -> Result<Redeemed, StoreError>;

    /// Ends the tokens a request was redeemed for, because its code came back.
    async fn end_redeemed(&self, approval_id: &ApprovalId, at: Instant) -> Result<(), StoreError>;

    /// The refresh token with this hash, current or spent, with its family.
    async fn find_refresh(&self, hash: &SecretHash) -> Result<Option<PresentedRefresh>, StoreError>;

    /// Puts a successor in the place of the current refresh token and stores the access token beside it.
    async fn rotate_refresh(&self, rotation: &Rotation) -> Result<Rotated, StoreError>;

    /// Ends a family and its access tokens; says whether it was alive.
    async fn revoke_family(&self, family_id: &FamilyId, at: Instant) -> Result<bool, StoreError>;

    /// Ends one access token; says whether it was alive.
    async fn revoke_token(&self, hash: &SecretHash, at: Instant) -> Result<bool, StoreError>;

    /// Keeps a session of the owner.
    async fn put_session(&self, hash: &SecretHash, session: &OwnerSession) -> Result<(), StoreError>;

    /// The session with this hash, and notes that it was used.
    async fn use_session(&self, hash: &SecretHash, at: Instant) -> Result<Option<OwnerSession>, StoreError>;

    /// The owner's sessions, newest first.
    async fn list_sessions(&self, subject_id: &SubjectId) -> Result<Vec<OwnerSession>, StoreError>;

    /// Ends one session, or all of the owner's; says how many.
    async fn revoke_sessions(
        &self,
        subject_id: &SubjectId,
        session_id: Option<&SessionId>,
        at: Instant,
    ) -> Result<u64, StoreError>;

    /// Counts an attempt under a key; a window begins with its first attempt.
    async fn count_attempt(
        &self,
        key: &str,
        window_seconds: i64,
        at: Instant,
    ) -> Result<Attempts, StoreError>;

    /// Forgets the attempts under a key.
    async fn clear_attempts(&self, key: &str) -> Result<(), StoreError>;

    /// Drops what has ended long ago, and revokes grants that nobody fetched a token for in time; says how
    /// many rows went.
    async fn prune_oauth(&self, at: Instant) -> Result<u64, StoreError>;
}
