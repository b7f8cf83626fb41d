//! `/owner/login` and `/owner/logout`.

use askama::Template;
use http::StatusCode;
use pdpp_access::Secret;
use pdpp_auth::OAuthFault;
use pdpp_wire::Code;
use serde::Deserialize;
use serde_json::json;

use crate::form::invalid;
use crate::frame::Frame;
use crate::pages::Outcome;
use crate::passkeys::Script;
use crate::respond::{self, Allow, page, redirect};
use crate::return_to;
use crate::stop::Stop;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    frame: Frame,
    return_to: String,
    /// Why the last try did not work.
    problem: Option<String>,
    /// Whether there is an owner to sign in as.
    owned: bool,
    /// Present where a passkey can sign in.
    script: Option<Script>,
}

impl LoginPage {
    fn allow(&self) -> Allow {
        Allow { script: self.script.as_ref().map(|script| script.nonce.clone()), ..Allow::default() }
    }
}

/// What a program sends instead of the form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    password: String,
    #[serde(default)]
    return_to: Option<String>,
}

pub(crate) async fn show(visit: &mut Visit) -> Outcome {
    let query = visit.query()?;
    let return_to = return_to::checked(query.one("return_to")?).to_owned();
    if visit.session().await?.is_some() {
        return Ok(redirect(&return_to));
    }
    let page = login_page(visit, return_to, None).await?;
    Ok(respond::page(200, &page, &page.allow()))
}

async fn login_page(
    visit: &Visit,
    return_to: String,
    problem: Option<String>,
) -> Result<LoginPage, OAuthFault> {
    let (server, subject_id) = (&visit.pages.server, visit.pages.owner());
    let owned = server.authority().has_passphrase(subject_id).await?;
    let here = server.passkey_origin().is_some_and(|origin| visit.is_at(origin));
    let script = (here && !server.passkeys(subject_id).await?.is_empty()).then(|| Script::new(visit));
    Ok(LoginPage { frame: visit.frame("Sign in"), return_to, problem, owned, script })
}

pub(crate) async fn submit(visit: &mut Visit) -> Outcome {
    let (password, return_to) = if visit.is_json() {
        visit.refuse_other_origins()?;
        let login: Login =
            serde_json::from_slice(visit.body()?).map_err(|_| invalid("Send `password` as JSON."))?;
        (Secret::presented(login.password), login.return_to)
    } else {
        // A session that is still alive is part of the token, so it is looked at first.
        visit.session().await?;
        let form = visit.form()?;
        (Secret::presented(form.required("password")?), form.one("return_to")?.map(str::to_owned))
    };
    let return_to = return_to::checked(return_to.as_deref()).to_owned();
    let owner = visit.pages.owner().clone();
    let tried = visit.pages.server.sign_in(&owner, &password, visit.address()).await;
    let fault = match tried {
        Ok(Some(signed_in)) => {
            visit.sign_in(&signed_in);
            if visit.is_json() {
                return Ok(respond::json(
                    StatusCode::OK,
                    &json!({ "signed_in": true, "return_to": return_to }),
                ));
            }
            return Ok(redirect(&return_to));
        }
        Ok(None) => OAuthFault::denied(Code::AuthenticationError, "That is not the passphrase."),
        Err(fault @ OAuthFault::TooOften(_)) => fault,
        Err(fault) => return Err(fault.into()),
    };
    if !visit.wants_a_page() {
        return Err(fault.into());
    }
    let template = login_page(visit, return_to, Some(fault.message())).await?;
    let mut response = page(fault.code().status(), &template, &template.allow());
    respond::retry_after(&mut response, &fault);
    // A flood of guesses must not become a flood of entries.
    Err(match fault {
        OAuthFault::TooOften(_) => Stop::Answer(response),
        fault => Stop::Refused { fault, response },
    })
}

pub(crate) async fn leave(visit: &mut Visit) -> Outcome {
    let Some(session) = visit.session().await? else {
        visit.sign_out();
        return Err(Stop::Answer(redirect("/owner/login")));
    };
    visit.form()?;
    visit.pages.server.end_sessions(&session.subject_id, Some(&session.session_id)).await?;
    visit.sign_out();
    Ok(redirect("/owner/login"))
}
