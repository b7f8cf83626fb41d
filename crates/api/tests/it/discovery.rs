//! What a stranger learns without a token.

use expect_test::expect;
use pdpp_api::routes;

use crate::world::World;

#[tokio::test]
async fn the_index_leads_to_the_well_known_document() {
    let world = World::new().await;
    expect![[""]].assert_eq(&world.get("", "/").await.show());
}

#[tokio::test]
async fn the_protected_resource_document_advertises_only_what_works() {
    let world = World::new().await;
    expect![[""]].assert_eq(&world.get("", "/.well-known/oauth-protected-resource").await.show());
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
