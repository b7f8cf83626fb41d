//! `POST /oauth/device_authorization` (RFC 8628): with a resource or details for a grant, without for the owner.

use bytes::Bytes;
use http::Response;
use serde_json::json;

use super::call::Call;
use super::respond::ok;
use crate::{DeviceStarted, Limit, OAuthFault};

pub(super) async fn serve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    call.limit(Limit::STAGE)?;
    let params = call.params()?;
    let client_id = params.required("client_id")?;
    call.by_client(client_id);
    let (resources, details) = (params.resources()?, params.value("authorization_details")?);
    let hosts = params.text("event_callback_hosts")?;
    let started = call.server.start_device(client_id, &resources, details.as_ref(), hosts).await?;
    let DeviceStarted { device_code, user_code, verification_uri, expires_in, interval, .. } = &started;
    call.entry.note = Some(started.approval_id.to_string());
    Ok(ok(&json!({
        "device_code": device_code.reveal(),
        "user_code": user_code,
        "verification_uri": verification_uri,
        "verification_uri_complete": started.verification_uri_complete,
        "expires_in": expires_in,
        "interval": interval,
    })))
}
