//! The consent page: what is asked, and the owner's answer.
//!
//! The page is bound to a revision when it is made. An answer names it; if what is asked is another by then, nothing is
//! granted and the page is shown again. What the owner unticked is read relative to that revision, so the boxes of a
//! page can never be taken for those of another.

mod callbacks;
mod choice;
mod client_block;
mod declared;
mod outcome;
mod picker;
mod ticks;
mod view;

use bytes::Bytes;
use http::Response;
use pdpp_auth::{ConsentHandle, Narrowing, OAuthFault, Review};
use pdpp_wire::{ApprovalId, Code, SubjectId};

pub(crate) use client_block::ClientBlock;
pub(crate) use declared::{Declared, spelled};
pub(crate) use outcome::{after_approval, after_denial, cannot_be_decided};

use crate::artifact::Artifact;
use crate::form::{Form, invalid};
use crate::pages::Outcome;
use crate::respond::{Allow, page};
use crate::stop::Stop;
use crate::visit::Visit;

pub(crate) async fn show(visit: &mut Visit) -> Outcome {
    let session = visit.owner_of_page().await?;
    let handle = handle(&visit.query()?)?;
    match visit.pages.server.review(&session.subject_id, &handle, None).await {
        Ok(review) => {
            visit.entry.note = Some(review.approval_id.to_string());
            shown(visit, &session.subject_id, &review, (200, None, None)).await
        }
        Err(fault) => Err(cannot_be_decided(visit, fault, &handle)),
    }
}

/// The page of a request, whatever it asks, with a notice and the ticks of a form that was sent before.
pub(crate) async fn shown(
    visit: &Visit,
    subject_id: &SubjectId,
    review: &Review,
    (status, notice, form): (u16, Option<String>, Option<&Form>),
) -> Outcome {
    let artifact = Artifact::read(&review.artifact)?;
    let allow = Allow { redirect_to: review.redirect_uri.clone(), script: None };
    if artifact.is_owner_token() {
        return Ok(crate::device::owner_page(visit, review, &artifact, (status, notice)));
    }
    // Loaded after the review: if it is newer, the revision is stale and approves nothing.
    let catalogue = visit.pages.store.catalogue(subject_id).await?;
    let declared = Declared::new(&catalogue);
    if let Some(picker) = &artifact.picker {
        let template = picker::page(visit, (review, &artifact, picker), &declared, (notice, form));
        return Ok(page(status, &template, &allow));
    }
    let template = view::page(visit, (review, &artifact), &declared, (notice, form));
    Ok(page(status, &template, &allow))
}

pub(crate) async fn approve(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let subject_id = session.subject_id;
    let handle = handle(&form)?;
    let revision = form.required("revision")?;
    let review = match visit.pages.server.review(&subject_id, &handle, None).await {
        Ok(review) => review,
        Err(fault) => return Err(cannot_be_decided(visit, fault, &handle)),
    };
    visit.entry.note = Some(review.approval_id.to_string());
    if review.revision != revision {
        let notice = "What is asked has changed since this page was shown, so nothing was allowed. \
                      This is how it stands now.";
        let response = shown(visit, &subject_id, &review, (400, Some(notice.to_owned()), None)).await?;
        return Err(Stop::Refused { fault: invalid(notice), response });
    }
    let artifact = Artifact::read(&review.artifact)?;
    if artifact.is_owner_token() {
        let message = "An owner's credential is approved on the page of its device.";
        return Err(OAuthFault::denied(Code::PermissionError, message).into());
    }
    let now = visit.pages.server.now();
    let read = match &artifact.picker {
        Some(picker) => picker::read(&form, picker, now).map(|narrowing| (narrowing, Vec::new())),
        None => choice::read(&form, &artifact, now),
    };
    let (mut narrowing, missing) = match read {
        Ok(read) => read,
        Err(complaint) => return Err(again(visit, &subject_id, (&review, &form), invalid(complaint)).await),
    };
    if !missing.is_empty() && form.one("confirm_missing")? != Some("yes") {
        let catalogue = visit.pages.store.catalogue(&subject_id).await?;
        let declared = Declared::new(&catalogue);
        let response =
            outcome::ask_again(visit, (&review, &artifact), &form, declared.labels(&artifact, &missing));
        return Err(Stop::Answer(response));
    }
    narrowing.callback_hosts = callbacks::read(&form, &artifact);
    let narrowing = Some(narrowing).filter(|narrowing| *narrowing != Narrowing::default());
    let approved = visit.pages.server.approve(&subject_id, &handle, revision, narrowing.as_ref()).await;
    match approved {
        Ok(approved) => {
            visit.entry.client_id = Some(approved.client_id.clone());
            visit.entry.grant_ids = approved.grants.iter().map(|grant| grant.grant_id.clone()).collect();
            Ok(after_approval(visit, &artifact, &approved.handover))
        }
        Err(fault) if can_be_corrected(&fault) => {
            Err(again(visit, &subject_id, (&review, &form), fault).await)
        }
        Err(fault) => Err(cannot_be_decided(visit, fault, &handle)),
    }
}

pub(crate) async fn deny(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let handle = handle(&form)?;
    match visit.pages.server.deny(&session.subject_id, &handle).await {
        Ok((request, handover)) => {
            visit.entry.client_id = Some(request.client_id);
            visit.entry.note = Some(request.approval_id.to_string());
            Ok(after_denial(visit, &handover))
        }
        Err(fault) => Err(cannot_be_decided(visit, fault, &handle)),
    }
}

/// The page once more, as the owner left it, with what is wrong.
async fn again(
    visit: &Visit,
    subject_id: &SubjectId,
    (review, form): (&Review, &Form),
    fault: OAuthFault,
) -> Stop {
    let status = fault.code().status();
    match shown(visit, subject_id, review, (status, Some(fault.message()), Some(form))).await {
        Ok(response) => Stop::Refused { fault, response },
        Err(stop) => stop,
    }
}

/// Whether the owner can do something about it on the same page.
fn can_be_corrected(fault: &OAuthFault) -> bool {
    matches!(fault.code(), Code::InvalidRequest | Code::InvalidAuthorizationDetails)
}

pub(crate) fn handle(form: &Form) -> Result<ConsentHandle, OAuthFault> {
    match (form.one("request_uri")?, form.one("approval_id")?, form.one("user_code")?) {
        (Some(uri), None, None) => Ok(ConsentHandle::RequestUri(uri.to_owned())),
        (None, Some(id), None) => match ApprovalId::parse(id) {
            Ok(id) => Ok(ConsentHandle::Approval(id)),
            Err(_) => Err(invalid("`approval_id` cannot be one.")),
        },
        (None, None, Some(code)) => Ok(ConsentHandle::UserCode(code.to_owned())),
        _ => Err(invalid("The page's address does not name a request.")),
    }
}

/// A page of an answer, for those modules that make one.
pub(crate) fn plain(status: u16, template: &impl askama::Template) -> Response<Bytes> {
    page(status, template, &Allow::default())
}
