//! The owner's page: who can read what, since when, and how to stop it.

use pdpp_server::owner_subject;

use crate::browser::Browser;
use crate::desk::Desk;
use crate::flow::notes;

/// 9.3-3: revocation bites on the next request.
#[tokio::test]
async fn a_revoked_grant_reads_nothing_from_the_next_request_on() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let tokens = desk.connect(&notes("continuous")).await;
    let before = browser.get("/owner").await.expect(200);
    assert!(before.html.contains("Never used."));
    assert_eq!(desk.read(&tokens.access).await, "200 ok");
    let page = browser.get("/owner").await.expect(200);
    assert!(page.html.contains("Last used") && page.html.contains("Test App"));
    assert!(
        page.html.contains("notes of Notebook, of any time: body, id, title, updated at."),
        "{}",
        page.html
    );
    assert!(page.html.contains("read records of notes, 1 record"));
    let form = page.form_of_button(&format!("revoke-{}", tokens.grant_id));
    let shown = browser.send(&form).await.expect(303);
    assert_eq!(shown.header("location"), "/owner?done=revoked");
    assert_eq!(desk.read(&tokens.access).await, "403 grant_revoked");
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("400 invalid_grant");
    let after = browser.get(shown.header("location")).await.expect(200);
    assert!(after.text("notice").contains("The grant has ended"));
    assert!(!after.html.contains(&format!("revoke-{}", tokens.grant_id)));
    assert!(after.html.contains("grant ended"), "it is in the ledger");
}

/// 9.2-18: the owner removes any client, whoever registered it.
#[tokio::test]
async fn a_removed_client_loses_everything() {
    let desk = Desk::owned().await;
    let browser = Browser::signed_in(&desk).await;
    let tokens = desk.connect(&notes("continuous")).await;
    let form = browser.get("/owner").await.form_of_button("remove-0");
    browser.send(&form).await.expect(303);
    assert_eq!(desk.read(&tokens.access).await, "401 authentication_error");
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("400 invalid_client");
    browser.send(&form.set("client_id", "cli_unknown")).await.expect(404);
}

#[tokio::test]
async fn what_waits_is_listed_and_leads_to_its_page() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    desk.ask(&client, Some(&notes("continuous"))).await;
    let page = browser.get("/owner").await.expect(200);
    let link = crate::html::tags(&page.html).into_iter().find(|tag| tag.get("href").starts_with("/consent?"));
    let consent = browser.get(link.unwrap().get("href")).await.expect(200);
    browser.send(&consent.form("consent-form")).await.expect(303);
    assert_eq!(desk.grant_count().await, 1);
}

/// 9.2-6: sessions are listed and can be ended one by one.
#[tokio::test]
async fn another_browser_is_signed_out() {
    let desk = Desk::owned().await;
    let other = Browser::signed_in(&desk).await;
    desk.clock.advance_seconds(60);
    let browser = Browser::signed_in(&desk).await;
    let sessions = desk.personal.store().list_sessions(&owner_subject()).await.unwrap();
    assert_eq!(sessions.len(), 2);
    let page = browser.get("/owner").await.expect(200);
    let form = page.form_of_button(&format!("end-{}", sessions[1].session_id));
    browser.send(&form).await.expect(303);
    other.get("/owner").await.expect(303);
    browser.get("/owner").await.expect(200);
    browser.send(&form).await.expect(404);
    let own = page.form_of_button(&format!("end-{}", sessions[0].session_id));
    assert_eq!(browser.send(&own).await.expect(303).header("location"), "/owner/login");
    browser.get("/owner").await.expect(303);
}

/// What is done on the pages is in the ledger, and what is refused too.
#[tokio::test]
async fn answers_and_refusals_are_written_down() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    let page = browser.consent(&desk.ask(&client, Some(&notes("continuous"))).await).await.expect(200);
    browser.send(&page.form("consent-form").without("_csrf")).await.expect(403);
    browser.send(&page.form("consent-form")).await.expect(303);
    let filter = pdpp_store::DisclosureFilter { limit: 50, ..Default::default() };
    let entries = desk.personal.store().list_disclosures(&owner_subject(), &filter).await.unwrap();
    let told: Vec<_> = entries
        .iter()
        .rev()
        .map(|entry| format!("{}{}", entry.action, entry.refused.map_or("", |_| " refused")))
        .collect();
    assert_eq!(
        told,
        [
            "owner.sign_in",
            "client.register",
            "request.authorize",
            "consent.show",
            "consent.approve refused",
            "consent.approve"
        ]
    );
    assert_eq!(entries[0].grant_ids.len(), 1);
}
