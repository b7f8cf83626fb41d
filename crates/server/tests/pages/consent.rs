//! The consent page and its one click.

use axum::body::Body;
use pdpp_wire::manifest::Manifest;
use serde_json::json;

use crate::browser::Browser;
use crate::desk::{Desk, encoded, query_of, request};
use crate::flow::{REDIRECT, Tokens, notes};

/// 9.2-7: who asks, what proves it, what for, what is seen and what is not.
#[tokio::test]
async fn the_page_says_who_asks_what_for_and_what_stays_hidden() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let mut details = notes("continuous");
    details[0]["retention"] = json!({ "max_duration": "P30D", "on_expiry": "delete" });
    details[0]["client_claims"] = json!({ "commitments": ["We never sell data"] });
    details[0]["streams"][0]["time_range"] = json!({ "since": "2026-01-15" });
    let page = browser.consent(&desk.ask(&client, Some(&details)).await).await.expect(200);
    assert_eq!(page.text("client-name"), "Test App");
    assert_eq!(page.text("client-id"), client);
    assert_eq!(page.text("redirect-host"), "app.test");
    assert_eq!(page.text("first-seen"), "1 March 2026, 12:00 UTC");
    assert!(page.text("verified-origin").starts_with("none"));
    assert!(page.text("withheld-0").contains("It will not see: days"));
    assert!(page.text("other-sources").contains("None of your 1 other source"));
    assert!(page.text("stream-box-0-0").contains("Records from 15 January 2026 on, by updated at."));
    assert!(page.text("stream-box-0-0").contains("Not shown: folder, words, pinned."));
    let [claims, words] = page.blocks("client").try_into().unwrap();
    assert!(claims.contains("Test App"));
    assert!(words.contains("Answer questions about my notes") && words.contains("We never sell data"));
    let policy = page.blocks("policy").join(" ");
    assert!(policy.contains("not enforced") && policy.contains("at most 30 days and then deletes it"));
    assert!(policy.contains("give an assistant the context"));
    assert!(page.blocks("manifest").iter().any(|text| text.contains("Pages of a notebook.")));
    let enforced = page.blocks("protocol").join(" ");
    assert!(!enforced.contains("We never sell data") && !enforced.contains("Answer questions"));
    assert!(!page.html.contains("id=\"local-only\"") && !page.html.contains("<script"));
}

#[tokio::test]
async fn one_click_approves_exactly_what_is_shown() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, Some(&notes("continuous"))).await).await.expect(200);
    let shown = browser.send(&page.form("consent-form")).await.expect(303);
    let back = query_of(shown.header("location"));
    assert!(shown.header("location").starts_with(REDIRECT));
    assert_eq!((back["state"].as_str(), back["iss"].as_str()), ("st/1 ?", desk.issuer.as_str()));
    let answer = desk.redeem(&client, &back["code"], &[]).await.expect("200 ok");
    let granted = &answer.body["authorization_details"][0];
    assert_eq!(granted["streams"][0]["fields"], json!(["body", "id", "title", "updated_at"]));
    assert_eq!((&granted["access_mode"], granted.get("expires_at")), (&json!("continuous"), None));
    assert_eq!(desk.read(&Tokens::of(&answer, &client).access).await, "200 ok");
}

/// 9.2-14: a denial goes back to whoever waits.
#[tokio::test]
async fn one_click_denies_and_the_client_is_told() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, Some(&notes("continuous"))).await).await.expect(200);
    let shown = browser.send(&page.form("deny-form")).await.expect(303);
    let back = query_of(shown.header("location"));
    assert_eq!(back["error"], "access_denied");
    assert_eq!((back["state"].as_str(), back["iss"].as_str()), ("st/1 ?", desk.issuer.as_str()));
    assert_eq!(desk.grant_count().await, 0);
    let late = browser.send(&page.form("consent-form")).await.expect(409);
    assert!(late.html.contains("Already decided"));
}

/// 9.3-2: what is approved is what was shown, or nothing.
#[tokio::test]
async fn a_stale_or_altered_page_approves_nothing() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let uri = desk.ask(&client, Some(&notes("continuous"))).await;
    let form = browser.consent(&uri).await.form("consent-form");
    let altered = browser.send(&form.clone().set("revision", "pdpp.approval-review.v1:sha256:AAAA")).await;
    assert!(altered.expect(400).text("notice").contains("changed since this page was shown"));
    let mut document = pdpp_testkit::sample::notes::manifest().document().clone();
    document["streams"][0]["description"] = json!("Pages of a diary.");
    let manifest = Manifest::from_document(document).unwrap();
    let store = desk.personal.store();
    let replace = pdpp_store::OnConflict::Replace;
    store.put_manifest(&pdpp_server::owner_subject(), &manifest, replace).await.unwrap();
    let stale = browser.send(&form).await.expect(400);
    assert!(stale.text("notice").contains("changed since this page was shown"));
    assert!(stale.text("stream-box-0-0").contains("Pages of a diary."), "it is shown as it stands now");
    assert_eq!(desk.grant_count().await, 0);
    browser.send(&stale.form("consent-form")).await.expect(303);
    assert_eq!(desk.grant_count().await, 1);
}

#[tokio::test]
async fn two_clicks_at_once_make_one_grant() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, Some(&notes("continuous"))).await).await.expect(200);
    let form = page.form("consent-form");
    let (one, two) = tokio::join!(browser.send(&form), browser.send(&form));
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 409]);
    assert_eq!(desk.grant_count().await, 1);
}

/// 9.3-12: the address of the page opens nothing by itself.
#[tokio::test]
async fn knowing_the_address_yields_nothing() {
    let desk = Desk::owned().await;
    let (owner, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let uri = desk.ask(&client, Some(&notes("continuous"))).await;
    let form = owner.consent(&uri).await.form("consent-form");
    let stranger = Browser::new(&desk);
    stranger.consent(&uri).await.expect(303);
    let sent = stranger.send(&form).await.expect(303);
    assert!(sent.header("location").starts_with("/owner/login?return_to="), "the form is not looked at");
    let pairs: Vec<_> = form.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let program = request("POST", "/consent/approve", None)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(encoded(&pairs)));
    desk.send(program.unwrap()).await.expect("401 owner_session_required");
    assert_eq!(desk.grant_count().await, 0);
}

#[tokio::test]
async fn a_request_that_is_over_says_so() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let decided = desk.ask(&client, Some(&notes("continuous"))).await;
    let form = browser.consent(&decided).await.form("consent-form");
    browser.send(&form).await.expect(303);
    assert!(browser.consent(&decided).await.expect(410).text("outcome").contains("answered before"));
    let expired = desk.ask(&client, Some(&notes("continuous"))).await;
    desk.clock.advance_seconds(300);
    assert!(browser.consent(&expired).await.expect(404).text("outcome").contains("expired"));
    browser.consent("urn:pdpp:pending-consent:unknown").await.expect(404);
    browser.get("/consent").await.expect(400);
}

/// Pushed JSON ends in a code the owner carries; the page shows the code, never a token.
#[tokio::test]
async fn pushed_json_ends_in_a_code_on_the_page() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let (_, address) = desk.push(&client, &notes("single_use")).await;
    let page = browser.get(address.strip_prefix(&desk.issuer).unwrap()).await.expect(200);
    assert!(page.html.contains("As asked: after one day"));
    let shown = browser.send(&page.form("consent-form")).await.expect(200);
    let code = shown.text("exchange-code");
    let answer = desk.json("/consent/exchange", None, &json!({ "code": code })).await.expect("200 ok");
    assert_eq!(desk.read(&answer.text("access_token")).await, "200 ok");
    desk.json("/consent/exchange", None, &json!({ "code": code })).await.expect("410 invalid_grant");
}

/// A client that lives on this machine alone could be any program on it.
#[tokio::test]
async fn a_client_of_this_machine_is_warned_about() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let body = json!({ "client_name": "Local tool", "redirect_uris": ["http://127.0.0.1/cb"] });
    let client = desk.json("/oauth/register", None, &body).await.expect("201 ok").text("client_id");
    let redirect = "http://127.0.0.1:4711/cb";
    let path = desk.authorize_path(&client, Some(&notes("continuous")), &[("redirect_uri", redirect)]);
    let answer = desk.get(&path, None).await;
    let page = browser.consent(&query_of(answer.header("location"))["request_uri"]).await.expect(200);
    assert!(page.text("local-only").contains("addresses of this machine"));
    assert!(page.header("content-security-policy").ends_with("form-action 'self' http://127.0.0.1:4711"));
}

/// Where nobody can be redirected to, the owner is told on a page; everyone else in JSON.
#[tokio::test]
async fn a_client_that_cannot_ask_is_told_on_a_page() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let unknown = desk.authorize_path("cli_unknown", Some(&notes("continuous")), &[]);
    let page = browser.get(&unknown).await.expect(400);
    assert_eq!((page.text("code").as_str(), page.header("location")), ("invalid_client", ""));
    let trick = [("redirect_uri", "https://evil.test/cb")];
    let page = browser.get(&desk.authorize_path(&client, None, &trick)).await.expect(400);
    assert!(
        page.text("problem").contains("not one the client registered") && page.header("location").is_empty()
    );
    let shown = browser.get(&desk.authorize_path(&client, None, &[])).await.expect(303);
    assert!(shown.header("location").contains("/consent?request_uri="));
    let wrong =
        browser.get(&desk.authorize_path(&client, None, &[("response_type", "token")])).await.expect(303);
    assert_eq!(query_of(wrong.header("location"))["error"], "unsupported_response_type");
}

/// Programs go on using the same paths with JSON.
#[tokio::test]
async fn the_api_behind_the_page_stays() {
    let desk = Desk::owned().await;
    let client = desk.register().await;
    let uri = desk.ask(&client, Some(&notes("continuous"))).await;
    desk.show(&uri).await.expect("200 ok");
    desk.approve(&uri).await.expect("200 ok");
}

/// RFC 9700, 4.11: nobody is led away to an address that anyone may have registered before they have signed in.
#[tokio::test]
async fn a_wrong_request_leads_away_only_after_signing_in() {
    let desk = Desk::owned().await;
    let client = desk.register().await;
    let wrong = desk.authorize_path(&client, None, &[("response_type", "token")]);
    let shown = Browser::new(&desk).get(&wrong).await.expect(303);
    assert!(shown.header("location").starts_with("/owner/login?return_to="), "{}", shown.header("location"));
    let back = Browser::signed_in(&desk).await.get(&wrong).await.expect(303);
    assert!(back.header("location").starts_with(REDIRECT));
}
