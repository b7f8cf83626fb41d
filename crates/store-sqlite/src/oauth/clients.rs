//! Clients, and the end of everything they were given.

use pdpp_access::SecretHash;
use pdpp_store::{ClientPut, ClientSource, RegisteredClient};
use pdpp_wire::{ClientId, Instant, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::fault::{Fault, Outcome};

const SELECT: &str = "SELECT client_id, source, metadata, security_hash, first_seen, subject_id,
                             registration_token FROM oauth_clients";

pub(super) fn put(connection: &Connection, client: &RegisteredClient, at: Instant) -> Outcome<ClientPut> {
    let sql = "SELECT security_hash FROM oauth_clients WHERE client_id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let before: Option<String> =
        statement.query_row([client.client_id.as_str()], |row| row.get(0)).optional()?;
    let outcome = match before {
        None => ClientPut::New,
        Some(hash) if hash == client.security_hash => ClientPut::Known,
        Some(_) => {
            end_access(connection, &client.client_id, at)?;
            ClientPut::Changed
        }
    };
    let sql = "INSERT INTO oauth_clients
                   (client_id, source, metadata, security_hash, first_seen, subject_id, registration_token)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT (client_id) DO UPDATE SET source = excluded.source, metadata = excluded.metadata,
                   security_hash = excluded.security_hash, subject_id = excluded.subject_id,
                   registration_token = excluded.registration_token";
    connection.prepare_cached(sql)?.execute(params![
        client.client_id.as_str(),
        client.source.as_str(),
        client.metadata,
        client.security_hash,
        client.first_seen.micros(),
        client.subject_id.as_ref().map(SubjectId::as_str),
        client.registration_token.as_ref().map(SecretHash::as_bytes),
    ])?;
    Ok(outcome)
}

pub(super) fn find(connection: &Connection, client_id: &ClientId) -> Outcome<Option<RegisteredClient>> {
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE client_id = ?1"))?;
    let mut rows = statement.query([client_id.as_str()])?;
    rows.next()?.map(read).transpose()
}

pub(super) fn list(connection: &Connection) -> Outcome<Vec<RegisteredClient>> {
    let mut statement =
        connection.prepare_cached(&format!("{SELECT} ORDER BY first_seen DESC, client_id DESC"))?;
    let mut rows = statement.query([])?;
    let mut clients = Vec::new();
    while let Some(row) = rows.next()? {
        clients.push(read(row)?);
    }
    Ok(clients)
}

pub(super) fn remove(connection: &Connection, client_id: &ClientId, at: Instant) -> Outcome<bool> {
    end_access(connection, client_id, at)?;
    let sql = "DELETE FROM oauth_clients WHERE client_id = ?1";
    Ok(connection.prepare_cached(sql)?.execute([client_id.as_str()])? > 0)
}

/// Revokes grants, tokens and refresh tokens, forgets where its events could be sent, and drops requests that wait or
/// could still be redeemed.
fn end_access(connection: &Connection, client_id: &ClientId, at: Instant) -> Outcome<()> {
    for sql in [
        "UPDATE grants SET revoked_at = ?2 WHERE client_id = ?1 AND revoked_at IS NULL",
        "UPDATE tokens SET revoked_at = ?2 WHERE revoked_at IS NULL
             AND family_id IN (SELECT family_id FROM refresh_families WHERE client_id = ?1)",
        "UPDATE refresh_families SET revoked_at = ?2 WHERE client_id = ?1 AND revoked_at IS NULL",
    ] {
        connection.prepare_cached(sql)?.execute(params![client_id.as_str(), at.micros()])?;
    }
    crate::events::end_without_grants(connection, at)?;
    for sql in [
        "DELETE FROM oauth_requests WHERE client_id = ?1",
        "DELETE FROM event_callbacks WHERE client_id = ?1",
    ] {
        connection.prepare_cached(sql)?.execute([client_id.as_str()])?;
    }
    Ok(())
}

fn read(row: &Row<'_>) -> Outcome<RegisteredClient> {
    let damaged = |_| Fault::damaged("a client's ids");
    let source = ClientSource::parse(&row.get::<_, String>(1)?);
    let subject = row.get::<_, Option<String>>(5)?;
    Ok(RegisteredClient {
        client_id: ClientId::parse(row.get::<_, String>(0)?).map_err(damaged)?,
        source: source.ok_or_else(|| Fault::damaged("a client's source"))?,
        metadata: row.get(2)?,
        security_hash: row.get(3)?,
        first_seen: Instant::from_micros(row.get(4)?),
        subject_id: subject.map(SubjectId::parse).transpose().map_err(damaged)?,
        registration_token: row.get::<_, Option<[u8; 32]>>(6)?.map(SecretHash::from_bytes),
    })
}
