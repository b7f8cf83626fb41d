//! Event subscriptions, what waits for them, and how far the change log was followed.

mod callbacks;
mod claims;
mod due;
mod finish;
mod follow;
mod subscriptions;
mod switch;

use async_trait::async_trait;
use pdpp_store::{
    AllowedCallback, Changed, Claim, DueEvent, EventMatch, Events, Finished, Holder, Lease,
    LiveSubscriptions, NewEvent, NewSubscription, StoreError, StoredDelivery, StoredSubscription,
    SubscriptionChange, SubscriptionMade, TestQueued,
};
use pdpp_wire::{ClientId, Instant, SubjectId, SubscriptionId};
use rusqlite::{Connection, params};

use crate::SqliteStore;
use crate::fault::{Fault, Outcome};

pub(crate) use switch::end_without_grants;

#[async_trait]
impl Events for SqliteStore {
    async fn create_subscription(
        &self,
        subscription: &NewSubscription,
        most: u32,
    ) -> Result<SubscriptionMade, StoreError> {
        let subscription = subscription.clone();
        self.write(move |connection| subscriptions::create(connection, &subscription, most)).await
    }

    async fn find_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        holder: Option<&Holder>,
    ) -> Result<Option<StoredSubscription>, StoreError> {
        let (subject, id, holder) = (subject_id.clone(), subscription_id.clone(), holder.cloned());
        self.glance(move |connection| subscriptions::find(connection, &subject, &id, holder.as_ref())).await
    }

    async fn list_subscriptions(
        &self,
        subject_id: &SubjectId,
        holder: Option<&Holder>,
    ) -> Result<Vec<StoredSubscription>, StoreError> {
        let (subject, holder) = (subject_id.clone(), holder.cloned());
        self.read(move |connection| subscriptions::list(connection, &subject, holder.as_ref())).await
    }

    async fn change_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        change: &SubscriptionChange,
        at: Instant,
    ) -> Result<Changed, StoreError> {
        let (subject, id, change) = (subject_id.clone(), subscription_id.clone(), change.clone());
        self.write(move |connection| switch::change(connection, &subject, &id, &change, at)).await
    }

    async fn delete_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
    ) -> Result<bool, StoreError> {
        let (subject, id) = (subject_id.clone(), subscription_id.clone());
        self.write(move |connection| subscriptions::delete(connection, &subject, &id)).await
    }

    async fn queue_test(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        event: &NewEvent,
    ) -> Result<TestQueued, StoreError> {
        let (subject, id, event) = (subject_id.clone(), subscription_id.clone(), event.clone());
        self.write(move |connection| switch::queue_test(connection, &subject, &id, &event)).await
    }

    async fn list_deliveries(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        limit: u32,
    ) -> Result<Vec<StoredDelivery>, StoreError> {
        let (subject, id) = (subject_id.clone(), subscription_id.clone());
        self.read(move |connection| finish::deliveries(connection, &subject, &id, limit)).await
    }

    async fn allow_callback(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
        at: Instant,
    ) -> Result<(), StoreError> {
        let (subject, client, host) = (subject_id.clone(), client_id.clone(), host.to_owned());
        self.write(move |connection| callbacks::allow(connection, &subject, &client, &host, at)).await
    }

    async fn forbid_callback(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
        at: Instant,
    ) -> Result<Option<u64>, StoreError> {
        let (subject, client, host) = (subject_id.clone(), client_id.clone(), host.to_owned());
        self.write(move |connection| callbacks::forbid(connection, &subject, &client, &host, at)).await
    }

    async fn is_callback_allowed(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
    ) -> Result<bool, StoreError> {
        let (subject, client, host) = (subject_id.clone(), client_id.clone(), host.to_owned());
        self.glance(move |connection| callbacks::is_allowed(connection, &subject, &client, &host)).await
    }

    async fn list_callbacks(&self, subject_id: &SubjectId) -> Result<Vec<AllowedCallback>, StoreError> {
        let subject = subject_id.clone();
        self.read(move |connection| callbacks::list(connection, &subject)).await
    }

    async fn live_subscriptions(&self, known: Option<u64>) -> Result<Option<LiveSubscriptions>, StoreError> {
        // Almost always nothing changed, which is one row to look at.
        let current = self.glance(follow::generation).await?;
        if known == Some(current) {
            return Ok(None);
        }
        self.read(follow::live).await.map(Some)
    }

    async fn event_position(&self, subject_id: &SubjectId) -> Result<u64, StoreError> {
        let subject = subject_id.clone();
        self.glance(move |connection| follow::position(connection, &subject)).await
    }

    async fn advance_events(
        &self,
        subject_id: &SubjectId,
        step: std::ops::Range<u64>,
        matches: &[EventMatch],
        at: Instant,
    ) -> Result<bool, StoreError> {
        let (subject, matches) = (subject_id.clone(), matches.to_vec());
        self.write(move |connection| follow::advance(connection, &subject, step, &matches, at)).await
    }

    async fn due_events(
        &self,
        at: Instant,
        busy_hosts: &[String],
        limit: u32,
    ) -> Result<Vec<DueEvent>, StoreError> {
        // Looking whether anything is due must cost nothing, for it is done all the time.
        if !self.glance(move |connection| due::is_any(connection, at)).await? {
            return Ok(Vec::new());
        }
        let busy_hosts = busy_hosts.to_vec();
        self.read(move |connection| due::list(connection, at, &busy_hosts, limit)).await
    }

    async fn claim_events(
        &self,
        claims: &[Claim],
        lease: &Lease,
        at: Instant,
    ) -> Result<Vec<bool>, StoreError> {
        let (claims, lease) = (claims.to_vec(), lease.clone());
        self.write(move |connection| {
            claims.iter().map(|claim| claims::claim(connection, claim, &lease, at)).collect()
        })
        .await
    }

    async fn finish_events(
        &self,
        finished: &[Finished],
        lease_id: &str,
        at: Instant,
    ) -> Result<(), StoreError> {
        let (finished, lease_id) = (finished.to_vec(), lease_id.to_owned());
        self.write(move |connection| {
            finished.iter().try_for_each(|one| finish::finish(connection, one, &lease_id, at))
        })
        .await
    }

    async fn expire_subscriptions(&self, ids: &[SubscriptionId], at: Instant) -> Result<(), StoreError> {
        let ids = ids.to_vec();
        self.write(move |connection| ids.iter().try_for_each(|id| switch::expire(connection, id, at))).await
    }
}

/// Tells whoever follows that something that matters changed.
fn bump(connection: &Connection) -> Outcome<()> {
    connection.prepare_cached("UPDATE event_generation SET generation = generation + 1")?.execute([])?;
    Ok(())
}

/// The place of a subscription in its table.
fn row_of(connection: &Connection, id: &SubscriptionId) -> Outcome<Option<i64>> {
    use rusqlite::OptionalExtension as _;
    let sql = "SELECT id FROM event_subscriptions WHERE subscription_id = ?";
    Ok(connection.prepare_cached(sql)?.query_row([id.as_str()], |row| row.get(0)).optional()?)
}

/// Sets when the first waiting event should be sent, unless somebody works on the subscription: then when the lease
/// ends. Before the receiver has proved itself only the challenge is sent, and after the end only the news of it.
fn refresh_due(connection: &Connection, row: i64) -> Outcome<()> {
    let sql = "UPDATE event_subscriptions SET next_due = (
                   SELECT due_at FROM event_queue WHERE subscription = event_subscriptions.id
                       AND CASE event_subscriptions.status
                           WHEN 'active' THEN 1
                           WHEN 'pending_verification' THEN kind = 'verify'
                           WHEN 'disabled_revoked' THEN kind = 'revoked'
                           ELSE 0 END
                   ORDER BY id LIMIT 1)
               WHERE id = ? AND lease IS NULL";
    connection.prepare_cached(sql)?.execute([row])?;
    Ok(())
}

/// Lets an event whose words are known wait.
fn queue(connection: &Connection, row: i64, kind: &str, event: &NewEvent) -> Outcome<()> {
    let sql = "INSERT INTO event_queue (subscription, kind, event_id, body, challenge, due_at)
               VALUES (?, ?, ?, ?, ?, ?)";
    let values =
        params![row, kind, event.event_id.as_str(), event.body, event.challenge, event.due_at.micros()];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn damaged<T>(_: T) -> Fault {
    Fault::damaged("an event subscription's row is malformed")
}
