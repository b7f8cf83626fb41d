//! Which paths pages of any origin may call, and what their browsers are told.
//!
//! Only paths where a bearer token decides and no cookie counts: a page that has no token gets what any stranger gets.
//! `*` without credentials keeps it so. Whether a page may use a token at `/mcp` is decided there.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};

const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
const REQUEST_HEADERS: &str = "Authorization, Content-Type, Accept, Range, If-None-Match, Last-Event-ID, \
    Request-Id, PDPP-Version, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id";
const RESPONSE_HEADERS: &str = "WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, \
    Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning";
/// How long a browser may remember, in seconds.
const MAX_AGE: &str = "600";

/// Whether pages of any origin may call this path.
pub(crate) fn is_open(path: &str) -> bool {
    path == "/mcp"
        || path == "/openapi.json"
        || path.starts_with("/v1/")
        || path.starts_with("/.well-known/oauth-protected-resource")
}

/// Answers the question a browser asks before it sends the request itself.
pub(crate) fn preflight<B>(request: &Request<B>) -> Option<Response> {
    let asks = request.method() == Method::OPTIONS
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
        && is_open(request.uri().path());
    asks.then(|| {
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::NO_CONTENT;
        for (name, value) in [
            (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
            (ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
            (ACCESS_CONTROL_MAX_AGE, MAX_AGE),
        ] {
            answer.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        answer
    })
}

/// Lets the page read the answer, with the headers that say how to go on.
pub(crate) fn open(headers: &mut HeaderMap) {
    headers.entry(ACCESS_CONTROL_ALLOW_ORIGIN).or_insert(HeaderValue::from_static("*"));
    headers.entry(ACCESS_CONTROL_EXPOSE_HEADERS).or_insert(HeaderValue::from_static(RESPONSE_HEADERS));
}
