//! What follows an answer: back to the client, a code to carry, or a page that says how it ended.

use askama::Template;
use bytes::Bytes;
use http::Response;
use pdpp_auth::{ConsentHandle, Handover, OAuthFault, Review};
use pdpp_wire::Code;

use super::{ClientBlock, plain};
use crate::artifact::Artifact;
use crate::form::Form;
use crate::frame::Frame;
use crate::respond::{Allow, page, redirect};
use crate::stop::Stop;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "exchange.html")]
struct ExchangePage {
    frame: Frame,
    client: ClientBlock,
    code: String,
}

#[derive(Template)]
#[template(path = "ended.html")]
struct EndedPage {
    frame: Frame,
    heading: &'static str,
    message: String,
    /// A request that still waits, although it cannot be allowed.
    deny: Option<(&'static str, String)>,
}

#[derive(Template)]
#[template(path = "missing.html")]
struct MissingPage {
    frame: Frame,
    approval_id: String,
    client: ClientBlock,
    missing: Vec<String>,
    fields: Vec<(String, String)>,
}

pub(crate) fn after_approval(visit: &Visit, artifact: &Artifact, handover: &Handover) -> Response<Bytes> {
    match handover {
        Handover::Redirect(location) => redirect(location),
        Handover::ExchangeCode(code) => plain(
            200,
            &ExchangePage {
                frame: visit.frame("Allowed"),
                client: ClientBlock::of(artifact),
                code: code.reveal().to_owned(),
            },
        ),
        Handover::Waiting => ended(
            visit,
            200,
            ("Allowed", "The client that waits gets its answer now. You can close this page."),
        ),
    }
}

pub(crate) fn after_denial(visit: &Visit, handover: &Handover) -> Response<Bytes> {
    match handover {
        Handover::Redirect(location) => redirect(location),
        _ => ended(
            visit,
            200,
            ("Denied", "Nothing was shared, and the client is told so. You can close this page."),
        ),
    }
}

/// A request that is gone, or that cannot be allowed as it stands.
pub(crate) fn cannot_be_decided(visit: &Visit, fault: OAuthFault, handle: &ConsentHandle) -> Stop {
    if !visit.wants_a_page() || matches!(fault, OAuthFault::Store(_) | OAuthFault::TooOften(_)) {
        return Stop::Fault(fault);
    }
    let post = visit.is_post();
    let (status, heading, message) = match fault.code() {
        Code::NotFound => (
            404,
            "Nothing waits here",
            "This request has expired, or never was. Requests wait five minutes; start again in the client."
                .to_owned(),
        ),
        Code::ApprovalConflict => (
            if post { 409 } else { 410 },
            "Already decided",
            "This request was answered before. What you allow is listed on your page.".to_owned(),
        ),
        _ => {
            let deny = match handle {
                ConsentHandle::Approval(id) => ("approval_id", id.to_string()),
                ConsentHandle::RequestUri(uri) => ("request_uri", uri.clone()),
                ConsentHandle::UserCode(code) => ("user_code", code.clone()),
            };
            let template = EndedPage {
                frame: visit.frame("This cannot be allowed"),
                heading: "This cannot be allowed",
                message: fault.message(),
                deny: Some(deny),
            };
            let response = page(fault.code().status(), &template, &Allow::default());
            return Stop::Refused { fault, response };
        }
    };
    let template = EndedPage { frame: visit.frame(heading), heading, message, deny: None };
    let response = plain(status, &template);
    Stop::Refused { fault, response }
}

/// Asks once more, because the client says that it needs what was unticked.
pub(super) fn ask_again(
    visit: &Visit,
    (review, artifact): (&Review, &Artifact),
    form: &Form,
    missing: Vec<String>,
) -> Response<Bytes> {
    let again = form.without(&["_csrf", "confirm_missing"]);
    let template = MissingPage {
        frame: visit.frame("Allow without this?"),
        approval_id: review.approval_id.to_string(),
        client: ClientBlock::of(artifact),
        missing,
        fields: again.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    };
    page(200, &template, &Allow { redirect_to: review.redirect_uri.clone(), script: None })
}

fn ended(visit: &Visit, status: u16, (heading, message): (&'static str, &str)) -> Response<Bytes> {
    let message = message.to_owned();
    plain(status, &EndedPage { frame: visit.frame(heading), heading, message, deny: None })
}
