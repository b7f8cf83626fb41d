//! Devices without a browser.

use serde_json::json;

use crate::desk::{Answer, Desk, encoded};
use crate::flow::{DEVICE_GRANT, Tokens, notes};

async fn start(desk: &Desk, client: &str) -> Answer {
    let (details, resource) = (notes("continuous").to_string(), format!("{}/mcp", desk.issuer));
    let pairs =
        [("client_id", client), ("resource", resource.as_str()), ("authorization_details", details.as_str())];
    desk.form("/oauth/device_authorization", &pairs).await.expect("200 ok")
}

async fn poll(desk: &Desk, client: &str, code: &str) -> Answer {
    let pairs = [("grant_type", DEVICE_GRANT), ("device_code", code), ("client_id", client)];
    desk.form("/oauth/token", &pairs).await
}

async fn approve(desk: &Desk, user_code: &str) -> Answer {
    let path = format!("/consent?{}", encoded(&[("user_code", user_code)]));
    let shown = desk.get(&path, Some(&desk.owner)).await.expect("200 ok");
    let revision = shown.text("approval_review_revision");
    desk.decide("approve", &json!({ "user_code": user_code, "approval_review_revision": revision })).await
}

/// 9.2-3, 9.3-1: a device code gives tokens once.
#[tokio::test]
async fn a_device_waits_and_gets_its_tokens_once() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let started = start(&desk, &client).await;
    let code = started.text("device_code");
    poll(&desk, &client, &code).await.expect("400 authorization_pending");
    poll(&desk, &client, &code).await.expect("400 slow_down");
    desk.clock.advance_seconds(10);
    poll(&desk, &client, &code).await.expect("400 authorization_pending");
    let approved = approve(&desk, &started.text("user_code")).await.expect("200 ok");
    assert_eq!(approved.text("handover"), "client_polls");
    let elsewhere = [
        ("grant_type", DEVICE_GRANT),
        ("device_code", code.as_str()),
        ("client_id", client.as_str()),
        ("resource", "https://evil.test/mcp"),
    ];
    desk.form("/oauth/token", &elsewhere).await.expect("400 invalid_target");
    let stranger = desk.register().await;
    poll(&desk, &stranger, &code).await.expect("400 invalid_grant");
    desk.clock.advance_seconds(10);
    let answer = poll(&desk, &client, &code).await.expect("200 ok");
    let tokens = Tokens::of(&answer, &client);
    assert_eq!(desk.read(&tokens.access).await, "200 ok");
    poll(&desk, &client, &code).await.expect("400 invalid_grant");
    desk.refresh(&client, tokens.refresh()).await.expect("200 ok");
}

#[tokio::test]
async fn a_device_is_told_of_a_denial_and_of_its_end() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let denied = start(&desk, &client).await;
    desk.decide("deny", &json!({ "user_code": denied.text("user_code") })).await.expect("200 ok");
    poll(&desk, &client, &denied.text("device_code")).await.expect("400 access_denied");
    let slow = start(&desk, &client).await;
    desk.clock.advance_seconds(300);
    poll(&desk, &client, &slow.text("device_code")).await.expect("400 expired_token");
    poll(&desk, &client, "dc_unknown").await.expect("400 invalid_grant");
    let missing = [("grant_type", DEVICE_GRANT), ("client_id", client.as_str())];
    desk.form("/oauth/token", &missing).await.expect("400 invalid_request");
}

/// 9.2-5: codes are long, the typed one short but of few tries, and none is part of another.
#[tokio::test]
async fn handles_are_long_and_unrelated() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let started = start(&desk, &client).await;
    let (device, user) = (started.text("device_code"), started.text("user_code"));
    assert_eq!((device.len(), user.len()), (3 + 64, 9));
    assert!(!started.text("verification_uri_complete").contains(&device));
    let path = |code: &str| format!("/consent?{}", encoded(&[("user_code", code)]));
    for n in 0..10 {
        let guess = format!("BBBB-BBB{}", char::from(b"CDFGHJKLMN"[n]));
        desk.get(&path(&guess), Some(&desk.owner)).await.expect("404 not_found");
    }
    let blocked = desk.get(&path("BBBB-BBBB"), Some(&desk.owner)).await.expect("429 rate_limit_exceeded");
    assert_eq!(blocked.header("retry-after"), "600");
    desk.get(&path(&user.to_lowercase()), Some(&desk.owner)).await.expect("200 ok");
}

/// 9.2-8: the owner's own credential is short-lived, refreshed, and says on the page what it is.
#[tokio::test]
async fn an_owner_device_gets_a_short_token_and_a_refresh_token() {
    let desk = Desk::new().await;
    let started =
        desk.form("/oauth/device_authorization", &[("client_id", "pdpp_cli")]).await.expect("200 ok");
    let path = format!("/consent?{}", encoded(&[("user_code", &started.text("user_code"))]));
    let shown = desk.get(&path, Some(&desk.owner)).await.expect("200 ok");
    assert_eq!(shown.body["approval_review"]["grants"], "owner_token");
    assert_eq!(shown.body["approval_review"]["client"]["registration"], "pre_registered");
    approve(&desk, &started.text("user_code")).await.expect("200 ok");
    let answer = poll(&desk, "pdpp_cli", &started.text("device_code")).await.expect("200 ok");
    assert_eq!((&answer.body["expires_in"], answer.body.get("grant_id")), (&json!(3_600), None));
    let schema = desk.get("/v1/schema", Some(&answer.text("access_token"))).await;
    assert_eq!(schema.verdict(), "200 ok", "it opens everything");
    desk.clock.advance_seconds(3_600);
    desk.get("/v1/schema", Some(&answer.text("access_token"))).await.expect("401 authentication_error");
    let next = desk.refresh("pdpp_cli", &answer.text("refresh_token")).await.expect("200 ok");
    desk.get("/v1/schema", Some(&next.text("access_token"))).await.expect("200 ok");
    desk.clock.advance_seconds(90 * 86_400);
    desk.refresh("pdpp_cli", &next.text("refresh_token")).await.expect("400 invalid_grant");
}

/// A reset ends what could make new owner tokens, and every session.
#[tokio::test]
async fn a_reset_ends_every_owner_credential() {
    let desk = Desk::new().await;
    let started =
        desk.form("/oauth/device_authorization", &[("client_id", "pdpp_cli")]).await.expect("200 ok");
    approve(&desk, &started.text("user_code")).await.expect("200 ok");
    let answer = poll(&desk, "pdpp_cli", &started.text("device_code")).await.expect("200 ok");
    let passphrase = pdpp_access::Secret::presented("a new passphrase");
    desk.personal.authority().reset_owner(&pdpp_server::owner_subject(), &passphrase).await.unwrap();
    desk.get("/v1/schema", Some(&answer.text("access_token"))).await.expect("401 authentication_error");
    desk.refresh("pdpp_cli", &answer.text("refresh_token")).await.expect("400 invalid_grant");
}

/// 9.3-9: an owner's token is refused at `/mcp`.
#[tokio::test]
async fn an_owner_token_is_refused_at_mcp() {
    let desk = Desk::new().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    desk.json("/mcp", Some(&desk.owner), &body).await.expect("403 permission_error");
    let refused = desk.json("/mcp", None, &body).await.expect("401 authentication_error");
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", desk.issuer);
    assert!(refused.header("www-authenticate").contains(&metadata), "{}", refused.header("www-authenticate"));
}
