//! What surrounds every request, whatever its route: its id, host and version checks, the log line,
//! the counters, and the answer when a handler panics.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt as _;
use http::header::HOST;
use http::{HeaderMap, HeaderValue, Uri};
use pdpp_wire::{Code, PDPP_VERSION, PDPP_VERSION_HEADER};

use crate::cors;
use crate::error::{AnsweredCode, ErrorContext};
use crate::request_id::RequestId;
use crate::{ApiError, ApiState};

/// Marks a response with the path of the route that made it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnsweredRoute(pub(crate) &'static str);

/// Serves one request from its id to its log line.
pub(crate) async fn frame(State(state): State<Arc<ApiState>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = RequestId::of(request.headers(), state.entropy.as_ref());
    let method = request.method().clone();
    request.extensions_mut().insert(id.clone());
    let is_open = cors::is_open(request.uri().path());
    let mut response = match (check(&state, &request), cors::preflight(&request)) {
        (Err(error), _) => error.respond(state.error_context(&id)),
        (Ok(()), Some(answer)) => answer,
        (Ok(()), None) => match AssertUnwindSafe(next.run(request)).catch_unwind().await {
            Ok(response) => response,
            Err(panic) => panicked(&panic).respond(state.error_context(&id)),
        },
    };
    if is_open {
        cors::open(response.headers_mut());
    }
    id.write_to(response.headers_mut());
    response.headers_mut().insert(PDPP_VERSION_HEADER, HeaderValue::from_static(PDPP_VERSION));
    note(&id, method.as_str(), &response, started);
    response
}

fn check(state: &ApiState, request: &Request) -> Result<(), ApiError> {
    check_host(&state.settings.allowed_hosts, request.uri(), request.headers())?;
    let versions: Vec<_> = request.headers().get_all(PDPP_VERSION_HEADER).iter().collect();
    if versions.iter().all(|version| version.as_bytes() == PDPP_VERSION.as_bytes()) {
        return Ok(());
    }
    let message = format!("This server speaks `PDPP-Version: {PDPP_VERSION}` only.");
    Err(ApiError::new(Code::UnsupportedVersion, message))
}

fn check_host(allowed: &[String], uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    if allowed.is_empty() || host(uri, headers).is_some_and(|host| is_allowed(allowed, host)) {
        return Ok(());
    }
    Err(ApiError::new(
        Code::MisdirectedRequest,
        "This server does not answer for the host the request names.",
    ))
}

/// The host a request names: in its target if absolute, else in its header.
pub(crate) fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let mut given = headers.get_all(HOST).iter();
    match (uri.authority(), given.next(), given.next()) {
        (Some(authority), _, None) => Some(authority.as_str()),
        (None, header, None) => header?.to_str().ok(),
        (_, _, Some(_)) => None,
    }
}

fn is_allowed(allowed: &[String], host: &str) -> bool {
    allowed
        .iter()
        .any(|entry| entry.eq_ignore_ascii_case(host) || entry.eq_ignore_ascii_case(without_port(host)))
}

/// A host without its port; an IPv6 address keeps its brackets.
pub(crate) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

fn panicked(panic: &Box<dyn Any + Send>) -> ApiError {
    let said = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    ApiError::internal(format!("a handler panicked: {}", said.unwrap_or("without a message")))
}

fn note(id: &RequestId, method: &str, response: &Response, started: Instant) {
    let route = response.extensions().get::<AnsweredRoute>().map_or("none", |route| route.0);
    let code = response.extensions().get::<AnsweredCode>().map_or("ok", |code| code.0.as_str());
    let status = response.status().as_u16();
    let elapsed = started.elapsed();
    metrics::counter!("pdpp_http_requests_total", "method" => known_method(method), "route" => route,
        "status" => status.to_string(), "code" => code)
    .increment(1);
    metrics::histogram!("pdpp_http_request_seconds", "route" => route).record(elapsed.as_secs_f64());
    let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    tracing::info!(request_id = id.as_str(), method, route, status, code, elapsed_ms, "request");
}

/// Strangers choose methods; counters keep to the ones that exist.
fn known_method(method: &str) -> &'static str {
    ["GET", "HEAD", "POST", "PUT", "DELETE"].into_iter().find(|known| *known == method).unwrap_or("other")
}

impl ApiState {
    pub(crate) fn error_context<'a>(&'a self, id: &'a RequestId) -> ErrorContext<'a> {
        ErrorContext {
            request_id: id.as_str(),
            resource_metadata: self.resource_metadata.as_deref(),
            gives_tokens: !self.settings.authorization_servers.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_match_with_or_without_a_port() {
        let allowed =
            ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), "data.test:8443".to_owned()];
        for host in ["localhost", "LOCALHOST:7663", "127.0.0.1:80", "[::1]", "[::1]:7663", "data.test:8443"] {
            assert!(is_allowed(&allowed, host), "{host}");
        }
        for host in ["", "localhost.evil.test", "data.test", "data.test:80", "127.0.0.1.evil.test:80", "::1"]
        {
            assert!(!is_allowed(&allowed, host), "{host}");
        }
    }
}
