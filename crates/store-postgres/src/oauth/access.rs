//! The end of everything a client was given.
//!
//! A client may have access of very many owners, so each is visited in a transaction of its own, found through the
//! provider's list of them. Only when nobody is left on that list is the client itself changed or removed: whoever
//! is interrupted leaves a client that is as it was, and doing it again ends the rest.

use pdpp_store::{ClientPut, RegisteredClient};
use pdpp_wire::{ClientId, Instant, SubjectId};

use super::clients;
use crate::PostgresStore;
use crate::authority::grants;
use crate::fault::{Fault, Outcome};
use crate::session::{Session, Whose};
use crate::subject_row::SubjectRow;

/// Owners listed at once.
const PAGE: i64 = 500;
/// Pages visited before whoever asks is told to ask again.
const PAGES: usize = 100_000;

/// Notes that these clients have access of a subject, whose row is locked. The session means the provider's rows
/// afterwards.
pub(crate) async fn note_clients(
    session: &Session,
    subject_id: &SubjectId,
    clients: &[&ClientId],
) -> Outcome<()> {
    session.turn_to(Whose::Provider).await?;
    let clients: Vec<_> = clients.iter().map(|client_id| client_id.as_str()).collect();
    let sql = "INSERT INTO client_owners (subject_id, client_id, owner_id)
               SELECT DISTINCT '', client_id, $2::text FROM unnest($1::text[]) AS c (client_id)
               ON CONFLICT (subject_id, client_id, owner_id) DO NOTHING";
    session.execute(sql, &[&clients, &subject_id.as_str()]).await?;
    Ok(())
}

/// What the last step found.
enum Step<T> {
    /// It is done.
    Done(T),
    /// These owners have to be visited first.
    Left(Vec<SubjectId>),
}

impl PostgresStore {
    /// Keeps a client; ends its access first when what matters has changed.
    pub(super) async fn put(&self, client: &RegisteredClient, at: Instant) -> Outcome<ClientPut> {
        for _ in 0..PAGES {
            let session = self.writing(Whose::Provider).await?;
            let step = put(&session, client).await;
            match session.end(step).await? {
                Step::Done(outcome) => return Ok(outcome),
                Step::Left(owners) => self.end_access(&client.client_id, &owners, at).await?,
            }
        }
        Err(Fault::overtaken("the client is given access as fast as it is taken"))
    }

    /// Removes a client after ending its access; says whether it was known.
    pub(super) async fn remove(&self, client_id: &ClientId, at: Instant) -> Outcome<bool> {
        for _ in 0..PAGES {
            let session = self.writing(Whose::Provider).await?;
            let step = remove(&session, client_id).await;
            match session.end(step).await? {
                Step::Done(known) => return Ok(known),
                Step::Left(owners) => self.end_access(client_id, &owners, at).await?,
            }
        }
        Err(Fault::overtaken("the client is given access as fast as it is taken"))
    }

    async fn end_access(&self, client_id: &ClientId, owners: &[SubjectId], at: Instant) -> Outcome<()> {
        for subject_id in owners {
            let session = self.writing(subject_id).await?;
            let ended = end_at(&session, client_id, subject_id, at).await;
            session.end(ended).await?;
        }
        Ok(())
    }
}

async fn put(session: &Session, client: &RegisteredClient) -> Outcome<Step<ClientPut>> {
    if clients::insert(session, client).await? {
        return Ok(Step::Done(ClientPut::New));
    }
    let Some(before) = clients::lock(session, &client.client_id).await? else {
        return Err(Fault::overtaken("the client was removed meanwhile"));
    };
    let outcome = if before == client.security_hash { ClientPut::Known } else { ClientPut::Changed };
    if outcome == ClientPut::Changed {
        let left = drop_requests(session, &client.client_id).await?;
        if !left.is_empty() {
            return Ok(Step::Left(left));
        }
    }
    clients::update(session, client).await?;
    Ok(Step::Done(outcome))
}

async fn remove(session: &Session, client_id: &ClientId) -> Outcome<Step<bool>> {
    let left = drop_requests(session, client_id).await?;
    if !left.is_empty() {
        return Ok(Step::Left(left));
    }
    Ok(Step::Done(clients::remove(session, client_id).await?))
}

/// Drops requests that wait or could still be redeemed, then lists the owners there are. In this order: whoever is
/// about to approve or redeem one holds its row, and has noted its owner when the row is free.
async fn drop_requests(session: &Session, client_id: &ClientId) -> Outcome<Vec<SubjectId>> {
    let client_id = client_id.as_str();
    let sql = "DELETE FROM oauth_requests WHERE subject_id = '' AND client_id = $1 RETURNING approval_id";
    let rows = session.query(sql, &[&client_id]).await?;
    let gone: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    let sql = "DELETE FROM oauth_request_grants WHERE subject_id = '' AND approval_id = ANY($1)";
    session.execute(sql, &[&gone]).await?;
    let sql = "SELECT owner_id FROM client_owners WHERE subject_id = '' AND client_id = $1
               ORDER BY owner_id LIMIT $2";
    let damaged = |_| Fault::damaged("the owner a client has access of");
    let owners = session.query(sql, &[&client_id, &PAGE]).await?;
    owners.iter().map(|row| SubjectId::parse(row.get::<_, String>(0)).map_err(damaged)).collect()
}

/// Revokes grants, tokens and refresh tokens at one owner, and forgets where events could be sent.
async fn end_at(session: &Session, client_id: &ClientId, subject_id: &SubjectId, at: Instant) -> Outcome<()> {
    SubjectRow::lock(session, subject_id).await?;
    let (subject, client, micros) = (subject_id.as_str(), client_id.as_str(), at.micros());
    let sql = "SELECT grant_id FROM grants WHERE subject_id = $1 AND client_id = $2 AND revoked_at IS NULL";
    let rows = session.query(sql, &[&subject, &client]).await?;
    let granted: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    grants::revoke(session, subject_id, &granted, at).await?;
    for sql in [
        "UPDATE tokens SET revoked_at = $3 WHERE subject_id = $1 AND revoked_at IS NULL
             AND family_id = ANY (ARRAY(
                 SELECT family_id FROM refresh_families WHERE subject_id = $1 AND client_id = $2))",
        "UPDATE refresh_families SET revoked_at = $3
             WHERE subject_id = $1 AND client_id = $2 AND revoked_at IS NULL",
    ] {
        session.execute(sql, &[&subject, &client, &micros]).await?;
    }
    crate::events::end_without_grants(session, subject_id, at).await?;
    let sql = "DELETE FROM event_callbacks WHERE subject_id = $1 AND client_id = $2";
    session.execute(sql, &[&subject, &client]).await?;
    session.turn_to(Whose::Provider).await?;
    let sql = "DELETE FROM client_owners WHERE subject_id = '' AND client_id = $1 AND owner_id = $2";
    session.execute(sql, &[&client, &subject]).await?;
    Ok(())
}
