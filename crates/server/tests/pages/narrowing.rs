//! What the owner unticks is not granted.

use serde_json::{Value, json};

use crate::browser::{Browser, Filled};
use crate::desk::{Answer, Desk, RESOURCE_SERVER, encoded, query_of, request};
use crate::flow::notes;

use axum::body::Body;
use base64::Engine as _;

fn two_streams() -> Value {
    let mut details = notes("continuous");
    details[0]["streams"] = json!([
        { "name": "notes", "fields": ["title", "body", "updated_at"] },
        { "name": "days", "necessity": "optional" },
    ]);
    details
}

/// Sends the form, redeems the code, and gives what the token stands for.
async fn introspected(browser: &Browser<'_>, client: &str, form: &Filled) -> Value {
    let shown = browser.send(form).await.expect(303);
    let code = query_of(shown.header("location"))["code"].clone();
    let token = browser.desk.redeem(client, &code, &[]).await.expect("200 ok").text("access_token");
    introspect(browser.desk, &token).await.body["authorization_details"].clone()
}

pub(crate) async fn introspect(desk: &Desk, token: &str) -> Answer {
    let credential = format!("{}:{}", RESOURCE_SERVER.0, RESOURCE_SERVER.1);
    let basic = base64::engine::general_purpose::STANDARD.encode(credential);
    let request = request("POST", "/introspect", None)
        .header("authorization", format!("Basic {basic}"))
        .header("content-type", "application/x-www-form-urlencoded");
    desk.send(request.body(Body::from(encoded(&[("token", token)]))).unwrap()).await
}

#[tokio::test]
async fn unticked_fields_streams_time_and_days_are_not_granted() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, Some(&two_streams())).await).await.expect(200);
    let form = page.form("consent-form");
    // Fields are listed as granted: body, id, title, updated_at; id and title are part of every record.
    assert!(form.has("field", "0.0.0") && form.has("field", "0.0.3") && !form.has("field", "0.0.1"));
    let form = form
        .untick("stream", "0.1")
        .untick("field", "0.0.0")
        .set("since.0.0", "2026-02-01")
        .set("expiry", "7");
    let granted = introspected(&browser, &client, &form).await;
    let streams = granted[0]["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 1);
    assert_eq!(streams[0]["fields"], json!(["id", "title", "updated_at"]));
    assert_eq!(streams[0]["time_constraint"], json!({ "field": "updated_at", "since": "2026-02-01" }));
    assert_eq!(granted[0]["expires_at"], "2026-03-08T12:00:00.000Z");
}

#[tokio::test]
async fn lasting_access_can_be_made_a_single_one() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, Some(&notes("continuous"))).await).await.expect(200);
    let granted = introspected(&browser, &client, &page.form("consent-form").set("mode", "single_use")).await;
    assert_eq!(granted[0]["access_mode"], "single_use");
    assert_eq!(granted[0]["expires_at"], "2026-03-02T12:00:00.000Z");
    let page = browser.consent(&desk.ask(&client, Some(&notes("single_use"))).await).await.expect(200);
    assert!(!page.html.contains("name=\"mode\""));
    browser.send(&page.form("consent-form").set("mode", "continuous")).await.expect(303);
    let grants = desk.personal.store().list_grants(&pdpp_server::owner_subject()).await.unwrap();
    assert!(grants.iter().all(|grant| grant.standing.document.contains("single_use")), "never wider");
}

/// Times can only become narrower.
#[tokio::test]
async fn a_time_bound_cannot_be_widened() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let mut details = notes("continuous");
    details[0]["streams"][0]["time_range"] = json!({ "since": "2026-02-01T10:00:00Z" });
    let page = browser.consent(&desk.ask(&client, Some(&details)).await).await.expect(200);
    let form = page.form("consent-form");
    assert!(form.has("since.0.0", "2026-02-01"));
    let wider = browser.send(&form.clone().set("since.0.0", "2025-01-01")).await.expect(400);
    assert!(wider.text("notice").contains("only narrow"));
    assert!(wider.form("consent-form").has("since.0.0", "2025-01-01"), "the page stays as it was left");
    browser.send(&form.clone().set("until.0.0", "soon")).await.expect(400);
    let granted = introspected(&browser, &client, &form.without("since.0.0")).await;
    let bound = &granted[0]["streams"][0]["time_constraint"];
    assert_eq!(bound["since"], "2026-02-01T10:00:00Z", "an emptied date leaves what was asked");
}

/// Unticking what the client says it needs warns first.
#[tokio::test]
async fn unticking_a_required_stream_warns_once() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, Some(&two_streams())).await).await.expect(200);
    let form = page.form("consent-form").untick("stream", "0.0").set("expiry", "30");
    let warned = browser.send(&form).await.expect(200);
    assert_eq!(warned.text("missing"), "notes");
    assert_eq!(desk.grant_count().await, 0);
    assert!(warned.header("content-security-policy").contains("form-action 'self' https://app.test"));
    let granted = introspected(&browser, &client, &warned.form("consent-form")).await;
    assert_eq!(granted[0]["streams"].as_array().unwrap().len(), 1);
    assert_eq!(granted[0]["streams"][0]["name"], "days");
    assert_eq!(granted[0]["expires_at"], "2026-03-31T12:00:00.000Z");
}

#[tokio::test]
async fn nothing_ticked_allows_nothing() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, Some(&notes("continuous"))).await).await.expect(200);
    let form = page.form("consent-form");
    let shown = browser.send(&form.clone().untick("stream", "0.0")).await.expect(400);
    assert!(shown.text("notice").contains("Nothing is ticked"));
    for (name, value) in [("expiry", "365"), ("mode", "for_ever"), ("since.0.0", "x")] {
        browser.send(&form.clone().set(name, value)).await.expect(400);
    }
    assert_eq!(desk.grant_count().await, 0);
}

/// Training needs a yes of its own.
#[tokio::test]
async fn training_needs_its_own_tick() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let mut details = notes("continuous");
    details[0]["purpose_code"] = json!("https://pdpp.dev/purpose/ai_training");
    let page = browser.consent(&desk.ask(&client, Some(&details)).await).await.expect(200);
    let form = page.form("consent-form");
    assert!(!form.has("ai_training", "yes"), "nothing is ticked for the owner");
    let shown = browser.send(&form).await.expect(400);
    assert!(shown.text("notice").contains("tick of its own"));
    assert_eq!(desk.grant_count().await, 0);
    browser.send(&form.tick("ai_training", "yes")).await.expect(303);
    assert_eq!(desk.grant_count().await, 1);
}
