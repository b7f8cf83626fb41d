//! What a stranger may read: the index, the protected-resource documents and the API description.

mod advice;

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use axum::response::Response;
use http::StatusCode;
use pdpp_wire::{
    AggregateHint, Code, DiscoveryHints, DiscoveryIndex, DiscoveryIndexObject, DiscoveryLinks,
    ProtectedResource, ResourceServerRole, SearchHint, TokenKind,
};
use serde_json::{Map, Value, json as value};

use crate::call::{Call, json};
use crate::frame::{host, without_port};
use crate::openapi::openapi;
use crate::route::{AnswerDoc, BodyDoc, Pace, Route, Unknown, Verb, handler, schema_of};
use crate::{ApiError, ApiState};

pub(crate) const INDEX: Route = Route {
    method: Verb::Get,
    path: "/",
    operation: "readIndex",
    action: "discovery",
    summary: "Say what this server is and where to go next.",
    parameters: &[],
    unknown_parameters: Unknown::Refused,
    body: BodyDoc::None,
    answers: &[AnswerDoc::json(schema_of::<DiscoveryIndex>, "The index.")],
    errors: &[],
    handler: handler!(Anyone, index),
    pace: Pace::Read,
    test: "discovery::the_index_leads_to_the_well_known_document",
};

pub(crate) const PROTECTED_RESOURCE: Route = Route {
    path: "/.well-known/oauth-protected-resource",
    operation: "readProtectedResource",
    summary: "Say how to authenticate for the REST surface, and what works here.",
    answers: &[AnswerDoc::json(schema_of::<ProtectedResource>, "The protected-resource document.")],
    handler: handler!(Anyone, protected_resource),
    test: "discovery::the_protected_resource_document_advertises_only_what_works",
    ..INDEX
};

pub(crate) const PROTECTED_MCP: Route = Route {
    path: "/.well-known/oauth-protected-resource/mcp",
    operation: "readProtectedResourceMcp",
    summary: "Say how to authenticate for the hosted MCP endpoint.",
    answers: &[AnswerDoc::json(schema_of::<ProtectedResource>, "The protected-resource document of `/mcp`.")],
    handler: handler!(Anyone, protected_mcp),
    test: "discovery::the_mcp_document_names_its_own_resource",
    ..INDEX
};

pub(crate) const OPENAPI: Route = Route {
    path: "/openapi.json",
    operation: "readOpenApi",
    summary: "Describe every route of this server.",
    answers: &[AnswerDoc::json(schema_of::<Map<String, Value>>, "The `OpenAPI` 3.1 document.")],
    handler: handler!(Anyone, description),
    test: "discovery::every_route_is_described",
    ..INDEX
};

async fn index(state: Arc<ApiState>, _call: Call) -> Result<Response, ApiError> {
    json(
        StatusCode::OK,
        &DiscoveryIndex {
            object: DiscoveryIndexObject::Value,
            role: ResourceServerRole::Value,
            resource_name: state.settings.resource_name.clone(),
            reference_revision: Some(env!("CARGO_PKG_VERSION").to_owned()),
            links: DiscoveryLinks {
                well_known: PROTECTED_RESOURCE.path.to_owned(),
                schema: "/v1/schema".to_owned(),
                core_query_base: "/v1".to_owned(),
                connectors: "/v1/connectors".to_owned(),
                openapi: Some(OPENAPI.path.to_owned()),
            },
        },
    )
}

async fn protected_resource(state: Arc<ApiState>, call: Call) -> Result<Response, ApiError> {
    let base = base_url(&state, &call)?;
    let name = format!("{} Resource Server", state.settings.resource_name);
    json(
        StatusCode::OK,
        &ProtectedResource {
            pdpp_discovery_hints: Some(hints(&state)),
            capabilities: capabilities(&state),
            pdpp_owner_agent_onboarding: advice::owner_onboarding(&state, &base),
            ..document(&state, &base, base.clone(), name)
        },
    )
}

async fn protected_mcp(state: Arc<ApiState>, call: Call) -> Result<Response, ApiError> {
    let base = base_url(&state, &call)?;
    let name = format!("{} Hosted MCP Resource", state.settings.resource_name);
    let document = document(&state, &base, format!("{base}/mcp"), name);
    json(
        StatusCode::OK,
        &ProtectedResource { pdpp_token_kinds_supported: vec![TokenKind::Client], ..document },
    )
}

async fn description(_state: Arc<ApiState>, _call: Call) -> Result<Response, ApiError> {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(openapi);
    json(StatusCode::OK, &*DOCUMENT)
}

fn document(state: &ApiState, base: &str, resource: String, resource_name: String) -> ProtectedResource {
    ProtectedResource {
        resource,
        resource_name,
        authorization_servers: state.settings.authorization_servers.clone(),
        bearer_methods_supported: vec!["header".to_owned()],
        pdpp_core_query_base: format!("{base}/v1"),
        pdpp_provider_connect_version: "draft-2026-04-16".to_owned(),
        pdpp_self_export_supported: true,
        pdpp_token_kinds_supported: vec![TokenKind::Owner, TokenKind::Client],
        pdpp_discovery_hints: None,
        capabilities: None,
        pdpp_agent_discovery: advice::agent_discovery(state, base),
        pdpp_owner_agent_onboarding: None,
    }
}

/// The optional features that work here.
fn capabilities(state: &ApiState) -> Option<Map<String, Value>> {
    let mut capabilities = searches(state).unwrap_or_default();
    if let Some(events) = state.events.as_ref().and_then(|events| events.capability()) {
        capabilities.insert("client_event_subscriptions".to_owned(), events);
    }
    (!capabilities.is_empty()).then_some(capabilities)
}

fn searches(state: &ApiState) -> Option<Map<String, Value>> {
    state.search.lexical.as_ref()?;
    let lexical = value!({
        "supported": true, "endpoint": "/v1/search", "cross_stream": true, "snippets": true,
        "cursor_supported": true, "count_supported": true, "default_limit": 25, "max_limit": 100,
        "score": {
            "supported": true, "kind": "bm25", "order": "higher_is_better",
            "value_semantics": "implementation_relative",
        },
    });
    let absent =
        |endpoint: &str| value!({ "supported": false, "endpoint": endpoint, "code": "mode_not_available" });
    let mut capabilities = Map::new();
    capabilities.insert("lexical_retrieval".to_owned(), lexical);
    for (name, index, endpoint) in [
        ("semantic_retrieval", &state.search.semantic, "/v1/search/semantic"),
        ("hybrid_retrieval", &state.search.hybrid, "/v1/search/hybrid"),
    ] {
        if index.is_none() {
            capabilities.insert(name.to_owned(), absent(endpoint));
        }
    }
    Some(capabilities)
}

fn hints(state: &ApiState) -> DiscoveryHints {
    DiscoveryHints {
        schema_endpoint: "/v1/schema".to_owned(),
        query_base: "/v1".to_owned(),
        connectors_endpoint: "/v1/connectors".to_owned(),
        streams_endpoint_template: "/v1/streams/{stream}".to_owned(),
        aggregate: AggregateHint { endpoint_template: "/v1/streams/{stream}/aggregate".to_owned() },
        changes_since_bootstrap: "beginning".to_owned(),
        blob_indirection: "data.blob_ref.fetch_url".to_owned(),
        search: state.search.lexical.as_ref().map(|_| SearchHint {
            endpoint: "/v1/search".to_owned(),
            scope_param: "streams[]".to_owned(),
            filter_requires_single_stream: true,
        }),
        owner_polyfill_requires_source_kind_connector: true,
    }
}

/// The configured public address, else the address the request used if it can only be ours: local,
/// private, or on the list of allowed hosts. A stranger's Host must not end up in our metadata.
fn base_url(state: &ApiState, call: &Call) -> Result<String, ApiError> {
    if let Some(url) = &state.settings.public_url {
        return Ok(url.clone());
    }
    match host(&call.uri, &call.headers) {
        Some(host) if !state.settings.allowed_hosts.is_empty() || is_local(host) => {
            Ok(format!("http://{host}"))
        }
        _ => {
            let message = "No public address is configured, and this host is not a local one.";
            Err(ApiError::new(Code::MisdirectedRequest, message))
        }
    }
}

fn is_local(host: &str) -> bool {
    let name = without_port(host);
    if name.eq_ignore_ascii_case("localhost") {
        return true;
    }
    match name.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_local_and_private_hosts_are_local() {
        for host in ["localhost", "127.0.0.1:7663", "[::1]:80", "192.168.1.4", "10.0.0.2:1"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["data.test", "8.8.8.8", "localhost.evil.test", "", "[2001:db8::1]"] {
            assert!(!is_local(host), "{host}");
        }
    }
}
