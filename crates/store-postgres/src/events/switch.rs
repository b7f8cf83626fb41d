//! On, off and over: how a subscription's status changes, and what becomes of what waits for it.

use pdpp_store::{Changed, NewEvent, SubscriptionChange, Switch, TestQueued};
use pdpp_wire::{DisabledReason, EventId, Instant, SubjectId, SubscriptionId, SubscriptionStatus};

use super::held::{Held, hold, settle};
use super::{damaged, generation, subscriptions, waiting};
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::SubjectRow;

pub(super) async fn change(
    session: &Session,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    change: &SubscriptionChange,
    at: Instant,
) -> Outcome<Changed> {
    let row = SubjectRow::lock(session, subject_id).await?;
    let mut held = hold(session, subject_id, &[id.as_str()]).await?;
    let Some(one) = held.first_mut() else { return Ok(Changed::Absent) };
    let refused = Ok(Changed::Refused(one.status, one.reason));
    match &change.switch {
        Some(Switch::Off(_)) if !one.status.is_live() => return refused,
        Some(Switch::On(_)) if !may_come_back(one) => return refused,
        // A new secret for what has ended would never sign anything.
        None if one.status == SubscriptionStatus::DisabledRevoked => return refused,
        _ => {}
    }
    if let Some(secret) = &change.sealed_secret {
        let sql = "UPDATE event_subscriptions SET secret = $3 WHERE subject_id = $1 AND subscription_id = $2";
        session.execute(sql, &[&subject_id.as_str(), &id.as_str(), secret]).await?;
        one.updated_at = at.micros();
    }
    match &change.switch {
        None => {}
        Some(Switch::Off(reason)) => {
            let (off, reason) = (SubscriptionStatus::Disabled, Some(*reason));
            set(session, subject_id, &mut held, off, reason, at).await?;
        }
        Some(Switch::On(verify)) => {
            start_again(session, subject_id, id, row.sequence).await?;
            let on = SubscriptionStatus::PendingVerification;
            set(session, subject_id, &mut held, on, None, at).await?;
            for one in &mut held {
                waiting::queue(session, subject_id, one, "verify", verify).await?;
            }
        }
    }
    settle(session, subject_id, &held).await?;
    if change.switch.is_some() {
        generation::bump(session, subject_id).await?;
    }
    let now = subscriptions::find(session, subject_id, id, None).await?;
    now.map(|now| Changed::Done(Box::new(now))).ok_or_else(|| Fault::damaged("a subscription vanished"))
}

/// What the owner switched off stays off, as does what ended with its grants: the client makes another one.
fn may_come_back(held: &Held) -> bool {
    match held.status {
        SubscriptionStatus::Disabled => held.reason != Some(DisabledReason::OwnerDisabled),
        SubscriptionStatus::DisabledFailure => true,
        _ => false,
    }
}

/// Told of what changes from now on; what changed meanwhile is read with the token the client has.
async fn start_again(
    session: &Session,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    head: i64,
) -> Outcome<()> {
    subscriptions::start_following(session, subject_id, head).await?;
    let sql =
        "UPDATE event_subscriptions SET from_sequence = $3 WHERE subject_id = $1 AND subscription_id = $2";
    session.execute(sql, &[&subject_id.as_str(), &id.as_str(), &head]).await?;
    Ok(())
}

/// Sets a status. What waits is dropped, and whoever works on it finds the lease gone. Written down by `settle`, and
/// told by `bump`.
pub(super) async fn set(
    session: &Session,
    subject_id: &SubjectId,
    held: &mut [Held],
    status: SubscriptionStatus,
    reason: Option<DisabledReason>,
    at: Instant,
) -> Outcome<()> {
    waiting::drop_all(session, subject_id, held).await?;
    for one in held {
        one.set(status, reason, at);
    }
    Ok(())
}

pub(super) async fn queue_test(
    session: &Session,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    event: &NewEvent,
) -> Outcome<TestQueued> {
    let mut held = hold(session, subject_id, &[id.as_str()]).await?;
    let Some(one) = held.first_mut() else { return Ok(TestQueued::Absent) };
    if !one.status.is_live() {
        return Ok(TestQueued::Refused(one.status));
    }
    let sql = "SELECT event_id FROM event_queue
               WHERE subject_id = $1 AND subscription_id = $2 AND kind = 'test' ORDER BY ordinal LIMIT 1";
    if let Some(row) = session.query_opt(sql, &[&subject_id.as_str(), &id.as_str()]).await? {
        return Ok(TestQueued::Waiting(EventId::parse(row.get::<_, String>(0)).map_err(damaged)?));
    }
    waiting::queue(session, subject_id, one, "test", event).await?;
    settle(session, subject_id, &held).await?;
    Ok(TestQueued::Waiting(event.event_id.clone()))
}

/// Ends every subscription of a subject that has no grant left. A receiver that was being told things is told of the
/// end. The subject's row must be locked, and the grants' new state be written.
pub(crate) async fn end_without_grants(
    session: &Session,
    subject_id: &SubjectId,
    at: Instant,
) -> Outcome<()> {
    let sql = "SELECT s.subscription_id FROM event_subscriptions AS s
               WHERE s.subject_id = $1 AND s.status <> 'disabled_revoked' AND NOT EXISTS (
                   SELECT 1 FROM event_subscription_grants AS e
                   JOIN grants AS g ON g.subject_id = $1 AND g.grant_id = e.grant_id AND g.revoked_at IS NULL
                   WHERE e.subject_id = $1 AND e.subscription_id = s.subscription_id)";
    let rows = session.query(sql, &[&subject_id.as_str()]).await?;
    let ids: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    let mut held = hold(session, subject_id, &ids).await?;
    held.retain(|one| one.status != SubscriptionStatus::DisabledRevoked);
    let active: Vec<bool> = held.iter().map(|one| one.status == SubscriptionStatus::Active).collect();
    let (ended, reason) = (SubscriptionStatus::DisabledRevoked, Some(DisabledReason::GrantRevoked));
    set(session, subject_id, &mut held, ended, reason, at).await?;
    for (one, _) in held.iter_mut().zip(active).filter(|(_, was_active)| *was_active) {
        waiting::queue_end(session, subject_id, one, at).await?;
    }
    settle(session, subject_id, &held).await?;
    // A grant that ended is out of whatever is followed, even where others are left.
    generation::bump(session, subject_id).await
}

pub(super) async fn expire(
    session: &Session,
    subject_id: &SubjectId,
    ids: &[&str],
    at: Instant,
) -> Outcome<()> {
    let mut held = hold(session, subject_id, ids).await?;
    held.retain(|one| one.status.is_live());
    if held.is_empty() {
        return Ok(());
    }
    let (ended, reason) = (SubscriptionStatus::DisabledRevoked, Some(DisabledReason::GrantExpired));
    set(session, subject_id, &mut held, ended, reason, at).await?;
    settle(session, subject_id, &held).await?;
    generation::bump(session, subject_id).await
}
