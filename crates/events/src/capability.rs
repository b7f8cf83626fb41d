//! What is advertised about events. The numbers are those that are used.

use pdpp_egress::{Loopback, MAX_URL_BYTES, UrlPolicy};
use pdpp_wire::EventType;
use serde_json::{Value, json};

/// The waits between attempts, in seconds.
pub const RETRY_SECONDS: [u32; 5] = [30, 120, 600, 3_600, 21_600];
/// After so many attempts a subscription is switched off.
pub const MAX_ATTEMPTS: u32 = 6;
/// Each wait is multiplied by a random factor this far from one, in per cent.
pub(crate) const JITTER_PERCENT: u32 = 20;
/// How long a receiver may take to answer.
pub(crate) const RESPONSE_SECONDS: u64 = 10;
/// How much of a receiver's answer is kept.
pub(crate) const SNIPPET_BYTES: usize = 512;
/// Subscriptions a client may have.
pub(crate) const MAX_SUBSCRIPTIONS: u32 = 100;

pub(crate) fn capability(policy: UrlPolicy) -> Value {
    json!({
        "supported": true,
        "stability": "reference_extension",
        "scope": "reference_implementation",
        "endpoint": "/v1/event-subscriptions",
        "transport": "https_webhook",
        "authority_kinds_supported": ["client_grant"],
        "callback_url": {
            "https_required": true,
            "localhost_exception": policy.loopback == Loopback::Allowed,
            "host_must_be_registered_or_allowed": true, "asked_at_consent_with": "event_callback_hosts",
        },
        "event_types": EventType::ALL.map(EventType::as_str),
        "envelope": {
            "format": "cloudevents+json", "content_type": "application/cloudevents+json; charset=utf-8",
            "specversion": "1.0", "pdppversion": "1",
            "fields": ["specversion", "pdppversion", "id", "type", "source", "time", "data"],
            "subscription_id_location": "data.subscription_id", "no_record_bodies": true,
        },
        "signing": {
            "profile": "standard-webhooks", "algorithm": "HMAC-SHA256", "id_header": "webhook-id",
            "timestamp_header": "webhook-timestamp", "signature_header": "webhook-signature",
            "signed_payload": "{webhook-id}.{webhook-timestamp}.{body}", "signature_encoding": "v1,<base64>",
            "secret_prefix": "whsec_", "secret_payload_encoding": "base64",
        },
        "verification": {
            "handshake": "post_with_challenge_echo", "challenge_event_type": EventType::Verify.as_str(),
            "again_when_enabled": true,
        },
        "delivery": {
            "at_least_once": true, "after_commit": true, "ordered_per_subscription": true, "coalescing": true,
            "max_attempts": MAX_ATTEMPTS, "retry_schedule_seconds": RETRY_SECONDS,
            "retry_jitter_percent": JITTER_PERCENT, "dead_letter_state": "disabled_failure",
            "response_window_seconds": RESPONSE_SECONDS,
        },
        "hint_cursor": {
            "cursor_field": "data.changes_since",
            "read_endpoint_template": "/v1/streams/{stream}/records?changes_since={cursor}&connection_id={connection_id}",
        },
        "deliveries_endpoint_template": "/v1/event-subscriptions/{subscription_id}/deliveries",
        "limits": {
            "callback_url_max_bytes": MAX_URL_BYTES, "response_snippet_capture_bytes": SNIPPET_BYTES,
            "subscriptions_per_client": MAX_SUBSCRIPTIONS,
        },
    })
}
