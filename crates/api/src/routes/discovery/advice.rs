//! Advice for programs that read the protected-resource documents: how to ask for access, and what not to send.
//!
//! It is given only where there is an authorization server to ask.

use serde_json::{Map, Value, json};

use crate::ApiState;

/// How an agent gets access that is bound to a grant.
pub(super) fn agent_discovery(state: &ApiState, base: &str) -> Option<Map<String, Value>> {
    let issuer = state.settings.authorization_servers.first()?;
    let advice = json!({
        "advisory": true,
        "skill_name": "pdpp-data-access",
        "recommended_flow": "pdpp connect",
        "cli": {
            "bin_name": "pdpp",
            "connect_command": format!("pdpp connect {base}"),
            "run_command": "pdpp mcp",
            "no_owner_token": true,
            "no_owner_token_policy": "An agent is given a grant, never the owner's own token.",
        },
        "mcp": {
            "endpoint": format!("{base}/mcp"),
            "transport": "streamable_http",
            "setup_intent": "grant_scoped_read",
            "tool_surface": "read",
            "no_owner_token": true,
            "authorization": {
                "authorization_code_pkce": {
                    "authorization_endpoint": format!("{issuer}/oauth/authorize"),
                    "token_endpoint": format!("{issuer}/oauth/token"),
                    "registration_endpoint": format!("{issuer}/oauth/register"),
                    "code_challenge_method": "S256",
                    "required_parameters": ["client_id", "redirect_uri", "code_challenge", "resource"],
                    "pdpp_token_kind": "client",
                },
                "device_code": {
                    "device_authorization_endpoint": format!("{issuer}/oauth/device_authorization"),
                    "token_endpoint": format!("{issuer}/oauth/token"),
                    "authorization_details_type": "https://pdpp.dev/data-access",
                    "required_parameters": ["client_id", "resource", "authorization_details"],
                    "pdpp_token_kind": "client",
                },
                "owner_agent_device_code": {
                    "advertised_in": "pdpp_owner_agent_onboarding",
                    "mcp_owner_bearer_rejected": true,
                },
            },
        },
    });
    as_members(advice)
}

/// How a program the owner trusts with everything gets the owner's own credential.
pub(super) fn owner_onboarding(state: &ApiState, base: &str) -> Option<Map<String, Value>> {
    let issuer = state.settings.authorization_servers.first()?;
    as_members(json!({
        "advisory": true,
        "profile": "trusted_owner_agent",
        "pdpp_token_kind": "owner",
        "warning": "This credential opens everything the owner has. Prefer a grant.",
        "resource": base,
        "authorization_server": issuer,
        "owner_approval_url": format!("{issuer}/device"),
        "device_authorization_endpoint": format!("{issuer}/oauth/device_authorization"),
        "token_endpoint": format!("{issuer}/oauth/token"),
        "introspection_endpoint": format!("{issuer}/introspect"),
        "registration_endpoint": format!("{issuer}/oauth/register"),
        "revocation_path_template": format!("{issuer}/oauth/register/{{client_id}}"),
        "schema_endpoint": format!("{base}/v1/schema"),
        "schema_compact_endpoint": format!("{base}/v1/schema?view=compact"),
        "streams_endpoint": format!("{base}/v1/streams"),
        "query_base": format!("{base}/v1"),
        "mcp_owner_bearer_rejected": true,
    }))
}

fn as_members(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}
