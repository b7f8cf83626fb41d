//! What waits to be sent, and for whom changes are followed.

use pdpp_access::GrantStanding;
use pdpp_wire::{
    ClientId, ConnectionId, EventId, Instant, StreamName, SubjectId, SubscriptionId, SubscriptionStatus,
};

/// An event whose words are known when it is queued: a challenge or a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// Names it.
    pub event_id: EventId,
    /// Exactly what is sent.
    pub body: String,
    /// What the receiver must echo, if anything.
    pub challenge: Option<String>,
    /// When it is due.
    pub due_at: Instant,
}

/// What became of a test event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestQueued {
    /// This one waits; an earlier one, if there was one.
    Waiting(EventId),
    /// The subscription's status does not allow it.
    Refused(SubscriptionStatus),
    /// There is no such subscription.
    Absent,
}

/// A change that a subscription must be told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventMatch {
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// The stream.
    pub stream: StreamName,
    /// The connection.
    pub connection_id: ConnectionId,
    /// The position before the change: where a reader starts.
    pub since: u64,
}

/// The subscriptions that changes are followed for.
#[derive(Clone, Debug)]
pub struct LiveSubscriptions {
    /// Another number means that something changed.
    pub generation: u64,
    /// All of them.
    pub subscriptions: Vec<LiveSubscription>,
}

/// A subscription that changes are followed for.
#[derive(Clone, Debug)]
pub struct LiveSubscription {
    /// Names it.
    pub subscription_id: SubscriptionId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// Whose it is.
    pub client_id: ClientId,
    /// Its grants, revoked ones included.
    pub grants: Vec<GrantStanding>,
    /// Only these streams; all when empty.
    pub streams: Vec<StreamName>,
    /// Only this connection.
    pub connection_id: Option<ConnectionId>,
    /// Only changes after this position.
    pub from: u64,
}
