//! The table of pages, and how a request finds its own.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, HeaderValue};
use http::{Method, Response, StatusCode};
use pdpp_auth::{Asked, AuthorizationServer, OAuthFault};
use pdpp_store::Store;
use pdpp_wire::{Code, SubjectId};

use crate::respond::{guard, refusal};
use crate::stop::Stop;
use crate::visit::Visit;
use crate::{assets, authorize, browser, consent, device, first_run, home, login, manage, passkeys};

/// Largest form that is taken, in bytes: every field of every stream of a large source has a tick box.
pub const MAX_FORM: usize = 512 * 1024;

/// What every page works with.
#[derive(Clone)]
pub struct Pages {
    pub(crate) server: AuthorizationServer,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) name: String,
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Pages {
    /// The pages over an authorization server and its store; `name` is what the owner calls this server.
    pub fn new(server: AuthorizationServer, store: Arc<dyn Store>, name: &str) -> Self {
        Self { server, store, name: name.to_owned() }
    }

    /// The owner who is not named: the only one, where there is only one.
    pub(crate) fn usual_owner(&self) -> &SubjectId {
        &self.server.settings().subject_id
    }
}

/// One page.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The method.
    pub method: &'static str,
    /// The path, with `{id}` for its one parameter.
    pub path: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Its name in the ledger; none for what is not worth an entry.
    action: Option<&'static str>,
    handler: Handler,
}

pub(crate) type Outcome = Result<Response<Bytes>, Stop>;
type Answering<'v> = Pin<Box<dyn Future<Output = Outcome> + Send + 'v>>;
type Handler = for<'v> fn(&'v mut Visit) -> Answering<'v>;

macro_rules! page {
    ($method:literal, $path:literal, $action:expr, $handler:path, $summary:literal) => {
        Page {
            method: $method,
            path: $path,
            summary: $summary,
            action: $action,
            handler: |visit| Box::pin($handler(visit)),
        }
    };
}

/// Every page. The paths of the consent API are here too: a browser gets the page, anyone else the API.
pub static PAGES: &[Page] = &[
    page!("GET", "/owner", None, home::show, "Show requests, clients, grants, events, reads and sessions."),
    page!("GET", "/owner/login", None, login::show, "Ask who is there."),
    page!("POST", "/owner/login", Some("owner.sign_in"), login::submit, "Sign the owner in."),
    page!("GET", "/owner/first-run", None, first_run::show, "Let the holder of the link become the owner."),
    page!(
        "POST",
        "/owner/first-run",
        Some("owner.first_run"),
        first_run::submit,
        "Set the first passphrase."
    ),
    page!("POST", "/owner/logout", Some("owner.sign_out"), login::leave, "Sign this browser out."),
    page!(
        "POST",
        "/owner/grants/revoke",
        Some("grant.revoke"),
        manage::revoke_grant,
        "End a grant from the next request on."
    ),
    page!(
        "POST",
        "/owner/clients/remove",
        Some("client.delete"),
        manage::remove_client,
        "Forget a client and end its access."
    ),
    page!(
        "POST",
        "/owner/events/disable",
        Some("subscription.disable"),
        manage::disable_subscription,
        "Switch an event subscription off."
    ),
    page!(
        "POST",
        "/owner/events/forbid",
        Some("callback.forbid"),
        manage::forbid_host,
        "Take back a host events could be sent to."
    ),
    page!("POST", "/owner/sessions/end", Some("session.end"), manage::end_session, "Sign a browser out."),
    page!("GET", "/owner/passkeys", None, passkeys::show, "Show the passkeys, and take a new one."),
    page!("POST", "/owner/passkeys/begin", Some("passkey.begin"), passkeys::begin, "Begin to add a passkey."),
    page!("POST", "/owner/passkeys/finish", Some("passkey.add"), passkeys::finish, "Keep a passkey."),
    page!("POST", "/owner/passkeys/remove", Some("passkey.remove"), passkeys::remove, "Forget a passkey."),
    page!(
        "POST",
        "/owner/login/passkey/begin",
        None,
        passkeys::begin_sign_in,
        "Begin to sign in by passkey."
    ),
    page!(
        "POST",
        "/owner/login/passkey/finish",
        Some("owner.sign_in"),
        passkeys::finish_sign_in,
        "Sign the owner in by passkey."
    ),
    page!("GET", "/owner/assets/{id}", None, assets::serve, "Serve the style sheet and the one script."),
    page!(
        "GET",
        "/oauth/authorize",
        None,
        authorize::show,
        "Bring the browser to the consent page, or say why not."
    ),
    page!("GET", "/consent", Some("consent.show"), consent::show, "Show what a request asks."),
    page!(
        "POST",
        "/consent/approve",
        Some("consent.approve"),
        consent::approve,
        "Approve what was shown, less what was unticked."
    ),
    page!("POST", "/consent/deny", Some("consent.deny"), consent::deny, "Deny a request."),
    page!("GET", "/device", None, device::show, "Take the code a device shows, and show what it asks."),
    page!(
        "POST",
        "/device/approve",
        Some("consent.approve"),
        device::approve,
        "Give a device the owner's own credential."
    ),
    page!("POST", "/device/deny", Some("consent.deny"), device::deny, "Deny a device."),
];

/// Answers a request to one of the [`PAGES`]' paths.
pub async fn answer(pages: &Pages, asked: Asked) -> Response<Bytes> {
    if browser::belongs_to_the_api(&asked) {
        return pdpp_auth::answer(&pages.server, asked).await;
    }
    let head = asked.parts.method == Method::HEAD;
    let method = if head { Method::GET } else { asked.parts.method.clone() };
    let here = || PAGES.iter().filter(|page| page.path == asked.path);
    let found = here().find(|page| page.method == method.as_str()).copied();
    let allowed = here().map(|page| page.method).collect::<Vec<_>>().join(", ");
    let mut visit = Visit::new(pages.clone(), asked);
    let mut response = if let Some(page) = found {
        serve(page, &mut visit).await
    } else {
        let message = format!("This page answers {allowed} only.");
        let mut response = refusal(&visit, &OAuthFault::denied(Code::MethodNotAllowed, message));
        if let Ok(value) = HeaderValue::try_from(allowed) {
            response.headers_mut().insert(ALLOW, value);
        }
        response
    };
    visit.set_cookies(&mut response);
    guard(&mut response);
    if head && response.status() == StatusCode::OK {
        *response.body_mut() = Bytes::new();
    }
    response
}

async fn serve(page: Page, visit: &mut Visit) -> Response<Bytes> {
    let outcome = (page.handler)(visit).await;
    let (request_id, entry) = (visit.request_id().to_owned(), visit.entry.clone());
    let server = &visit.pages.server;
    let written = match (page.action, &outcome) {
        (None, _) | (_, Err(Stop::Answer(_) | Stop::Fault(OAuthFault::TooOften(_)))) => Ok(()),
        (Some(action), Ok(_)) => server.note(&request_id, action, entry).await,
        (Some(action), Err(Stop::Refused { fault, .. } | Stop::Fault(fault))) => {
            server.note_refusal(&request_id, action, entry, fault).await
        }
    };
    match (written, outcome) {
        (Err(unwritten), _) => refusal(visit, &unwritten),
        (Ok(()), Ok(response) | Err(Stop::Answer(response) | Stop::Refused { response, .. })) => response,
        (Ok(()), Err(Stop::Fault(fault))) => refusal(visit, &fault),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_page_is_listed_once_and_says_what_it_is_for() {
        let listed: BTreeSet<_> = PAGES.iter().map(|page| (page.method, page.path)).collect();
        assert_eq!(listed.len(), PAGES.len());
        for page in PAGES {
            assert!(page.summary.ends_with('.') && page.path.starts_with('/'), "{page:?}");
            let begins = page.path == "/owner/login/passkey/begin";
            assert!(page.method == "GET" || page.action.is_some() || begins, "{page:?}");
        }
    }
}
