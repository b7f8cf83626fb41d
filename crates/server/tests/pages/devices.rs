//! Devices without a browser, and the page that gives one of them everything.

use serde_json::json;

use crate::browser::{Browser, PASSPHRASE};
use crate::desk::{Answer, Desk, encoded, request};
use crate::flow::{DEVICE_GRANT, notes};

use axum::body::Body;
use pdpp_auth::SESSION_COOKIE;

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

fn typed(code: &str) -> String {
    format!("/device?{}", encoded(&[("user_code", code)]))
}

#[tokio::test]
async fn a_typed_code_leads_to_the_consent_page() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let started = start(&desk, &client).await;
    assert_eq!(browser.get("/device").await.expect(200).form("code-form").action, "/device");
    let page = browser.get(&typed(&started.text("user_code").to_lowercase())).await.expect(200);
    assert_eq!(page.text("client-name"), "Test App");
    let done = browser.send(&page.form("consent-form")).await.expect(200);
    assert!(done.text("outcome").contains("gets its answer now"));
    poll(&desk, &client, &started.text("device_code")).await.expect("200 ok");
    let denied = start(&desk, &client).await;
    let page = browser.get(&typed(&denied.text("user_code"))).await.expect(200);
    assert!(
        browser
            .send(&page.form("deny-form"))
            .await
            .expect(200)
            .text("outcome")
            .contains("Nothing was shared")
    );
    poll(&desk, &client, &denied.text("device_code")).await.expect("400 access_denied");
}

/// 9.2-5: typed codes are short, so wrong ones are few.
#[tokio::test]
async fn wrong_codes_are_few() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    for _ in 0..10 {
        let shown = browser.get(&typed("BBBB-BBBB")).await.expect(404);
        assert!(shown.text("problem").contains("No device waits"));
    }
    assert_eq!(browser.get(&typed("BBBB-BBBB")).await.expect(429).header("retry-after"), "600");
}

/// 9.2-8: the page says that it gives everything, and asks for the passphrase again.
#[tokio::test]
async fn an_owner_credential_is_given_by_passphrase_alone() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let started =
        desk.form("/oauth/device_authorization", &[("client_id", "pdpp_cli")]).await.expect("200 ok");
    let page = browser.get(&typed(&started.text("user_code"))).await.expect(200);
    let warning = page.text("owner-token-warning");
    assert!(
        warning.contains("This gives the device everything") && warning.contains("up to 90 days"),
        "{warning}"
    );
    let form = page.form("device-form");
    browser.send(&form).await.expect(400);
    let wrong = browser.send(&form.clone().set("password", "not this one")).await.expect(401);
    assert_eq!(wrong.text("notice"), "That is not the passphrase.");
    poll(&desk, "pdpp_cli", &started.text("device_code")).await.expect("400 authorization_pending");
    // Neither the page of grants nor the API of the session gives it away.
    let mut elsewhere = form.clone().set("password", PASSPHRASE);
    "/consent/approve".clone_into(&mut elsewhere.action);
    browser.send(&elsewhere).await.expect(403);
    let revision = form.pairs.iter().find(|(name, _)| name == "revision").unwrap().1.clone();
    let body = json!({ "user_code": started.text("user_code"), "approval_review_revision": revision });
    let session = browser.cookie(SESSION_COOKIE).unwrap();
    let api = request("POST", "/consent/approve", None)
        .header("content-type", "application/json")
        .header("cookie", format!("{SESSION_COOKIE}={session}"));
    desk.send(api.body(Body::from(body.to_string())).unwrap()).await.expect("403 permission_error");
    browser.send(&form.clone().set("revision", "x").set("password", PASSPHRASE)).await.expect(400);
    browser.send(&form.set("password", PASSPHRASE)).await.expect(200);
    desk.clock.advance_seconds(10);
    let answer = poll(&desk, "pdpp_cli", &started.text("device_code")).await.expect("200 ok");
    desk.get("/v1/schema", Some(&answer.text("access_token"))).await.expect("200 ok");
}

#[tokio::test]
async fn an_owner_device_can_be_denied() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let started =
        desk.form("/oauth/device_authorization", &[("client_id", "pdpp_cli")]).await.expect("200 ok");
    let page = browser.get(&typed(&started.text("user_code"))).await.expect(200);
    browser.send(&page.form("deny-form")).await.expect(200);
    poll(&desk, "pdpp_cli", &started.text("device_code")).await.expect("400 access_denied");
}
