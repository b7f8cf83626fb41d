//! What a stranger learns without a token.

use expect_test::expect;
use pdpp_api::routes;

use crate::world::World;

#[tokio::test]
async fn the_index_leads_to_the_well_known_document() {
    let world = World::new().await;
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        {
          "object": "pdpp_discovery_index",
          "role": "resource_server",
          "resource_name": "Sample",
          "reference_revision": "0.1.0",
          "links": {
            "well_known": "/.well-known/oauth-protected-resource",
            "schema": "/v1/schema",
            "core_query_base": "/v1",
            "connectors": "/v1/connectors",
            "openapi": "/openapi.json"
          }
        }"#]]
    .assert_eq(&world.get("", "/").await.show());
}

#[tokio::test]
async fn the_protected_resource_document_advertises_only_what_works() {
    let world = World::new().await;
    expect![[r#"
        200
        content-type: application/json
        cache-control: private, no-store
        access-control-allow-origin: *
        access-control-expose-headers: WWW-Authenticate, Retry-After, Link, ETag, Content-Range, Accept-Ranges, Content-Disposition, Request-Id, PDPP-Version, PDPP-Warning
        {
          "resource": "https://data.test",
          "resource_name": "Sample Resource Server",
          "authorization_servers": [
            "https://data.test"
          ],
          "bearer_methods_supported": [
            "header"
          ],
          "pdpp_core_query_base": "https://data.test/v1",
          "pdpp_provider_connect_version": "draft-2026-04-16",
          "pdpp_self_export_supported": true,
          "pdpp_token_kinds_supported": [
            "owner",
            "client"
          ],
          "pdpp_discovery_hints": {
            "schema_endpoint": "/v1/schema",
            "query_base": "/v1",
            "connectors_endpoint": "/v1/connectors",
            "streams_endpoint_template": "/v1/streams/{stream}",
            "aggregate": {
              "endpoint_template": "/v1/streams/{stream}/aggregate"
            },
            "changes_since_bootstrap": "beginning",
            "blob_indirection": "data.blob_ref.fetch_url",
            "owner_polyfill_requires_source_kind_connector": true
          },
          "pdpp_agent_discovery": {
            "advisory": true,
            "skill_name": "pdpp-data-access",
            "recommended_flow": "pdpp connect",
            "cli": {
              "bin_name": "pdpp",
              "connect_command": "pdpp connect https://data.test",
              "run_command": "pdpp mcp",
              "no_owner_token": true,
              "no_owner_token_policy": "An agent is given a grant, never the owner's own token."
            },
            "mcp": {
              "endpoint": "https://data.test/mcp",
              "transport": "streamable_http",
              "setup_intent": "grant_scoped_read",
              "tool_surface": "read",
              "no_owner_token": true,
              "authorization": {
                "authorization_code_pkce": {
                  "authorization_endpoint": "https://data.test/oauth/authorize",
                  "token_endpoint": "https://data.test/oauth/token",
                  "registration_endpoint": "https://data.test/oauth/register",
                  "code_challenge_method": "S256",
                  "required_parameters": [
                    "client_id",
                    "redirect_uri",
                    "code_challenge",
                    "resource"
                  ],
                  "pdpp_token_kind": "client"
                },
                "device_code": {
                  "device_authorization_endpoint": "https://data.test/oauth/device_authorization",
                  "token_endpoint": "https://data.test/oauth/token",
                  "authorization_details_type": "https://pdpp.dev/data-access",
                  "required_parameters": [
                    "client_id",
                    "resource",
                    "authorization_details"
                  ],
                  "pdpp_token_kind": "client"
                },
                "owner_agent_device_code": {
                  "advertised_in": "pdpp_owner_agent_onboarding",
                  "mcp_owner_bearer_rejected": true
                }
              }
            }
          },
          "pdpp_owner_agent_onboarding": {
            "advisory": true,
            "profile": "trusted_owner_agent",
            "pdpp_token_kind": "owner",
            "warning": "This credential opens everything the owner has. Prefer a grant.",
            "resource": "https://data.test",
            "authorization_server": "https://data.test",
            "owner_approval_url": "https://data.test/device",
            "device_authorization_endpoint": "https://data.test/oauth/device_authorization",
            "token_endpoint": "https://data.test/oauth/token",
            "introspection_endpoint": "https://data.test/introspect",
            "registration_endpoint": "https://data.test/oauth/register",
            "revocation_path_template": "https://data.test/oauth/register/{client_id}",
            "schema_endpoint": "https://data.test/v1/schema",
            "schema_compact_endpoint": "https://data.test/v1/schema?view=compact",
            "streams_endpoint": "https://data.test/v1/streams",
            "query_base": "https://data.test/v1",
            "mcp_owner_bearer_rejected": true
          }
        }"#]]
    .assert_eq(&world.get("", "/.well-known/oauth-protected-resource").await.show());
}

#[tokio::test]
async fn the_mcp_document_names_its_own_resource() {
    let world = World::new().await;
    let document = world.get("", "/.well-known/oauth-protected-resource/mcp").await.json();
    assert_eq!(document["resource"], "https://data.test/mcp");
    assert_eq!(document["resource_name"], "Sample Hosted MCP Resource");
    assert_eq!(document["pdpp_core_query_base"], "https://data.test/v1");
    assert_eq!(document["pdpp_token_kinds_supported"], serde_json::json!(["client"]));
    assert!(document.get("pdpp_discovery_hints").is_none());
}

#[tokio::test]
async fn without_a_public_address_only_a_local_host_is_believed() {
    let world = World::with(|state| state.settings.public_url = None).await;
    let ask = async |host: &str| {
        let mut request = crate::world::request(
            "",
            "GET",
            "/.well-known/oauth-protected-resource",
            axum::body::Body::empty(),
        );
        request.headers_mut().insert("host", host.parse().unwrap());
        crate::world::Answer::of(&world, world.send(request).await).await
    };
    assert_eq!(ask("127.0.0.1:7663").await.json()["resource"], "http://127.0.0.1:7663");
    assert_eq!(ask("evil.test").await.verdict(), "421 misdirected_request");
}

#[tokio::test]
async fn every_route_is_described() {
    let world = World::new().await;
    let document = world.get("", "/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    for route in routes() {
        let operation = &document["paths"][route.path][route.method.as_str().to_ascii_lowercase()];
        assert_eq!(operation["operationId"], route.operation, "{} {}", route.method.as_str(), route.path);
        for parameter in route.parameters() {
            let named = operation["parameters"]
                .as_array()
                .unwrap()
                .iter()
                .any(|shown| shown["name"] == parameter.name);
            assert!(named, "{} lacks {}", route.operation, parameter.name);
        }
        for code in route.all_errors() {
            assert!(
                operation["responses"].get(code.status().to_string()).is_some(),
                "{} {code}",
                route.operation
            );
        }
    }
}

#[test]
fn every_reference_in_the_description_leads_somewhere() {
    let document = pdpp_api::openapi();
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn operations_have_names_of_their_own() {
    let mut names: Vec<_> = routes().iter().map(|route| route.operation).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), routes().len());
}
