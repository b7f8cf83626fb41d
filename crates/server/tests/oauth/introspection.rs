//! Introspection, for a resource server with its credential.

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::desk::{Answer, Desk, RESOURCE_SERVER, encoded, request};
use crate::flow::notes;

async fn introspect(desk: &Desk, (name, secret): (&str, &str), token: &str) -> Answer {
    let basic = format!("Basic {}", STANDARD.encode(format!("{name}:{secret}")));
    let request = request("POST", "/introspect", None)
        .header("authorization", basic)
        .header("content-type", "application/x-www-form-urlencoded");
    desk.send(request.body(Body::from(encoded(&[("token", token)]))).unwrap()).await
}

/// 9.2-19: nobody introspects, or registers with authority, by a well-known credential.
#[tokio::test]
async fn only_the_resource_server_introspects() {
    let desk = Desk::new().await;
    for wrong in [("", ""), ("rs", ""), ("rs", "pdpp"), ("other", RESOURCE_SERVER.1)] {
        let answer = introspect(&desk, wrong, &desk.owner).await.expect("401 context.authentication_failed");
        assert_eq!(answer.header("www-authenticate"), "Basic realm=\"introspection\"");
    }
    desk.form("/introspect", &[("token", &desk.owner)]).await.expect("401 context.authentication_failed");
    introspect(&desk, RESOURCE_SERVER, "").await.expect("400 invalid_request");
}

/// 9.3-3: introspection says what a token stands for, and that it ended as soon as it has.
#[tokio::test]
async fn a_token_is_described_while_it_lives() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let ask = async |token: &str| introspect(&desk, RESOURCE_SERVER, token).await.expect("200 ok").body;
    let found = ask(&tokens.access).await;
    assert_eq!((&found["active"], &found["pdpp_token_kind"]), (&json!(true), &json!("client")));
    assert_eq!(
        (&found["client_id"], &found["grant_id"]),
        (&json!(tokens.client_id), &json!(tokens.grant_id))
    );
    assert_eq!((&found["iss"], &found["aud"]), (&json!(desk.issuer), &json!(desk.issuer)));
    assert_eq!(found["exp"].as_i64().unwrap() - found["iat"].as_i64().unwrap(), 600);
    let details = found["authorization_details"].as_array().unwrap();
    assert_eq!((details.len(), &details[0]["grant_id"]), (1, &json!(tokens.grant_id)));
    assert_eq!(found["pdpp"]["source"]["id"], "urn:pdpp:source:notes");
    assert_eq!(ask(&desk.owner).await["pdpp_token_kind"], "owner");
    assert_eq!(ask("unknown").await, json!({ "active": false }));
    assert_eq!(ask(tokens.refresh()).await, json!({ "active": false }), "a refresh token opens nothing");
    desk.clock.advance_seconds(600);
    assert_eq!(ask(&tokens.access).await, json!({ "active": false, "inactive_reason": "token_expired" }));
    let next = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok").text("access_token");
    desk.json(&format!("/grants/{}/revoke", tokens.grant_id), Some(&desk.owner), &json!({})).await;
    assert_eq!(ask(&next).await, json!({ "active": false, "inactive_reason": "grant_revoked" }));
}

/// 9.2-19: where no credential was set, there is none to guess.
#[tokio::test]
async fn without_a_credential_nobody_introspects() {
    let desk =
        Desk::set_up(1, |file| (file.introspection_id, file.introspection_secret) = (None, None)).await;
    for guess in [("", ""), ("resource-server", ""), RESOURCE_SERVER] {
        introspect(&desk, guess, &desk.owner).await.expect("401 context.authentication_failed");
    }
}
