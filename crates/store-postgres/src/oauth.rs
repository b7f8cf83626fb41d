//! What the authorization server keeps. Every step is one transaction that locks what it decides about, so of two who
//! decide, redeem or rotate the same thing at once, the second finds it done.
//!
//! Clients, requests and attempts are the provider's; what an owner allowed is the owner's.

pub(crate) mod access;
mod clients;
mod families;
mod prune;
mod redeem;
mod requests;
mod sessions;

use async_trait::async_trait;
use pdpp_access::SecretHash;
use pdpp_store::{
    AgentAttached, Approval, Attempts, ClientPut, Decided, NewRequest, OAuth, OwnerSession, Polled,
    PresentedRefresh, Redeemed, Redemption, RegisteredClient, RequestHandle, Rotated, Rotation, Staged,
    StagedRequest, StoreError,
};
use pdpp_wire::{ApprovalId, ClientId, FamilyId, Instant, SessionId, SubjectId};

pub(crate) use access::note_clients;
pub(crate) use families::end_families_without_grant;

use crate::PostgresStore;
use crate::fault::{Fault, Outcome};
use crate::session::Whose;

/// A stored hash.
fn hash_of(bytes: &[u8]) -> Outcome<SecretHash> {
    let bytes = bytes.try_into().map_err(|_| Fault::damaged("a hash of another length"))?;
    Ok(SecretHash::from_bytes(bytes))
}

#[async_trait]
impl OAuth for PostgresStore {
    async fn put_client(&self, client: &RegisteredClient, at: Instant) -> Result<ClientPut, StoreError> {
        Ok(self.put(client, at).await?)
    }

    async fn find_client(&self, client_id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        let session = self.reading(Whose::Provider).await?;
        let found = clients::find(&session, client_id).await;
        Ok(session.end(found).await?)
    }

    async fn list_clients(&self) -> Result<Vec<RegisteredClient>, StoreError> {
        let session = self.reading(Whose::Provider).await?;
        let listed = clients::list(&session).await;
        Ok(session.end(listed).await?)
    }

    async fn remove_client(&self, client_id: &ClientId, at: Instant) -> Result<bool, StoreError> {
        Ok(self.remove(client_id, at).await?)
    }

    async fn stage_request(&self, request: &NewRequest, most_pending: u32) -> Result<Staged, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let staged = requests::stage(&session, request, most_pending).await;
        Ok(session.end(staged).await?)
    }

    async fn find_request(&self, handle: &RequestHandle) -> Result<Option<StagedRequest>, StoreError> {
        let session = self.reading(Whose::Provider).await?;
        let found = requests::find(&session, handle).await;
        Ok(session.end(found).await?)
    }

    async fn list_requests(&self, at: Instant) -> Result<Vec<StagedRequest>, StoreError> {
        let session = self.reading(Whose::Provider).await?;
        let listed = requests::list(&session, None, at).await;
        Ok(session.end(listed).await?)
    }

    async fn address_request(
        &self,
        approval_id: &ApprovalId,
        subject_id: &SubjectId,
    ) -> Result<bool, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let addressed = requests::address(&session, approval_id, subject_id).await;
        Ok(session.end(addressed).await?)
    }

    async fn list_addressed(
        &self,
        subject_id: &SubjectId,
        at: Instant,
    ) -> Result<Vec<StagedRequest>, StoreError> {
        let session = self.reading(Whose::Provider).await?;
        let listed = requests::list(&session, Some(subject_id), at).await;
        Ok(session.end(listed).await?)
    }

    async fn open_request(
        &self,
        approval_id: &ApprovalId,
        consent: &SecretHash,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let opened = requests::open(&session, approval_id, consent, at).await;
        Ok(session.end(opened).await?)
    }

    async fn review_request(
        &self,
        approval_id: &ApprovalId,
        review: &str,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let reviewed = requests::review(&session, approval_id, review, at).await;
        Ok(session.end(reviewed).await?)
    }

    async fn attach_agent(
        &self,
        approval_id: &ApprovalId,
        agent_id: &str,
        polling: &SecretHash,
        at: Instant,
    ) -> Result<AgentAttached, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let attached = requests::attach(&session, approval_id, (agent_id, polling), at).await;
        Ok(session.end(attached).await?)
    }

    async fn poll_request(&self, handle: &RequestHandle, at: Instant) -> Result<Option<Polled>, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let polled = requests::poll(&session, handle, at).await;
        Ok(session.end(polled).await?)
    }

    async fn approve_request(&self, approval: &Approval) -> Result<Decided, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let decided = redeem::approve(&session, approval).await;
        Ok(session.end(decided).await?)
    }

    async fn deny_request(
        &self,
        approval_id: &ApprovalId,
        subject_id: &SubjectId,
        at: Instant,
    ) -> Result<Decided, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let decided = redeem::deny(&session, approval_id, subject_id, at).await;
        Ok(session.end(decided).await?)
    }

    async fn redeem_request(&self, redemption: &Redemption) -> Result<Redeemed, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let redeemed = redeem::redeem(&session, redemption).await;
        Ok(session.end(redeemed).await?)
    }

    async fn end_redeemed(&self, approval_id: &ApprovalId, at: Instant) -> Result<(), StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let ended = redeem::end_redeemed(&session, approval_id, at).await;
        Ok(session.end(ended).await?)
    }

    async fn find_refresh(&self, hash: &SecretHash) -> Result<Option<PresentedRefresh>, StoreError> {
        let session = self.reading(Whose::Provider).await?;
        let found = families::find_presented(&session, hash).await;
        Ok(session.end(found).await?)
    }

    async fn rotate_refresh(&self, rotation: &Rotation) -> Result<Rotated, StoreError> {
        let session = self.writing(&rotation.token.subject_id).await?;
        let rotated = families::rotate(&session, rotation).await;
        Ok(session.end(rotated).await?)
    }

    async fn revoke_family(&self, family_id: &FamilyId, at: Instant) -> Result<bool, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let revoked = families::find_and_revoke(&session, family_id, at).await;
        Ok(session.end(revoked).await?)
    }

    async fn revoke_token(&self, hash: &SecretHash, at: Instant) -> Result<bool, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let revoked = families::revoke_token(&session, hash, at).await;
        Ok(session.end(revoked).await?)
    }

    async fn put_session(&self, hash: &SecretHash, owner_session: &OwnerSession) -> Result<(), StoreError> {
        let session = self.writing(&owner_session.subject_id).await?;
        let kept = sessions::put(&session, hash, owner_session).await;
        Ok(session.end(kept).await?)
    }

    async fn use_session(&self, hash: &SecretHash, at: Instant) -> Result<Option<OwnerSession>, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let used = sessions::touch(&session, hash, at).await;
        Ok(session.end(used).await?)
    }

    async fn list_sessions(&self, subject_id: &SubjectId) -> Result<Vec<OwnerSession>, StoreError> {
        let session = self.reading(subject_id).await?;
        let listed = sessions::list(&session, subject_id).await;
        Ok(session.end(listed).await?)
    }

    async fn revoke_sessions(
        &self,
        subject_id: &SubjectId,
        session_id: Option<&SessionId>,
        at: Instant,
    ) -> Result<u64, StoreError> {
        let session = self.writing(subject_id).await?;
        let revoked = sessions::revoke(&session, subject_id, session_id, at).await;
        Ok(session.end(revoked).await?)
    }

    async fn count_attempt(
        &self,
        key: &str,
        window_seconds: i64,
        at: Instant,
    ) -> Result<Attempts, StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let counted = sessions::count(&session, key, window_seconds, at).await;
        Ok(session.end(counted).await?)
    }

    async fn clear_attempts(&self, key: &str) -> Result<(), StoreError> {
        let session = self.writing(Whose::Provider).await?;
        let cleared = sessions::clear(&session, key).await;
        Ok(session.end(cleared).await?)
    }

    async fn prune_oauth(&self, at: Instant) -> Result<u64, StoreError> {
        Ok(self.prune(at).await?)
    }
}
