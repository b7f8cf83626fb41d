//! The buttons of the owner's page: each is one form, and leads back to the page.

use pdpp_auth::OAuthFault;
use pdpp_wire::{ClientId, Code, GrantId, SessionId};

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
    let mut known = visit.pages.server.remove_client(&client_id).await?;
    // A client the owner named on the command line is known by its grants alone.
    for grant in visit.pages.server.authority().list(&session.subject_id).await? {
        let document = pdpp_wire::Grant::parse(&grant.standing.document);
        if document.is_ok_and(|document| document.client.client_id == client_id) {
            visit.pages.server.authority().revoke(&session.subject_id, &grant.grant_id).await?;
            known = true;
        }
    }
    if known { Ok(redirect("/owner?done=removed")) } else { Err(nothing("client").into()) }
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
