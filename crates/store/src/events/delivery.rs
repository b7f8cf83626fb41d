//! Events on their way out: due, claimed, done.

use pdpp_access::GrantStanding;
use pdpp_wire::{
    ClientId, ConnectionId, DeliveryOutcome, DisabledReason, EventId, EventType, Instant, StreamName,
    SubjectId, SubscriptionId, SubscriptionStatus,
};

/// The next event of a subscription.
#[derive(Clone, Debug)]
pub struct DueEvent {
    /// Which place in the queue.
    pub row: i64,
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// Whose it is.
    pub client_id: ClientId,
    /// Its grants, revoked ones included.
    pub grants: Vec<GrantStanding>,
    /// Where it is sent.
    pub callback_url: String,
    /// That address's host.
    pub callback_host: String,
    /// The secret, sealed.
    pub sealed_secret: Vec<u8>,
    /// How the subscription stands.
    pub status: SubscriptionStatus,
    /// What it is about.
    pub kind: DueKind,
    /// Its name and words, once they are settled.
    pub settled: Option<(EventId, String)>,
    /// Attempts that counted.
    pub attempts: u32,
}

/// What a due event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DueKind {
    /// The receiver must echo this.
    Verify {
        /// What to echo.
        challenge: String,
    },
    /// A test.
    Test,
    /// Something changed.
    Records {
        /// The stream.
        stream: StreamName,
        /// The connection.
        connection_id: ConnectionId,
        /// The earliest position a reader starts from.
        since: u64,
        /// The latest such position.
        latest: u64,
    },
    /// The last grant is gone.
    Revoked,
}

impl DueKind {
    /// The event's type.
    pub const fn event_type(&self) -> EventType {
        match self {
            Self::Verify { .. } => EventType::Verify,
            Self::Test => EventType::Test,
            Self::Records { .. } => EventType::RecordsChanged,
            Self::Revoked => EventType::GrantRevoked,
        }
    }
}

/// A claim on a due event.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Which place in the queue.
    pub row: i64,
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// What will be said.
    pub saying: Saying,
}

/// What a claimed event says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saying {
    /// These words, under this name.
    Words(EventId, String),
    /// Nothing: no reader would see a change. Dropped, unless a later change came meanwhile.
    Nothing {
        /// The latest position that was looked at.
        latest: u64,
    },
}

/// The right to work on some subscriptions for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Names it.
    pub id: String,
    /// When others may take over.
    pub until: Instant,
}

/// What became of a claimed event.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Which place in the queue.
    pub row: i64,
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// How it ended.
    pub ending: Ending,
    /// For the log.
    pub delivery: StoredDelivery,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Taken.
    Delivered,
    /// Taken, and the challenge echoed: the subscription is active from now on.
    Verified,
    /// Again at this time, after an attempt that counted.
    Failed(Instant),
    /// Again at this time; the attempt does not count.
    Deferred(Instant),
    /// Never again: the subscription is switched off for this reason. One that ended with its grants stays so.
    GaveUp(DisabledReason),
}

/// One attempt, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDelivery {
    /// The event.
    pub event_id: EventId,
    /// Its type.
    pub event_type: EventType,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// When.
    pub at: Instant,
    /// What became of it.
    pub outcome: DeliveryOutcome,
    /// The receiver's status.
    pub http_status: Option<u16>,
    /// What was wrong.
    pub reason: Option<String>,
    /// The start of the answer.
    pub snippet: Option<String>,
    /// When the next attempt is due.
    pub next_at: Option<Instant>,
}
