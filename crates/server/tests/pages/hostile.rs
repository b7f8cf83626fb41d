//! Strings of strangers stay text, in the block of whoever wrote them.

use pdpp_wire::manifest::Manifest;
use serde_json::json;

use crate::browser::Browser;
use crate::desk::Desk;
use crate::flow::{REDIRECT, notes};
use crate::html::tags;

const SCRIPT: &str = "\"><script>alert(1)</script><img src=x onerror=alert(2)>";

/// 9.3-11: hostile names, labels and promises render inert and in the right block.
#[tokio::test]
async fn hostile_strings_are_text_in_their_own_block() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let mut document = pdpp_testkit::sample::notes::manifest().document().clone();
    document["display_name"] = json!(format!("Notebook {SCRIPT}"));
    document["streams"][0]["display"] = json!({ "label": format!("Pages\u{202e} {SCRIPT}") });
    document["streams"][0]["description"] = json!(format!("{SCRIPT} {}", "long ".repeat(2_000)));
    document["streams"][0]["schema"]["properties"]["body"]["title"] = json!(format!("Body {SCRIPT}"));
    document["streams"][0]["schema"]["properties"]["body"]["description"] = json!("x".repeat(10_000));
    let manifest = Manifest::from_document(document).unwrap();
    let replace = pdpp_store::OnConflict::Replace;
    let owner = pdpp_server::owner_subject();
    desk.personal.store().put_manifest(&owner, &manifest, replace).await.unwrap();
    desk.personal.store().rename_connection(&owner, &desk.loaded.notes, Some(SCRIPT)).await.unwrap();
    let body = json!({
        "client_name": format!("Bank\u{202e} {SCRIPT}"), "redirect_uris": [REDIRECT],
        "client_uri": "https://app.test/%3Cscript%3E", "logo_uri": "https://evil.test/logo.png",
    });
    let client = desk.json("/oauth/register", None, &body).await.expect("201 ok").text("client_id");
    let mut details = notes("continuous");
    details[0]["purpose_description"] = json!(SCRIPT);
    details[0]["client_claims"] =
        json!({ "commitments": [format!("We promise {SCRIPT}"), "\u{202e}desrever"] });
    let consent = browser.consent(&desk.ask(&client, Some(&details)).await).await.expect(200);
    let picker = browser.consent(&desk.ask(&client, None).await).await.expect(200);
    desk.approve(&desk.ask(&client, Some(&details)).await).await.expect("200 ok");
    let home = browser.get("/owner").await.expect(200);
    for page in [&consent, &picker, &home] {
        let names: Vec<_> = tags(&page.html).into_iter().map(|tag| tag.name).collect();
        assert!(!names.iter().any(|name| name == "script" || name == "img"), "{}", page.html);
        assert!(!page.html.contains("logo.png") && !page.html.contains('\u{202e}'));
        assert!(page.html.len() < 60_000, "no one fills the page: {}", page.html.len());
    }
    let [claims, words] = consent.blocks("client").try_into().unwrap();
    assert!(claims.contains("Bank\u{fffd} \"><script>alert(1)</script>"));
    assert!(words.contains("We promise \"><script>") && words.contains("\u{fffd}desrever"));
    let described = consent.blocks("manifest").join(" ");
    assert!(described.contains("Pages\u{fffd} \"><script>") && described.contains("Body \"><script>"));
    let others = [consent.blocks("policy"), consent.blocks("manifest")].concat().join(" ");
    assert!(!others.contains("We promise") && !others.contains("Bank"));
    // The label of a source stands inside what is enforced, and is marked as its own.
    assert!(!consent.blocks("protocol").join(" ").contains("We promise"));
}
