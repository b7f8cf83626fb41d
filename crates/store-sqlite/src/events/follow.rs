//! Following the change log: for whom, from where, and what was found.

use std::ops::Range;

use pdpp_access::GrantStanding;
use pdpp_store::{EventMatch, LiveSubscription, LiveSubscriptions};
use pdpp_wire::{ClientId, ConnectionId, Instant, SubjectId, SubscriptionId};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{damaged, refresh_due};
use crate::authority::standing;
use crate::fault::Outcome;
use crate::sequence::{signed, unsigned};

pub(super) fn generation(connection: &Connection) -> Outcome<u64> {
    let sql = "SELECT generation FROM event_generation";
    unsigned(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

pub(super) fn live(connection: &Connection) -> Outcome<LiveSubscriptions> {
    let sql = "SELECT id, subscription_id, subject_id, client_id, streams, connection_id, from_sequence
               FROM event_subscriptions WHERE status IN ('pending_verification', 'active')";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut subscriptions = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column: usize| row.get::<_, String>(column);
        let connection_id = row.get::<_, Option<String>>(5)?;
        subscriptions.push(LiveSubscription {
            subscription_id: SubscriptionId::parse(text(1)?).map_err(damaged)?,
            subject_id: SubjectId::parse(text(2)?).map_err(damaged)?,
            client_id: ClientId::parse(text(3)?).map_err(damaged)?,
            grants: grants(connection, row.get(0)?)?,
            streams: serde_json::from_str(&text(4)?).map_err(damaged)?,
            connection_id: connection_id.map(ConnectionId::parse).transpose().map_err(damaged)?,
            from: unsigned(row.get(6)?)?,
        });
    }
    Ok(LiveSubscriptions { generation: generation(connection)?, subscriptions })
}

/// The standing of a subscription's grants, in their order.
pub(super) fn grants(connection: &Connection, row: i64) -> Outcome<Vec<GrantStanding>> {
    let sql = "SELECT g.document, g.revoked_at FROM event_subscription_grants AS e
               JOIN grants AS g ON g.subject_id = e.subject_id AND g.grant_id = e.grant_id
               WHERE e.subscription = ? ORDER BY e.position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([row])?;
    let mut standings = Vec::new();
    while let Some(row) = rows.next()? {
        standings.push(standing(row, 0)?);
    }
    Ok(standings)
}

pub(super) fn position(connection: &Connection, subject_id: &SubjectId) -> Outcome<u64> {
    let sql = "SELECT sequence FROM event_positions WHERE subject_id = ?";
    let found: Option<i64> =
        connection.prepare_cached(sql)?.query_row([subject_id.as_str()], |row| row.get(0)).optional()?;
    unsigned(found.unwrap_or(0))
}

pub(super) fn advance(
    connection: &Connection,
    subject_id: &SubjectId,
    step: Range<u64>,
    matches: &[EventMatch],
    at: Instant,
) -> Outcome<bool> {
    let sql = "UPDATE event_positions SET sequence = ?3 WHERE subject_id = ?1 AND sequence = ?2";
    let moved = params![subject_id.as_str(), signed(step.start)?, signed(step.end)?];
    if connection.prepare_cached(sql)?.execute(moved)? == 0 {
        return Ok(false);
    }
    for found in matches {
        note(connection, found, at)?;
    }
    Ok(true)
}

/// Queues an event, or lets the one that waits stand for this change too.
fn note(connection: &Connection, found: &EventMatch, at: Instant) -> Outcome<()> {
    let sql = "SELECT id, lease IS NOT NULL FROM event_subscriptions
               WHERE subscription_id = ? AND status IN ('pending_verification', 'active')";
    let row = connection
        .prepare_cached(sql)?
        .query_row([found.subscription_id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
    // Switched off meanwhile.
    let Some((row, is_leased)): Option<(i64, bool)> = row.optional()? else { return Ok(()) };
    let since = signed(found.since)?;
    // An event whose words are settled may be on its way at this moment; a reader who starts from it may have read
    // already. Whatever came meanwhile is told again afterwards.
    let sql = "INSERT INTO event_queue (subscription, kind, stream, connection_id, since, latest, due_at)
               VALUES (?1, 'records', ?2, ?3, ?4, ?4, ?5)
               ON CONFLICT (subscription, stream, connection_id) WHERE kind = 'records' DO UPDATE SET
                   since = CASE WHEN body IS NULL THEN MIN(since, excluded.since) ELSE since END,
                   latest = MAX(latest, excluded.latest),
                   again = CASE WHEN body IS NULL THEN NULL ELSE COALESCE(again, excluded.since) END";
    let values = params![row, found.stream.as_str(), found.connection_id.as_str(), since, at.micros()];
    connection.prepare_cached(sql)?.execute(values)?;
    if is_leased { Ok(()) } else { refresh_due(connection, row) }
}
