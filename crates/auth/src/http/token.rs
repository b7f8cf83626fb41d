//! `POST /oauth/token`: one thing for another, once.

use bytes::Bytes;
use http::Response;
use pdpp_access::Secret;
use pdpp_wire::OAuthCode;

use super::call::Call;
use super::respond::ok;
use crate::grants::id_of;
use crate::oauth::{CODE, CodeRedemption, DEVICE, REFRESH};
use crate::{Limit, OAuthFault};

pub(super) async fn serve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::TOKEN)?;
    let params = call.params()?;
    if let Some(client_id) = params.text("client_id")? {
        call.by_client(client_id);
    }
    let grant_type = params.required("grant_type")?;
    let secret = |name: &str| params.required(name).map(Secret::presented);
    let client_id = || params.required("client_id");
    let resources = params.resources()?;
    let answer = match grant_type {
        CODE => {
            call.action = Some("token.code");
            let asked = CodeRedemption {
                code: &secret("code")?,
                client_id: client_id()?,
                redirect_uri: params.required("redirect_uri")?,
                verifier: params.required("code_verifier")?,
                resources: &resources,
            };
            call.server.redeem_code(asked).await?
        }
        REFRESH => {
            call.action = Some("token.refresh");
            call.server.refresh(&secret("refresh_token")?, client_id()?, &resources).await?
        }
        DEVICE => {
            call.action = Some("token.device");
            call.server.redeem_device(&secret("device_code")?, client_id()?, &resources).await?
        }
        _ => {
            let message = "The grant types are authorization_code, refresh_token and device_code.";
            return Err(OAuthFault::refused(OAuthCode::UnsupportedGrantType, message));
        }
    };
    call.entry.subject_id = Some(answer.subject_id.clone());
    call.entry.grant_ids = answer.grants.iter().map(id_of).collect();
    call.entry.token_id = Some(answer.token_id.clone());
    Ok(ok(&answer.to_json()))
}
