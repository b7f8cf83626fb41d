//! What became of an attempt, and the log of the last ones.

use pdpp_store::{Ending, Finished, StoredDelivery};
use pdpp_wire::{
    DeliveryOutcome, DisabledReason, EventId, EventType, Instant, SubjectId, SubscriptionId,
    SubscriptionStatus,
};
use rusqlite::{Connection, Row, params};

use super::{damaged, refresh_due, row_of, switch};
use crate::fault::Outcome;

/// Attempts kept per subscription.
const KEPT: i64 = 100;

pub(super) fn finish(connection: &Connection, finished: &Finished, lease: &str, at: Instant) -> Outcome<()> {
    let Some(row) = row_of(connection, &finished.subscription_id)? else { return Ok(()) };
    // Whoever worked on it writes down what happened, even if others have taken over.
    log(connection, row, &finished.delivery)?;
    let sql = "UPDATE event_subscriptions SET lease = NULL WHERE id = ? AND lease = ?";
    if connection.prepare_cached(sql)?.execute(params![row, lease])? == 0 {
        return Ok(());
    }
    match finished.ending {
        Ending::Delivered => delivered(connection, finished.row, at)?,
        Ending::Verified => {
            delivered(connection, finished.row, at)?;
            let sql = "UPDATE event_subscriptions SET status = 'active', updated_at = ?2
                       WHERE id = ?1 AND status = 'pending_verification'";
            // It was followed before, so whoever follows need not look again.
            connection.prepare_cached(sql)?.execute([row, at.micros()])?;
        }
        Ending::Failed(due_at) => {
            let sql = "UPDATE event_queue SET attempts = attempts + 1, due_at = ?2 WHERE id = ?1";
            connection.prepare_cached(sql)?.execute([finished.row, due_at.micros()])?;
        }
        Ending::Deferred(due_at) => {
            let sql = "UPDATE event_queue SET due_at = ?2 WHERE id = ?1";
            connection.prepare_cached(sql)?.execute([finished.row, due_at.micros()])?;
        }
        Ending::GaveUp(reason) => give_up(connection, row, reason, at)?,
    }
    refresh_due(connection, row)
}

/// The event is gone, or becomes the next one when something changed while it was being sent. The next one goes to
/// the end of the queue, like any other that comes now.
fn delivered(connection: &Connection, place: i64, at: Instant) -> Outcome<()> {
    let next = "SELECT subscription, stream, connection_id, again, latest FROM event_queue
                WHERE id = ? AND again IS NOT NULL";
    let again = connection
        .prepare_cached(next)?
        .query_map([place], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, i64>(3)?,
                row.get::<_, i64>(4)?,
            ))
        })?
        .collect::<Result<Vec<_>, _>>()?;
    connection.prepare_cached("DELETE FROM event_queue WHERE id = ?")?.execute([place])?;
    for (subscription, stream, connection_id, again, latest) in again {
        let sql = "INSERT INTO event_queue (subscription, kind, stream, connection_id, since, latest, due_at)
                   VALUES (?, 'records', ?, ?, ?, ?, ?)";
        let values = params![subscription, stream, connection_id, again, latest, at.micros()];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}

/// Switches off what is still on; what ended with its grants only loses what waits.
fn give_up(connection: &Connection, row: i64, reason: DisabledReason, at: Instant) -> Outcome<()> {
    let sql = "SELECT status = 'disabled_revoked' FROM event_subscriptions WHERE id = ?";
    if connection.prepare_cached(sql)?.query_row([row], |row| row.get(0))? {
        connection.prepare_cached("DELETE FROM event_queue WHERE subscription = ?")?.execute([row])?;
        return Ok(());
    }
    switch::set(connection, row, SubscriptionStatus::DisabledFailure, Some(reason), at)
}

fn log(connection: &Connection, row: i64, delivery: &StoredDelivery) -> Outcome<()> {
    let sql = "INSERT INTO event_deliveries (subscription, event_id, event_type, attempt, at, outcome,
                   http_status, reason, snippet, next_at)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    connection.prepare_cached(sql)?.execute(params![
        row,
        delivery.event_id.as_str(),
        delivery.event_type.as_str(),
        delivery.attempt,
        delivery.at.micros(),
        delivery.outcome.as_str(),
        delivery.http_status,
        delivery.reason,
        delivery.snippet,
        delivery.next_at.map(Instant::micros),
    ])?;
    let sql = "DELETE FROM event_deliveries WHERE subscription = ?1 AND id <= (
                   SELECT id FROM event_deliveries WHERE subscription = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
    connection.prepare_cached(sql)?.execute([row, KEPT])?;
    Ok(())
}

pub(super) fn deliveries(
    connection: &Connection,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    limit: u32,
) -> Outcome<Vec<StoredDelivery>> {
    let sql =
        "SELECT d.event_id, d.event_type, d.attempt, d.at, d.outcome, d.http_status, d.reason, d.snippet,
                   d.next_at
               FROM event_subscriptions AS s CROSS JOIN event_deliveries AS d ON d.subscription = s.id
               WHERE s.subscription_id = ? AND s.subject_id = ? ORDER BY d.id DESC LIMIT ?";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![id.as_str(), subject_id.as_str(), limit])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn read(row: &Row<'_>) -> Outcome<StoredDelivery> {
    let text = |column: usize| row.get::<_, String>(column);
    let event_type = text(1)?;
    let known = EventType::ALL.into_iter().find(|kind| kind.as_str() == event_type);
    Ok(StoredDelivery {
        event_id: EventId::parse(text(0)?).map_err(damaged)?,
        event_type: known.ok_or(()).map_err(damaged)?,
        attempt: row.get(2)?,
        at: Instant::from_micros(row.get(3)?),
        outcome: DeliveryOutcome::parse(&text(4)?).ok_or(()).map_err(damaged)?,
        http_status: row.get(5)?,
        reason: row.get(6)?,
        snippet: row.get(7)?,
        next_at: row.get::<_, Option<i64>>(8)?.map(Instant::from_micros),
    })
}
