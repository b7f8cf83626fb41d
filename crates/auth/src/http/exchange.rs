//! `POST /consent/exchange`: the code an owner carries to a client.

use bytes::Bytes;
use http::Response;
use pdpp_access::Secret;
use serde_json::json;

use super::call::Call;
use super::respond::ok;
use crate::grants::id_of;
use crate::{Limit, OAuthFault};

pub(super) async fn serve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::TOKEN)?;
    let params = call.params()?;
    let (request, answer) = call.server.exchange(&Secret::presented(params.required("code")?)).await?;
    call.entry.subject_id = Some(answer.subject_id.clone());
    call.entry.client_id = Some(request.client_id);
    call.entry.grant_ids = answer.grants.iter().map(id_of).collect();
    call.entry.token_id = Some(answer.token_id.clone());
    let mut body = answer.to_json();
    body.insert("token".to_owned(), answer.access_token.reveal().into());
    if let [grant] = answer.grants.as_slice() {
        body.insert("grant".to_owned(), json!(grant));
    }
    Ok(ok(&body))
}
