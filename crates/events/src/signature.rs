//! Standard Webhooks: what proves to a receiver that an event is ours and new.

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use pdpp_access::Secret;
use pdpp_wire::{EventId, Instant};
use standardwebhooks::Webhook;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const EVENT: HeaderValue = HeaderValue::from_static("application/cloudevents+json; charset=utf-8");
/// How far a receiver lets clocks differ, in seconds.
const TOLERANCE: i64 = 300;

/// The headers of one attempt. The timestamp is that of the attempt; id and body stay the same.
pub(crate) fn headers(secret: &Secret, id: &EventId, at: Instant, body: &str) -> Option<HeaderMap> {
    let signature = sign(secret, id.as_str(), at.unix_seconds(), body)?;
    Some(HeaderMap::from_iter([
        (CONTENT_TYPE, EVENT),
        (ID, HeaderValue::try_from(id.as_str()).ok()?),
        (TIMESTAMP, HeaderValue::from(at.unix_seconds())),
        (SIGNATURE, HeaderValue::try_from(signature).ok()?),
    ]))
}

fn sign(secret: &Secret, id: &str, timestamp: i64, body: &str) -> Option<String> {
    Webhook::new(secret.reveal()).ok()?.sign(id, timestamp, body.as_bytes()).ok()
}

/// Why an event is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureFault {
    /// A header is missing or malformed, or the body is no text.
    Malformed,
    /// It was signed too long ago, or in the future.
    Stale,
    /// It was signed with another secret, or altered.
    Wrong,
}

/// Checks an event as a receiver should: by the clock it is given, in time that does not tell where it differs.
pub fn verify(secret: &Secret, headers: &HeaderMap, body: &[u8], now: Instant) -> Result<(), SignatureFault> {
    let text = |name: HeaderName| {
        headers.get(name).and_then(|value| value.to_str().ok()).ok_or(SignatureFault::Malformed)
    };
    let (id, given) = (text(ID)?, text(SIGNATURE)?);
    let timestamp: i64 = text(TIMESTAMP)?.parse().map_err(|_| SignatureFault::Malformed)?;
    let body = std::str::from_utf8(body).map_err(|_| SignatureFault::Malformed)?;
    if (now.unix_seconds().saturating_sub(timestamp)).abs() > TOLERANCE {
        return Err(SignatureFault::Stale);
    }
    let expected = sign(secret, id, timestamp, body).ok_or(SignatureFault::Malformed)?;
    let is_ours = |one: &str| {
        one.len() == expected.len()
            && one.bytes().zip(expected.bytes()).fold(0, |seen, (left, right)| seen | (left ^ right)) == 0
    };
    if given.split(' ').any(is_ours) { Ok(()) } else { Err(SignatureFault::Wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks libraries.
    #[test]
    fn the_signature_is_that_of_other_implementations() {
        let secret = Secret::presented("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
        let body = r#"{"email":"test@example.com","username":"test_user"}"#;
        let signed = sign(&secret, "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, body).unwrap();
        assert_eq!(signed, "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=");
    }

    #[test]
    fn an_altered_old_or_foreign_event_is_not_believed() {
        let secret = Secret::presented("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
        let (id, at) = (EventId::parse("evt_1").unwrap(), Instant::parse("2026-03-01T12:00:00Z").unwrap());
        let headers = headers(&secret, &id, at, "{}").unwrap();
        let check = |secret: &Secret, body: &[u8], now| verify(secret, &headers, body, now);
        assert_eq!(check(&secret, b"{}", at), Ok(()));
        assert_eq!(check(&secret, b"{}", at.plus_seconds(299)), Ok(()));
        assert_eq!(check(&secret, b"{}", at.plus_seconds(301)), Err(SignatureFault::Stale));
        assert_eq!(check(&secret, b"{}", at.plus_seconds(-301)), Err(SignatureFault::Stale));
        assert_eq!(check(&secret, b"{ }", at), Err(SignatureFault::Wrong));
        let other = Secret::presented("whsec_AAAAsBQIhrscChlQIMV+b5sSYspob7oD");
        assert_eq!(check(&other, b"{}", at), Err(SignatureFault::Wrong));
        assert_eq!(verify(&secret, &HeaderMap::new(), b"{}", at), Err(SignatureFault::Malformed));
        let mut several = headers.clone();
        let ours = headers.get("webhook-signature").unwrap().to_str().unwrap();
        several.insert(SIGNATURE, HeaderValue::try_from(format!("v1,AAAA {ours}")).unwrap());
        assert_eq!(verify(&secret, &several, b"{}", at), Ok(()));
    }
}
