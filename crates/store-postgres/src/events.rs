//! Event subscriptions, what waits for them, and how far the change log was followed.
//!
//! What works in the background for many owners must not wait for one of them: it locks subscriptions only, never the
//! subject's row that a long write may hold. Whoever begins to listen locks that row too, so that no change falls
//! between the position that is followed from and the first one that is told of.
//!
//! Three questions are asked across owners, by whoever follows and sends, and never by a request: what is due, who
//! listens, and whether that changed. What comes of the answers is done for one owner at a time.

mod callbacks;
mod claims;
mod deliveries;
mod due;
mod finish;
mod follow;
pub(crate) mod generation;
mod held;
mod subscriptions;
mod switch;
mod waiting;

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures_util::future::join_all;
use pdpp_store::{
    AllowedCallback, Changed, Claim, DueEvent, EventMatch, Events, Finished, Holder, Lease,
    LiveSubscriptions, NewEvent, NewSubscription, StoreError, StoredDelivery, StoredSubscription,
    SubscriptionChange, SubscriptionMade, TestQueued,
};
use pdpp_wire::{ClientId, Instant, SubjectId, SubscriptionId};

use crate::PostgresStore;
use crate::directory::Handle;
use crate::fault::{Fault, Outcome};
use crate::session::Whose;

pub(crate) use switch::end_without_grants;

/// Owners whose events are claimed or written down at the same time: each takes a connection.
const SIDE_BY_SIDE: usize = 4;

#[async_trait]
impl Events for PostgresStore {
    async fn create_subscription(
        &self,
        subscription: &NewSubscription,
        most: u32,
    ) -> Result<SubscriptionMade, StoreError> {
        let session = self.writing(&subscription.subject_id).await?;
        let made = subscriptions::create(&session, subscription, most).await;
        Ok(session.end(made).await?)
    }

    async fn find_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        holder: Option<&Holder>,
    ) -> Result<Option<StoredSubscription>, StoreError> {
        let session = self.reading(subject_id).await?;
        let found = subscriptions::find(&session, subject_id, subscription_id, holder).await;
        Ok(session.end(found).await?)
    }

    async fn list_subscriptions(
        &self,
        subject_id: &SubjectId,
        holder: Option<&Holder>,
    ) -> Result<Vec<StoredSubscription>, StoreError> {
        let session = self.reading(subject_id).await?;
        let listed = subscriptions::list(&session, subject_id, holder).await;
        Ok(session.end(listed).await?)
    }

    async fn change_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        change: &SubscriptionChange,
        at: Instant,
    ) -> Result<Changed, StoreError> {
        let session = self.writing(subject_id).await?;
        let changed = switch::change(&session, subject_id, subscription_id, change, at).await;
        Ok(session.end(changed).await?)
    }

    async fn delete_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
    ) -> Result<bool, StoreError> {
        let session = self.writing(subject_id).await?;
        let gone = subscriptions::delete(&session, subject_id, subscription_id).await;
        Ok(session.end(gone).await?)
    }

    async fn queue_test(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        event: &NewEvent,
    ) -> Result<TestQueued, StoreError> {
        let session = self.writing(subject_id).await?;
        let queued = switch::queue_test(&session, subject_id, subscription_id, event).await;
        Ok(session.end(queued).await?)
    }

    async fn list_deliveries(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        limit: u32,
    ) -> Result<Vec<StoredDelivery>, StoreError> {
        let session = self.reading(subject_id).await?;
        let listed = deliveries::list(&session, subject_id, subscription_id, limit).await;
        Ok(session.end(listed).await?)
    }

    async fn allow_callback(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
        at: Instant,
    ) -> Result<(), StoreError> {
        let session = self.writing(subject_id).await?;
        let allowed = callbacks::allow(&session, subject_id, client_id, host, at).await;
        Ok(session.end(allowed).await?)
    }

    async fn forbid_callback(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
        at: Instant,
    ) -> Result<Option<u64>, StoreError> {
        let session = self.writing(subject_id).await?;
        let forbidden = callbacks::forbid(&session, subject_id, client_id, host, at).await;
        Ok(session.end(forbidden).await?)
    }

    async fn is_callback_allowed(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
    ) -> Result<bool, StoreError> {
        let session = self.reading(subject_id).await?;
        let allowed = callbacks::is_allowed(&session, subject_id, client_id, host).await;
        Ok(session.end(allowed).await?)
    }

    async fn list_callbacks(&self, subject_id: &SubjectId) -> Result<Vec<AllowedCallback>, StoreError> {
        let session = self.reading(subject_id).await?;
        let listed = callbacks::list(&session, subject_id).await;
        Ok(session.end(listed).await?)
    }

    async fn live_subscriptions(&self, known: Option<u64>) -> Result<Option<LiveSubscriptions>, StoreError> {
        let session = self.reading(Whose::Everybody).await?;
        let live = async {
            if known.is_some() && known == Some(generation::total(&session).await?) {
                return Ok(None);
            }
            follow::live(&session).await.map(Some)
        };
        let live = live.await;
        Ok(session.end(live).await?)
    }

    async fn event_position(&self, subject_id: &SubjectId) -> Result<u64, StoreError> {
        let session = self.reading(subject_id).await?;
        let position = follow::position(&session, subject_id).await;
        Ok(session.end(position).await?)
    }

    async fn advance_events(
        &self,
        subject_id: &SubjectId,
        step: std::ops::Range<u64>,
        matches: &[EventMatch],
        at: Instant,
    ) -> Result<bool, StoreError> {
        let session = self.writing(subject_id).await?;
        let moved = follow::advance(&session, subject_id, step, matches, at).await;
        Ok(session.end(moved).await?)
    }

    async fn due_events(
        &self,
        at: Instant,
        busy_hosts: &[String],
        limit: u32,
    ) -> Result<Vec<DueEvent>, StoreError> {
        let session = self.reading(Whose::Everybody).await?;
        let due = async {
            self.clock.measure(session.begun().await?).await?;
            due::list(&session, self.clock.decide(at), busy_hosts, limit).await
        };
        let due = due.await;
        Ok(session.end(due).await?)
    }

    async fn claim_events(
        &self,
        claims: &[Claim],
        lease: &Lease,
        at: Instant,
    ) -> Result<Vec<bool>, StoreError> {
        // A lease lasts as long as it was asked for, from now on by the clock that counts.
        let (believed, at) = (at, self.clock.decide(at));
        let lasts = lease.until.micros().saturating_sub(believed.micros());
        let until = Instant::from_micros(at.micros().saturating_add(lasts));
        let lease = &Lease { until, ..lease.clone() };
        let named = claims.iter().enumerate().map(|(place, claim)| (&claim.subscription_id, (place, claim)));
        let subjects = self.by_subject(named.collect()).await?;
        let mut won = vec![false; claims.len()];
        let (mut failed, mut done) = (None, 0_usize);
        for some in subjects.chunks(SIDE_BY_SIDE) {
            let claimed =
                some.iter().map(|(subject_id, claims)| self.claim_for(subject_id, claims, lease, at));
            for outcome in join_all(claimed).await {
                match outcome {
                    Ok(places) => {
                        done += 1;
                        for place in places {
                            won[place] = true;
                        }
                    }
                    Err(fault) => failed = Some(StoreError::from(fault)),
                }
            }
        }
        match failed {
            // What was won must be sent, or it waits until the lease ends.
            Some(error) if done > 0 => {
                tracing::warn!(%error, "the events of some owners could not be claimed");
            }
            Some(error) => return Err(error),
            None => {}
        }
        Ok(won)
    }

    async fn finish_events(
        &self,
        finished: &[Finished],
        lease_id: &str,
        at: Instant,
    ) -> Result<(), StoreError> {
        let named = finished.iter().map(|one| (&one.subscription_id, one));
        let mut failed = None;
        for some in self.by_subject(named.collect()).await?.chunks(SIDE_BY_SIDE) {
            let ended =
                some.iter().map(|(subject_id, ended)| self.finish_for(subject_id, ended, lease_id, at));
            failed = join_all(ended).await.into_iter().filter_map(Result::err).last().or(failed);
        }
        failed.map_or(Ok(()), |fault| Err(fault.into()))
    }

    async fn expire_subscriptions(&self, ids: &[SubscriptionId], at: Instant) -> Result<(), StoreError> {
        let named = ids.iter().map(|id| (id, id.as_str()));
        for (subject_id, ids) in self.by_subject(named.collect()).await? {
            let session = self.writing(&subject_id).await?;
            let ended = switch::expire(&session, &subject_id, &ids, at).await;
            session.end(ended).await?;
        }
        Ok(())
    }
}

impl PostgresStore {
    /// Sorts what names subscriptions by their subjects. What names none that exists is left out.
    async fn by_subject<T>(&self, named: Vec<(&SubscriptionId, T)>) -> Outcome<Vec<(SubjectId, Vec<T>)>> {
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let named = named.into_iter().map(|(id, one)| (Handle::of_subscription(id), one));
        let (handles, things): (Vec<_>, Vec<_>) = named.unzip();
        let session = self.reading(Whose::Provider).await?;
        let subjects = Handle::subjects(&session, &handles).await;
        let subjects = session.end(subjects).await?;
        let mut sorted: BTreeMap<SubjectId, Vec<T>> = BTreeMap::new();
        for (handle, one) in handles.iter().zip(things) {
            if let Some(subject_id) = subjects.get(handle) {
                sorted.entry(subject_id.clone()).or_default().push(one);
            }
        }
        Ok(sorted.into_iter().collect())
    }

    async fn claim_for(
        &self,
        subject_id: &SubjectId,
        claims: &[claims::Placed<'_>],
        lease: &Lease,
        at: Instant,
    ) -> Outcome<Vec<usize>> {
        let session = self.writing(subject_id).await?;
        let won = claims::claim(&session, subject_id, claims, lease, at).await;
        session.end(won).await
    }

    async fn finish_for(
        &self,
        subject_id: &SubjectId,
        finished: &[&Finished],
        lease_id: &str,
        at: Instant,
    ) -> Outcome<()> {
        let session = self.writing(subject_id).await?;
        let ended = finish::finish(&session, subject_id, finished, lease_id, at).await;
        session.end(ended).await
    }
}

fn damaged<T>(_: T) -> Fault {
    Fault::damaged("an event subscription's row is malformed")
}
