//! `/.well-known/oauth-authorization-server` (RFC 8414), with what the protocol adds to it.

use bytes::Bytes;
use http::Response;
use serde_json::{Value, json};

use super::call::Call;
use super::respond::ok;
use crate::oauth::{CODE, DEVICE, REFRESH};
use crate::{AuthorizationServer, DATA_ACCESS, OAuthFault};

pub(super) async fn serve(call: &mut Call) -> Result<Response<Bytes>, OAuthFault> {
    Ok(ok(&document(&call.server)))
}

fn document(server: &AuthorizationServer) -> Value {
    let issuer = server.issuer();
    let at = |path: &str| format!("{issuer}{path}");
    let (dynamic, described) = (server.settings().dynamic_registration, server.fetches_documents());
    let modes: Vec<_> = dynamic
        .then_some("dynamic")
        .into_iter()
        .chain(["pre_registered_public"])
        .chain(described.then_some("client_id_metadata_document"))
        .collect();
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": at("/oauth/authorize"),
        "token_endpoint": at("/oauth/token"),
        "pushed_authorization_request_endpoint": at("/oauth/par"),
        "require_pushed_authorization_requests": false,
        "device_authorization_endpoint": at("/oauth/device_authorization"),
        "introspection_endpoint": at("/introspect"),
        "introspection_endpoint_auth_methods_supported": ["client_secret_basic"],
        "revocation_endpoint": at("/oauth/revoke"),
        "revocation_endpoint_auth_methods_supported": ["none"],
        "agent_connect_endpoint": at("/agent-connect"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [CODE, REFRESH, DEVICE],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_details_types_supported": [DATA_ACCESS],
        "authorization_response_iss_parameter_supported": true,
        "pdpp_authorization_details_types_supported": [DATA_ACCESS],
        "pdpp_registration_modes_supported": modes,
        "pdpp_event_callback_hosts_parameter_supported": true,
        "pdpp_pre_registered_public_clients": [{
            "client_id": "pdpp_cli", "client_name": "PDPP command line", "token_endpoint_auth_method": "none",
        }],
        "pdpp_provider_connect_capabilities":
            ["owner_self_export", "cli_device_connect", "third_party_client_connect"],
        "pdpp_device_authorization_profiles_supported": [
            {
                "profile": "grant_scoped_mcp", "pdpp_token_kind": "client", "normal_mcp_setup": true,
                "authorization_details_type": DATA_ACCESS,
                "required_parameters": ["client_id", "resource", "authorization_details"],
            },
            {
                "profile": "trusted_owner_agent", "pdpp_token_kind": "owner", "normal_mcp_setup": false,
                "advertised_in": "pdpp_owner_agent_onboarding", "mcp_owner_bearer_rejected": true,
            },
        ],
    });
    if dynamic {
        document["registration_endpoint"] = at("/oauth/register").into();
    }
    // Only what works is advertised.
    if described {
        document["client_id_metadata_document_supported"] = true.into();
    }
    document
}
