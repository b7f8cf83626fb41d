//! Subscriptions held for a change: locked one by one in the order of their ids, changed here, and written back.
//!
//! Whoever holds several took them in the same order as everybody else, so nobody waits in a circle. After them come,
//! where they are needed, the subject's position and last its generation.

use pdpp_wire::{DisabledReason, Instant, SubjectId, SubscriptionStatus};
use tokio_postgres::Row;

use super::damaged;
use crate::fault::Outcome;
use crate::session::Session;

/// A locked subscription: what may change of it.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: String,
    pub(super) status: SubscriptionStatus,
    pub(super) reason: Option<DisabledReason>,
    pub(super) lease: Option<String>,
    pub(super) updated_at: i64,
    counter: i64,
}

impl Held {
    /// The next number for what waits or was tried.
    pub(super) fn count(&mut self) -> i64 {
        self.counter += 1;
        self.counter
    }

    /// Another status. Whoever works on it finds the lease gone.
    pub(super) fn set(&mut self, status: SubscriptionStatus, reason: Option<DisabledReason>, at: Instant) {
        (self.status, self.reason, self.lease) = (status, reason, None);
        self.updated_at = at.micros();
    }

    fn read(row: &Row) -> Outcome<Self> {
        let reason: Option<&str> = row.get(2);
        Ok(Self {
            id: row.get(0),
            status: SubscriptionStatus::parse(row.get(1)).ok_or(()).map_err(damaged)?,
            reason: reason.map(|word| DisabledReason::parse(word).ok_or(()).map_err(damaged)).transpose()?,
            lease: row.get(3),
            updated_at: row.get(4),
            counter: row.get(5),
        })
    }
}

/// Those that exist, in the order of their ids; waits for whoever holds them.
pub(super) async fn hold(session: &Session, subject_id: &SubjectId, ids: &[&str]) -> Outcome<Vec<Held>> {
    let sql = "SELECT subscription_id, status, disabled_reason, lease, updated_at, counter
               FROM event_subscriptions WHERE subject_id = $1 AND subscription_id = ANY($2)
               ORDER BY subscription_id FOR UPDATE";
    let rows = session.query(sql, &[&subject_id.as_str(), &ids]).await?;
    rows.iter().map(Held::read).collect()
}

/// Those that are due and that nobody holds: whoever comes second goes on without waiting.
pub(super) async fn hold_due(
    session: &Session,
    subject_id: &SubjectId,
    ids: &[&str],
    at: Instant,
) -> Outcome<Vec<Held>> {
    let sql = "SELECT subscription_id, status, disabled_reason, lease, updated_at, counter
               FROM event_subscriptions
               WHERE subject_id = $1 AND subscription_id = ANY($2) AND next_due <= $3
               ORDER BY subscription_id FOR UPDATE SKIP LOCKED";
    let rows = session.query(sql, &[&subject_id.as_str(), &ids, &at.micros()]).await?;
    rows.iter().map(Held::read).collect()
}

/// Writes them back, and sets when the first waiting event should be sent, unless somebody works on the subscription:
/// then when the lease ends. Before the receiver has proved itself only the challenge is sent, and after the end only
/// the news of it.
pub(super) async fn settle(session: &Session, subject_id: &SubjectId, held: &[Held]) -> Outcome<()> {
    if held.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE event_subscriptions AS s
               SET status = h.status, disabled_reason = h.reason, lease = h.lease, updated_at = h.updated_at,
                   counter = h.counter, next_due = CASE WHEN h.lease IS NOT NULL THEN s.next_due ELSE (
                       SELECT q.due_at FROM event_queue AS q
                       WHERE q.subject_id = $1 AND q.subscription_id = h.subscription_id
                           AND CASE h.status
                               WHEN 'active' THEN true
                               WHEN 'pending_verification' THEN q.kind = 'verify'
                               WHEN 'disabled_revoked' THEN q.kind = 'revoked'
                               ELSE false END
                       ORDER BY q.ordinal LIMIT 1) END
               FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
                   AS h (subscription_id, status, reason, lease, updated_at, counter)
               WHERE s.subject_id = $1 AND s.subscription_id = h.subscription_id";
    let ids: Vec<&str> = held.iter().map(|one| one.id.as_str()).collect();
    let statuses: Vec<&str> = held.iter().map(|one| one.status.as_str()).collect();
    let reasons: Vec<Option<&str>> = held.iter().map(|one| one.reason.map(DisabledReason::as_str)).collect();
    let leases: Vec<Option<&str>> = held.iter().map(|one| one.lease.as_deref()).collect();
    let updated: Vec<i64> = held.iter().map(|one| one.updated_at).collect();
    let counters: Vec<i64> = held.iter().map(|one| one.counter).collect();
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
        [&subject_id.as_str(), &ids, &statuses, &reasons, &leases, &updated, &counters];
    session.execute(sql, &values).await?;
    Ok(())
}
