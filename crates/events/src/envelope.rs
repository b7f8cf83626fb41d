//! What an event says, as `CloudEvents` 1.0 in JSON.

use pdpp_wire::{CloudEvent, EventId, EventType, Instant, SubscriptionId};
use serde_json::{Map, Value};

/// The exact words of an event. They are written once; every attempt sends them again.
pub(crate) fn words(
    event_type: EventType,
    id: &EventId,
    subscription: &SubscriptionId,
    at: Instant,
    says: impl IntoIterator<Item = (&'static str, Value)>,
) -> String {
    let mut data = Map::new();
    data.insert("subscription_id".to_owned(), subscription.as_str().into());
    data.extend(says.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let event = CloudEvent {
        specversion: "1.0".to_owned(),
        pdppversion: "1".to_owned(),
        id: id.clone(),
        event_type,
        source: format!("/v1/event-subscriptions/{subscription}"),
        time: at.to_rfc3339(),
        data,
    };
    serde_json::to_string(&event).expect("events are plain data")
}
