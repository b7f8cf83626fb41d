//! What strangers send: each is refused with its word, nothing is issued, and nothing that waited is lost.

use axum::body::Body;
use serde_json::{Value, json};

use crate::desk::{Desk, query_of, request};
use crate::flow::{REDIRECT, notes};

/// A redirect URI that is not registered letter by letter gets no redirect at all.
#[tokio::test]
async fn nobody_is_redirected_to_an_address_that_was_not_registered() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    for trick in [
        "https://APP.test/cb",
        "https://app.test/CB",
        "https://app.test:443/cb",
        "https://app.test:8443/cb",
        "https://app.test/cb/",
        "https://app.test/cb/../cb",
        "https://app.test/cb#f",
        "https://app.test/cb?x=1",
        "https://user@app.test/cb",
        "https://app.test@evil.test/cb",
        "https://app.test.evil.test/cb",
        "http://app.test/cb",
        "//app.test/cb",
        "javascript:alert(1)",
        "https://app.test\\@evil.test/cb",
    ] {
        let path = desk.authorize_path(&client, Some(&notes("continuous")), &[("redirect_uri", trick)]);
        let answer = desk.get(&path, None).await.expect("400 invalid_request");
        assert_eq!(answer.header("location"), "", "{trick}");
    }
    let unknown = desk.authorize_path("cli_unknown", Some(&notes("continuous")), &[]);
    desk.get(&unknown, None).await.expect("400 invalid_client");
}

/// 9.2-14: once client and address are verified, errors go back to the client.
#[tokio::test]
async fn errors_go_back_to_the_client_once_it_is_verified() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let long = "s".repeat(3_000);
    let mut unknown_source = notes("continuous");
    unknown_source[0]["source"]["id"] = json!("urn:pdpp:source:diary");
    let unknown_source = unknown_source.to_string();
    for (name, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("state", &long, "invalid_request"),
        ("resource", "https://evil.test", "invalid_target"),
        ("authorization_details", "[]", "invalid_authorization_details"),
        ("authorization_details", &unknown_source, "invalid_authorization_details"),
        ("connector_id", "nothing", "invalid_request"),
    ] {
        let path = desk.authorize_path(&client, Some(&notes("continuous")), &[(name, value)]);
        let answer = desk.get(&path, None).await;
        let location = answer.header("location");
        assert!(answer.status == 303 && location.starts_with(REDIRECT), "{name}={value}: {location}");
        let back = query_of(location);
        assert_eq!(
            (back["error"].as_str(), back["iss"].as_str()),
            (error, desk.issuer.as_str()),
            "{name}={value}"
        );
        assert_eq!(back.get("code"), None);
    }
}

#[tokio::test]
async fn authorization_details_are_a_closed_shape() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let changed = |pointer: &str, value: Value| {
        let mut details = notes("continuous");
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        details.pointer_mut(parent).unwrap()[member] = value;
        details
    };
    for details in [
        json!("text"),
        json!({}),
        json!([{}]),
        changed("/0/type", json!("https://other.test")),
        changed("/0/unknown", json!(1)),
        changed("/0/streams", json!([])),
        changed("/0/streams", json!([{ "name": "*" }, { "name": "notes" }])),
        changed("/0/streams", json!([{ "name": "notes" }, { "name": "notes" }])),
        changed("/0/streams/0/name", json!("diary")),
        changed("/0/streams/0/fields", json!(["secret"])),
        changed("/0/streams/0/instance_ids", json!(["cin_unknown"])),
        changed("/0/streams/0/time_range", json!({ "since": "soon" })),
        changed("/0/streams/0/unknown", json!(1)),
        changed("/0/selection_preset", json!("x")),
        changed("/0/purpose_code", json!("assist")),
        changed("/0/access_mode", json!("forever")),
        changed("/0/source", json!({ "id": "urn:pdpp:source:notes", "kind": "provider_native" })),
        changed("/0/client_claims", json!({ "commitments": [""] })),
        Value::Array(vec![notes("continuous")[0].clone(); 17]),
    ] {
        let body = json!({ "client_id": client, "authorization_details": details });
        let answer = desk.json("/oauth/par", None, &body).await;
        assert_eq!(answer.verdict(), "400 invalid_authorization_details", "{details}");
    }
    for extra in ["parent_package_id", "redirect_uri", "anything"] {
        let mut body = json!({ "client_id": client, "authorization_details": notes("continuous") });
        body[extra] = json!("x");
        desk.json("/oauth/par", None, &body).await.expect("400 invalid_request");
    }
}

#[tokio::test]
async fn parameters_stand_once_in_a_form_or_in_json() {
    let desk = Desk::new().await;
    let send = async |path: &str, media: &str, body: &str| {
        let request = request("POST", path, None).header("content-type", media);
        desk.send(request.body(Body::from(body.to_owned())).unwrap()).await.verdict()
    };
    let form = "application/x-www-form-urlencoded";
    for body in ["grant_type=a&grant_type=b", "grant_type=%zz", "grant_type=%ff", "grant_type=%00"] {
        assert_eq!(send("/oauth/token", form, body).await, "400 invalid_request", "{body}");
    }
    for body in ["", "[]", "{", r#"{"grant_type":"a","grant_type":"b"}"#, r#"{"grant_type":1}"#] {
        assert_eq!(send("/oauth/token", "application/json", body).await, "400 invalid_request", "{body}");
    }
    assert_eq!(send("/oauth/token", "text/plain", "grant_type=a").await, "415 invalid_request");
    assert_eq!(send("/consent/exchange", "text/plain", "code=a").await, "415 unsupported_media_type");
    let large = format!("grant_type={}", "a".repeat(70_000));
    assert_eq!(send("/oauth/token", form, &large).await, "413 invalid_request");
    let twice = "/oauth/authorize?client_id=a&client_id=b";
    desk.get(twice, None).await.expect("400 invalid_request");
}

/// RFC 9700, 2.1: a pushed form is checked like any other.
#[tokio::test]
async fn a_pushed_form_is_checked_like_any_other() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    for (name, value, error) in [
        ("redirect_uri", "https://evil.test/cb", "invalid_request"),
        ("code_challenge", "", "invalid_request"),
        ("code_challenge_method", "plain", "invalid_request"),
        ("response_type", "token", "unsupported_response_type"),
        ("resource", "https://evil.test", "invalid_target"),
        ("request_uri", "urn:x", "invalid_request"),
    ] {
        let members = query_of(&desk.authorize_path(&client, Some(&notes("continuous")), &[(name, value)]));
        let pairs: Vec<_> = members.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        desk.form("/oauth/par", &pairs).await.expect(&format!("400 {error}"));
    }
}
