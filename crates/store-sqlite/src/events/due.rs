//! What should be sent now.

use pdpp_store::{DueEvent, DueKind};
use pdpp_wire::{
    ClientId, ConnectionId, EventId, Instant, StreamName, SubjectId, SubscriptionId, SubscriptionStatus,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::damaged;
use super::follow::grants;
use crate::fault::Outcome;
use crate::sequence::unsigned;

pub(super) fn is_any(connection: &Connection, at: Instant) -> Outcome<bool> {
    let sql = "SELECT 1 FROM event_subscriptions WHERE next_due <= ? LIMIT 1";
    Ok(connection.prepare_cached(sql)?.exists([at.micros()])?)
}

pub(super) fn list(
    connection: &Connection,
    at: Instant,
    busy_hosts: &[String],
    limit: u32,
) -> Outcome<Vec<DueEvent>> {
    let sql = "SELECT id, subscription_id, subject_id, client_id, callback_url, callback_host, secret, status
               FROM event_subscriptions
               WHERE next_due <= ? AND callback_host NOT IN (SELECT value FROM json_each(?))
               ORDER BY next_due LIMIT ?";
    let busy: serde_json::Value = busy_hosts.iter().map(String::as_str).collect();
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![at.micros(), busy.to_string(), limit])?;
    let mut due = Vec::new();
    while let Some(row) = rows.next()? {
        due.extend(first(connection, row)?);
    }
    Ok(due)
}

/// The event that is first in a subscription's queue.
fn first(connection: &Connection, subscription: &Row<'_>) -> Outcome<Option<DueEvent>> {
    let text = |column: usize| subscription.get::<_, String>(column);
    let status = SubscriptionStatus::parse(&text(7)?).ok_or(()).map_err(damaged)?;
    let only = match status {
        SubscriptionStatus::PendingVerification => "AND kind = 'verify'",
        SubscriptionStatus::DisabledRevoked => "AND kind = 'revoked'",
        _ => "",
    };
    let sql = format!(
        "SELECT id, kind, event_id, body, challenge, stream, connection_id, since, latest, attempts
         FROM event_queue WHERE subscription = ? {only} ORDER BY id LIMIT 1"
    );
    let row: i64 = subscription.get(0)?;
    let mut statement = connection.prepare_cached(&sql)?;
    let event = statement.query_row([row], |row| Ok(read(row))).optional()?.transpose()?;
    let Some(Queued { place, kind, settled, attempts }) = event else { return Ok(None) };
    Ok(Some(DueEvent {
        row: place,
        subscription_id: SubscriptionId::parse(text(1)?).map_err(damaged)?,
        subject_id: SubjectId::parse(text(2)?).map_err(damaged)?,
        client_id: ClientId::parse(text(3)?).map_err(damaged)?,
        grants: grants(connection, row)?,
        callback_url: text(4)?,
        callback_host: text(5)?,
        sealed_secret: subscription.get(6)?,
        status,
        kind,
        settled,
        attempts,
    }))
}

struct Queued {
    place: i64,
    kind: DueKind,
    settled: Option<(EventId, String)>,
    attempts: u32,
}

fn read(row: &Row<'_>) -> Outcome<Queued> {
    let text = |column: usize| row.get::<_, String>(column);
    let kind = match text(1)?.as_str() {
        "verify" => DueKind::Verify { challenge: text(4)? },
        "test" => DueKind::Test,
        "revoked" => DueKind::Revoked,
        "records" => DueKind::Records {
            stream: StreamName::parse(text(5)?).map_err(damaged)?,
            connection_id: ConnectionId::parse(text(6)?).map_err(damaged)?,
            since: unsigned(row.get(7)?)?,
            latest: unsigned(row.get(8)?)?,
        },
        _ => return Err(damaged(())),
    };
    let settled = match (row.get::<_, Option<String>>(2)?, row.get::<_, Option<String>>(3)?) {
        (Some(id), Some(body)) => Some((EventId::parse(id).map_err(damaged)?, body)),
        _ => None,
    };
    Ok(Queued { place: row.get(0)?, kind, settled, attempts: row.get(9)? })
}
