//! Event subscriptions: what a client asks for, what it is told, and what is sent to its receiver.
//!
//! An event says that something changed and from where to read on. It never holds a record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    ClientId, ConnectionId, EventId, GrantId, RecordKey, SourceKind, StreamName, SubscriptionId,
    TimeConstraint,
};

/// The body of a new subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEventSubscription {
    /// Where events are sent.
    pub callback_url: String,
    /// Only this connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// What to leave out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<NewEventFilters>,
}

/// What a new subscription is narrowed to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEventFilters {
    /// Only these streams; all of the grant's when empty or absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Vec<String>>,
}

/// The body of a change to a subscription.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventSubscriptionUpdate {
    /// Switches delivery on, which verifies the receiver again, or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Replaces the secret at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate_secret: Option<bool>,
}

/// What a new subscription is answered with; the only time its first secret is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedEventSubscription {
    /// Names it.
    pub subscription_id: SubscriptionId,
    /// Signs what is sent: `whsec_` and base64.
    pub secret: String,
    /// Where it stands: waiting for the receiver to prove itself.
    pub status: SubscriptionStatus,
    /// Where events are sent.
    pub callback_url: String,
    /// When it was made.
    pub created_at: String,
}

/// A changed subscription, with its new secret if one was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpdatedEventSubscription {
    /// As it is now.
    pub subscription: EventSubscription,
    /// The new secret; shown only here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// All subscriptions of a client under its grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventSubscriptionList {
    /// Oldest first.
    pub data: Vec<EventSubscription>,
}

/// One subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventSubscription {
    /// Names it.
    pub subscription_id: SubscriptionId,
    /// Always `client_grant`.
    pub authority_kind: String,
    /// Whose it is.
    pub client_id: ClientId,
    /// The grant it stands on, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<GrantId>,
    /// The grants it stands on, when there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_ids: Option<Vec<GrantId>>,
    /// Where events are sent.
    pub callback_url: String,
    /// Where it stands.
    pub status: SubscriptionStatus,
    /// What it covered when it was made.
    pub scope: EventScope,
    /// Why nothing is sent; null while something is.
    pub disabled_reason: Option<DisabledReason>,
    /// When it was made.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
}

/// What a subscription covered when it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventScope {
    /// The source, when all streams are of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<EventSource>,
    /// The granted streams.
    pub streams: Vec<EventScopeStream>,
    /// What the caller narrowed it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<EventFilters>,
}

/// A source as a subscription names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventSource {
    /// How the data reached the server.
    pub kind: SourceKind,
    /// Absolute URI of the source.
    pub id: String,
    /// The connector's short key, while it is registered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connector_id: Option<String>,
}

/// One stream of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventScopeStream {
    /// The stream.
    pub name: StreamName,
    /// Its source, when the subscription covers several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<EventSource>,
    /// The connections.
    pub instance_ids: Vec<ConnectionId>,
    /// Only these records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<RecordKey>>,
    /// Only records of this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_constraint: Option<TimeConstraint>,
}

/// What a subscription is narrowed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventFilters {
    /// Only these streams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamName>,
    /// Only this connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<ConnectionId>,
}

/// Where a subscription stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionStatus {
    /// The receiver has not proved itself yet; nothing but the challenge is sent.
    PendingVerification,
    /// Events are sent.
    Active,
    /// Switched off by its holder or by the owner.
    Disabled,
    /// Switched off because the receiver failed.
    DisabledFailure,
    /// Ended with its grants.
    DisabledRevoked,
}

/// Why nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisabledReason {
    /// Its holder said so.
    ClientDisabled,
    /// The owner said so; it stays off.
    OwnerDisabled,
    /// Every attempt to deliver an event failed, or the receiver answered 410.
    DeliveryFailed,
    /// Its grants were revoked.
    GrantRevoked,
    /// Its grants have expired.
    GrantExpired,
}

/// The answer to a request for a test event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueuedEvent {
    /// The event that will be sent.
    pub event_id: EventId,
}

/// The last attempts of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventDeliveryList {
    /// Newest first.
    pub data: Vec<EventDelivery>,
}

/// One attempt to deliver an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EventDelivery {
    /// The event.
    pub event_id: EventId,
    /// Its type.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// Which attempt, from 1; a receiver that asked to wait is not counted.
    pub attempt: u32,
    /// When.
    pub attempted_at: String,
    /// What became of it.
    pub outcome: DeliveryOutcome,
    /// The receiver's status, if it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Why there was no answer, or what was wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The start of the receiver's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_snippet: Option<String>,
    /// When the next attempt is due, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<String>,
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOutcome {
    /// The receiver took it.
    Delivered,
    /// The receiver asked to wait; the attempt does not count.
    Deferred,
    /// It failed.
    Failed,
    /// It failed for the last time, and the subscription was switched off.
    GaveUp,
}

/// The types of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EventType {
    /// Asks the receiver to echo a challenge.
    #[serde(rename = "pdpp.subscription.verify")]
    Verify,
    /// Sent on request.
    #[serde(rename = "pdpp.subscription.test")]
    Test,
    /// Something in the slice changed.
    #[serde(rename = "pdpp.records.changed")]
    RecordsChanged,
    /// The subscription ended with its last grant.
    #[serde(rename = "pdpp.grant.revoked")]
    GrantRevoked,
}

impl EventType {
    /// Every type.
    pub const ALL: [Self; 4] = [Self::Verify, Self::Test, Self::RecordsChanged, Self::GrantRevoked];

    /// The type as it stands in an event.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verify => "pdpp.subscription.verify",
            Self::Test => "pdpp.subscription.test",
            Self::RecordsChanged => "pdpp.records.changed",
            Self::GrantRevoked => "pdpp.grant.revoked",
        }
    }
}

/// An event as it is sent: `CloudEvents` 1.0 in JSON, with the protocol's own version beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CloudEvent {
    /// Always `1.0`.
    pub specversion: String,
    /// Always `1`.
    pub pdppversion: String,
    /// Names the event; the same on every attempt.
    pub id: EventId,
    /// Its type.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// The subscription's path.
    pub source: String,
    /// When it was written.
    pub time: String,
    /// What it says.
    pub data: Map<String, Value>,
}

/// Spelled as on the wire, for stores.
macro_rules! spelled {
    ($name:ident { $($variant:ident => $word:literal),+ $(,)? }) => {
        impl $name {
            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// From the word on the wire.
            pub fn parse(word: &str) -> Option<Self> {
                [$(Self::$variant),+].into_iter().find(|known| known.as_str() == word)
            }
        }
    };
}

spelled!(SubscriptionStatus {
    PendingVerification => "pending_verification",
    Active => "active",
    Disabled => "disabled",
    DisabledFailure => "disabled_failure",
    DisabledRevoked => "disabled_revoked",
});
spelled!(DisabledReason {
    ClientDisabled => "client_disabled",
    OwnerDisabled => "owner_disabled",
    DeliveryFailed => "delivery_failed",
    GrantRevoked => "grant_revoked",
    GrantExpired => "grant_expired",
});
spelled!(DeliveryOutcome {
    Delivered => "delivered",
    Deferred => "deferred",
    Failed => "failed",
    GaveUp => "gave_up",
});

impl SubscriptionStatus {
    /// Whether changes are followed for it.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::PendingVerification | Self::Active)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_spelled_as_serde_spells_them() {
        let spelled = |value: Value| value.as_str().unwrap().to_owned();
        for word in ["pending_verification", "active", "disabled", "disabled_failure", "disabled_revoked"] {
            let status = SubscriptionStatus::parse(word).unwrap();
            assert_eq!(spelled(serde_json::to_value(status).unwrap()), word);
        }
        for kind in EventType::ALL {
            assert_eq!(spelled(serde_json::to_value(kind).unwrap()), kind.as_str());
        }
        for word in ["client_disabled", "owner_disabled", "delivery_failed", "grant_revoked", "grant_expired"]
        {
            assert_eq!(spelled(serde_json::to_value(DisabledReason::parse(word).unwrap()).unwrap()), word);
        }
        for word in ["delivered", "deferred", "failed", "gave_up"] {
            assert_eq!(spelled(serde_json::to_value(DeliveryOutcome::parse(word).unwrap()).unwrap()), word);
        }
    }

    #[test]
    fn unknown_members_of_a_request_are_refused() {
        assert!(
            serde_json::from_str::<NewEventSubscription>(r#"{"callback_url":"x","secret":"y"}"#).is_err()
        );
        assert!(serde_json::from_str::<EventSubscriptionUpdate>(r#"{"status":"active"}"#).is_err());
    }
}
