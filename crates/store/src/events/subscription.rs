//! Subscriptions as they are kept.

use pdpp_wire::{
    ClientId, ConnectionId, DisabledReason, EventScope, GrantId, Instant, StreamName, SubjectId,
    SubscriptionId, SubscriptionStatus, TokenId,
};

use super::NewEvent;

/// A subscription about to be kept, waiting for its receiver to prove itself.
#[derive(Clone, Debug)]
pub struct NewSubscription {
    /// Names it.
    pub subscription_id: SubscriptionId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// Whose it is.
    pub client_id: ClientId,
    /// The grants it stands on; never empty.
    pub grant_ids: Vec<GrantId>,
    /// Where events are sent.
    pub callback_url: String,
    /// That address's host, with its port where that is not the usual one.
    pub callback_host: String,
    /// What it covers, as it is shown.
    pub scope: EventScope,
    /// Only these streams; all when empty.
    pub streams: Vec<StreamName>,
    /// Only this connection.
    pub connection_id: Option<ConnectionId>,
    /// The secret, sealed.
    pub sealed_secret: Vec<u8>,
    /// The challenge.
    pub verify: NewEvent,
    /// Now.
    pub created_at: Instant,
}

/// What became of a new subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionMade {
    /// It is kept.
    Made,
    /// Its client has as many as it may have.
    TooMany,
}

/// A subscription as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSubscription {
    /// Names it.
    pub subscription_id: SubscriptionId,
    /// Whose data.
    pub subject_id: SubjectId,
    /// Whose it is.
    pub client_id: ClientId,
    /// The grants it stands on.
    pub grant_ids: Vec<GrantId>,
    /// Where events are sent.
    pub callback_url: String,
    /// What it covered when it was made.
    pub scope: EventScope,
    /// Where it stands.
    pub status: SubscriptionStatus,
    /// Why nothing is sent.
    pub disabled_reason: Option<DisabledReason>,
    /// The secret, sealed.
    pub sealed_secret: Vec<u8>,
    /// When it was made.
    pub created_at: Instant,
    /// When it last changed.
    pub updated_at: Instant,
}

/// Who may see a subscription: its client, with one of the grants it stands on, in force or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The client.
    pub client_id: ClientId,
    /// The grants in force.
    pub grant_ids: Vec<GrantId>,
    /// The token, which also remembers the grants that no longer are.
    pub token_id: Option<TokenId>,
}

/// A change to a subscription.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionChange {
    /// On or off.
    pub switch: Option<Switch>,
    /// Another secret, sealed.
    pub sealed_secret: Option<Vec<u8>>,
}

/// On or off.
#[derive(Clone, Debug)]
pub enum Switch {
    /// Off, from `active` or `pending_verification`.
    Off(DisabledReason),
    /// Back to `pending_verification` with this challenge, from `disabled` by its holder or `disabled_failure`.
    On(NewEvent),
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// As it is now.
    Done(Box<StoredSubscription>),
    /// Its status does not allow the change; this is how it stands.
    Refused(SubscriptionStatus, Option<DisabledReason>),
    /// There is no such subscription.
    Absent,
}

/// A host the owner allowed for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedCallback {
    /// The client.
    pub client_id: ClientId,
    /// The host, with its port where that is not the usual one.
    pub host: String,
    /// Since when.
    pub allowed_at: Instant,
}
