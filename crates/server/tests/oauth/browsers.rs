//! Clients that are web pages: what their browsers are told, and which pages may use a token at `/mcp`.

use axum::body::Body;
use serde_json::json;

use crate::desk::{Answer, Desk, request};
use crate::flow::notes;

async fn preflight(desk: &Desk, path: &str) -> Answer {
    let asking = request("OPTIONS", path, None)
        .header("origin", "https://app.test")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization, mcp-protocol-version");
    desk.send(asking.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_page_may_call_what_a_token_opens_and_nothing_a_cookie_does() {
    let desk = Desk::new().await;
    for path in [
        "/v1/streams",
        "/v1/search",
        "/mcp",
        "/oauth/token",
        "/oauth/register",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
    ] {
        let answer = preflight(&desk, path).await;
        assert_eq!(answer.status, 204, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
        assert_eq!(answer.header("access-control-allow-credentials"), "", "{path}");
        if path == "/mcp" || path.starts_with("/v1") {
            let allowed = answer.header("access-control-allow-headers").to_lowercase();
            for needed in ["authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"]
            {
                assert!(allowed.contains(needed), "{path} {needed}");
            }
        }
    }
    for path in ["/oauth/authorize", "/consent", "/consent/approve", "/device/approve", "/introspect"] {
        assert_eq!(preflight(&desk, path).await.header("access-control-allow-origin"), "", "{path}");
    }
}

#[tokio::test]
async fn a_page_can_read_refusals_and_how_to_go_on() {
    let desk = Desk::new().await;
    for path in ["/v1/streams", "/mcp"] {
        let answer = desk.get(path, None).await;
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        let exposed = answer.header("access-control-expose-headers");
        assert!(exposed.contains("WWW-Authenticate") && exposed.contains("Retry-After"), "{exposed}");
    }
}

/// The token of one client is of no use to another's page: only pages of the origin the owner's answer went to, of
/// this server and of this machine may bring it to `/mcp`.
#[tokio::test]
async fn a_token_at_mcp_comes_from_a_page_of_its_own_client() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}});
    for (origin, status) in [
        ("https://app.test", 200),
        ("https://APP.test:443", 403),
        ("http://app.test", 403),
        ("https://app.test.evil.test", 403),
        ("https://evil.test", 403),
        ("https://evil.test/https://app.test", 403),
        ("null", 403),
        ("http://localhost:6274", 200),
        (desk.issuer.as_str(), 200),
    ] {
        let call = request("POST", "/mcp", Some(&tokens.access))
            .header("origin", origin)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        let answer = desk.send(call.body(Body::from(ping.to_string())).unwrap()).await;
        assert_eq!(answer.status, status, "{origin}: {:#}", answer.body);
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{origin}");
    }
}
