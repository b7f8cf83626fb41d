//! Passkeys: `/owner/passkeys` to add and remove them, and the two calls by which one signs in.
//!
//! The calls take JSON from our own origin alone. Adding one asks for the passphrase, so that a browser left open
//! cannot be made an owner for ever.

use askama::Template;
use http::StatusCode;
use pdpp_access::Secret;
use pdpp_auth::{Challenge, Limit, OAuthFault};
use pdpp_store::StoredPasskey;
use pdpp_wire::Code;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::form::invalid;
use crate::frame::Frame;
use crate::moment::Moment;
use crate::pages::Outcome;
use crate::respond::{self, Allow, page, redirect};
use crate::visit::Visit;
use crate::{assets, login, return_to, stranger};

/// The one script of a page, and the nonce that lets it run.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) nonce: String,
    pub(crate) path: &'static str,
}

impl Script {
    pub(crate) fn new(visit: &Visit) -> Self {
        let nonce = pdpp_access::random_hex(visit.pages.server.entropy(), 16);
        Self { nonce, path: assets::passkey_path() }
    }
}

#[derive(Template)]
#[template(path = "passkeys.html")]
struct PasskeysPage {
    frame: Frame,
    notice: Option<&'static str>,
    passkeys: Vec<PasskeyRow>,
    /// Present where passkeys can be added.
    script: Option<Script>,
    /// Where they can be, when not here.
    elsewhere: Option<String>,
}

struct PasskeyRow {
    id: String,
    passkey_id: String,
    label: String,
    since: Moment,
    last_used: Option<Moment>,
}

pub(crate) async fn show(visit: &mut Visit) -> Outcome {
    let session = visit.owner_of_page().await?;
    let notice = match visit.query()?.one("done")? {
        Some("added") => Some("The passkey is kept. You can sign in with it from now on."),
        Some("removed") => Some("The passkey no longer signs anyone in."),
        _ => None,
    };
    let passkeys = visit.pages.server.passkeys(&session.subject_id).await?;
    let (script, elsewhere) = match visit.pages.server.passkey_origin() {
        Some(origin) if visit.is_at(origin) => (Some(Script::new(visit)), None),
        other => (None, other.map(|origin| format!("{origin}/owner/passkeys"))),
    };
    let row = |(at, passkey): (usize, &StoredPasskey)| PasskeyRow {
        id: at.to_string(),
        passkey_id: passkey.passkey_id.clone(),
        label: stranger::name(&passkey.label),
        since: Moment::of(passkey.created_at),
        last_used: passkey.last_used_at.map(Moment::of),
    };
    let allow = Allow { script: script.as_ref().map(|script| script.nonce.clone()), ..Allow::default() };
    let template = PasskeysPage {
        frame: visit.frame("Passkeys"),
        notice,
        passkeys: passkeys.iter().enumerate().map(row).collect(),
        script,
        elsewhere,
    };
    Ok(page(200, &template, &allow))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Begin {
    password: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finish {
    ceremony: String,
    #[serde(default)]
    label: String,
    credential: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignIn {
    ceremony: String,
    #[serde(default)]
    return_to: Option<String>,
    credential: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Who {
    /// Which owner, where there are several.
    #[serde(default)]
    owner: Option<String>,
}

pub(crate) async fn begin(visit: &mut Visit) -> Outcome {
    let session = visit.owner("/owner/passkeys").await?;
    let Begin { password } = read(visit)?;
    let server = visit.pages.server.clone();
    let password = Secret::presented(password);
    if !server.confirm_passphrase(&session.subject_id, &password, visit.address()).await? {
        return Err(OAuthFault::denied(Code::AuthenticationError, "That is not the passphrase.").into());
    }
    Ok(told(&server.begin_passkey(&session.subject_id).await?))
}

pub(crate) async fn finish(visit: &mut Visit) -> Outcome {
    let session = visit.owner("/owner/passkeys").await?;
    let Finish { ceremony, label, credential } = read(visit)?;
    let server = visit.pages.server.clone();
    let kept = server.finish_passkey(&session.subject_id, &ceremony, &label, &credential).await?;
    visit.entry.note = Some(kept.passkey_id.chars().take(16).collect());
    Ok(respond::json(StatusCode::CREATED, &json!({ "passkey_id": kept.passkey_id, "label": kept.label })))
}

pub(crate) async fn remove(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let passkey_id = form.required("passkey_id")?;
    if !visit.pages.server.clone().remove_passkey(&session.subject_id, passkey_id).await? {
        return Err(OAuthFault::denied(Code::NotFound, "There is no such passkey.").into());
    }
    visit.entry.note = Some(passkey_id.chars().take(16).collect());
    Ok(redirect("/owner/passkeys?done=removed"))
}

pub(crate) async fn begin_sign_in(visit: &mut Visit) -> Outcome {
    visit.pages.server.limit(Limit::STAGE, visit.address())?;
    let Who { owner } = read(visit)?;
    let owner = login::owner_named(visit, owner.as_deref()).await?;
    match visit.pages.server.begin_passkey_sign_in(&owner).await? {
        Some(challenge) => Ok(told(&challenge)),
        None => Err(OAuthFault::denied(Code::NotFound, "There is no passkey; use the passphrase.").into()),
    }
}

pub(crate) async fn finish_sign_in(visit: &mut Visit) -> Outcome {
    visit.pages.server.limit(Limit::STAGE, visit.address())?;
    let SignIn { ceremony, return_to, credential } = read(visit)?;
    let server = visit.pages.server.clone();
    let Some(signed_in) = server.finish_passkey_sign_in(&ceremony, &credential).await? else {
        return Err(OAuthFault::denied(Code::AuthenticationError, "The passkey does not sign you in.").into());
    };
    visit.entry.note = Some("passkey".to_owned());
    visit.sign_in(&signed_in);
    let return_to = return_to::checked(return_to.as_deref());
    Ok(respond::json(StatusCode::OK, &json!({ "signed_in": true, "return_to": return_to })))
}

fn told(challenge: &Challenge) -> http::Response<bytes::Bytes> {
    respond::json(StatusCode::OK, &json!({ "ceremony": challenge.ceremony, "options": challenge.options }))
}

/// A call of our own script: JSON, which no page of another origin can send unasked.
fn read<T: DeserializeOwned>(visit: &Visit) -> Result<T, OAuthFault> {
    visit.refuse_other_origins()?;
    if !visit.is_json() {
        return Err(OAuthFault::denied(Code::UnsupportedMediaType, "Send `application/json`."));
    }
    serde_json::from_slice(visit.body()?).map_err(|_| invalid("The body has another shape."))
}
