//! `/device`: the code a device shows, and the owner's own credential for a device of theirs.

use askama::Template;
use bytes::Bytes;
use http::Response;
use pdpp_access::Secret;
use pdpp_auth::{ConsentHandle, OAuthFault, Review};
use pdpp_wire::Code;

use crate::artifact::Artifact;
use crate::consent::{self, ClientBlock, after_approval, after_denial, cannot_be_decided};
use crate::form::invalid;
use crate::frame::Frame;
use crate::moment::Moment;
use crate::pages::Outcome;
use crate::respond::{self, Allow, page};
use crate::stop::Stop;
use crate::stranger;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "device.html")]
struct CodePage {
    frame: Frame,
    problem: Option<String>,
    typed: String,
}

#[derive(Template)]
#[template(path = "device_owner.html")]
struct OwnerPage {
    frame: Frame,
    notice: Option<String>,
    approval_id: String,
    revision: String,
    decide_until: Option<Moment>,
    client: ClientBlock,
}

pub(crate) async fn show(visit: &mut Visit) -> Outcome {
    let session = visit.owner_of_page().await?;
    let query = visit.query()?;
    let Some(code) = query.one("user_code")? else {
        let template =
            CodePage { frame: visit.frame("Connect a device"), problem: None, typed: String::new() };
        return Ok(page(200, &template, &Allow::default()));
    };
    let handle = ConsentHandle::UserCode(code.to_owned());
    match visit.pages.server.review(&session.subject_id, &handle, None).await {
        Ok(review) => {
            visit.entry.note = Some(review.approval_id.to_string());
            consent::shown(visit, &session.subject_id, &review, (200, None, None)).await
        }
        Err(fault) if matches!(fault.code(), Code::NotFound | Code::RateLimitExceeded) => {
            let problem = match &fault {
                OAuthFault::TooOften(_) => fault.message(),
                _ => "No device waits with this code. Codes last five minutes; look at the device again."
                    .to_owned(),
            };
            let template = CodePage {
                frame: visit.frame("Connect a device"),
                problem: Some(problem),
                typed: stranger::name(code),
            };
            let mut response = page(fault.code().status(), &template, &Allow::default());
            respond::retry_after(&mut response, &fault);
            Err(Stop::Answer(response))
        }
        Err(fault) => Err(cannot_be_decided(visit, fault, &handle)),
    }
}

/// The page that gives away everything, and says so.
pub(crate) fn owner_page(
    visit: &Visit,
    review: &Review,
    artifact: &Artifact,
    (status, notice): (u16, Option<String>),
) -> Response<Bytes> {
    let template = OwnerPage {
        frame: visit.frame("Full access for a device"),
        notice,
        approval_id: review.approval_id.to_string(),
        revision: review.revision.clone(),
        decide_until: artifact.decide_until().map(Moment::of),
        client: ClientBlock::of(artifact),
    };
    page(status, &template, &Allow::default())
}

pub(crate) async fn approve(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let (subject_id, handle) = (session.subject_id, consent::handle(&form)?);
    let review = match visit.pages.server.review(&subject_id, &handle, None).await {
        Ok(review) => review,
        Err(fault) => return Err(cannot_be_decided(visit, fault, &handle)),
    };
    visit.entry.note = Some(review.approval_id.to_string());
    let artifact = Artifact::read(&review.artifact)?;
    if !artifact.is_owner_token() {
        return Err(invalid("This device asks for a grant; decide it on its own page.").into());
    }
    let again = |visit: &Visit, fault: OAuthFault| {
        let shown = (fault.code().status(), Some(fault.message()));
        let mut response = owner_page(visit, &review, &artifact, shown);
        respond::retry_after(&mut response, &fault);
        match fault {
            OAuthFault::TooOften(_) => Stop::Answer(response),
            fault => Stop::Refused { fault, response },
        }
    };
    if form.required("revision")? != review.revision {
        return Err(again(visit, invalid("What is asked has changed; look at it again.")));
    }
    let Some(password) = form.one("password")? else {
        return Err(again(visit, invalid("Type your passphrase to confirm that it is you.")));
    };
    let (server, password) = (visit.pages.server.clone(), Secret::presented(password));
    match server.confirm_passphrase(&subject_id, &password, visit.address()).await {
        Ok(true) => {}
        Ok(false) => {
            let wrong = OAuthFault::denied(Code::AuthenticationError, "That is not the passphrase.");
            return Err(again(visit, wrong));
        }
        Err(fault @ OAuthFault::TooOften(_)) => return Err(again(visit, fault)),
        Err(fault) => return Err(fault.into()),
    }
    match server.approve(&subject_id, &handle, &review.revision, None).await {
        Ok(approved) => {
            visit.entry.client_id = Some(approved.client_id.clone());
            Ok(after_approval(visit, &artifact, &approved.handover))
        }
        Err(fault) => Err(cannot_be_decided(visit, fault, &handle)),
    }
}

pub(crate) async fn deny(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let handle = consent::handle(&form)?;
    match visit.pages.server.deny(&session.subject_id, &handle).await {
        Ok((request, handover)) => {
            visit.entry.client_id = Some(request.client_id);
            visit.entry.note = Some(request.approval_id.to_string());
            Ok(after_denial(visit, &handover))
        }
        Err(fault) => Err(cannot_be_decided(visit, fault, &handle)),
    }
}
