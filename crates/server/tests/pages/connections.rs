//! Which account of a source is read.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::desk::Desk;

fn chat(streams: &Value) -> Value {
    json!([{
        "type": "https://pdpp.dev/data-access", "source": { "id": "urn:pdpp:source:chat" },
        "purpose_code": "https://example.test/my-purpose", "access_mode": "continuous", "streams": streams,
    }])
}

async fn granted_connections(desk: &Desk) -> Value {
    let grants = desk.personal.store().list_grants(&pdpp_server::owner_subject()).await.unwrap();
    let grant: Value = serde_json::from_str(&grants[0].standing.document).unwrap();
    grant["streams"].as_array().unwrap().iter().map(|stream| stream["instance_ids"].clone()).collect()
}

/// Where the client names none of several, the owner must choose, and may choose all.
#[tokio::test]
async fn the_owner_chooses_between_connections() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let details = chat(&json!([{ "name": "messages" }, { "name": "channels" }]));
    let page = browser.consent(&desk.ask(&client, Some(&details)).await).await.expect(200);
    assert!(page.html.contains("A purpose that this server does not know."));
    let form = page.form("consent-form");
    assert!(!form.has("connection", "0.0") && !form.has("connection", "0.1"), "nothing is preselected");
    let shown = browser.send(&form).await.expect(400);
    assert!(shown.text("notice").contains("at least one connection"));
    let both = form.tick("connection", "0.0").tick("connection", "0.1");
    browser.send(&both).await.expect(303);
    let all = json!([desk.loaded.home, desk.loaded.work]);
    assert_eq!(granted_connections(&desk).await, json!([all, all]));
}

#[tokio::test]
async fn a_named_connection_can_be_left_out() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let both = json!([desk.loaded.home, desk.loaded.work]);
    let details = chat(&json!([{ "name": "messages", "instance_ids": both }]));
    let page = browser.consent(&desk.ask(&client, Some(&details)).await).await.expect(200);
    let form = page.form("consent-form").untick("connection", "0.0");
    browser.send(&form).await.expect(303);
    assert_eq!(granted_connections(&desk).await, json!([[desk.loaded.work]]));
}
