//! `/owner/first-run`: the link on the terminal makes its holder the owner.

use askama::Template;
use pdpp_access::Secret;
use pdpp_auth::OAuthFault;
use pdpp_wire::{Code, SubjectId};

use crate::form::{Form, invalid};
use crate::frame::Frame;
use crate::pages::Outcome;
use crate::respond::{Allow, page, redirect};
use crate::stop::Stop;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "first_run.html")]
struct FirstRunPage {
    frame: Frame,
    problem: Option<String>,
    /// The link's secret; none when it does not work any more.
    secret: Option<String>,
    /// The owner the link names, where it names one.
    owner: Option<String>,
}

pub(crate) async fn show(visit: &mut Visit) -> Outcome {
    let query = visit.query()?;
    let secret = holder(visit, &query).await?;
    Ok(shown(visit, 200, (None, Some((&secret, &query)))))
}

pub(crate) async fn submit(visit: &mut Visit) -> Outcome {
    visit.session().await?;
    let form = visit.form()?;
    let secret = holder(visit, &form).await?;
    let problem = |visit: &Visit, fault: OAuthFault| {
        let response = shown(visit, fault.code().status(), (Some(fault.message()), Some((&secret, &form))));
        Stop::Refused { fault, response }
    };
    let (first, second) = (form.one("password")?, form.one("password_again")?);
    let Some(passphrase) = first.filter(|_| first == second) else {
        return Err(problem(visit, invalid("The two passphrases are not the same.")));
    };
    let (owner, passphrase) = (owner_of(visit, &form)?, Secret::presented(passphrase));
    match visit.pages.server.clone().claim_first_run(&owner, &secret, &passphrase).await {
        Ok(signed_in) => {
            visit.sign_in(&signed_in);
            Ok(redirect("/owner"))
        }
        Err(fault) if fault.code() == Code::InvalidArgument => Err(problem(visit, fault)),
        Err(fault) => Err(fault.into()),
    }
}

/// The secret, if it still makes its holder the owner.
async fn holder(visit: &Visit, form: &Form) -> Result<Secret, Stop> {
    let secret = Secret::presented(form.one("secret")?.unwrap_or(""));
    if visit.pages.server.is_first_run(&owner_of(visit, form)?, &secret).await? {
        return Ok(secret);
    }
    let fault = OAuthFault::denied(Code::NotFound, "The link was used before, or has ended.");
    let response = shown(visit, 404, (None, None));
    Err(Stop::Refused { fault, response })
}

/// Whom the link is for.
fn owner_of(visit: &Visit, form: &Form) -> Result<SubjectId, OAuthFault> {
    match form.one("owner")? {
        None => Ok(visit.pages.usual_owner().clone()),
        Some(name) => SubjectId::parse(name).map_err(|_| invalid("`owner` is no owner's name.")),
    }
}

fn shown(
    visit: &Visit,
    status: u16,
    (problem, link): (Option<String>, Option<(&Secret, &Form)>),
) -> http::Response<bytes::Bytes> {
    let secret = link.map(|(secret, _)| secret.reveal().to_owned());
    let owner = link.and_then(|(_, form)| form.one("owner").ok().flatten()).map(str::to_owned);
    let template = FirstRunPage { frame: visit.frame("Make this yours"), problem, secret, owner };
    page(status, &template, &Allow::default())
}
