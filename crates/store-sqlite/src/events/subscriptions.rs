//! Subscriptions: made, found, listed, removed.

use pdpp_store::{Holder, NewSubscription, StoreError, StoredSubscription, SubscriptionMade};
use pdpp_wire::{
    ClientId, ConnectionId, DisabledReason, GrantId, Instant, SubjectId, SubscriptionId, SubscriptionStatus,
    TokenId,
};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::{bump, damaged, queue, refresh_due, row_of};
use crate::fault::Outcome;
use crate::sequence::SubjectRow;

const SELECT: &str = "SELECT id, subscription_id, subject_id, client_id, callback_url, scope, status,
                             disabled_reason, secret, created_at, updated_at FROM event_subscriptions AS s";

pub(super) fn create(connection: &Connection, new: &NewSubscription, most: u32) -> Outcome<SubscriptionMade> {
    let sql = "SELECT COUNT(*) FROM event_subscriptions WHERE subject_id = ? AND client_id = ?";
    let names = params![new.subject_id.as_str(), new.client_id.as_str()];
    let count: u32 = connection.prepare_cached(sql)?.query_row(names, |row| row.get(0))?;
    if count >= most {
        return Ok(SubscriptionMade::TooMany);
    }
    let head = SubjectRow::ensure(connection, &new.subject_id)?.sequence;
    start_following(connection, &new.subject_id, head)?;
    insert(connection, new, head)?;
    let row = connection.last_insert_rowid();
    let sql = "INSERT INTO event_subscription_grants VALUES (?, ?, ?, ?)";
    for (position, grant_id) in (0_i64..).zip(&new.grant_ids) {
        let values = params![row, position, new.subject_id.as_str(), grant_id.as_str()];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    queue(connection, row, "verify", &new.verify)?;
    refresh_due(connection, row)?;
    bump(connection)?;
    Ok(SubscriptionMade::Made)
}

/// While nobody listens the log is not followed; what was written in the meantime is nobody's news.
pub(super) fn start_following(connection: &Connection, subject_id: &SubjectId, head: i64) -> Outcome<()> {
    let sql = "INSERT INTO event_positions (subject_id, sequence) VALUES (?1, ?2)
               ON CONFLICT (subject_id) DO UPDATE SET sequence = excluded.sequence WHERE NOT EXISTS (
                   SELECT 1 FROM event_subscriptions
                   WHERE subject_id = ?1 AND status IN ('pending_verification', 'active'))";
    connection.prepare_cached(sql)?.execute(params![subject_id.as_str(), head])?;
    Ok(())
}

fn insert(connection: &Connection, new: &NewSubscription, head: i64) -> Outcome<()> {
    let json = |error: serde_json::Error| StoreError::Backend(error.into());
    let scope = serde_json::to_string(&new.scope).map_err(json)?;
    let streams = serde_json::to_string(&new.streams).map_err(json)?;
    let sql = "INSERT INTO event_subscriptions (subscription_id, subject_id, client_id, callback_url,
                   callback_host, scope, streams, connection_id, status, secret, from_sequence, created_at,
                   updated_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'pending_verification', ?9, ?10, ?11, ?11)";
    connection.prepare_cached(sql)?.execute(params![
        new.subscription_id.as_str(),
        new.subject_id.as_str(),
        new.client_id.as_str(),
        new.callback_url,
        new.callback_host,
        scope,
        streams,
        new.connection_id.as_ref().map(ConnectionId::as_str),
        new.sealed_secret,
        head,
        new.created_at.micros(),
    ])?;
    Ok(())
}

pub(super) fn find(
    connection: &Connection,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    holder: Option<&Holder>,
) -> Outcome<Option<StoredSubscription>> {
    let (held, mut values) = held(subject_id, holder);
    let sql = format!("{SELECT} WHERE {held} AND subscription_id = ?");
    values.push(id.to_string().into());
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_row(params_from_iter(values), |row| Ok(read(connection, row)));
    found.optional()?.transpose()
}

pub(super) fn list(
    connection: &Connection,
    subject_id: &SubjectId,
    holder: Option<&Holder>,
) -> Outcome<Vec<StoredSubscription>> {
    let (held, values) = held(subject_id, holder);
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE {held} ORDER BY id"))?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(connection, row)?);
    }
    Ok(found)
}

/// The condition under which a holder sees a subscription, and its values.
fn held(subject_id: &SubjectId, holder: Option<&Holder>) -> (&'static str, Vec<Value>) {
    let subject: Value = subject_id.to_string().into();
    let Some(holder) = holder else { return ("s.subject_id = ?", vec![subject]) };
    let sql = "s.subject_id = ? AND s.client_id = ? AND EXISTS (
                   SELECT 1 FROM event_subscription_grants AS g WHERE g.subscription = s.id AND (
                       g.grant_id IN (SELECT value FROM json_each(?)) OR g.grant_id IN (
                           SELECT t.grant_id FROM token_grants AS t JOIN tokens AS k ON k.hash = t.hash
                           WHERE k.subject_id = ? AND k.token_id = ?)))";
    let grants = holder.grant_ids.iter().map(GrantId::as_str).collect::<serde_json::Value>().to_string();
    let token = holder.token_id.as_ref().map(TokenId::as_str).unwrap_or_default().to_owned();
    let values =
        vec![subject.clone(), holder.client_id.to_string().into(), grants.into(), subject, token.into()];
    (sql, values)
}

pub(super) fn delete(connection: &Connection, subject_id: &SubjectId, id: &SubscriptionId) -> Outcome<bool> {
    let Some(row) = row_of(connection, id)? else { return Ok(false) };
    let sql = "DELETE FROM event_subscriptions WHERE id = ? AND subject_id = ?";
    let gone = connection.prepare_cached(sql)?.execute(params![row, subject_id.as_str()])? > 0;
    if gone {
        bump(connection)?;
    }
    Ok(gone)
}

fn read(connection: &Connection, row: &Row<'_>) -> Outcome<StoredSubscription> {
    let text = |column: usize| row.get::<_, String>(column);
    let reason = row.get::<_, Option<String>>(7)?;
    Ok(StoredSubscription {
        subscription_id: SubscriptionId::parse(text(1)?).map_err(damaged)?,
        subject_id: SubjectId::parse(text(2)?).map_err(damaged)?,
        client_id: ClientId::parse(text(3)?).map_err(damaged)?,
        grant_ids: grant_ids(connection, row.get(0)?)?,
        callback_url: text(4)?,
        scope: serde_json::from_str(&text(5)?).map_err(damaged)?,
        status: SubscriptionStatus::parse(&text(6)?).ok_or(()).map_err(damaged)?,
        disabled_reason: reason
            .as_deref()
            .map(|word| DisabledReason::parse(word).ok_or(()).map_err(damaged))
            .transpose()?,
        sealed_secret: row.get(8)?,
        created_at: Instant::from_micros(row.get(9)?),
        updated_at: Instant::from_micros(row.get(10)?),
    })
}

fn grant_ids(connection: &Connection, row: i64) -> Outcome<Vec<GrantId>> {
    let sql = "SELECT grant_id FROM event_subscription_grants WHERE subscription = ? ORDER BY position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([row])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(GrantId::parse(row.get::<_, String>(0)?).map_err(damaged)?);
    }
    Ok(ids)
}
