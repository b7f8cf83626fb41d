//! The owner's sessions, as a page layer uses them.

use std::sync::Arc;

use axum::body::Body;
use pdpp_access::Secret;
use pdpp_auth::{AuthorizationServer, NoDocuments, OAuthFault, OAuthSettings, SESSION_COOKIE};
use pdpp_server::owner_subject;
use serde_json::json;

use crate::desk::{Answer, Desk, encoded, request};
use crate::flow::notes;

const PASSPHRASE: &str = "correct horse battery";

async fn server(desk: &Desk) -> AuthorizationServer {
    let settings = OAuthSettings {
        issuer: desk.issuer.clone(),
        subject_id: owner_subject(),
        dynamic_registration: true,
        introspection: None,
    };
    let authority = desk.personal.authority();
    authority.set_passphrase(&owner_subject(), &Secret::presented(PASSPHRASE)).await.unwrap();
    AuthorizationServer::open(authority, settings, Arc::new(NoDocuments)).await.unwrap()
}

async fn show(desk: &Desk, page: &str, cookie: &str, origin: Option<&str>) -> Answer {
    let path = format!("/consent?{}", encoded(&[("request_uri", page)]));
    let mut request = request("GET", &path, None).header("cookie", format!("a=b; {SESSION_COOKIE}={cookie}"));
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    desk.send(request.body(Body::empty()).unwrap()).await
}

/// 9.2-6: sessions are kept on the server, can be listed and ended, and end by themselves.
#[tokio::test]
async fn a_session_opens_the_consent_api_until_it_is_ended() {
    let desk = Desk::new().await;
    let (server, client) = (server(&desk).await, desk.register().await);
    let sign_in = async |text: &str| {
        server.sign_in(&owner_subject(), &Secret::presented(text), "127.0.0.1").await.unwrap()
    };
    assert!(sign_in("wrong").await.is_none());
    let (one, two) = (sign_in(PASSPHRASE).await.unwrap(), sign_in(PASSPHRASE).await.unwrap());
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    show(&desk, &page, one.secret.reveal(), None).await.expect("200 ok");
    show(&desk, &page, one.secret.reveal(), Some(&desk.issuer)).await.expect("200 ok");
    show(&desk, &page, one.secret.reveal(), Some("https://evil.test")).await.expect("403 permission_error");
    show(&desk, &page, one.session.session_id.as_str(), None).await.expect("401 owner_session_required");
    assert_eq!(server.sessions(&owner_subject()).await.unwrap().len(), 2);
    server.end_sessions(&owner_subject(), Some(&one.session.session_id)).await.unwrap();
    show(&desk, &page, one.secret.reveal(), None).await.expect("401 owner_session_required");
    show(&desk, &page, two.secret.reveal(), None).await.expect("200 ok");
    desk.clock.advance_seconds(7 * 86_400);
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    show(&desk, &page, two.secret.reveal(), None).await.expect("401 owner_session_required");
}

/// 9.2-6: guesses are few, from everywhere; the machine itself is never locked out for more than a minute.
#[tokio::test]
async fn guesses_at_the_passphrase_are_few() {
    let desk = Desk::new().await;
    let server = server(&desk).await;
    let guess = async |address: &str, text: &str| match server
        .sign_in(&owner_subject(), &Secret::presented(text), address)
        .await
    {
        Ok(Some(_)) => "in".to_owned(),
        Ok(None) => "wrong".to_owned(),
        Err(OAuthFault::TooOften(seconds)) => format!("wait {seconds}"),
        Err(other) => panic!("{other}"),
    };
    for _ in 0..5 {
        assert_eq!(guess("192.0.2.1", "wrong guess").await, "wrong");
    }
    assert_eq!(guess("192.0.2.1", PASSPHRASE).await, "wait 60", "also the right one waits");
    assert_eq!(guess("127.0.0.1", PASSPHRASE).await, "in", "another address does not");
    let restarted = self::server(&desk).await;
    let after = restarted.sign_in(&owner_subject(), &Secret::presented(PASSPHRASE), "192.0.2.1").await;
    assert!(matches!(after, Err(OAuthFault::TooOften(_))), "a restart forgets nothing");
    desk.clock.advance_seconds(60);
    assert_eq!(guess("192.0.2.1", PASSPHRASE).await, "in");
}

/// A cookie decides only with JSON, or with a form of our own pages: a form of another origin needs no preflight, JSON
/// does.
#[tokio::test]
async fn a_form_decides_nothing_here() {
    let desk = Desk::new().await;
    let (server, client) = (server(&desk).await, desk.register().await);
    let session = server.open_session(&owner_subject()).await.unwrap();
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    let deny = async |media: &str, body: String| {
        let request = request("POST", "/consent/deny", None)
            .header("cookie", format!("{SESSION_COOKIE}={}", session.secret.reveal()))
            .header("content-type", media);
        desk.send(request.body(Body::from(body)).unwrap()).await.verdict()
    };
    let form = encoded(&[("request_uri", &page)]);
    assert_eq!(deny("application/x-www-form-urlencoded", form.clone()).await, "403 csrf_token_invalid");
    assert_eq!(deny("text/plain", form).await, "415 unsupported_media_type");
    assert_eq!(deny("application/json", json!({ "request_uri": page }).to_string()).await, "200 ok");
}
