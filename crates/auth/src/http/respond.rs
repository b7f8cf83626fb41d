//! Answers: JSON, redirects, and refusals in the envelope their readers know.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, PRAGMA, REFERRER_POLICY, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{Response, StatusCode};
use pdpp_wire::{Code, ErrorBody, ErrorEnvelope, OAuthCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::OAuthFault;

/// In which shape an endpoint refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Envelope {
    /// `{"error", "error_description", "request_id"}`.
    OAuth,
    /// `{"error": {"type", "code", "message", "request_id"}}`.
    Pdpp,
}

pub(super) fn json_with(status: StatusCode, body: &impl Serialize) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(serde_json::to_vec(body).unwrap_or_default()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn ok(body: &impl Serialize) -> Response<Bytes> {
    json_with(StatusCode::OK, body)
}

pub(super) fn redirect(location: &str) -> Result<Response<Bytes>, OAuthFault> {
    let value = HeaderValue::try_from(location)
        .map_err(|_| OAuthFault::invalid("The redirect URI cannot stand in a header."))?;
    let mut response = Response::new(Bytes::new());
    // A browser must come back with GET, whatever it came with.
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(LOCATION, value);
    Ok(response)
}

/// A refusal in its envelope. The cause of breakage goes to the log only.
pub(super) fn fault(envelope: Envelope, fault: &OAuthFault, request_id: &str) -> Response<Bytes> {
    if let OAuthFault::Store(error) = fault {
        tracing::error!(request_id, error = %error, source = ?std::error::Error::source(error), "the store failed");
    }
    let mut response = match envelope {
        Envelope::OAuth => oauth(fault, request_id),
        Envelope::Pdpp => pdpp(fault, request_id),
    };
    if let OAuthFault::TooOften(seconds) = fault {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(*seconds));
    }
    if response.status() == StatusCode::UNAUTHORIZED {
        let challenge = match fault.code() {
            Code::IntrospectionRefused => "Basic realm=\"introspection\"",
            _ => "Bearer error=\"invalid_token\"",
        };
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    response
}

fn oauth(fault: &OAuthFault, request_id: &str) -> Response<Bytes> {
    let code = fault.oauth_code();
    let status = match fault {
        OAuthFault::Denied(denial) => denial.code.status(),
        OAuthFault::TooOften(_) => 429,
        _ => code.status(),
    };
    let mut body = json!({
        "error": code.as_str(), "error_description": plain(&fault.message()), "request_id": request_id,
    });
    // Clients of the reference look for this after a refresh token was refused.
    if code == OAuthCode::InvalidGrant {
        body["fresh_authorization_required"] = Value::Bool(true);
    }
    json_with(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), &body)
}

fn pdpp(fault: &OAuthFault, request_id: &str) -> Response<Bytes> {
    let code = fault.code();
    let (param, connections) = match fault {
        OAuthFault::Denied(denial) => (denial.param.clone(), denial.available_connections.clone()),
        _ => (None, Vec::new()),
    };
    let body = ErrorEnvelope {
        error: ErrorBody {
            error_type: code.error_type(),
            code,
            message: fault.message(),
            param,
            request_id: request_id.to_owned(),
            available_connections: Some(connections).filter(|list| !list.is_empty()),
            retry_with: None,
            resource_metadata: None,
            next_step: None,
        },
    };
    json_with(StatusCode::from_u16(code.status()).unwrap_or(StatusCode::BAD_REQUEST), &body)
}

/// RFC 6749 lets a description hold printable ASCII without quotes and backslashes.
fn plain(text: &str) -> String {
    let keep = |c: char| (' '..='~').contains(&c) && !matches!(c, '"' | '\\');
    text.chars().map(|c| if keep(c) { c } else { '?' }).collect()
}

pub(super) fn preflight(methods: impl Iterator<Item = &'static str>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let methods = methods.collect::<Vec<_>>().join(", ");
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::try_from(methods) {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, value);
    }
    let names = HeaderValue::from_static(
        "authorization, content-type, request-id, pdpp-version, mcp-protocol-version",
    );
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// What every answer carries.
pub(super) fn guard(response: &mut Response<Bytes>, cross_origin: bool) {
    let policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let fixed: [(HeaderName, &'static str); 5] = [
        (PRAGMA, "no-cache"),
        (X_FRAME_OPTIONS, "DENY"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, policy),
    ];
    let headers = response.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if cross_origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("www-authenticate, retry-after, request-id"),
        );
    }
}
