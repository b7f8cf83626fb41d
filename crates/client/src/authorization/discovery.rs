//! From a resource server to the authorization server that guards it (RFC 9728, RFC 8414).

use serde_json::Value;

use super::{ConnectError, web};
use crate::ProviderUrl;

const RESOURCE: &str = "oauth-protected-resource";
const SERVER: &str = "oauth-authorization-server";

/// What an authorization server says it can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMetadata {
    /// Its name, which its answers must carry.
    pub issuer: String,
    /// Where the owner's browser goes.
    pub authorization_endpoint: Option<String>,
    /// Where codes become tokens.
    pub token_endpoint: String,
    /// Where requests are pushed (RFC 9126).
    pub pushed_endpoint: Option<String>,
    /// Where devices start (RFC 8628).
    pub device_endpoint: Option<String>,
    /// Where clients register (RFC 7591).
    pub registration_endpoint: Option<String>,
    /// Where tokens end (RFC 7009).
    pub revocation_endpoint: Option<String>,
    /// Whether its answers always carry its name (RFC 9207).
    pub names_itself: bool,
    /// A client everybody may be, where it has one for the command line.
    pub public_client: Option<String>,
}

/// Finds the authorization server of a resource. Both documents must name who was asked: a server cannot speak for
/// another.
pub async fn discover(provider_url: &ProviderUrl) -> Result<ServerMetadata, ConnectError> {
    let document = resource_document(provider_url).await?;
    let own = document.get("resource").and_then(Value::as_str).unwrap_or_default();
    if ProviderUrl::parse(own).as_ref() != Ok(provider_url) {
        let message = format!("{provider_url} calls itself '{own}'; connect to it under that name");
        return Err(ConnectError::Metadata(message));
    }
    let issuer = document
        .get("authorization_servers")
        .and_then(Value::as_array)
        .and_then(|servers| servers.iter().find_map(Value::as_str))
        .ok_or_else(|| ConnectError::NotSupported(format!("{provider_url} names no authorization server")))?;
    read_server(issuer).await
}

async fn resource_document(provider_url: &ProviderUrl) -> Result<Value, ConnectError> {
    let first = provider_url.well_known(RESOURCE);
    let second = provider_url.join(&format!("/.well-known/{RESOURCE}"));
    let mut answer = web::get(&first).await?;
    if answer.status != 200 && second != first {
        answer = web::get(&second).await?;
    }
    match answer.status {
        200 if answer.body.is_object() => Ok(answer.body),
        status => Err(ConnectError::Metadata(format!(
            "{first} is no protected-resource document (status {status}); is {provider_url} a PDPP server?"
        ))),
    }
}

/// Reads the document of an authorization server.
pub(super) async fn read_server(issuer: &str) -> Result<ServerMetadata, ConnectError> {
    let address = ProviderUrl::parse(issuer)?.well_known(SERVER);
    let answer = web::get(&address).await?;
    if answer.status != 200 {
        let message = format!("{address} is no authorization-server document (status {})", answer.status);
        return Err(ConnectError::Metadata(message));
    }
    let text = |name: &str| answer.body.get(name).and_then(Value::as_str).map(str::to_owned);
    if text("issuer").as_deref() != Some(issuer) {
        let message =
            format!("{address} belongs to '{}' and not to {issuer}", text("issuer").unwrap_or_default());
        return Err(ConnectError::Metadata(message));
    }
    let endpoint = |name: &str| match text(name) {
        None => Ok(None),
        Some(address) => web::checked(&address).map(|_| Some(address)),
    };
    let public = answer.body.get("pdpp_pre_registered_public_clients").and_then(Value::as_array);
    let public_client = public
        .into_iter()
        .flatten()
        .filter_map(|client| client.get("client_id")?.as_str())
        .find(|id| *id == "pdpp_cli")
        .map(str::to_owned);
    let missing = || ConnectError::Metadata(format!("{address} names no token endpoint"));
    Ok(ServerMetadata {
        issuer: issuer.to_owned(),
        authorization_endpoint: endpoint("authorization_endpoint")?,
        token_endpoint: endpoint("token_endpoint")?.ok_or_else(missing)?,
        pushed_endpoint: endpoint("pushed_authorization_request_endpoint")?,
        device_endpoint: endpoint("device_authorization_endpoint")?,
        registration_endpoint: endpoint("registration_endpoint")?,
        revocation_endpoint: endpoint("revocation_endpoint")?,
        names_itself: answer.body.get("authorization_response_iss_parameter_supported")
            == Some(&Value::Bool(true)),
        public_client,
    })
}

/// Where an authorization server ends tokens, for credentials that were kept without saying so.
pub async fn revocation_endpoint(issuer: &str) -> Result<Option<String>, ConnectError> {
    Ok(read_server(issuer).await?.revocation_endpoint)
}
