//! The documents a client starts from, and what every answer carries.

use axum::body::Body;
use serde_json::json;

use crate::desk::{Desk, request};
use crate::flow::notes;

#[tokio::test]
async fn the_metadata_names_every_endpoint() {
    let desk = Desk::new().await;
    let document = desk.get("/.well-known/oauth-authorization-server", None).await.expect("200 ok").body;
    assert_eq!(document["issuer"], desk.issuer);
    for (name, path) in [
        ("authorization_endpoint", "/oauth/authorize"),
        ("token_endpoint", "/oauth/token"),
        ("registration_endpoint", "/oauth/register"),
        ("revocation_endpoint", "/oauth/revoke"),
        ("pushed_authorization_request_endpoint", "/oauth/par"),
        ("introspection_endpoint", "/introspect"),
        ("device_authorization_endpoint", "/oauth/device_authorization"),
        ("agent_connect_endpoint", "/agent-connect"),
    ] {
        assert_eq!(document[name], format!("{}{path}", desk.issuer), "{name}");
    }
    assert_eq!(document["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(document["token_endpoint_auth_methods_supported"], json!(["none"]));
    assert_eq!(document["authorization_details_types_supported"], json!(["https://pdpp.dev/data-access"]));
    assert_eq!(document["authorization_response_iss_parameter_supported"], true);
    let alias = desk.get("/.well-known/openid-configuration", None).await.expect("200 ok").body;
    assert_eq!(alias, document);
}

#[tokio::test]
async fn the_protected_resource_documents_lead_to_the_authorization_server() {
    let desk = Desk::new().await;
    let rest = desk.get("/.well-known/oauth-protected-resource", None).await.expect("200 ok").body;
    let mcp = desk.get("/.well-known/oauth-protected-resource/mcp", None).await.expect("200 ok").body;
    for document in [&rest, &mcp] {
        assert_eq!(document["authorization_servers"], json!([desk.issuer]));
        let flows = &document["pdpp_agent_discovery"]["mcp"]["authorization"];
        assert_eq!(
            flows["authorization_code_pkce"]["token_endpoint"],
            format!("{}/oauth/token", desk.issuer)
        );
        assert_eq!(flows["device_code"]["authorization_details_type"], "https://pdpp.dev/data-access");
    }
    assert_eq!(rest["pdpp_owner_agent_onboarding"]["pdpp_token_kind"], "owner");
    assert_eq!(mcp.get("pdpp_owner_agent_onboarding"), None);
    assert_eq!(mcp["resource"], format!("{}/mcp", desk.issuer));
}

/// 9.2-17, 9.3-10: a foreign Host is refused, and forwarded headers change nothing.
#[tokio::test]
async fn strangers_cannot_choose_our_name() {
    let desk = Desk::new().await;
    let ask = async |headers: &[(&str, &str)]| {
        let mut request = axum::http::Request::builder().uri("/.well-known/oauth-authorization-server");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        desk.send(request.body(Body::empty()).unwrap()).await
    };
    ask(&[("host", "evil.test")]).await.expect("421 misdirected_request");
    ask(&[("host", "127.0.0.1"), ("host", "evil.test")]).await.expect("421 misdirected_request");
    let forwarded = [
        ("host", "127.0.0.1"),
        ("x-forwarded-host", "evil.test"),
        ("forwarded", "host=evil.test;proto=https"),
    ];
    let answer = ask(&forwarded).await.expect("200 ok");
    assert!(!answer.body.to_string().contains("evil.test"));
}

/// 9.2-22: every answer forbids framing, sniffing, caching and everything a page could load.
#[tokio::test]
async fn every_answer_is_guarded() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let answers = [
        desk.get("/.well-known/oauth-authorization-server", None).await,
        desk.get(&desk.authorize_path(&client, Some(&notes("continuous")), &[]), None).await,
        desk.form("/oauth/token", &[]).await,
        desk.get("/consent", None).await,
        desk.get("/oauth/token", None).await,
    ];
    for answer in &answers {
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert!(answer.header("content-security-policy").starts_with("default-src 'none'"));
        assert!(!answer.header("request-id").is_empty());
    }
    assert_eq!((answers[4].verdict().as_str(), answers[4].header("allow")), ("405 invalid_request", "POST"));
}

/// Pages of any origin may use the endpoints where no cookie counts, and only those.
#[tokio::test]
async fn browser_clients_may_call_where_no_cookie_counts() {
    let desk = Desk::new().await;
    let preflight = async |path: &str| {
        let request = request("OPTIONS", path, None).header("origin", "https://app.test");
        desk.send(request.body(Body::empty()).unwrap()).await
    };
    for path in ["/oauth/token", "/oauth/register", "/.well-known/oauth-authorization-server"] {
        let answer = preflight(path).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, "*"), "{path}");
    }
    for path in ["/consent/approve", "/consent", "/introspect"] {
        let answer = preflight(path).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (405, ""), "{path}");
    }
}
