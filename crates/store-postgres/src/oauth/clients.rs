//! Clients as the provider keeps them.

use pdpp_store::{ClientSource, RegisteredClient};
use pdpp_wire::{ClientId, Instant, SubjectId};
use tokio_postgres::Row;

use super::hash_of;
use crate::fault::{Fault, Outcome};
use crate::session::Session;

const SELECT: &str = "SELECT client_id, source, metadata, security_hash, first_seen, registered_by,
                             registration_token FROM oauth_clients WHERE subject_id = ''";

/// Keeps a client that was not known; says whether it was so. Of two who are first at once, the second finds it known.
pub(super) async fn insert(session: &Session, client: &RegisteredClient) -> Outcome<bool> {
    write(session, client, "ON CONFLICT (subject_id, client_id) DO NOTHING").await
}

/// Writes what is now known of a client. The time it was first seen stays.
pub(super) async fn update(session: &Session, client: &RegisteredClient) -> Outcome<bool> {
    let known = "ON CONFLICT (subject_id, client_id) DO UPDATE SET
                     source = excluded.source, metadata = excluded.metadata,
                     security_hash = excluded.security_hash, registered_by = excluded.registered_by,
                     registration_token = excluded.registration_token";
    write(session, client, known).await
}

/// The hash of what matters. Whoever puts the same client meanwhile waits for this transaction's end.
pub(super) async fn lock(session: &Session, client_id: &ClientId) -> Outcome<Option<String>> {
    let sql = "SELECT security_hash FROM oauth_clients WHERE subject_id = '' AND client_id = $1 FOR UPDATE";
    Ok(session.query_opt(sql, &[&client_id.as_str()]).await?.map(|row| row.get(0)))
}

async fn write(session: &Session, client: &RegisteredClient, known: &str) -> Outcome<bool> {
    let sql = format!(
        "INSERT INTO oauth_clients
             (subject_id, client_id, source, metadata, security_hash, first_seen, registered_by,
              registration_token)
         VALUES ('', $1, $2, $3, $4, $5, $6, $7) {known}"
    );
    let owner = client.subject_id.as_ref().map(SubjectId::as_str);
    let token = client.registration_token.as_ref().map(|hash| hash.as_bytes().as_slice());
    let written = session
        .execute(
            &sql,
            &[
                &client.client_id.as_str(),
                &client.source.as_str(),
                &client.metadata,
                &client.security_hash,
                &client.first_seen.micros(),
                &owner,
                &token,
            ],
        )
        .await?;
    Ok(written > 0)
}

pub(super) async fn find(session: &Session, client_id: &ClientId) -> Outcome<Option<RegisteredClient>> {
    let row = session.query_opt(&format!("{SELECT} AND client_id = $1"), &[&client_id.as_str()]).await?;
    row.as_ref().map(read).transpose()
}

pub(super) async fn list(session: &Session) -> Outcome<Vec<RegisteredClient>> {
    let sql = format!("{SELECT} ORDER BY first_seen DESC, client_id DESC");
    session.query(&sql, &[]).await?.iter().map(read).collect()
}

pub(super) async fn remove(session: &Session, client_id: &ClientId) -> Outcome<bool> {
    let sql = "DELETE FROM oauth_clients WHERE subject_id = '' AND client_id = $1";
    Ok(session.execute(sql, &[&client_id.as_str()]).await? > 0)
}

fn read(row: &Row) -> Outcome<RegisteredClient> {
    let damaged = |_| Fault::damaged("a client's ids");
    let source = ClientSource::parse(row.get(1));
    let owner = row.get::<_, Option<String>>(5);
    Ok(RegisteredClient {
        client_id: ClientId::parse(row.get::<_, String>(0)).map_err(damaged)?,
        source: source.ok_or_else(|| Fault::damaged("a client's source"))?,
        metadata: row.get(2),
        security_hash: row.get(3),
        first_seen: Instant::from_micros(row.get(4)),
        subject_id: owner.map(SubjectId::parse).transpose().map_err(damaged)?,
        registration_token: row.get::<_, Option<&[u8]>>(6).map(hash_of).transpose()?,
    })
}
