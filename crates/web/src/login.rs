//! `/owner/login` and `/owner/logout`.

use askama::Template;
use http::StatusCode;
use pdpp_access::Secret;
use pdpp_auth::{OAuthFault, SignedIn};
use pdpp_wire::{Code, SubjectId};
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
    /// Whether there are several, so that one has to be named.
    several: bool,
    /// The name that was tried.
    owner: String,
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
    /// Which owner, where there are several.
    #[serde(default)]
    owner: Option<String>,
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

/// The page again, after a try with a name that did not work, or for the first time.
async fn login_page(
    visit: &Visit,
    return_to: String,
    tried: Option<(Option<String>, String)>,
) -> Result<LoginPage, OAuthFault> {
    let server = &visit.pages.server;
    let here = server.passkey_origin().is_some_and(|origin| visit.is_at(origin));
    let sole = server.sole_owner().await?;
    let (has_passphrase, passkey) = match &sole {
        Some(owner) => {
            let has_passkey = here && !server.passkeys(owner).await?.is_empty();
            (server.authority().has_passphrase(owner).await?, has_passkey)
        }
        // Whether anyone in particular has either is told to nobody.
        None => (true, here),
    };
    let script = passkey.then(|| Script::new(visit));
    let (owner, problem) = tried.map_or((None, None), |(owner, problem)| (owner, Some(problem)));
    let (several, owner) = (sole.is_none(), owner.unwrap_or_default());
    Ok(LoginPage {
        frame: visit.frame("Sign in"),
        return_to,
        problem,
        owned: has_passphrase,
        several,
        owner,
        script,
    })
}

/// Whom a name means at the door: the only owner, where nobody is named. Where there are several, somebody must be.
pub(crate) async fn owner_named(visit: &Visit, name: Option<&str>) -> Result<SubjectId, OAuthFault> {
    match (name.filter(|name| !name.is_empty()), visit.pages.server.sole_owner().await?) {
        // A name nobody can have is refused as a name nobody has.
        (Some(name), _) => SubjectId::parse(name.trim()).map_err(|_| wrong(Some(name))),
        (None, Some(owner)) => Ok(owner),
        (None, None) => Err(invalid("There are several owners here: name one as `owner`.")),
    }
}

/// The same words whether it is the name or the passphrase that is wrong.
fn wrong(name: Option<&str>) -> OAuthFault {
    let message = match name {
        None => "That is not the passphrase.",
        Some(_) => "That is not an owner and their passphrase.",
    };
    OAuthFault::denied(Code::AuthenticationError, message)
}

struct Tried {
    owner: Option<String>,
    password: Secret,
    return_to: String,
}

async fn read(visit: &mut Visit) -> Result<Tried, OAuthFault> {
    let (owner, password, return_to) = if visit.is_json() {
        visit.refuse_other_origins()?;
        let login: Login =
            serde_json::from_slice(visit.body()?).map_err(|_| invalid("Send `password` as JSON."))?;
        (login.owner, Secret::presented(login.password), login.return_to)
    } else {
        // A session that is still alive is part of the token, so it is looked at first.
        visit.session().await?;
        let form = visit.form()?;
        let text = |name| form.one(name).map(|value| value.map(str::to_owned));
        (text("owner")?, Secret::presented(form.required("password")?), text("return_to")?)
    };
    Ok(Tried { owner, password, return_to: return_to::checked(return_to.as_deref()).to_owned() })
}

pub(crate) async fn submit(visit: &mut Visit) -> Outcome {
    let Tried { owner, password, return_to } = read(visit).await?;
    let fault = match sign_in(visit, owner.as_deref(), &password).await {
        Ok(signed_in) => {
            visit.sign_in(&signed_in);
            if visit.is_json() {
                return Ok(respond::json(
                    StatusCode::OK,
                    &json!({ "signed_in": true, "return_to": return_to }),
                ));
            }
            return Ok(redirect(&return_to));
        }
        Err(fault) if matches!(fault, OAuthFault::TooOften(_)) => fault,
        Err(fault) if fault.code() == Code::AuthenticationError => fault,
        Err(fault) => return Err(fault.into()),
    };
    if !visit.wants_a_page() {
        return Err(fault.into());
    }
    let template = login_page(visit, return_to, Some((owner, fault.message()))).await?;
    let mut response = page(fault.code().status(), &template, &template.allow());
    respond::retry_after(&mut response, &fault);
    // A flood of guesses must not become a flood of entries.
    Err(match fault {
        OAuthFault::TooOften(_) => Stop::Answer(response),
        fault => Stop::Refused { fault, response },
    })
}

/// Signs in whoever is named. A try at an owner who can sign in stands in that owner's ledger.
async fn sign_in(visit: &mut Visit, name: Option<&str>, password: &Secret) -> Result<SignedIn, OAuthFault> {
    let owner = owner_named(visit, name).await?;
    let server = visit.pages.server.clone();
    if name.is_some() && server.authority().has_passphrase(&owner).await? {
        visit.entry.subject_id = Some(owner.clone());
    }
    server.sign_in(&owner, password, visit.address()).await?.ok_or_else(|| wrong(name))
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
