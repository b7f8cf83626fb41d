//! Clients: registered by themselves, described at their own address, removed.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::body::Body;
use pdpp_auth::{
    AuthorizationServer, AuthorizeOutcome, AuthorizeRequest, ConsentHandle, Document, MetadataDocuments,
    OAuthSettings,
};
use pdpp_server::owner_subject;
use serde_json::{Map, Value, json};

use crate::desk::{Answer, Desk, query_of, request};
use crate::flow::{VERIFIER, challenge, notes};

async fn register(desk: &Desk, body: Value) -> Answer {
    desk.json("/oauth/register", None, &body).await
}

/// RFC 7591: unknown metadata is kept and ignored, and nothing is filled in that the client did not say.
#[tokio::test]
async fn a_client_registers_and_unknown_metadata_is_ignored() {
    let desk = Desk::new().await;
    let body = json!({
        "client_name": "Любой 🦀 <b>", "redirect_uris": ["https://app.test/cb", "http://127.0.0.1/cb"],
        "scope": "read", "software_id": "x", "contacts": ["a@b.test"], "response_types": ["code"],
        "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
    });
    let answer = register(&desk, body).await.expect("201 ok");
    assert_eq!(answer.text("client_name"), "Любой 🦀 <b>");
    assert_eq!(answer.text("application_type"), "native");
    for absent in ["client_secret", "scope", "software_id", "client_uri", "policy_uri", "issuer_subject_id"] {
        assert_eq!(answer.body.get(absent), None, "{absent}");
    }
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn a_registration_is_read_and_removed_by_its_token() {
    let desk = Desk::new().await;
    let answer = register(&desk, json!({ "redirect_uris": ["https://app.test/cb"] })).await.expect("201 ok");
    let path = answer.text("registration_client_uri").replace(&desk.issuer, "");
    let token = answer.text("registration_access_token");
    desk.get(&path, None).await.expect("401 invalid_token");
    desk.get(&path, Some(&desk.owner)).await.expect("401 invalid_token");
    let read = desk.get(&path, Some(&token)).await.expect("200 ok");
    assert_eq!(read.body["redirect_uris"], json!(["https://app.test/cb"]));
    assert_eq!(read.body.get("registration_access_token"), None);
    let delete = async |bearer: &str| {
        desk.send(request("DELETE", &path, Some(bearer)).body(Body::empty()).unwrap()).await.status
    };
    assert_eq!((delete("nonsense").await, delete(&token).await, delete(&token).await), (401, 204, 401));
}

#[tokio::test]
async fn metadata_that_breaks_a_rule_is_refused() {
    let desk = Desk::new().await;
    let redirect = json!(["https://app.test/cb"]);
    for (body, verdict) in [
        (json!({}), "201 ok"),
        (json!({ "redirect_uris": ["http://app.test/cb"] }), "400 invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://app.test/cb#x"] }), "400 invalid_redirect_uri"),
        (json!({ "redirect_uris": ["javascript:/x"] }), "400 invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://u:p@app.test/cb"] }), "400 invalid_redirect_uri"),
        (json!({ "redirect_uris": "https://app.test/cb" }), "400 invalid_client_metadata"),
        (json!({ "redirect_uris": [1] }), "400 invalid_client_metadata"),
        (json!({ "grant_types": ["authorization_code"] }), "400 invalid_redirect_uri"),
        (
            json!({ "grant_types": ["refresh_token"], "redirect_uris": redirect }),
            "400 invalid_client_metadata",
        ),
        (json!({ "grant_types": ["implicit"], "redirect_uris": redirect }), "400 invalid_client_metadata"),
        (json!({ "response_types": ["token"], "redirect_uris": redirect }), "400 invalid_client_metadata"),
        (json!({ "client_secret": "x", "redirect_uris": redirect }), "400 invalid_client_metadata"),
        (
            json!({ "token_endpoint_auth_method": "client_secret_basic", "redirect_uris": redirect }),
            "400 invalid_client_metadata",
        ),
        (json!({ "client_name": 7, "redirect_uris": redirect }), "400 invalid_client_metadata"),
        (json!({ "client_name": "x".repeat(600), "redirect_uris": redirect }), "400 invalid_client_metadata"),
        (json!({ "client_uri": "javascript:x", "redirect_uris": redirect }), "400 invalid_client_metadata"),
        (json!({ "x": "y".repeat(20_000), "redirect_uris": redirect }), "400 invalid_client_metadata"),
        (json!({ "redirect_uris": vec!["https://app.test/a"; 2] }), "400 invalid_client_metadata"),
    ] {
        assert_eq!(register(&desk, body.clone()).await.verdict(), verdict, "{body}");
    }
    let many: Vec<_> = (0..40).map(|n| format!("https://app.test/{n}")).collect();
    register(&desk, json!({ "redirect_uris": many })).await.expect("400 invalid_client_metadata");
    register(&desk, json!({ "x": "y".repeat(100_000) })).await.expect("413 invalid_request");
}

#[tokio::test]
async fn registrations_from_one_place_are_bounded() {
    let desk = Desk::new().await;
    for _ in 0..120 {
        register(&desk, json!({ "redirect_uris": ["https://app.test/cb"] })).await.expect("201 ok");
    }
    let refused = register(&desk, json!({})).await.expect("429 slow_down");
    assert_eq!(refused.header("retry-after"), "600");
    desk.clock.advance_seconds(600);
    register(&desk, json!({})).await.expect("201 ok");
}

/// 9.2-18: the owner may remove any client, whoever registered it; everything it had ends.
#[tokio::test]
async fn the_owner_removes_a_client_that_registered_itself() {
    let desk = Desk::new().await;
    let (tokens, other) =
        (desk.connect(&notes("continuous")).await, desk.connect(&notes("continuous")).await);
    let server = described(&desk, &Shelf::default()).await;
    let client_id = tokens.client_id.parse().unwrap();
    assert!(server.forget_client(&owner_subject(), &client_id).await.unwrap());
    assert_ne!(desk.read(&tokens.access).await, "200 ok");
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("400 invalid_client");
    assert_eq!(desk.read(&other.access).await, "200 ok");
}

const DOCUMENT: &str = "https://app.test/client.json";

/// Documents as the web would have them.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Map<String, Value>>>);

#[async_trait]
impl MetadataDocuments for Shelf {
    async fn fetch(&self, url: &str) -> Result<Document, String> {
        let found = self.0.lock().unwrap().get(url).and_then(Value::as_object).cloned();
        found.map(|members| Document { members }).ok_or_else(|| "There is no document.".to_owned())
    }
}

impl Shelf {
    fn put(&self, url: &str, document: Value) {
        self.0.lock().unwrap().insert(url.to_owned(), document);
    }
}

async fn described(desk: &Desk, shelf: &Shelf) -> AuthorizationServer {
    let settings = OAuthSettings {
        issuer: desk.issuer.clone(),
        subject_id: owner_subject(),
        dynamic_registration: true,
        introspection: None,
    };
    AuthorizationServer::open(desk.personal.authority(), settings, Arc::new(shelf.clone())).await.unwrap()
}

async fn ask(server: &AuthorizationServer, client_id: &str, redirect: &str) -> Result<String, String> {
    let request = AuthorizeRequest {
        client_id: Some(client_id.to_owned()),
        redirect_uri: Some(redirect.to_owned()),
        response_type: Some("code".to_owned()),
        code_challenge: Some(challenge(VERIFIER)),
        code_challenge_method: Some("S256".to_owned()),
        authorization_details: Some(notes("continuous")),
        ..AuthorizeRequest::default()
    };
    match server.authorize(request).await {
        Ok(AuthorizeOutcome::Consent { location, .. }) => Ok(query_of(&location)["request_uri"].clone()),
        Ok(AuthorizeOutcome::BackToClient { fault, .. }) => Err(fault.to_string()),
        Err(fault) => Err(fault.oauth_code().as_str().to_owned()),
    }
}

/// 9.2-18: a described client is shown with its origin, is refreshed without a fetch, and loses everything when what
/// matters in its document changes, also across a restart.
#[tokio::test]
async fn a_described_client_loses_its_access_when_its_document_changes() {
    let desk = Desk::new().await;
    let shelf = Shelf::default();
    let redirect = "https://app.test/cb";
    shelf.put(DOCUMENT, json!({ "client_id": DOCUMENT, "client_name": "App", "redirect_uris": [redirect] }));
    let server = described(&desk, &shelf).await;
    let page = ConsentHandle::RequestUri(ask(&server, DOCUMENT, redirect).await.unwrap());
    let review = server.review(&owner_subject(), &page, None).await.unwrap();
    assert_eq!(review.artifact["client"]["verified_origin"], "https://app.test");
    let approved = server.approve(&owner_subject(), &page, &review.digest, None).await.unwrap();
    let pdpp_auth::Handover::Redirect(location) = approved.handover else { panic!("a code flow redirects") };
    let answer = desk.redeem(DOCUMENT, &query_of(&location)["code"], &[]).await.expect("200 ok");
    assert_eq!(desk.read(&answer.text("access_token")).await, "200 ok");
    let next = desk.refresh(DOCUMENT, &answer.text("refresh_token")).await.expect("200 ok");
    shelf.put(
        DOCUMENT,
        json!({ "client_id": DOCUMENT, "client_name": "New name", "redirect_uris": [redirect] }),
    );
    ask(&server, DOCUMENT, redirect).await.unwrap();
    assert_eq!(desk.read(&next.text("access_token")).await, "200 ok", "a name may change");
    let stolen = "https://app.test/stolen";
    shelf.put(DOCUMENT, json!({ "client_id": DOCUMENT, "redirect_uris": [stolen] }));
    let restarted = described(&desk, &shelf).await;
    ask(&restarted, DOCUMENT, stolen).await.unwrap();
    assert_ne!(desk.read(&next.text("access_token")).await, "200 ok");
    desk.refresh(DOCUMENT, &next.text("refresh_token")).await.expect("400 invalid_grant");
}

#[tokio::test]
async fn a_document_that_breaks_a_rule_is_no_client() {
    let desk = Desk::new().await;
    let shelf = Shelf::default();
    let server = described(&desk, &shelf).await;
    let redirect = "https://app.test/cb";
    for document in [
        json!({ "redirect_uris": [redirect] }),
        json!({ "client_id": "https://other.test/client.json", "redirect_uris": [redirect] }),
        json!({ "client_id": DOCUMENT, "redirect_uris": ["https://evil.test/cb"] }),
        json!({ "client_id": DOCUMENT, "redirect_uris": [redirect], "client_secret": "x" }),
        json!({ "client_id": DOCUMENT, "redirect_uris": [redirect], "token_endpoint_auth_method": "private_key_jwt" }),
    ] {
        shelf.put(DOCUMENT, document.clone());
        let refused = ask(&server, DOCUMENT, redirect).await.unwrap_err();
        assert!(refused.starts_with("invalid_client"), "{document}: {refused}");
    }
    for bad in ["https://app.test", "https://u@app.test/c", "https://app.test/a/../c", "http://app.test/c"] {
        assert_eq!(ask(&server, bad, redirect).await.unwrap_err(), "invalid_client", "{bad}");
    }
}

/// RFC 9700, 4.15: a client that could choose its id could take that of an owner or of another client.
#[tokio::test]
async fn a_client_cannot_choose_its_id() {
    let desk = Desk::new().await;
    for chosen in ["pdpp_cli", "owner_local"] {
        let body = json!({ "client_id": chosen, "redirect_uris": ["https://app.test/cb"] });
        let given = register(&desk, body).await.expect("201 ok").text("client_id");
        assert!(given.starts_with("cli_"), "{given}");
    }
}
