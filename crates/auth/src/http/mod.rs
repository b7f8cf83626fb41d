//! The authorization server's endpoints over HTTP values: bytes in, bytes out, no server and no socket.
//!
//! One table names every endpoint; each is one file. Whoever assembles the server matches the paths, reads the body
//! up to [`MAX_BODY`], and hands both to [`answer`]. What is done or refused is written in the ledger before the
//! answer leaves.

mod agent;
mod authorize;
mod body;
mod call;
mod consent;
mod device;
mod exchange;
mod grant;
mod introspect;
mod metadata;
mod par;
mod register;
mod respond;
mod revoke;
mod token;

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::header::{ALLOW, HeaderValue};
use http::{Method, Response, StatusCode};
use pdpp_wire::{Code, OAuthCode};

use crate::{AuthorizationServer, OAuthFault};
use call::Call;
pub use call::{Asked, SESSION_COOKIE};
use respond::Envelope;

/// Largest body an endpoint takes, in bytes.
pub const MAX_BODY: usize = 64 * 1024;

/// One endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// The method.
    pub method: &'static str,
    /// The path, with `{id}` for its one parameter.
    pub path: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Its name in the ledger; none for what is not worth an entry.
    action: Option<&'static str>,
    envelope: Envelope,
    /// Whether pages of any origin may call it: only where no cookie counts.
    cross_origin: bool,
    handler: Handler,
}

type Outcome = Result<Response<Bytes>, OAuthFault>;
type Answering<'c> = Pin<Box<dyn Future<Output = Outcome> + Send + 'c>>;
type Handler = for<'c> fn(&'c mut Call) -> Answering<'c>;

/// Pages of any origin may call.
const ANY: bool = true;
/// Only pages of our own origin may call.
const OWN: bool = false;

macro_rules! endpoint {
    ($method:literal, $path:literal, $action:expr, $envelope:ident, $origin:expr, $handler:path, $summary:literal) => {
        Endpoint {
            method: $method,
            path: $path,
            summary: $summary,
            action: $action,
            envelope: Envelope::$envelope,
            cross_origin: $origin,
            handler: |call| Box::pin($handler(call)),
        }
    };
}

/// Every endpoint.
pub static ENDPOINTS: &[Endpoint] = &[
    endpoint!(
        "GET",
        "/.well-known/oauth-authorization-server",
        None,
        OAuth,
        ANY,
        metadata::serve,
        "Say what this authorization server can do."
    ),
    endpoint!(
        "GET",
        "/.well-known/openid-configuration",
        None,
        OAuth,
        ANY,
        metadata::serve,
        "The same document, where some hosts look for it."
    ),
    endpoint!(
        "POST",
        "/oauth/register",
        Some("client.register"),
        OAuth,
        ANY,
        register::create,
        "Register a client."
    ),
    endpoint!("GET", "/oauth/register/{id}", None, OAuth, ANY, register::read, "Read a registration."),
    endpoint!(
        "DELETE",
        "/oauth/register/{id}",
        Some("client.delete"),
        OAuth,
        ANY,
        register::delete,
        "Remove a registration and end its access."
    ),
    endpoint!(
        "POST",
        "/oauth/par",
        Some("request.push"),
        Pdpp,
        ANY,
        par::serve,
        "Push a request for consent."
    ),
    endpoint!(
        "GET",
        "/oauth/authorize",
        Some("request.authorize"),
        OAuth,
        OWN,
        authorize::serve,
        "Bring the owner's browser to the consent page."
    ),
    endpoint!(
        "POST",
        "/oauth/token",
        Some("token.issue"),
        OAuth,
        ANY,
        token::serve,
        "Redeem a code, a refresh token or a device code."
    ),
    endpoint!("POST", "/oauth/revoke", Some("token.revoke"), OAuth, ANY, revoke::serve, "End a token."),
    endpoint!(
        "POST",
        "/introspect",
        None,
        Pdpp,
        OWN,
        introspect::serve,
        "Tell a resource server what a token stands for."
    ),
    endpoint!(
        "POST",
        "/oauth/device_authorization",
        Some("request.device"),
        OAuth,
        ANY,
        device::serve,
        "Start a device without a browser."
    ),
    endpoint!("GET", "/consent", Some("consent.show"), Pdpp, OWN, consent::show, "Show what a request asks."),
    endpoint!(
        "POST",
        "/consent/review",
        Some("consent.review"),
        Pdpp,
        OWN,
        consent::review,
        "Show what a narrowed request would grant."
    ),
    endpoint!(
        "POST",
        "/consent/approve",
        Some("consent.approve"),
        Pdpp,
        OWN,
        consent::approve,
        "Approve exactly what was shown."
    ),
    endpoint!("POST", "/consent/deny", Some("consent.deny"), Pdpp, OWN, consent::deny, "Deny a request."),
    endpoint!(
        "POST",
        "/consent/exchange",
        Some("token.exchange"),
        Pdpp,
        ANY,
        exchange::serve,
        "Redeem an exchange code."
    ),
    endpoint!("POST", "/grants/{id}/revoke", Some("grant.revoke"), Pdpp, ANY, grant::revoke, "End a grant."),
    endpoint!(
        "POST",
        "/agent-connect",
        Some("agent.connect"),
        Pdpp,
        ANY,
        agent::start,
        "Wait for the outcome of a pushed request."
    ),
    endpoint!(
        "POST",
        "/agent-connect/{id}/token",
        Some("agent.token"),
        Pdpp,
        ANY,
        agent::token,
        "Fetch the outcome."
    ),
];

/// Answers a request to one of the [`ENDPOINTS`]' paths.
pub async fn answer(server: &AuthorizationServer, asked: Asked) -> Response<Bytes> {
    let here = || ENDPOINTS.iter().filter(|endpoint| endpoint.path == asked.path);
    let method = if asked.parts.method == Method::HEAD { &Method::GET } else { &asked.parts.method };
    let cross_origin = here().any(|endpoint| endpoint.cross_origin);
    let found = here().find(|endpoint| method.as_str() == endpoint.method);
    let mut response = match found {
        Some(endpoint) => {
            let endpoint = *endpoint;
            serve(server, &endpoint, asked).await
        }
        None if cross_origin && *method == Method::OPTIONS => {
            respond::preflight(here().map(|one| one.method))
        }
        None => {
            let allowed: Vec<_> = here().map(|endpoint| endpoint.method).collect();
            let envelope = here().next().map_or(Envelope::Pdpp, |endpoint| endpoint.envelope);
            let message = format!("This route answers {} only.", allowed.join(", "));
            let fault = OAuthFault::denied(Code::MethodNotAllowed, message);
            let mut response = respond::fault(envelope, &fault, &asked.request_id);
            if let Ok(value) = HeaderValue::try_from(allowed.join(", ")) {
                response.headers_mut().insert(ALLOW, value);
            }
            response
        }
    };
    respond::guard(&mut response, cross_origin);
    response
}

/// The answer to a request that took too long.
pub fn overdue(path: &str, request_id: &str) -> Response<Bytes> {
    let envelope = ENDPOINTS.iter().find(|endpoint| endpoint.path == path);
    let envelope = envelope.map_or(Envelope::Pdpp, |endpoint| endpoint.envelope);
    let fault = OAuthFault::denied(Code::DeadlineExceeded, "The request took too long.");
    let mut response = respond::fault(envelope, &fault, request_id);
    respond::guard(&mut response, false);
    response
}

async fn serve(server: &AuthorizationServer, endpoint: &Endpoint, asked: Asked) -> Response<Bytes> {
    let (request_id, head) = (asked.request_id.clone(), asked.parts.method == Method::HEAD);
    let mut call = Call::new(server.clone(), asked);
    let outcome = (endpoint.handler)(&mut call).await;
    let envelope = call.envelope.unwrap_or(endpoint.envelope);
    let outcome = match (endpoint.action, outcome) {
        (None, outcome) => outcome,
        (Some(action), Ok(response)) => {
            let action = call.action.unwrap_or(action);
            server.note(&request_id, action, call.entry).await.map(|()| response)
        }
        (Some(_), Err(fault)) if !is_worth_an_entry(&fault) => Err(fault),
        (Some(action), Err(fault)) => {
            let action = call.action.unwrap_or(action);
            match server.note_refusal(&request_id, action, call.entry, &fault).await {
                Ok(()) => Err(fault),
                Err(unwritten) => Err(unwritten),
            }
        }
    };
    let mut response = outcome.unwrap_or_else(|fault| respond::fault(envelope, &fault, &request_id));
    if head && response.status() == StatusCode::OK {
        *response.body_mut() = Bytes::new();
    }
    response
}

/// Waiting is no refusal, and a flood of requests must not become a flood of entries.
fn is_worth_an_entry(fault: &OAuthFault) -> bool {
    !matches!(fault, OAuthFault::TooOften(_))
        && !matches!(fault.oauth_code(), OAuthCode::AuthorizationPending | OAuthCode::SlowDown)
}
