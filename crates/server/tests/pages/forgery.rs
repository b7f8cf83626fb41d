//! Forms that no page of ours sent do nothing.

use axum::body::Body;
use pdpp_auth::SESSION_COOKIE;

use crate::browser::{Browser, Filled};
use crate::desk::{Desk, encoded, request};
use crate::flow::notes;

async fn every_form(browser: &Browser<'_>) -> Vec<Filled> {
    let desk = browser.desk;
    let client = desk.register().await;
    desk.connect(&notes("continuous")).await;
    let consent = browser.consent(&desk.ask(&client, Some(&notes("continuous"))).await).await.expect(200);
    let started = desk.form("/oauth/device_authorization", &[("client_id", "pdpp_cli")]).await;
    let path = format!("/device?{}", encoded(&[("user_code", &started.text("user_code"))]));
    let device = browser.get(&path).await.expect(200);
    let home = browser.get("/owner").await.expect(200);
    let grants = desk.personal.store().list_grants(&pdpp_server::owner_subject()).await.unwrap();
    vec![
        consent.form("consent-form"),
        consent.form("deny-form"),
        device.form("device-form").set("password", crate::browser::PASSPHRASE),
        device.form("deny-form"),
        home.form_of_button(&format!("revoke-{}", grants[0].grant_id)),
        home.form_of_button("remove-0"),
        home.form_of_button("sign-out"),
    ]
}

/// 9.1: every form needs its token, from its own session, with its cookie, and from our own origin.
#[tokio::test]
async fn a_form_without_its_token_is_refused() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let other = Browser::signed_in(&desk).await;
    for form in every_form(&browser).await {
        let path = form.action.clone();
        for wrong in
            [form.clone().without("_csrf"), form.clone().set("_csrf", "x"), form.clone().tick("_csrf", "x")]
        {
            let shown = browser.send(&wrong).await.expect(403);
            assert_eq!(shown.text("code"), "csrf_token_invalid", "{path}");
        }
        let shown = other.send(&form).await.expect(403);
        assert_eq!(shown.text("code"), "csrf_token_invalid", "{path}: the token of another session");
        for (name, value) in [
            ("origin", "https://evil.test"),
            ("origin", "http://127.0.0.1.evil.test"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            let shown = browser.send_with(&form, &[(name, value)]).await.expect(403);
            assert_eq!(shown.text("code"), "permission_error", "{path} {name} {value}");
        }
        let session = browser.cookie(SESSION_COOKIE).unwrap();
        for media in ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"] {
            let pairs: Vec<_> =
                form.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let sent = request("POST", &path, None)
                .header("accept", "text/html")
                .header("cookie", format!("{SESSION_COOKIE}={session}"))
                .header("content-type", media)
                .body(Body::from(encoded(&pairs)));
            assert_eq!(desk.send(sent.unwrap()).await.status, 403, "{path} {media}: no cookie of a page");
        }
    }
    assert_eq!(desk.grant_count().await, 1);
    browser.get("/owner").await.expect(200);
}

/// The same forms work from our own pages, whatever a browser says about them.
#[tokio::test]
async fn a_form_of_our_own_page_is_taken() {
    let desk = Desk::owned().await;
    let own = desk.issuer.clone();
    for headers in [
        vec![("origin", own.as_str()), ("sec-fetch-site", "same-origin")],
        vec![("origin", "http://127.0.0.1")],
        vec![("origin", "null"), ("sec-fetch-site", "same-origin")],
        vec![],
    ] {
        let browser = Browser::signed_in(&desk).await;
        let form = browser.get("/owner").await.form_of_button("sign-out");
        browser.send_with(&form, &headers).await.expect(303);
    }
}
