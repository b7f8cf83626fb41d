//! `POST /oauth/par`: a form is RFC 9126 and goes on at the authorization endpoint; JSON with
//! `authorization_details` alone goes on at the consent page and ends in an exchange code or a waiting agent.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::authorize::read_request;
use super::call::Call;
use super::respond::{Envelope, json_with};
use crate::{Limit, OAuthFault, Pushed};

pub(super) async fn serve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::STAGE)?;
    if !call.is_json()? {
        call.envelope = Some(Envelope::OAuth);
    }
    let params = call.params()?;
    if let Some(client_id) = params.text("client_id")? {
        call.by_client(client_id);
    }
    let pushed = if call.is_json()? && !params.has("response_type") {
        params.allow_only(&[
            "client_id",
            "authorization_details",
            "client_display",
            "scenario_id",
            "resource",
            "event_callback_hosts",
        ])?;
        let details = params.value("authorization_details")?.unwrap_or(Value::Null);
        let claimed = params.value("client_display")?.and_then(|display| {
            display.get("name").and_then(Value::as_str).map(|name| name.chars().take(256).collect())
        });
        let client_id = params.required("client_id")?;
        let (resources, hosts) = (params.resources()?, params.text("event_callback_hosts")?);
        call.server.push_json(client_id, &details, claimed, (&resources, hosts)).await?
    } else {
        call.server.push_form(read_request(&params)?).await?
    };
    let Pushed { request_uri, approval_url, approval_id, expires_in } = pushed;
    call.entry.note = Some(approval_id.to_string());
    let mut body = json!({ "request_uri": request_uri, "expires_in": expires_in });
    if let Some(url) = approval_url {
        body["authorization_url"] = url.into();
    }
    Ok(json_with(StatusCode::CREATED, &body))
}
