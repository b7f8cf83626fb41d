//! Hosts the owner allowed.

use pdpp_store::AllowedCallback;
use pdpp_wire::{ClientId, DisabledReason, Instant, SubjectId, SubscriptionStatus};

use super::held::{hold, settle};
use super::{damaged, generation, switch};
use crate::fault::Outcome;
use crate::oauth::note_clients;
use crate::session::Session;
use crate::subject_row::SubjectRow;

pub(super) async fn allow(
    session: &Session,
    subject_id: &SubjectId,
    client_id: &ClientId,
    host: &str,
    at: Instant,
) -> Outcome<()> {
    let sql = "INSERT INTO event_callbacks (subject_id, client_id, host, allowed_at) VALUES ($1, $2, $3, $4)
               ON CONFLICT (subject_id, client_id, host) DO NOTHING";
    let names = (subject_id.as_str(), client_id.as_str());
    SubjectRow::lock(session, subject_id).await?;
    session.execute(sql, &[&names.0, &names.1, &host, &at.micros()]).await?;
    // A client that is removed loses what it was allowed, also where it has no grant.
    note_clients(session, subject_id, &[client_id]).await
}

pub(super) async fn forbid(
    session: &Session,
    subject_id: &SubjectId,
    client_id: &ClientId,
    host: &str,
    at: Instant,
) -> Outcome<Option<u64>> {
    let (subject, client) = (subject_id.as_str(), client_id.as_str());
    let sql = "DELETE FROM event_callbacks WHERE subject_id = $1 AND client_id = $2 AND host = $3";
    if session.execute(sql, &[&subject, &client, &host]).await? == 0 {
        return Ok(None);
    }
    let sql = "SELECT subscription_id FROM event_subscriptions
               WHERE subject_id = $1 AND client_id = $2 AND callback_host = $3";
    let rows = session.query(sql, &[&subject, &client, &host]).await?;
    let ids: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    let mut held = hold(session, subject_id, &ids).await?;
    held.retain(|one| one.status.is_live());
    let reason = Some(DisabledReason::OwnerDisabled);
    switch::set(session, subject_id, &mut held, SubscriptionStatus::Disabled, reason, at).await?;
    settle(session, subject_id, &held).await?;
    generation::bump(session, subject_id).await?;
    Ok(Some(held.len() as u64))
}

pub(super) async fn is_allowed(
    session: &Session,
    subject_id: &SubjectId,
    client_id: &ClientId,
    host: &str,
) -> Outcome<bool> {
    let sql = "SELECT 1 FROM event_callbacks WHERE subject_id = $1 AND client_id = $2 AND host = $3";
    let names = (subject_id.as_str(), client_id.as_str());
    Ok(session.query_opt(sql, &[&names.0, &names.1, &host]).await?.is_some())
}

pub(super) async fn list(session: &Session, subject_id: &SubjectId) -> Outcome<Vec<AllowedCallback>> {
    let sql = "SELECT client_id, host, allowed_at FROM event_callbacks WHERE subject_id = $1
               ORDER BY client_id, host";
    let rows = session.query(sql, &[&subject_id.as_str()]).await?;
    let read = |row: &tokio_postgres::Row| {
        Ok(AllowedCallback {
            client_id: ClientId::parse(row.get::<_, String>(0)).map_err(damaged)?,
            host: row.get(1),
            allowed_at: Instant::from_micros(row.get(2)),
        })
    };
    rows.iter().map(read).collect()
}
