//! `POST /oauth/register`, and `GET` and `DELETE` of the registration it answers with.

use bytes::Bytes;
use http::{Response, StatusCode};
use pdpp_access::Secret;
use pdpp_wire::{Instant, OAuthCode};
use serde_json::{Value, json};

use super::call::Call;
use super::respond::{json_with, ok};
use crate::{ClientMetadata, Limit, OAuthFault};

/// Largest metadata, in bytes.
const MAX_METADATA: usize = 16 * 1024;

pub(super) async fn create(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::REGISTER)?;
    let params = call.json()?;
    let members = params.members();
    if serde_json::to_string(members).is_ok_and(|text| text.len() > MAX_METADATA) {
        let message = format!("The metadata is larger than {MAX_METADATA} bytes.");
        return Err(OAuthFault::refused(OAuthCode::InvalidClientMetadata, message));
    }
    let registered = call.server.register(members, None).await?;
    call.entry.client_id = Some(registered.client_id.clone());
    let mut body =
        description(call, registered.client_id.as_str(), &registered.metadata, registered.issued_at);
    body["registration_access_token"] = registered.registration_token.reveal().into();
    Ok(json_with(StatusCode::CREATED, &body))
}

pub(super) async fn read(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::TOKEN)?;
    let token = presented(call)?;
    let (client, metadata) = call.server.registration(call.id(), &token).await?;
    Ok(ok(&description(call, client.client_id.as_str(), &metadata, client.first_seen)))
}

pub(super) async fn delete(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::TOKEN)?;
    let id = call.id().to_owned();
    call.by_client(&id);
    let token = presented(call)?;
    call.server.unregister(&id, &token).await?;
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

fn presented(call: &Call) -> Result<Secret, OAuthFault> {
    let missing =
        || OAuthFault::refused(OAuthCode::InvalidToken, "Send the registration token as a bearer token.");
    call.bearer().map_err(|_| missing())?.ok_or_else(missing)
}

fn description(call: &Call, client_id: &str, metadata: &ClientMetadata, issued_at: Instant) -> Value {
    let mut body = json!({
        "client_id": client_id,
        "client_id_issued_at": issued_at.unix_seconds(),
        "redirect_uris": metadata.redirect_uris,
        "grant_types": metadata.grant_types,
        "response_types": if metadata.redirect_uris.is_empty() { json!([]) } else { json!(["code"]) },
        "application_type": metadata.application_type,
        "token_endpoint_auth_method": "none",
        "registration_client_uri": format!("{}/oauth/register/{client_id}", call.server.issuer()),
    });
    for (name, value) in [
        ("client_name", &metadata.client_name),
        ("client_uri", &metadata.client_uri),
        ("logo_uri", &metadata.logo_uri),
        ("policy_uri", &metadata.policy_uri),
        ("tos_uri", &metadata.tos_uri),
    ] {
        if let Some(text) = value {
            body[name] = text.as_str().into();
        }
    }
    body
}
