//! One attempt: an event is signed and sent, and the answer judged.

use bytes::Bytes;
use http::StatusCode;
use pdpp_egress::{Answer, EgressError, EgressUrl, Limits, Oversize};
use pdpp_store::{DueEvent, DueKind, Ending, Finished, StoredDelivery};
use pdpp_wire::{DeliveryOutcome, DisabledReason, EventId, Instant};
use serde_json::Value;

use crate::EventParts;
use crate::capability::SNIPPET_BYTES;
use crate::retry::{asked_wait, next_attempt};
use crate::signature::headers;

/// The most of an answer that is read: enough for an echoed challenge.
const MOST_READ: usize = 4_096;

/// What an attempt came to.
enum Verdict {
    Delivered,
    Verified,
    Gone,
    /// To be tried again then, without counting.
    Wait(Instant),
    /// In a sentence that the client may see.
    Failed(String),
}

impl EventParts {
    /// Sends a claimed event, once.
    pub(crate) async fn attempt(&self, due: DueEvent, event_id: EventId, body: String) -> Finished {
        let at = self.now();
        let answered = self.send(&due, &event_id, &body, at).await;
        let now = self.now();
        let verdict = match &answered {
            Ok(answer) => judge(&due.kind, answer, now),
            Err(reason) => Verdict::Failed(reason.clone()),
        };
        let answer = answered.ok();
        let attempt = due.attempts + 1;
        let ending = match &verdict {
            Verdict::Delivered => Ending::Delivered,
            Verdict::Verified => Ending::Verified,
            Verdict::Gone => Ending::GaveUp(DisabledReason::DeliveryFailed),
            Verdict::Wait(until) => Ending::Deferred(*until),
            Verdict::Failed(_) => match next_attempt(self.entropy.as_ref(), attempt, now) {
                Some(next) => Ending::Failed(next),
                None => Ending::GaveUp(DisabledReason::DeliveryFailed),
            },
        };
        let reason = match verdict {
            Verdict::Failed(reason) => Some(reason),
            Verdict::Gone => Some("The receiver is gone for good.".to_owned()),
            _ => None,
        };
        let delivery = StoredDelivery {
            event_id,
            event_type: due.kind.event_type(),
            attempt,
            at,
            outcome: outcome(ending),
            http_status: answer.as_ref().map(|answer| answer.status.as_u16()),
            reason,
            snippet: answer.as_ref().and_then(snippet),
            next_at: next(ending),
        };
        tracing::debug!(subscription = %due.subscription_id, outcome = delivery.outcome.as_str(), "event attempted");
        Finished { row: due.row, subscription_id: due.subscription_id, ending, delivery }
    }

    /// The receiver's answer, or why there is none.
    async fn send(&self, due: &DueEvent, id: &EventId, body: &str, at: Instant) -> Result<Answer, String> {
        let secret = self.secrets.open(&due.subscription_id, &due.sealed_secret).ok_or_else(|| {
            tracing::error!(subscription = %due.subscription_id, "a webhook secret does not open: is the key file another one?");
            "The event could not be signed.".to_owned()
        })?;
        let headers =
            headers(&secret, id, at, body).ok_or_else(|| "The event could not be signed.".to_owned())?;
        let url = EgressUrl::parse(&due.callback_url, self.egress.policy())
            .map_err(|fault| format!("The callback address is not called: {fault}."))?;
        let limits = Limits { oversize: Oversize::Cut, ..Limits::within(self.response_window, MOST_READ) };
        let sent = self.egress.post(&url, headers, Bytes::copy_from_slice(body.as_bytes()), &limits).await;
        sent.map_err(|error: EgressError| {
            tracing::debug!(error = error.internal(), "an event was not delivered");
            format!("No answer: {error}.")
        })
    }
}

fn judge(kind: &DueKind, answer: &Answer, now: Instant) -> Verdict {
    match answer.status {
        StatusCode::GONE => Verdict::Gone,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => {
            Verdict::Wait(asked_wait(&answer.headers, now))
        }
        status if status.is_success() => match kind {
            DueKind::Verify { challenge } if echoes(&answer.body, challenge) => Verdict::Verified,
            DueKind::Verify { .. } => {
                Verdict::Failed("The receiver did not echo the challenge as {\"challenge\": …}.".to_owned())
            }
            _ => Verdict::Delivered,
        },
        status if status.is_redirection() => Verdict::Failed("A redirect is not followed.".to_owned()),
        status => Verdict::Failed(format!("The receiver answered {}.", status.as_u16())),
    }
}

fn echoes(body: &[u8], challenge: &str) -> bool {
    let echoed = serde_json::from_slice::<Value>(body).ok();
    echoed.as_ref().and_then(|echoed| echoed.get("challenge")).and_then(Value::as_str) == Some(challenge)
}

fn outcome(ending: Ending) -> DeliveryOutcome {
    match ending {
        Ending::Delivered | Ending::Verified => DeliveryOutcome::Delivered,
        Ending::Failed(_) => DeliveryOutcome::Failed,
        Ending::Deferred(_) => DeliveryOutcome::Deferred,
        Ending::GaveUp(_) => DeliveryOutcome::GaveUp,
    }
}

fn next(ending: Ending) -> Option<Instant> {
    match ending {
        Ending::Failed(at) | Ending::Deferred(at) => Some(at),
        _ => None,
    }
}

/// The start of an answer, as text without what acts unseen.
fn snippet(answer: &Answer) -> Option<String> {
    let start = &answer.body[..answer.body.len().min(SNIPPET_BYTES)];
    let text = String::from_utf8_lossy(start);
    let shown: String =
        text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect();
    (!shown.is_empty()).then_some(shown)
}
