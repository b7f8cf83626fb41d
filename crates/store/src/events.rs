//! Event subscriptions at rest: who is told of changes, what waits to be sent, and how far the change log was followed.
//!
//! The queue is derived from the change log, and the position up to which that was done is kept beside it, in one
//! step: whoever dies in between leaves nothing half done. One event waits at most per (subscription, stream,
//! connection); it keeps the earliest position, so a reader who starts there misses nothing. A subscription is worked
//! on under a lease, so two processes do not send at the same time. Secrets arrive here sealed.

mod delivery;
mod queue;
mod service;
mod subscription;

use async_trait::async_trait;
use pdpp_wire::{ClientId, Instant, SubjectId, SubscriptionId};

pub use delivery::{Claim, DueEvent, DueKind, Ending, Finished, Lease, Saying, StoredDelivery};
pub use queue::{EventMatch, LiveSubscription, LiveSubscriptions, NewEvent, TestQueued};
pub use service::{EventFault, EventService, EventWish};
pub use subscription::{
    AllowedCallback, Changed, Holder, NewSubscription, StoredSubscription, SubscriptionChange,
    SubscriptionMade, Switch,
};

use crate::StoreError;

/// Keeps subscriptions and what waits for them.
#[async_trait]
pub trait Events: Send + Sync {
    /// Keeps a new subscription with its first event, unless its client has so many already. It is told of what
    /// changes from now on.
    async fn create_subscription(
        &self,
        subscription: &NewSubscription,
        most: u32,
    ) -> Result<SubscriptionMade, StoreError>;

    /// One subscription; only if this holder may see it, when one is named.
    async fn find_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        holder: Option<&Holder>,
    ) -> Result<Option<StoredSubscription>, StoreError>;

    /// A subject's subscriptions, oldest first; only those this holder may see, when one is named.
    async fn list_subscriptions(
        &self,
        subject_id: &SubjectId,
        holder: Option<&Holder>,
    ) -> Result<Vec<StoredSubscription>, StoreError>;

    /// Switches a subscription, gives it another secret, or both, in one step. Switching off drops what waits.
    async fn change_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        change: &SubscriptionChange,
        at: Instant,
    ) -> Result<Changed, StoreError>;

    /// Removes a subscription with everything that waits for it. Says whether there was one.
    async fn delete_subscription(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
    ) -> Result<bool, StoreError>;

    /// Lets a test event wait, or says which one already does.
    async fn queue_test(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        event: &NewEvent,
    ) -> Result<TestQueued, StoreError>;

    /// The last attempts, newest first.
    async fn list_deliveries(
        &self,
        subject_id: &SubjectId,
        subscription_id: &SubscriptionId,
        limit: u32,
    ) -> Result<Vec<StoredDelivery>, StoreError>;

    /// Lets a client's events be sent to this host, with its port where that is not the usual one.
    async fn allow_callback(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
        at: Instant,
    ) -> Result<(), StoreError>;

    /// Takes that back, and switches off what is sent there. Says how many subscriptions ended; `None` when the
    /// host was not allowed.
    async fn forbid_callback(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
        at: Instant,
    ) -> Result<Option<u64>, StoreError>;

    /// Whether the owner allowed this host.
    async fn is_callback_allowed(
        &self,
        subject_id: &SubjectId,
        client_id: &ClientId,
        host: &str,
    ) -> Result<bool, StoreError>;

    /// What the owner allowed, by client and host.
    async fn list_callbacks(&self, subject_id: &SubjectId) -> Result<Vec<AllowedCallback>, StoreError>;

    /// Every subscription that changes are followed for, of every subject; `None` when nothing that matters changed
    /// since this generation.
    async fn live_subscriptions(&self, known: Option<u64>) -> Result<Option<LiveSubscriptions>, StoreError>;

    /// How far a subject's change log was followed.
    async fn event_position(&self, subject_id: &SubjectId) -> Result<u64, StoreError>;

    /// Moves that position and queues what was found on the way, in one step. False, and nothing done, when
    /// somebody else moved it meanwhile.
    async fn advance_events(
        &self,
        subject_id: &SubjectId,
        step: std::ops::Range<u64>,
        matches: &[EventMatch],
        at: Instant,
    ) -> Result<bool, StoreError>;

    /// The first event of each subscription that is due and not being worked on, longest due first; of none that is
    /// sent to one of these hosts.
    async fn due_events(
        &self,
        at: Instant,
        busy_hosts: &[String],
        limit: u32,
    ) -> Result<Vec<DueEvent>, StoreError>;

    /// Takes subscriptions to work on until the lease ends, and keeps the exact words of each event, so that every
    /// attempt says the same. Says of each claim whether it was won; an event with nothing to say is dropped, and
    /// its claim is not.
    async fn claim_events(
        &self,
        claims: &[Claim],
        lease: &Lease,
        at: Instant,
    ) -> Result<Vec<bool>, StoreError>;

    /// Writes down what became of claimed events. Whoever lost the lease changes nothing.
    async fn finish_events(
        &self,
        finished: &[Finished],
        lease_id: &str,
        at: Instant,
    ) -> Result<(), StoreError>;

    /// Ends subscriptions whose grants have all expired. Nothing is sent.
    async fn expire_subscriptions(&self, ids: &[SubscriptionId], at: Instant) -> Result<(), StoreError>;
}
