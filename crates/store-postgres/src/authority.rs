//! Grants and tokens. A token is found by the hash of its secret, and by nothing else.
//!
//! Nothing about them is remembered between two requests: what one node revokes, every node refuses from its next
//! look on.

pub(crate) mod grants;
pub(crate) mod tokens;

use async_trait::async_trait;
use pdpp_access::SecretHash;
use pdpp_store::{Authority, IssueOutcome, NewToken, StoreError, StoredGrant, StoredToken};
use pdpp_wire::{Grant, GrantId, Instant, SubjectId};

use crate::PostgresStore;
use crate::fault::Outcome;
use crate::oauth::{end_families_without_grant, note_clients};
use crate::session::{Session, Whose};
use crate::subject_row::SubjectRow;

#[async_trait]
impl Authority for PostgresStore {
    async fn issue(&self, grants: &[Grant], token: &NewToken) -> Result<(), StoreError> {
        let session = self.writing(&token.subject_id).await?;
        let issued = issue(&session, grants, token).await;
        Ok(session.end(issued).await?)
    }

    async fn issue_token(&self, token: &NewToken) -> Result<IssueOutcome, StoreError> {
        let session = self.writing(&token.subject_id).await?;
        let issued = issue_token(&session, token).await;
        Ok(session.end(issued).await?)
    }

    async fn find_token(&self, hash: &SecretHash) -> Result<Option<StoredToken>, StoreError> {
        let session = self.reading(Whose::Provider).await?;
        let found = tokens::find(&session, hash).await;
        Ok(session.end(found).await?)
    }

    async fn find_grant(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
    ) -> Result<Option<StoredGrant>, StoreError> {
        let session = self.reading(subject_id).await?;
        let found = grants::find(&session, subject_id, grant_id).await;
        Ok(session.end(found).await?)
    }

    async fn list_grants(&self, subject_id: &SubjectId) -> Result<Vec<StoredGrant>, StoreError> {
        let session = self.reading(subject_id).await?;
        let listed = grants::list(&session, subject_id).await;
        Ok(session.end(listed).await?)
    }

    async fn revoke_grant(
        &self,
        subject_id: &SubjectId,
        grant_id: &GrantId,
        at: Instant,
    ) -> Result<Option<StoredGrant>, StoreError> {
        let session = self.writing(subject_id).await?;
        let before = revoke_grant(&session, subject_id, grant_id, at).await;
        Ok(session.end(before).await?)
    }

    async fn revoke_owner_tokens(&self, subject_id: &SubjectId, at: Instant) -> Result<u64, StoreError> {
        let session = self.writing(subject_id).await?;
        let revoked = revoke_owner_tokens(&session, subject_id, at).await;
        Ok(session.end(revoked).await?)
    }

    async fn find_passphrase(&self, subject_id: &SubjectId) -> Result<Option<String>, StoreError> {
        let session = self.reading(subject_id).await?;
        let sql = "SELECT phc FROM owner_secrets WHERE subject_id = $1";
        let found = session.query_opt(sql, &[&subject_id.as_str()]).await;
        Ok(session.end(found).await?.map(|row| row.get(0)))
    }

    async fn set_passphrase(&self, subject_id: &SubjectId, phc: &str) -> Result<(), StoreError> {
        let session = self.writing(subject_id).await?;
        let set = set_passphrase(&session, subject_id, phc).await;
        Ok(session.end(set).await?)
    }
}

async fn issue(session: &Session, grants: &[Grant], token: &NewToken) -> Outcome<()> {
    let subject_id = &token.subject_id;
    let mut row = SubjectRow::lock(session, subject_id).await?;
    grants::insert(session, &mut row, subject_id, grants).await?;
    tokens::consume(session, token).await?;
    tokens::insert(session, token).await?;
    let clients: Vec<_> = grants.iter().map(|grant| &grant.client.client_id).collect();
    note_clients(session, subject_id, &clients).await
}

async fn issue_token(session: &Session, token: &NewToken) -> Outcome<IssueOutcome> {
    SubjectRow::lock(session, &token.subject_id).await?;
    let outcome = tokens::may_issue(session, token).await?;
    if outcome == IssueOutcome::Issued {
        tokens::consume(session, token).await?;
        tokens::insert(session, token).await?;
    }
    Ok(outcome)
}

async fn revoke_grant(
    session: &Session,
    subject_id: &SubjectId,
    grant_id: &GrantId,
    at: Instant,
) -> Outcome<Option<StoredGrant>> {
    SubjectRow::lock(session, subject_id).await?;
    let before = grants::find(session, subject_id, grant_id).await?;
    if before.is_some() {
        grants::revoke(session, subject_id, &[grant_id.as_str()], at).await?;
        end_families_without_grant(session, subject_id, grant_id, at).await?;
        crate::events::end_without_grants(session, subject_id, at).await?;
    }
    Ok(before)
}

async fn revoke_owner_tokens(session: &Session, subject_id: &SubjectId, at: Instant) -> Outcome<u64> {
    SubjectRow::lock(session, subject_id).await?;
    let (subject_id, at) = (subject_id.as_str(), at.micros());
    let sql = "UPDATE tokens SET revoked_at = $2
               WHERE subject_id = $1 AND kind = 'owner' AND revoked_at IS NULL";
    let revoked = session.execute(sql, &[&subject_id, &at]).await?;
    // What could make new ones ends with them.
    let sql = "UPDATE refresh_families SET revoked_at = $2
               WHERE subject_id = $1 AND kind = 'owner' AND revoked_at IS NULL";
    session.execute(sql, &[&subject_id, &at]).await?;
    Ok(revoked)
}

async fn set_passphrase(session: &Session, subject_id: &SubjectId, phc: &str) -> Outcome<()> {
    let sql = "INSERT INTO owner_secrets (subject_id, phc) VALUES ($1, $2)
               ON CONFLICT (subject_id) DO UPDATE SET phc = excluded.phc";
    session.execute(sql, &[&subject_id.as_str(), &phc]).await?;
    Ok(())
}
