//! Subscriptions and attempts as the wire shows them.

use pdpp_store::{StoredDelivery, StoredSubscription};
use pdpp_wire::{EventDelivery, EventSubscription, Instant};

pub(super) fn subscription(stored: StoredSubscription) -> EventSubscription {
    let (grant_id, grant_ids) = match stored.grant_ids.as_slice() {
        [one] => (Some(one.clone()), None),
        _ => (None, Some(stored.grant_ids)),
    };
    EventSubscription {
        subscription_id: stored.subscription_id,
        authority_kind: "client_grant".to_owned(),
        client_id: stored.client_id,
        grant_id,
        grant_ids,
        callback_url: stored.callback_url,
        status: stored.status,
        scope: stored.scope,
        disabled_reason: stored.disabled_reason,
        created_at: stored.created_at.to_rfc3339(),
        updated_at: stored.updated_at.to_rfc3339(),
    }
}

pub(super) fn delivery(stored: StoredDelivery) -> EventDelivery {
    EventDelivery {
        event_id: stored.event_id,
        event_type: stored.event_type,
        attempt: stored.attempt,
        attempted_at: stored.at.to_rfc3339(),
        outcome: stored.outcome,
        http_status: stored.http_status,
        reason: stored.reason,
        response_snippet: stored.snippet,
        next_attempt_at: stored.next_at.map(Instant::to_rfc3339),
    }
}
