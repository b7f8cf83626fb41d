//! `GET /oauth/authorize`: brings the owner's browser to the consent page, or back to the client with an error.

use bytes::Bytes;
use http::Response;

use super::body::Params;
use super::call::Call;
use super::respond::redirect;
use crate::{AuthorizeOutcome, AuthorizeRequest, Limit, OAuthFault};

pub(super) async fn serve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::STAGE)?;
    let params = call.query()?;
    if let Some(client_id) = params.text("client_id")? {
        call.by_client(client_id);
    }
    let request = read_request(&params)?;
    match call.server.authorize(request).await? {
        AuthorizeOutcome::Consent { location, client_id } => {
            call.entry.client_id = Some(client_id);
            redirect(&location)
        }
        AuthorizeOutcome::BackToClient { location, client_id, fault } => {
            call.entry.client_id = Some(client_id);
            // The refusal is in the redirect, which is a success of its own; the ledger is told here.
            let entry = call.entry.clone();
            call.server.note_refusal(call.request_id(), "request.authorize", entry, &fault).await?;
            call.action = Some("request.returned");
            redirect(&location)
        }
    }
}

pub(super) fn read_request(params: &Params) -> Result<AuthorizeRequest, OAuthFault> {
    Ok(AuthorizeRequest {
        client_id: params.owned("client_id")?,
        redirect_uri: params.owned("redirect_uri")?,
        response_type: params.owned("response_type")?,
        code_challenge: params.owned("code_challenge")?,
        code_challenge_method: params.owned("code_challenge_method")?,
        state: params.owned("state")?,
        resources: params.resources()?,
        authorization_details: params.value("authorization_details")?,
        connector_id: params.owned("connector_id")?,
        request_uri: params.owned("request_uri")?,
        event_callback_hosts: params.owned("event_callback_hosts")?,
    })
}
