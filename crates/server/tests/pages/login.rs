//! Signing in and out.

use axum::body::Body;
use pdpp_auth::SESSION_COOKIE;
use serde_json::json;

use crate::browser::{Browser, PASSPHRASE};
use crate::desk::{Desk, query_of, request};

/// 9.2-16: without a session a browser is shown the way in, and anyone else is refused.
#[tokio::test]
async fn whoever_is_not_signed_in_is_led_to_the_login_page() {
    let desk = Desk::owned().await;
    let browser = Browser::new(&desk);
    for path in ["/owner", "/device?user_code=BCDF-GHJK", "/consent?request_uri=urn%3Apdpp%3Ax"] {
        let shown = browser.get(path).await.expect(303);
        let location = shown.header("location");
        assert!(location.starts_with("/owner/login?return_to="), "{location}");
        assert_eq!(query_of(location)["return_to"], path);
        desk.get(path, None).await.expect("401 owner_session_required");
    }
}

#[tokio::test]
async fn signing_in_leads_back_with_a_guarded_cookie() {
    let desk = Desk::owned().await;
    let browser = Browser::new(&desk);
    let page = browser.get("/owner/login?return_to=%2Fdevice").await.expect(200);
    let shown = browser.send(&page.form("login-form").set("password", PASSPHRASE)).await.expect(303);
    assert_eq!(shown.header("location"), "/device");
    let cookies: Vec<_> =
        shown.headers.get_all("set-cookie").iter().map(|set| set.to_str().unwrap()).collect();
    assert_eq!(cookies.len(), 2, "{cookies:?}");
    for cookie in cookies {
        assert!(cookie.ends_with("; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax"), "{cookie}");
    }
    browser.get("/owner").await.expect(200);
    let again = browser.get("/owner/login?return_to=%2Fdevice").await.expect(303);
    assert_eq!(again.header("location"), "/device", "who is signed in need not sign in");
}

/// 9.2-6: guesses are few, and the answer says how long to wait.
#[tokio::test]
async fn wrong_passphrases_are_few() {
    let desk = Desk::owned().await;
    let browser = Browser::new(&desk);
    let form = browser.get("/owner/login").await.form("login-form");
    for _ in 0..5 {
        let shown = browser.send(&form.clone().set("password", "not this one")).await.expect(401);
        assert_eq!(shown.text("problem"), "That is not the passphrase.");
        assert_eq!(browser.cookie(SESSION_COOKIE), None);
    }
    let shown = browser.send(&form.clone().set("password", PASSPHRASE)).await.expect(429);
    assert_eq!(shown.header("retry-after"), "60");
    desk.clock.advance_seconds(60);
    browser.send(&form.set("password", PASSPHRASE)).await.expect(303);
}

/// The token is looked at before the passphrase: a form of another page cannot even guess.
#[tokio::test]
async fn a_login_form_of_another_page_is_not_looked_at() {
    let desk = Desk::owned().await;
    let browser = Browser::new(&desk);
    let form = browser.get("/owner/login").await.form("login-form").set("password", PASSPHRASE);
    for wrong in [form.clone().without("_csrf"), form.clone().set("_csrf", "AAAA")] {
        let shown = browser.send(&wrong).await.expect(403);
        assert_eq!(shown.text("code"), "csrf_token_invalid");
    }
    let other = Browser::new(&desk);
    assert_eq!(other.send(&form).await.expect(403).text("code"), "csrf_token_invalid", "no cookie, no page");
    other.get("/owner/login").await;
    assert_eq!(other.send(&form).await.expect(403).text("code"), "csrf_token_invalid", "another's cookie");
    for _ in 0..10 {
        other.send(&form).await.expect(403);
    }
    browser.send(&form).await.expect(303);
}

#[tokio::test]
async fn json_signs_in_too() {
    let desk = Desk::owned().await;
    let wrong = desk.json("/owner/login", None, &json!({ "password": "wrong" })).await;
    wrong.expect("401 authentication_error");
    let right = desk.json("/owner/login", None, &json!({ "password": PASSPHRASE })).await.expect("200 ok");
    assert!(right.header("set-cookie").starts_with("pdpp_owner_"));
    let foreign = request("POST", "/owner/login", None)
        .header("content-type", "application/json")
        .header("origin", "https://evil.test");
    let body = Body::from(json!({ "password": PASSPHRASE }).to_string());
    desk.send(foreign.body(body).unwrap()).await.expect("403 permission_error");
    desk.json("/owner/login", None, &json!({})).await.expect("400 invalid_request");
}

#[tokio::test]
async fn the_way_back_leads_nowhere_else() {
    let desk = Desk::owned().await;
    for bad in ["https%3A%2F%2Fevil.test", "%2F%2Fevil.test", "%2F%5Cevil.test", "evil", "%2Fa%0d%0aB"] {
        let browser = Browser::new(&desk);
        let page = browser.get(&format!("/owner/login?return_to={bad}")).await.expect(200);
        let shown = browser.send(&page.form("login-form").set("password", PASSPHRASE)).await.expect(303);
        assert_eq!(shown.header("location"), "/owner", "{bad}");
    }
}

#[tokio::test]
async fn signing_out_ends_the_session_on_the_server() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let secret = browser.cookie(SESSION_COOKIE).unwrap();
    let form = browser.get("/owner").await.expect(200).form_of_button("sign-out");
    browser.send(&form.clone().without("_csrf")).await.expect(403);
    let shown = browser.send(&form).await.expect(303);
    assert_eq!((shown.header("location"), browser.cookie(SESSION_COOKIE)), ("/owner/login", None));
    let stolen = request("GET", "/owner", None).header("cookie", format!("{SESSION_COOKIE}={secret}"));
    desk.send(stolen.body(Body::empty()).unwrap()).await.expect("401 owner_session_required");
}

#[tokio::test]
async fn without_a_passphrase_nobody_signs_in() {
    let desk = Desk::new().await;
    let page = Browser::new(&desk).get("/owner/login").await.expect(200);
    assert!(page.text("no-owner").contains("pdpp serve"));
    desk.json("/owner/login", None, &json!({ "password": "" })).await.expect("401 authentication_error");
}
