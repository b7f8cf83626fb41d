//! On, off and over: how a subscription's status changes, and what becomes of what waits for it.

use pdpp_store::{Changed, NewEvent, SubscriptionChange, Switch, TestQueued};
use pdpp_wire::{DisabledReason, EventId, Instant, SubjectId, SubscriptionId, SubscriptionStatus};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{bump, damaged, queue, refresh_due, subscriptions};
use crate::fault::{Fault, Outcome};

struct Standing {
    row: i64,
    status: SubscriptionStatus,
    reason: Option<DisabledReason>,
}

fn standing(
    connection: &Connection,
    subject_id: &SubjectId,
    id: &SubscriptionId,
) -> Outcome<Option<Standing>> {
    let sql = "SELECT id, status, disabled_reason FROM event_subscriptions
               WHERE subject_id = ? AND subscription_id = ?";
    let found = connection.prepare_cached(sql)?.query_row([subject_id.as_str(), id.as_str()], |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
    });
    let Some((row, status, reason)) = found.optional()? else { return Ok(None) };
    Ok(Some(Standing {
        row,
        status: SubscriptionStatus::parse(&status).ok_or(()).map_err(damaged)?,
        reason: reason.as_deref().and_then(DisabledReason::parse),
    }))
}

pub(super) fn change(
    connection: &Connection,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    change: &SubscriptionChange,
    at: Instant,
) -> Outcome<Changed> {
    let Some(standing) = standing(connection, subject_id, id)? else { return Ok(Changed::Absent) };
    let refused = Ok(Changed::Refused(standing.status, standing.reason));
    match &change.switch {
        Some(Switch::Off(_)) if !standing.status.is_live() => return refused,
        Some(Switch::On(_)) if !may_come_back(&standing) => return refused,
        // A new secret for what has ended would never sign anything.
        None if standing.status == SubscriptionStatus::DisabledRevoked => return refused,
        _ => {}
    }
    if let Some(secret) = &change.sealed_secret {
        let sql = "UPDATE event_subscriptions SET secret = ?2, updated_at = ?3 WHERE id = ?1";
        connection.prepare_cached(sql)?.execute(params![standing.row, secret, at.micros()])?;
    }
    match &change.switch {
        None => {}
        Some(Switch::Off(reason)) => {
            set(connection, standing.row, SubscriptionStatus::Disabled, Some(*reason), at)?;
        }
        Some(Switch::On(verify)) => {
            start_again(connection, standing.row, subject_id)?;
            set(connection, standing.row, SubscriptionStatus::PendingVerification, None, at)?;
            queue(connection, standing.row, "verify", verify)?;
            refresh_due(connection, standing.row)?;
        }
    }
    let now = subscriptions::find(connection, subject_id, id, None)?;
    now.map(|now| Changed::Done(Box::new(now))).ok_or_else(|| Fault::damaged("a subscription vanished"))
}

/// What the owner switched off stays off, as does what ended with its grants: the client makes another one.
fn may_come_back(standing: &Standing) -> bool {
    match standing.status {
        SubscriptionStatus::Disabled => standing.reason != Some(DisabledReason::OwnerDisabled),
        SubscriptionStatus::DisabledFailure => true,
        _ => false,
    }
}

/// Told of what changes from now on; what changed meanwhile is read with the token the client has.
fn start_again(connection: &Connection, row: i64, subject_id: &SubjectId) -> Outcome<()> {
    let head = crate::sequence::SubjectRow::find(connection, subject_id)?.sequence;
    subscriptions::start_following(connection, subject_id, head)?;
    let sql = "UPDATE event_subscriptions SET from_sequence = ?2 WHERE id = ?1";
    connection.prepare_cached(sql)?.execute([row, head])?;
    Ok(())
}

/// Sets a status. What waits is dropped, and whoever works on it finds the lease gone.
pub(super) fn set(
    connection: &Connection,
    row: i64,
    status: SubscriptionStatus,
    reason: Option<DisabledReason>,
    at: Instant,
) -> Outcome<()> {
    connection.prepare_cached("DELETE FROM event_queue WHERE subscription = ?")?.execute([row])?;
    let sql = "UPDATE event_subscriptions
               SET status = ?2, disabled_reason = ?3, updated_at = ?4, lease = NULL, next_due = NULL WHERE id = ?1";
    let values = params![row, status.as_str(), reason.map(DisabledReason::as_str), at.micros()];
    connection.prepare_cached(sql)?.execute(values)?;
    bump(connection)
}

pub(super) fn queue_test(
    connection: &Connection,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    event: &NewEvent,
) -> Outcome<TestQueued> {
    let Some(standing) = standing(connection, subject_id, id)? else { return Ok(TestQueued::Absent) };
    if !standing.status.is_live() {
        return Ok(TestQueued::Refused(standing.status));
    }
    let sql = "SELECT event_id FROM event_queue WHERE subscription = ? AND kind = 'test' ORDER BY id LIMIT 1";
    let waiting: Option<String> =
        connection.prepare_cached(sql)?.query_row([standing.row], |row| row.get(0)).optional()?;
    if let Some(waiting) = waiting {
        return Ok(TestQueued::Waiting(EventId::parse(waiting).map_err(damaged)?));
    }
    queue(connection, standing.row, "test", event)?;
    refresh_due(connection, standing.row)?;
    Ok(TestQueued::Waiting(event.event_id.clone()))
}

/// Ends every subscription that has no grant left. A receiver that was being told things is told of the end.
pub(crate) fn end_without_grants(connection: &Connection, at: Instant) -> Outcome<()> {
    // A grant that ended is out of whatever is followed, even where others are left.
    bump(connection)?;
    let sql = "SELECT id, status = 'active' FROM event_subscriptions AS s
               WHERE status <> 'disabled_revoked' AND NOT EXISTS (
                   SELECT 1 FROM event_subscription_grants AS e
                   JOIN grants AS g ON g.subject_id = e.subject_id AND g.grant_id = e.grant_id
                   WHERE e.subscription = s.id AND g.revoked_at IS NULL)";
    let mut statement = connection.prepare_cached(sql)?;
    let ended = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let ended: Vec<(i64, bool)> = ended.collect::<Result<_, _>>()?;
    for (row, was_active) in ended {
        set(connection, row, SubscriptionStatus::DisabledRevoked, Some(DisabledReason::GrantRevoked), at)?;
        if was_active {
            let sql = "INSERT INTO event_queue (subscription, kind, due_at) VALUES (?, 'revoked', ?)";
            connection.prepare_cached(sql)?.execute([row, at.micros()])?;
            refresh_due(connection, row)?;
        }
    }
    Ok(())
}

pub(super) fn expire(connection: &Connection, id: &SubscriptionId, at: Instant) -> Outcome<()> {
    let Some(row) = super::row_of(connection, id)? else { return Ok(()) };
    let sql = "SELECT status IN ('pending_verification', 'active') FROM event_subscriptions WHERE id = ?";
    if !connection.prepare_cached(sql)?.query_row([row], |row| row.get::<_, bool>(0))? {
        return Ok(());
    }
    set(connection, row, SubscriptionStatus::DisabledRevoked, Some(DisabledReason::GrantExpired), at)
}
