//! `POST /introspect` (RFC 7662), for a resource server with its credential.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Response;
use http::header::AUTHORIZATION;
use pdpp_access::Secret;
use pdpp_wire::Code;

use super::call::Call;
use super::respond::ok;
use crate::{Limit, OAuthFault};

pub(super) async fn serve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    let refused = || OAuthFault::denied(Code::IntrospectionRefused, "The introspection credential is wrong.");
    let header = call.one_header(&AUTHORIZATION).map_err(|_| refused())?.ok_or_else(refused)?;
    let encoded = header.strip_prefix("Basic ").ok_or_else(refused)?;
    let decoded = STANDARD.decode(encoded.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let (name, secret) = decoded.as_deref().and_then(|pair| pair.split_once(':')).ok_or_else(refused)?;
    if !call.server.may_introspect(name, &Secret::presented(secret)) {
        call.limit(Limit::TOKEN)?;
        return Err(refused());
    }
    let token = Secret::presented(call.params()?.required("token")?);
    Ok(ok(&call.server.introspect(&token).await?.0))
}
