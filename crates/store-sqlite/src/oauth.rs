//! What the authorization server keeps. Every step is one write transaction, so of two who decide, redeem or
//! rotate the same thing at once, the second finds it done.

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

pub(crate) use families::end_families_without_grant;

use crate::SqliteStore;

#[async_trait]
impl OAuth for SqliteStore {
    async fn put_client(&self, client: &RegisteredClient, at: Instant) -> Result<ClientPut, StoreError> {
        let client = client.clone();
        self.write(move |connection| clients::put(connection, &client, at)).await
    }

    async fn find_client(&self, client_id: &ClientId) -> Result<Option<RegisteredClient>, StoreError> {
        let client_id = client_id.clone();
        self.glance(move |connection| clients::find(connection, &client_id)).await
    }

    async fn list_clients(&self) -> Result<Vec<RegisteredClient>, StoreError> {
        self.read(clients::list).await
    }

    async fn remove_client(&self, client_id: &ClientId, at: Instant) -> Result<bool, StoreError> {
        let client_id = client_id.clone();
        self.write(move |connection| clients::remove(connection, &client_id, at)).await
    }

    async fn stage_request(&self, request: &NewRequest, most_pending: u32) -> Result<Staged, StoreError> {
        let request = request.clone();
        self.write(move |connection| requests::stage(connection, &request, most_pending)).await
    }

    async fn find_request(&self, handle: &RequestHandle) -> Result<Option<StagedRequest>, StoreError> {
        let handle = handle.clone();
        self.glance(move |connection| requests::find(connection, &handle)).await
    }

    async fn list_requests(&self, at: Instant) -> Result<Vec<StagedRequest>, StoreError> {
        self.read(move |connection| requests::list(connection, None, at)).await
    }

    async fn address_request(
        &self,
        approval_id: &ApprovalId,
        subject_id: &SubjectId,
    ) -> Result<bool, StoreError> {
        let (id, subject) = (approval_id.clone(), subject_id.clone());
        self.write(move |connection| requests::address(connection, &id, &subject)).await
    }

    async fn list_addressed(
        &self,
        subject_id: &SubjectId,
        at: Instant,
    ) -> Result<Vec<StagedRequest>, StoreError> {
        let subject = subject_id.clone();
        self.read(move |connection| requests::list(connection, Some(&subject), at)).await
    }

    async fn open_request(
        &self,
        approval_id: &ApprovalId,
        consent: &SecretHash,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let (id, consent) = (approval_id.clone(), *consent);
        self.write(move |connection| requests::open(connection, &id, &consent, at)).await
    }

    async fn review_request(
        &self,
        approval_id: &ApprovalId,
        review: &str,
        at: Instant,
    ) -> Result<bool, StoreError> {
        let (id, review) = (approval_id.clone(), review.to_owned());
        self.write(move |connection| requests::review(connection, &id, &review, at)).await
    }

    async fn attach_agent(
        &self,
        approval_id: &ApprovalId,
        agent_id: &str,
        polling: &SecretHash,
        at: Instant,
    ) -> Result<AgentAttached, StoreError> {
        let (id, agent, polling) = (approval_id.clone(), agent_id.to_owned(), *polling);
        self.write(move |connection| requests::attach(connection, &id, (&agent, &polling), at)).await
    }

    async fn poll_request(&self, handle: &RequestHandle, at: Instant) -> Result<Option<Polled>, StoreError> {
        let handle = handle.clone();
        self.write(move |connection| requests::poll(connection, &handle, at)).await
    }

    async fn approve_request(&self, approval: &Approval) -> Result<Decided, StoreError> {
        let approval = approval.clone();
        self.write(move |connection| redeem::approve(connection, &approval)).await
    }

    async fn deny_request(
        &self,
        approval_id: &ApprovalId,
        subject_id: &SubjectId,
        at: Instant,
    ) -> Result<Decided, StoreError> {
        let (id, subject) = (approval_id.clone(), subject_id.clone());
        self.write(move |connection| redeem::deny(connection, &id, &subject, at)).await
    }

    async fn redeem_request(&self, redemption: &Redemption) -> Result<Redeemed, StoreError> {
        let redemption = redemption.clone();
        self.write(move |connection| redeem::redeem(connection, &redemption)).await
    }

    async fn end_redeemed(&self, approval_id: &ApprovalId, at: Instant) -> Result<(), StoreError> {
        let id = approval_id.clone();
        self.write(move |connection| redeem::end_redeemed(connection, &id, at)).await
    }

    async fn find_refresh(&self, hash: &SecretHash) -> Result<Option<PresentedRefresh>, StoreError> {
        let hash = *hash;
        self.glance(move |connection| families::find_presented(connection, &hash)).await
    }

    async fn rotate_refresh(&self, rotation: &Rotation) -> Result<Rotated, StoreError> {
        let rotation = rotation.clone();
        self.write(move |connection| families::rotate(connection, &rotation)).await
    }

    async fn revoke_family(&self, family_id: &FamilyId, at: Instant) -> Result<bool, StoreError> {
        let family_id = family_id.clone();
        self.write(move |connection| families::revoke(connection, family_id.as_str(), at)).await
    }

    async fn revoke_token(&self, hash: &SecretHash, at: Instant) -> Result<bool, StoreError> {
        let hash = *hash;
        self.write(move |connection| families::revoke_token(connection, &hash, at)).await
    }

    async fn put_session(&self, hash: &SecretHash, session: &OwnerSession) -> Result<(), StoreError> {
        let (hash, session) = (*hash, session.clone());
        self.write(move |connection| sessions::put(connection, &hash, &session)).await
    }

    async fn use_session(&self, hash: &SecretHash, at: Instant) -> Result<Option<OwnerSession>, StoreError> {
        let hash = *hash;
        self.write(move |connection| sessions::touch(connection, &hash, at)).await
    }

    async fn list_sessions(&self, subject_id: &SubjectId) -> Result<Vec<OwnerSession>, StoreError> {
        let subject_id = subject_id.clone();
        self.read(move |connection| sessions::list(connection, &subject_id)).await
    }

    async fn revoke_sessions(
        &self,
        subject_id: &SubjectId,
        session_id: Option<&SessionId>,
        at: Instant,
    ) -> Result<u64, StoreError> {
        let (subject_id, session_id) = (subject_id.clone(), session_id.cloned());
        self.write(move |connection| sessions::revoke(connection, &subject_id, session_id.as_ref(), at)).await
    }

    async fn count_attempt(
        &self,
        key: &str,
        window_seconds: i64,
        at: Instant,
    ) -> Result<Attempts, StoreError> {
        let key = key.to_owned();
        self.write(move |connection| sessions::count(connection, &key, window_seconds, at)).await
    }

    async fn clear_attempts(&self, key: &str) -> Result<(), StoreError> {
        let key = key.to_owned();
        self.write(move |connection| sessions::clear(connection, &key)).await
    }

    async fn prune_oauth(&self, at: Instant) -> Result<u64, StoreError> {
        self.write(move |connection| prune::prune(connection, at)).await
    }
}
