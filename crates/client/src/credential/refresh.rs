//! Asks the token endpoint for a newer access token of the same grant.
//!
//! The endpoint stands in the credential file. It gets the refresh token and nothing else, over an encrypted
//! connection or on this machine; a redirect is not followed and a long answer is not read.

use pdpp_wire::Instant;
use serde_json::Value;

use super::file::{Renewal, Renewed, is_owners};
use crate::Bearer;
use crate::authorization::web::post;

/// The newer tokens, or in a few words why there are none. The words hold no token.
pub(super) async fn refresh(renewal: &Renewal, now: Instant) -> Result<Renewed, String> {
    let mut form = vec![("grant_type", "refresh_token"), ("refresh_token", renewal.refresh_token.expose())];
    form.extend(renewal.client_id.as_deref().map(|id| ("client_id", id)));
    let answer = post(&renewal.token_endpoint, &form).await.map_err(|error| error.to_string())?;
    if !(200..300).contains(&answer.status) {
        return Err(format!("it answered with status {}", answer.status));
    }
    read(&answer.body, now)
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
