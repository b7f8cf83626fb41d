//! Whether a request comes from a browser that wants a page, or from a program that wants the API behind it.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName};
use http::request::Parts;
use http::{HeaderMap, Method};
use pdpp_auth::{Asked, ENDPOINTS};

/// Whether the authorization server's own endpoint of this path should answer.
pub(crate) fn belongs_to_the_api(asked: &Asked) -> bool {
    let shared = ENDPOINTS.iter().any(|endpoint| endpoint.path == asked.path);
    shared && !is_browser(&asked.parts)
}

/// Whether an answer should be a page.
pub(crate) fn wants_a_page(parts: &Parts) -> bool {
    first(&parts.headers, &ACCEPT).contains("text/html")
}

/// A token is carried by a program. A page is asked for as one; what is sent from one is anything but JSON, which no
/// page of another origin can send without asking first.
fn is_browser(parts: &Parts) -> bool {
    if parts.headers.contains_key(AUTHORIZATION) {
        return false;
    }
    match parts.method {
        Method::GET | Method::HEAD => wants_a_page(parts),
        Method::POST => !is_json(parts) && (is_form(parts) || wants_a_page(parts)),
        _ => false,
    }
}

pub(crate) fn is_json(parts: &Parts) -> bool {
    media_type(parts) == "application/json"
}

pub(crate) fn is_form(parts: &Parts) -> bool {
    media_type(parts) == "application/x-www-form-urlencoded"
}

fn media_type(parts: &Parts) -> String {
    let given = first(&parts.headers, &CONTENT_TYPE);
    given.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

fn first<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
}
