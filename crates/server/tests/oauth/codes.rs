//! Authorization codes, exchange codes and pushed requests.

use serde_json::json;

use crate::desk::{Desk, encoded, query_of};
use crate::flow::{REDIRECT, VERIFIER, challenge, notes};

/// 9.2-9, 9.2-10: the access token is made at redemption, lives ten minutes and has a refresh token beside it.
#[tokio::test]
async fn a_code_becomes_tokens_that_read_what_was_approved() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let code = desk.code(&client, &notes("continuous")).await;
    let answer = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!((answer.text("token_type").as_str(), &answer.body["expires_in"]), ("Bearer", &json!(600)));
    assert!(answer.text("refresh_token").starts_with("rt_"));
    let detail = &answer.body["authorization_details"][0];
    assert_eq!(detail["grant_id"], answer.body["grant_id"]);
    assert_eq!(detail["streams"][0]["fields"], json!(["body", "id", "title", "updated_at"]));
    let page = desk.get("/v1/streams/notes/records?limit=1", Some(&answer.text("access_token"))).await;
    let members = page.expect("200 ok").body["data"][0]["data"].as_object().unwrap().len();
    assert_eq!(members, 4, "the granted fields and no other");
}

/// 9.3-1: a code that comes back is refused, and what it gave ends.
#[tokio::test]
async fn a_code_is_redeemed_once() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let code = desk.code(&client, &notes("continuous")).await;
    let first = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    assert_eq!(desk.read(&first.text("access_token")).await, "200 ok");
    desk.redeem(&client, &code, &[("code_verifier", &"x".repeat(50))]).await.expect("400 invalid_grant");
    assert_eq!(
        desk.read(&first.text("access_token")).await,
        "200 ok",
        "a stranger without the verifier ends nothing"
    );
    desk.redeem(&client, &code, &[]).await.expect("400 invalid_grant");
    assert_eq!(desk.read(&first.text("access_token")).await, "401 authentication_error");
    desk.refresh(&client, &first.text("refresh_token")).await.expect("400 invalid_grant");
}

#[tokio::test]
async fn a_code_lives_sixty_seconds() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let code = desk.code(&client, &notes("continuous")).await;
    desk.clock.advance_seconds(59);
    let other = desk.code(&client, &notes("continuous")).await;
    desk.redeem(&client, &code, &[]).await.expect("200 ok");
    desk.clock.advance_seconds(60);
    desk.redeem(&client, &other, &[]).await.expect("400 invalid_grant");
}

/// Replayed, truncated, mixed-up and foreign codes, verifiers, clients and addresses: nothing is issued, and the
/// right one still works afterwards.
#[tokio::test]
async fn a_code_serves_only_whoever_asked_for_it() {
    let desk = Desk::new().await;
    let (client, stranger) = (desk.register().await, desk.register().await);
    let code = desk.code(&client, &notes("continuous")).await;
    let other = desk.code(&stranger, &notes("continuous")).await;
    let cut = &code[..code.len() - 1];
    for (client_id, code, more) in [
        (&stranger, code.as_str(), ("state", "")),
        (&client, other.as_str(), ("state", "")),
        (&client, cut, ("state", "")),
        (&client, "", ("code", "oacode_0000")),
        (&client, code.as_str(), ("redirect_uri", "https://app.test/cb/")),
        (&client, code.as_str(), ("redirect_uri", "https://APP.test/cb")),
        (&client, code.as_str(), ("code_verifier", "another-verifier-that-is-long-enough-0123456789")),
        (&client, code.as_str(), ("code_verifier", challenge(VERIFIER).as_str())),
    ] {
        desk.redeem(client_id, code, &[more]).await.expect("400 invalid_grant");
    }
    desk.redeem("cli_unknown", &code, &[]).await.expect("400 invalid_client");
    for missing in ["code", "client_id", "redirect_uri", "code_verifier", "grant_type"] {
        desk.redeem(&client, &code, &[(missing, "")]).await.expect("400 invalid_request");
    }
    desk.redeem(&client, &code, &[("grant_type", "password")]).await.expect("400 unsupported_grant_type");
    desk.redeem(&client, &code, &[("resource", "https://evil.test/mcp")]).await.expect("400 invalid_target");
    desk.redeem(&client, &code, &[]).await.expect("200 ok");
}

/// A pushed form goes on at the authorization endpoint, and its handle opens nothing else.
#[tokio::test]
async fn a_pushed_form_goes_on_at_the_authorization_endpoint() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let challenge = challenge(VERIFIER);
    let details = notes("continuous").to_string();
    let pairs = [
        ("response_type", "code"),
        ("client_id", client.as_str()),
        ("redirect_uri", REDIRECT),
        ("state", "st/1 ?"),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("authorization_details", details.as_str()),
    ];
    let pushed = desk.form("/oauth/par", &pairs).await.expect("201 ok");
    let handle = pushed.text("request_uri");
    assert!(handle.starts_with("urn:ietf:params:oauth:request_uri:"), "{handle}");
    desk.show(&handle).await.expect("404 not_found");
    let path = |client: &str| {
        format!("/oauth/authorize?{}", encoded(&[("client_id", client), ("request_uri", &handle)]))
    };
    desk.get(&path("cli_other"), None).await.expect("400 invalid_request");
    let to_page = desk.get(&path(&client), None).await;
    assert_eq!(to_page.status, 303);
    let page = query_of(to_page.header("location"))["request_uri"].clone();
    assert_ne!(
        page.rsplit(':').next(),
        handle.rsplit(':').next(),
        "the page's address says nothing about the handle"
    );
    let back = query_of(&desk.approve(&page).await.expect("200 ok").text("redirect_to"));
    desk.redeem(&client, &back["code"], &[]).await.expect("200 ok");
    desk.get(&path(&client), None).await.expect("400 invalid_request");
}

/// 9.3-1, 9.3-12: pushed JSON ends in an exchange code, which the owner carries and which serves once.
#[tokio::test]
async fn pushed_json_ends_in_an_exchange_code() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let (_, url) = desk.push(&client, &notes("continuous")).await;
    let page = query_of(&url)["request_uri"].clone();
    let approved = desk.approve(&page).await.expect("200 ok");
    assert_eq!(approved.text("handover"), "exchange_code");
    let code = approved.text("exchange_code");
    assert!(code.starts_with("cex_") && code.len() == 68);
    let exchange = async |code: &str| desk.json("/consent/exchange", None, &json!({ "code": code })).await;
    exchange("cex_unknown").await.expect("404 not_found");
    let answer = exchange(&code).await.expect("200 ok");
    assert_eq!(desk.read(&answer.text("token")).await, "200 ok");
    assert_eq!(answer.body["grant"]["grant_id"], answer.body["grant_id"]);
    exchange(&code).await.expect("410 invalid_grant");
    assert_eq!(desk.read(&answer.text("token")).await, "200 ok");
    desk.redeem(&client, &code, &[]).await.expect("400 invalid_grant");
    let (_, url) = desk.push(&client, &notes("continuous")).await;
    let late = desk.approve(&query_of(&url)["request_uri"]).await.expect("200 ok").text("exchange_code");
    desk.clock.advance_seconds(300);
    exchange(&late).await.expect("410 invalid_grant");
}

/// 9.2-1, 9.3-12: who knows the approval address and the client's public id gets nothing, before or after approval.
#[tokio::test]
async fn the_approval_address_redeems_nothing() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let by_code = desk.ask(&client, Some(&notes("continuous"))).await;
    let (requester, url) = desk.push(&client, &notes("continuous")).await;
    let by_json = query_of(&url)["request_uri"].clone();
    assert_ne!(requester, by_json, "what the owner is shown is not what the requester has");
    for page in [by_code, by_json] {
        let handle = page.rsplit(':').next().unwrap().to_owned();
        let approval_id = desk.show(&page).await.expect("200 ok").text("approval_id");
        for round in ["before", "after"] {
            for known in [&page, &handle, &approval_id] {
                desk.redeem(&client, known, &[]).await.expect("400 invalid_grant");
                let device = [
                    ("grant_type", crate::flow::DEVICE_GRANT),
                    ("device_code", known),
                    ("client_id", &client),
                ];
                desk.form("/oauth/token", &device).await.expect("400 invalid_grant");
                desk.json("/consent/exchange", None, &json!({ "code": known })).await.expect("404 not_found");
                let attach = json!({ "request_uri": known, "client_id": client });
                desk.json("/agent-connect", None, &attach).await.expect("400 invalid_request");
                desk.refresh(&client, known).await.expect("400 invalid_grant");
            }
            if round == "before" {
                desk.approve(&page).await.expect("200 ok");
            }
        }
    }
}

/// 9.3-5: a single-use grant gives one token, without a refresh token, and the token pages until it ends.
#[tokio::test]
async fn a_single_use_grant_gives_one_token() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let code = desk.code(&client, &notes("single_use")).await;
    let answer = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    assert_eq!(answer.body["refresh_token"], json!(null));
    assert_eq!(answer.body["expires_in"], json!(86_400));
    let token = answer.text("access_token");
    for _ in 0..3 {
        assert_eq!(desk.read(&token).await, "200 ok");
    }
    let grant = pdpp_wire::GrantId::parse(answer.text("grant_id")).unwrap();
    let order = pdpp_auth::TokenOrder { grant_ids: vec![grant], expires_at: None };
    let again = desk.personal.authority().reissue_token(&pdpp_server::owner_subject(), order).await;
    assert!(again.unwrap_err().to_string().starts_with("grant_consumed"));
    desk.clock.advance_seconds(86_400);
    assert_eq!(desk.read(&token).await, "401 authentication_error");
}

/// 9.2-10: an approval nobody redeems opens nothing, and its grant is taken back.
#[tokio::test]
async fn an_abandoned_approval_leaves_no_access() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    desk.code(&client, &notes("continuous")).await;
    desk.clock.advance_seconds(61);
    let store = desk.personal.store();
    store.prune_oauth(desk.personal.clock().now()).await.unwrap();
    let grants = store.list_grants(&pdpp_server::owner_subject()).await.unwrap();
    assert!(grants.len() == 1 && grants[0].standing.revoked_at.is_some(), "{grants:?}");
}

/// 9.2-9: lasting access is refreshed, also where the client forgot to register for refresh tokens.
#[tokio::test]
async fn lasting_access_is_refreshed_whatever_was_registered() {
    let desk = Desk::new().await;
    let body = json!({ "redirect_uris": [REDIRECT], "grant_types": ["authorization_code"] });
    let client = desk.json("/oauth/register", None, &body).await.expect("201 ok").text("client_id");
    let code = desk.code(&client, &notes("continuous")).await;
    let answer = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    desk.refresh(&client, &answer.text("refresh_token")).await.expect("200 ok");
}

/// Clocks are set back and forth: what was given lives as long as it was given for, and nothing is given twice.
#[tokio::test]
async fn a_clock_that_goes_back_gives_nothing_twice() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let code = desk.code(&client, &notes("continuous")).await;
    desk.clock.advance_seconds(-3_600);
    let answer = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    let access = answer.text("access_token");
    assert_eq!(desk.read(&access).await, "200 ok");
    desk.clock.advance_seconds(-3_600);
    assert_eq!(desk.read(&access).await, "200 ok");
    desk.clock.advance_seconds(3_600 + 600);
    assert_eq!(desk.read(&access).await, "401 authentication_error");
    let refreshed = desk.refresh(&client, &answer.text("refresh_token")).await.expect("200 ok");
    desk.clock.advance_seconds(-3_600);
    desk.redeem(&client, &code, &[]).await.expect("400 invalid_grant");
    assert_ne!(
        desk.read(&refreshed.text("access_token")).await,
        "200 ok",
        "a code that comes back ends what it gave"
    );
}
