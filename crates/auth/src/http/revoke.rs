//! `POST /oauth/revoke` (RFC 7009). A token nobody knows is answered like one that has just ended.

use bytes::Bytes;
use http::Response;
use pdpp_access::Secret;

use super::call::Call;
use super::respond::ok;
use crate::{Limit, OAuthFault};

pub(super) async fn serve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::TOKEN)?;
    let params = call.params()?;
    let client_id = params.required("client_id")?;
    call.by_client(client_id);
    let token = Secret::presented(params.required("token")?);
    match call.server.revoke_token(&token, client_id).await? {
        None => call.entry.note = Some("unknown token".to_owned()),
        Some(ended) => {
            call.entry.subject_id = ended.subject_id;
            call.entry.grant_ids = ended.grant_ids;
            call.entry.token_id = ended.token_id;
        }
    }
    Ok(ok(&serde_json::json!({})))
}
