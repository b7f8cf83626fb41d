//! Introducing this client to an authorization server (RFC 7591).

use serde_json::{Value, json};

use super::{ConnectError, ServerMetadata, web};

/// Where the browser comes back to; the port is the one that is free at the time (RFC 8252, 7.3).
pub(super) const REDIRECT: &str = "http://127.0.0.1/callback";

/// Who we are to an authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRegistration {
    /// The server's name for us.
    pub client_id: String,
    /// Our name for ourselves.
    pub client_name: String,
}

/// Registers, where that is possible; else takes the name everybody may use.
pub async fn register(
    server: &ServerMetadata,
    client_name: &str,
) -> Result<ClientRegistration, ConnectError> {
    let Some(endpoint) = &server.registration_endpoint else {
        let none = || ConnectError::NotSupported(format!("{} registers no clients", server.issuer));
        let client_id = server.public_client.clone().ok_or_else(none)?;
        return Ok(ClientRegistration { client_id, client_name: client_name.to_owned() });
    };
    let body = json!({
        "client_name": client_name,
        "application_type": "native",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token", super::device::DEVICE_GRANT],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    let answer = web::post_json(endpoint, &body).await?.success()?;
    let client_id = answer.get("client_id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let client_id =
        client_id.ok_or_else(|| ConnectError::Contract("the registration has no client_id".to_owned()))?;
    Ok(ClientRegistration { client_id: client_id.to_owned(), client_name: client_name.to_owned() })
}
