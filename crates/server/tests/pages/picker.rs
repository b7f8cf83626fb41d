//! A client that asks for nothing in particular gets what the owner picks.

use serde_json::json;

use crate::browser::Browser;
use crate::desk::{Desk, query_of};

/// 9.2-7, 9.2-12: the picker names the client, chooses nothing by itself, and can be denied.
#[tokio::test]
async fn nothing_is_preselected_and_nothing_picked_is_nothing_allowed() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, None).await).await.expect(200);
    assert_eq!(
        (page.text("client-name").as_str(), page.text("redirect-host").as_str()),
        ("Test App", "app.test")
    );
    let form = page.form("consent-form");
    assert!(form.pairs.iter().all(|(name, _)| name != "pick"));
    assert!(form.has("expiry", "30") && form.has("mode", "continuous"));
    let shown = browser.send(&form).await.expect(400);
    assert!(shown.text("notice").contains("Nothing is ticked"));
    browser.send(&form.clone().tick("pick", "9.9.9")).await.expect(400);
    assert_eq!(desk.grant_count().await, 0);
    let denied = browser.send(&page.form("deny-form")).await.expect(303);
    assert_eq!(query_of(denied.header("location"))["error"], "access_denied");
}

#[tokio::test]
async fn what_is_picked_is_granted_and_nothing_else() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, None).await).await.expect(200);
    // The chat comes first with its two connections, then the notebook.
    assert!(page.text("pick-box-0-0").contains("Home") && page.text("pick-box-1-0").contains("Notebook"));
    let form = page.form("consent-form");
    let form = form.tick("pick", "0.0.1").tick("pick", "0.1.1").tick("pick", "0.1.0").tick("pick", "1.0.0");
    let form = form.set("since", "2026-01-01").set("expiry", "90");
    let shown = browser.send(&form).await.expect(303);
    let code = query_of(shown.header("location"))["code"].clone();
    let answer = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    let granted = answer.body["authorization_details"].as_array().unwrap();
    assert_eq!(granted.len(), 2);
    let chat = &granted[0]["streams"];
    assert_eq!(
        (&chat[0]["name"], &chat[0]["instance_ids"]),
        (&json!("channels"), &json!([desk.loaded.work]))
    );
    assert_eq!(chat[1]["instance_ids"], json!([desk.loaded.home, desk.loaded.work]));
    assert_eq!(chat[1]["time_constraint"]["since"], "2026-01-01");
    assert_eq!(granted[1]["streams"].as_array().unwrap().len(), 1);
    assert_eq!(granted[1]["expires_at"], "2026-05-30T12:00:00.000Z");
    assert_eq!(desk.read(&answer.text("access_token")).await, "200 ok");
}

#[tokio::test]
async fn a_stream_without_time_is_not_quietly_shown_whole() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, None).await).await.expect(200);
    let form = page.form("consent-form").tick("pick", "0.0.2").set("since", "2026-01-01");
    let shown = browser.send(&form).await.expect(400);
    assert!(shown.text("notice").contains("attachments cannot be limited in time"));
    let form = shown.form("consent-form");
    assert!(form.has("pick", "0.0.2") && form.has("since", "2026-01-01"), "the page stays as it was left");
    assert_eq!(desk.grant_count().await, 0);
    browser.send(&form.set("since", "").set("mode", "single_use")).await.expect(303);
    assert_eq!(desk.grant_count().await, 1);
}
