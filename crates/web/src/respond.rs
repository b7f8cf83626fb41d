//! Answers: pages with their policy, redirects, and refusals as pages or as JSON.

use askama::Template;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, PRAGMA,
    REFERRER_POLICY, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{Response, StatusCode};
use pdpp_auth::OAuthFault;
use pdpp_wire::{ErrorBody, ErrorEnvelope};
use serde::Serialize;

use crate::frame::Frame;
use crate::visit::Visit;

/// What a page may do beyond showing itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allow {
    /// Where a form's answer may redirect to, beside this server.
    pub(crate) redirect_to: Option<String>,
    /// The nonce of the one script.
    pub(crate) script: Option<String>,
}

/// A page.
pub(crate) fn page(status: u16, template: &impl Template, allow: &Allow) -> Response<Bytes> {
    let text = template.render().unwrap_or_else(|error| {
        tracing::error!(%error, "a page could not be made");
        String::new()
    });
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    if let Ok(policy) = HeaderValue::try_from(policy(allow)) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn policy(allow: &Allow) -> String {
    let mut policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; \
                      frame-ancestors 'none'; form-action 'self'"
        .to_owned();
    if let Some(place) = allow.redirect_to.as_deref().and_then(form_action) {
        policy.push(' ');
        policy.push_str(&place);
    }
    if let Some(nonce) = &allow.script {
        policy.extend(["; script-src 'nonce-", nonce, "'; connect-src 'self'"]);
    }
    policy
}

/// A redirect URI as browsers check the redirects of a form: by origin, or by scheme where there is no plain host.
fn form_action(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once(':')?;
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.:".contains(&b));
    if scheme.is_empty() || !plain(scheme) {
        return None;
    }
    let authority = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?']).next()).unwrap_or("");
    let web = matches!(scheme, "http" | "https");
    Some(if web && !authority.is_empty() && plain(authority) {
        format!("{scheme}://{authority}")
    } else {
        format!("{scheme}:")
    })
}

pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(serde_json::to_vec(body).unwrap_or_default()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Sends the browser on, with GET.
pub(crate) fn redirect(location: &str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::SEE_OTHER;
    // A redirect URI was checked to be plain when it was registered; a path when it was read.
    let value = HeaderValue::try_from(location).unwrap_or(HeaderValue::from_static("/owner"));
    response.headers_mut().insert(LOCATION, value);
    response
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage {
    frame: Frame,
    message: String,
    code: &'static str,
    request_id: String,
}

/// A refusal, as a page for browsers and in the protocol's envelope for everyone else.
pub(crate) fn refusal(visit: &Visit, fault: &OAuthFault) -> Response<Bytes> {
    if let OAuthFault::Store(error) = fault {
        let source = std::error::Error::source(error);
        tracing::error!(request_id = visit.request_id(), %error, ?source, "the store failed");
    }
    let code = fault.code();
    let mut response = if visit.wants_a_page() {
        let template = RefusalPage {
            frame: visit.frame("That did not work"),
            message: fault.message(),
            code: code.as_str(),
            request_id: visit.request_id().to_owned(),
        };
        page(code.status(), &template, &Allow::default())
    } else {
        let body = ErrorEnvelope {
            error: ErrorBody {
                error_type: code.error_type(),
                code,
                message: fault.message(),
                param: None,
                request_id: visit.request_id().to_owned(),
                available_connections: None,
                retry_with: None,
                resource_metadata: None,
                next_step: None,
            },
        };
        json(StatusCode::from_u16(code.status()).unwrap_or(StatusCode::BAD_REQUEST), &body)
    };
    retry_after(&mut response, fault);
    response
}

pub(crate) fn retry_after(response: &mut Response<Bytes>, fault: &OAuthFault) {
    if let OAuthFault::TooOften(seconds) = fault {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
    }
}

/// What every answer carries.
pub(crate) fn guard(response: &mut Response<Bytes>) {
    let policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let headers = response.headers_mut();
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    }
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(policy));
    // No opener policy: a client that opened the page in a window of its own waits there for the way back.
    let resource = HeaderName::from_static("cross-origin-resource-policy");
    for (name, value) in [
        (X_FRAME_OPTIONS, "DENY"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (resource, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_may_lead_to_the_clients_origin_and_nowhere_else() {
        for (uri, expected) in [
            ("https://app.test/cb?x=1", Some("https://app.test")),
            ("http://127.0.0.1:5000/cb", Some("http://127.0.0.1:5000")),
            ("http://[::1]:5000/cb", Some("http:")),
            ("com.example.app:/cb", Some("com.example.app:")),
            ("app://cb", Some("app:")),
            ("https://a;b/cb", Some("https:")),
            ("a'b:/x", None),
        ] {
            assert_eq!(form_action(uri).as_deref(), expected, "{uri}");
        }
    }

    #[test]
    fn a_page_may_do_nothing_it_does_not_need() {
        let plain = policy(&Allow::default());
        assert!(plain.starts_with("default-src 'none'") && plain.ends_with("form-action 'self'"), "{plain}");
        assert!(!plain.contains("script"));
        let script = policy(&Allow { script: Some("abc".to_owned()), ..Allow::default() });
        assert!(script.contains("script-src 'nonce-abc'") && !script.contains("unsafe"), "{script}");
    }
}
