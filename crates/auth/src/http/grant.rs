//! `POST /grants/{id}/revoke`, for the owner and for a client that gives up what it has.

use bytes::Bytes;
use http::Response;
use pdpp_wire::Code;
use serde_json::json;

use super::call::Call;
use super::respond::ok;
use crate::{Limit, OAuthFault};

pub(super) async fn revoke(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::TOKEN)?;
    let missing = || OAuthFault::denied(Code::AuthenticationError, "Send `Authorization: Bearer <token>`.");
    let bearer = call.bearer()?.ok_or_else(missing)?;
    let (_, ended) = call.server.revoke_grant(&bearer, call.id()).await?;
    call.entry.subject_id = ended.subject_id;
    call.entry.client_id = ended.client_id;
    call.entry.grant_ids = ended.grant_ids;
    call.entry.token_id = ended.token_id;
    Ok(ok(&json!({ "revoked": true })))
}
