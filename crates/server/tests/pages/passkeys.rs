//! Passkeys, with an authenticator in software.

use axum::body::Body;
use pdpp_auth::SESSION_COOKIE;
use pdpp_server::owner_subject;
use serde_json::{Value, json};

use crate::authenticator::Authenticator;
use crate::browser::{Browser, PASSPHRASE};
use crate::desk::{Answer, Desk, request};

/// Where pages can use passkeys, on a server known by its loopback address.
pub(crate) fn origin(desk: &Desk) -> String {
    desk.issuer.replace("127.0.0.1", "localhost")
}

pub(crate) async fn call(desk: &Desk, path: &str, session: Option<&str>, body: &Value) -> Answer {
    let mut request = request("POST", path, None)
        .header("content-type", "application/json")
        .header("sec-fetch-site", "same-origin");
    if let Some(session) = session {
        request = request.header("cookie", format!("{SESSION_COOKIE}={session}"));
    }
    desk.send(request.body(Body::from(body.to_string())).unwrap()).await
}

/// Adds the authenticator's key to the owner's passkeys.
async fn add(desk: &Desk, session: &str, authenticator: &mut Authenticator) -> Answer {
    let begun = call(desk, "/owner/passkeys/begin", Some(session), &json!({ "password": PASSPHRASE })).await;
    let begun = begun.expect("200 ok");
    let credential = authenticator.create(&begun.body["options"], &origin(desk));
    let body = json!({ "ceremony": begun.text("ceremony"), "label": "My key", "credential": credential });
    call(desk, "/owner/passkeys/finish", Some(session), &body).await
}

/// Begins to sign in, and answers with what the closure makes of the options.
async fn sign_in(desk: &Desk, answer: impl FnOnce(&Value) -> Value) -> Answer {
    let begun = call(desk, "/owner/login/passkey/begin", None, &json!({})).await.expect("200 ok");
    let credential = answer(&begun.body["options"]);
    let body =
        json!({ "ceremony": begun.text("ceremony"), "return_to": "/device", "credential": credential });
    call(desk, "/owner/login/passkey/finish", None, &body).await
}

async fn session_of(desk: &Desk) -> String {
    Browser::signed_in(desk).await.cookie(SESSION_COOKIE).unwrap()
}

/// 9.2-6: a passkey signs in instead of the passphrase.
#[tokio::test]
async fn a_passkey_is_added_and_signs_in() {
    let desk = Desk::owned().await;
    let session = session_of(&desk).await;
    call(&desk, "/owner/login/passkey/begin", None, &json!({})).await.expect("404 not_found");
    let mut key = Authenticator::new(7);
    assert_eq!(add(&desk, &session, &mut key).await.expect("201 ok").text("label"), "My key");
    let signed_in = sign_in(&desk, |options| key.get(options, &origin(&desk))).await.expect("200 ok");
    assert_eq!(signed_in.text("return_to"), "/device");
    let cookies: Vec<_> = signed_in.headers.get_all("set-cookie").iter().collect();
    let cookie =
        cookies.iter().find_map(|cookie| cookie.to_str().unwrap().strip_prefix("pdpp_owner_session="));
    let secret = cookie.unwrap().split(';').next().unwrap();
    let page = request("GET", "/owner", None).header("cookie", format!("{SESSION_COOKIE}={secret}"));
    assert_eq!(desk.send(page.body(Body::empty()).unwrap()).await.status, 200);
    let kept = desk.personal.store().list_passkeys(&owner_subject()).await.unwrap();
    assert!(kept[0].last_used_at.is_some());
    assert!(!kept[0].document.contains("private"));
}

/// Nothing but a fresh answer of a known key, from our origin, by its verified holder, signs in.
#[tokio::test]
async fn what_a_passkey_does_not_prove_signs_nobody_in() {
    let desk = Desk::owned().await;
    let session = session_of(&desk).await;
    let mut key = Authenticator::new(7);
    add(&desk, &session, &mut key).await.expect("201 ok");
    let here = origin(&desk);
    let refused = "401 authentication_error";
    sign_in(&desk, |options| key.get(options, "https://evil.test")).await.expect(refused);
    sign_in(&desk, |options| Authenticator::new(8).get(options, &here)).await.expect(refused);
    key.verifies = false;
    sign_in(&desk, |options| key.get(options, &here)).await.expect(refused);
    key.verifies = true;
    sign_in(&desk, |_| json!({})).await.expect(refused);
    sign_in(&desk, |options| {
        let mut other = options.clone();
        other["publicKey"]["challenge"] = json!("AAAA");
        key.get(&other, &here)
    })
    .await
    .expect(refused);
    let begun = call(&desk, "/owner/login/passkey/begin", None, &json!({})).await.expect("200 ok");
    let body = json!({
        "ceremony": begun.text("ceremony"), "credential": key.get(&begun.body["options"], &here),
    });
    call(&desk, "/owner/login/passkey/finish", None, &body).await.expect("200 ok");
    call(&desk, "/owner/login/passkey/finish", None, &body).await.expect(refused);
    // A copy of the key that counts anew betrays itself.
    key.counter = 0;
    sign_in(&desk, |options| key.get(options, &here)).await.expect(refused);
    let slow = call(&desk, "/owner/login/passkey/begin", None, &json!({})).await.expect("200 ok");
    key.counter = 100;
    let credential = key.get(&slow.body["options"], &here);
    desk.clock.advance_seconds(300);
    let body = json!({ "ceremony": slow.text("ceremony"), "credential": credential });
    call(&desk, "/owner/login/passkey/finish", None, &body).await.expect(refused);
}

/// A browser left open cannot be made an owner for ever: adding asks for the passphrase.
#[tokio::test]
async fn adding_a_passkey_takes_session_and_passphrase() {
    let desk = Desk::owned().await;
    let session = session_of(&desk).await;
    let password = json!({ "password": PASSPHRASE });
    call(&desk, "/owner/passkeys/begin", None, &password).await.expect("401 owner_session_required");
    let wrong = json!({ "password": "not this one" });
    call(&desk, "/owner/passkeys/begin", Some(&session), &wrong).await.expect("401 authentication_error");
    let foreign = request("POST", "/owner/passkeys/begin", None)
        .header("content-type", "application/json")
        .header("origin", "https://evil.test")
        .header("cookie", format!("{SESSION_COOKIE}={session}"));
    desk.send(foreign.body(Body::from(password.to_string())).unwrap()).await.expect("403 permission_error");
    let mut key = Authenticator::new(7);
    let begun = call(&desk, "/owner/passkeys/begin", Some(&session), &password).await.expect("200 ok");
    let credential = key.create(&begun.body["options"], "https://evil.test");
    let body = json!({ "ceremony": begun.text("ceremony"), "credential": credential });
    call(&desk, "/owner/passkeys/finish", Some(&session), &body).await.expect("400 invalid_request");
    add(&desk, &session, &mut key).await.expect("201 ok");
    add(&desk, &session, &mut key).await.expect("400 invalid_request");
}

#[tokio::test]
async fn a_removed_or_reset_passkey_signs_nobody_in() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let session = browser.cookie(SESSION_COOKIE).unwrap();
    let (mut one, mut two) = (Authenticator::new(7), Authenticator::new(9));
    add(&desk, &session, &mut one).await.expect("201 ok");
    add(&desk, &session, &mut two).await.expect("201 ok");
    let page = browser.get("/owner/passkeys").await.expect(200);
    assert!(page.text("passkeys-elsewhere").contains(&origin(&desk)), "this browser came by the address");
    browser.send(&page.form_of_button("remove-passkey-0")).await.expect(303);
    let here = origin(&desk);
    sign_in(&desk, |options| one.get(options, &here)).await.expect("401 authentication_error");
    sign_in(&desk, |options| two.get(options, &here)).await.expect("200 ok");
    let passphrase = pdpp_access::Secret::presented("a new passphrase");
    desk.personal.authority().reset_owner(&owner_subject(), &passphrase).await.unwrap();
    call(&desk, "/owner/login/passkey/begin", None, &json!({})).await.expect("404 not_found");
}

/// The one script runs by its nonce, on the pages that need it and where it can work.
#[tokio::test]
async fn the_script_runs_by_nonce_where_it_can_work() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let session = browser.cookie(SESSION_COOKIE).unwrap();
    let host = origin(&desk).replace("http://", "");
    let at_name = async |path: &str, cookie: &str| {
        let request =
            axum::http::Request::builder().uri(path).header("host", &host).header("accept", "text/html");
        let request = request.header("cookie", cookie);
        Browser::new(&desk).call(request.body(Body::empty()).unwrap()).await
    };
    let signed_in = format!("{SESSION_COOKIE}={session}");
    assert!(!at_name("/owner/login", "").await.html.contains("<script"), "there is no passkey yet");
    add(&desk, &session, &mut Authenticator::new(7)).await.expect("201 ok");
    for page in [at_name("/owner/login", "").await, at_name("/owner/passkeys", &signed_in).await] {
        let tags = crate::html::tags(&page.html);
        let script = tags.iter().find(|tag| tag.name == "script").unwrap();
        let nonce = script.get("nonce");
        assert_eq!(nonce.len(), 32);
        let policy = page.header("content-security-policy");
        assert!(policy.ends_with(&format!("; script-src 'nonce-{nonce}'; connect-src 'self'")), "{policy}");
        let file = Browser::new(&desk).get(script.get("src")).await.expect(200);
        assert_eq!(file.header("content-type"), "text/javascript; charset=utf-8");
    }
    assert!(!browser.get("/owner").await.html.contains("<script"));
}
