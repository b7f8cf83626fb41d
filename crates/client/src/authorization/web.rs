//! Small documents and forms over HTTP: encrypted or on this machine, bounded in time and size, no redirects.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use pdpp_evidence::percent_encode_segment;
use serde_json::Value;

use super::ConnectError;
use crate::http_wire::pool;
use crate::provider_url::is_loopback;

/// How long one call may take.
const DEADLINE: Duration = Duration::from_secs(15);
/// No document or token answer comes near this.
const MAX_BYTES: usize = 256 * 1024;

/// What came back. A body that is no JSON is null.
pub(crate) struct Posted {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

/// Reads a document.
pub(super) async fn get(address: &str) -> Result<Posted, ConnectError> {
    send(Method::GET, address, None, "").await
}

/// Posts a form.
pub(crate) async fn post(address: &str, form: &[(&str, &str)]) -> Result<Posted, ConnectError> {
    let kind = "application/x-www-form-urlencoded";
    send(Method::POST, address, Some(kind), &encoded(form)).await
}

/// Posts JSON.
pub(super) async fn post_json(address: &str, body: &Value) -> Result<Posted, ConnectError> {
    send(Method::POST, address, Some("application/json"), &body.to_string()).await
}

/// Names and values as a form or a query.
pub(super) fn encoded(pairs: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| {
        format!("{}={}", percent_encode_segment(name), percent_encode_segment(value))
    };
    pairs.iter().map(pair).collect::<Vec<_>>().join("&")
}

async fn send(method: Method, address: &str, kind: Option<&str>, body: &str) -> Result<Posted, ConnectError> {
    let uri = checked(address)?;
    let unreachable = |problem: String| ConnectError::Unreachable(address.to_owned(), problem);
    let pool = pool(uri.scheme_str() == Some("https")).map_err(|error| unreachable(error.to_string()))?;
    let mut request = http::Request::builder()
        .method(method)
        .uri(uri)
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("pdpp/", env!("CARGO_PKG_VERSION")));
    if let Some(kind) = kind {
        request = request.header(CONTENT_TYPE, kind);
    }
    let request = request
        .body(Full::new(Bytes::from(body.to_owned())))
        .map_err(|error| ConnectError::Metadata(format!("{address}: {error}")))?;
    let work = async {
        let response = pool.request(request).await.map_err(|error| unreachable(innermost(&error)))?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
        let body = body.map_err(|_| unreachable("its answer broke off or is too long".to_owned()))?;
        Ok(Posted { status, body: serde_json::from_slice(&body.to_bytes()).unwrap_or_default() })
    };
    tokio::time::timeout(DEADLINE, work)
        .await
        .unwrap_or_else(|_| Err(unreachable("it did not answer in time".to_owned())))
}

/// Refuses an address that would send secrets in the clear.
pub(super) fn checked(address: &str) -> Result<Uri, ConnectError> {
    let uri: Uri =
        address.parse().map_err(|_| ConnectError::Metadata(format!("'{address}' is no address")))?;
    match uri.scheme_str() {
        Some("https") => Ok(uri),
        Some("http") if uri.host().is_some_and(is_loopback) => Ok(uri),
        _ => Err(ConnectError::Metadata(format!("'{address}' would be sent to unencrypted"))),
    }
}

/// The last cause says what happened; the first only says that something did.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_encrypted_or_stay_on_this_machine() {
        for good in ["https://as.example/token", "http://127.0.0.1:1/token", "http://localhost/token"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in ["http://as.example/token", "/token", "ftp://localhost/token", ""] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn forms_are_encoded() {
        assert_eq!(
            encoded(&[("a", "b c&d"), ("redirect_uri", "http://x/")]),
            "a=b%20c%26d&redirect_uri=http%3A%2F%2Fx%2F"
        );
    }
}
