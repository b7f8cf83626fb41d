//! Asks the token endpoint for a newer access token of the same grant.
//!
//! The endpoint stands in the credential file. It gets the refresh token and nothing else, over an encrypted
//! connection or on this machine; a redirect is not followed and a long answer is not read.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use pdpp_evidence::percent_encode_segment;
use pdpp_wire::Instant;
use serde_json::Value;

use super::file::{Renewal, Renewed, is_owners};
use crate::Bearer;
use crate::http_wire::pool;
use crate::provider_url::is_loopback;

/// How long the endpoint may take.
const DEADLINE: Duration = Duration::from_secs(15);
/// No token answer comes near this.
const MAX_BYTES: usize = 64 * 1024;

/// The newer tokens, or in a few words why there are none. The words hold no token.
pub(super) async fn refresh(renewal: &Renewal, now: Instant) -> Result<Renewed, String> {
    tokio::time::timeout(DEADLINE, ask(renewal, now)).await.unwrap_or(Err("it did not answer".to_owned()))
}

async fn ask(renewal: &Renewal, now: Instant) -> Result<Renewed, String> {
    let endpoint = checked(&renewal.token_endpoint)?;
    let pool = pool(endpoint.scheme_str() == Some("https")).map_err(|error| error.to_string())?;
    let mut form = format!(
        "grant_type=refresh_token&refresh_token={}",
        percent_encode_segment(renewal.refresh_token.expose())
    );
    if let Some(client_id) = &renewal.client_id {
        form.push_str("&client_id=");
        form.push_str(&percent_encode_segment(client_id));
    }
    let request = http::Request::builder()
        .method(Method::POST)
        .uri(endpoint)
        .header(ACCEPT, "application/json")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(USER_AGENT, concat!("pdpp/", env!("CARGO_PKG_VERSION")))
        .body(Full::new(Bytes::from(form)))
        .map_err(|error| error.to_string())?;
    let response = pool.request(request).await.map_err(|error| error.to_string())?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
    let body = body.map_err(|_| "its answer broke off or is too long".to_owned())?.to_bytes();
    if !status.is_success() {
        return Err(format!("it answered with status {}", status.as_u16()));
    }
    let answer: Value = serde_json::from_slice(&body).map_err(|_| "its answer is not JSON".to_owned())?;
    read(&answer, now)
}

fn read(answer: &Value, now: Instant) -> Result<Renewed, String> {
    if is_owners(answer) {
        return Err("it answered with an owner token".to_owned());
    }
    let text = |name: &str| answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if text("token_type").is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err("it answered with a token that is no bearer token".to_owned());
    }
    let access_token = text("access_token").ok_or("its answer holds no access token")?;
    let lasts = answer.get("expires_in").and_then(Value::as_i64);
    Ok(Renewed {
        access_token: Bearer::new(access_token),
        expires_at: lasts.map(|seconds| now.plus_seconds(seconds)),
        refresh_token: text("refresh_token").map(Bearer::new),
    })
}

fn checked(endpoint: &str) -> Result<Uri, String> {
    let uri: Uri = endpoint.parse().map_err(|_| "its address is not valid".to_owned())?;
    let here = uri.host().is_some_and(is_loopback);
    match uri.scheme_str() {
        Some("https") => Ok(uri),
        Some("http") if here => Ok(uri),
        _ => Err("its address would send the token unencrypted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refresh_token_goes_encrypted_or_stays_on_this_machine() {
        for good in ["https://as.example/token", "http://127.0.0.1:1/token", "http://localhost/token"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in ["http://as.example/token", "/token", "ftp://localhost/token", ""] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
