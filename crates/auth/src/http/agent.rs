//! `POST /agent-connect` and `POST /agent-connect/{id}/token`: an agent that waits for its own request's outcome.

use bytes::Bytes;
use http::{Response, StatusCode};
use pdpp_access::Secret;
use pdpp_wire::OAuthCode;
use serde_json::json;

use super::call::Call;
use super::respond::{json_with, ok};
use crate::grants::id_of;
use crate::{AgentOutcome, Limit, OAuthFault};

pub(super) async fn start(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::STAGE)?;
    let params = call.json()?;
    let (request_uri, client_id) = (params.required("request_uri")?, params.required("client_id")?);
    call.by_client(client_id);
    let started = call.server.start_agent(request_uri, client_id).await?;
    call.entry.note = Some(started.approval_id.to_string());
    let token_url = format!("{}/agent-connect/{}/token", call.server.issuer(), started.id);
    let body = json!({
        "object": "agent_connect_attempt",
        "id": started.id,
        "status": "pending",
        "approval_url": started.approval_url,
        "poll_url": token_url,
        "token_url": token_url,
        "interval": started.interval,
        "expires_in": started.expires_in,
        "polling_code": started.polling_code.reveal(),
    });
    Ok(json_with(StatusCode::CREATED, &body))
}

pub(super) async fn token(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::TOKEN)?;
    let params = call.json()?;
    let code = Secret::presented(params.required("polling_code")?);
    match call.server.redeem_agent(call.id(), &code).await {
        Ok(AgentOutcome::Pending(interval)) => {
            call.action = Some("agent.poll");
            let body = json!({ "error": "authorization_pending", "status": "pending", "interval": interval });
            Ok(json_with(StatusCode::ACCEPTED, &body))
        }
        Ok(AgentOutcome::Issued(answer, client_id)) => {
            call.entry.subject_id = Some(answer.subject_id.clone());
            call.entry.client_id = Some(client_id);
            call.entry.grant_ids = answer.grants.iter().map(id_of).collect();
            call.entry.token_id = Some(answer.token_id.clone());
            let mut body = answer.to_json();
            if let [grant] = answer.grants.as_slice() {
                body.insert("grant".to_owned(), json!(grant));
            }
            Ok(ok(&body))
        }
        Err(OAuthFault::Refused { code, message }) => {
            let fault = OAuthFault::refused(code, message);
            let entry = call.entry.clone();
            call.server.note_refusal(call.request_id(), "agent.token", entry, &fault).await?;
            call.action = Some("agent.refused");
            let status = match code {
                OAuthCode::InvalidGrant => StatusCode::UNAUTHORIZED,
                OAuthCode::AccessDenied => StatusCode::FORBIDDEN,
                _ => StatusCode::BAD_REQUEST,
            };
            let body = json!({
                "error": code.as_str(), "error_description": fault.message(), "request_id": call.request_id(),
            });
            Ok(json_with(status, &body))
        }
        Err(other) => Err(other),
    }
}
