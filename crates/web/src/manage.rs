//! The buttons of the owner's page: each is one form, and leads back to the page.

use pdpp_auth::OAuthFault;
use pdpp_store::{Changed, SubscriptionChange, Switch};
use pdpp_wire::{ClientId, Code, DisabledReason, GrantId, SessionId, SubscriptionId};

use crate::pages::Outcome;
use crate::respond::redirect;
use crate::visit::Visit;

pub(crate) async fn revoke_grant(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let grant_id = GrantId::parse(form.required("grant_id")?).map_err(|_| nothing("grant"))?;
    visit.entry.grant_ids = vec![grant_id.clone()];
    visit.pages.server.authority().revoke(&session.subject_id, &grant_id).await?;
    Ok(redirect("/owner?done=revoked"))
}

pub(crate) async fn remove_client(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let client_id = ClientId::parse(form.required("client_id")?).map_err(|_| nothing("client"))?;
    visit.entry.client_id = Some(client_id.clone());
    let known = visit.pages.server.forget_client(&session.subject_id, &client_id).await?;
    if known { Ok(redirect("/owner?done=removed")) } else { Err(nothing("client").into()) }
}

/// Switches a subscription off. Its client cannot switch it on again, only ask for another.
pub(crate) async fn disable_subscription(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let id = form.required("subscription_id")?;
    let id = SubscriptionId::parse(id).map_err(|_| nothing("subscription"))?;
    visit.entry.note = Some(id.to_string());
    let change =
        SubscriptionChange { switch: Some(Switch::Off(DisabledReason::OwnerDisabled)), sealed_secret: None };
    let (store, now) = (visit.pages.store.clone(), visit.pages.server.now());
    match store.change_subscription(&session.subject_id, &id, &change, now).await? {
        Changed::Done(now) => visit.entry.client_id = Some(now.client_id),
        Changed::Refused(..) => {
            return Err(OAuthFault::denied(Code::InvalidState, "The subscription is off already.").into());
        }
        Changed::Absent => return Err(nothing("subscription").into()),
    }
    Ok(redirect("/owner?done=switched-off"))
}

/// Takes back a host to which a client's events could be sent, and switches off what was sent there.
pub(crate) async fn forbid_host(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let client_id = ClientId::parse(form.required("client_id")?).map_err(|_| nothing("client"))?;
    let host = form.required("host")?;
    visit.entry.client_id = Some(client_id.clone());
    let (store, now) = (visit.pages.store.clone(), visit.pages.server.now());
    match store.forbid_callback(&session.subject_id, &client_id, host, now).await? {
        Some(_) => {
            visit.entry.note = Some(host.to_owned());
            Ok(redirect("/owner?done=forbidden"))
        }
        None => Err(nothing("host").into()),
    }
}

pub(crate) async fn end_session(visit: &mut Visit) -> Outcome {
    let (session, form) = visit.owner_form().await?;
    let ended = SessionId::parse(form.required("session_id")?).map_err(|_| nothing("session"))?;
    if visit.pages.server.end_sessions(&session.subject_id, Some(&ended)).await? == 0 {
        return Err(nothing("session").into());
    }
    visit.entry.note = Some(ended.to_string());
    if ended == session.session_id {
        visit.sign_out();
        return Ok(redirect("/owner/login"));
    }
    Ok(redirect("/owner?done=ended"))
}

fn nothing(what: &str) -> OAuthFault {
    OAuthFault::denied(Code::NotFound, format!("There is no such {what}."))
}
