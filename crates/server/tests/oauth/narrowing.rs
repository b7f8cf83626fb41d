//! The owner makes a request smaller, and never larger.

use serde_json::{Value, json};

use crate::desk::{Answer, Desk, query_of};
use crate::flow::notes;

async fn approve_narrowed(desk: &Desk, page: &str, narrowing: Value) -> Answer {
    let revision = desk.show(page).await.expect("200 ok").text("approval_review_revision");
    let body = json!({ "request_uri": page, "approval_review_revision": revision, "narrowing": narrowing });
    desk.decide("approve", &body).await
}

#[tokio::test]
async fn streams_fields_times_and_expiry_can_be_taken_away() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let mut details = notes("continuous");
    details[0]["streams"].as_array_mut().unwrap().push(json!({ "name": "days", "necessity": "optional" }));
    let page = desk.ask(&client, Some(&details)).await;
    let narrowing = json!({
        "expires_at": "2026-03-08T12:00:00Z",
        "sources": { "0": {
            "streams": ["notes"], "fields": { "notes": ["title"] }, "since": { "notes": "2026-02-05T00:00:00Z" },
        } },
    });
    let approved = approve_narrowed(&desk, &page, narrowing).await.expect("200 ok");
    let grant = &approved.body["grants"][0];
    assert_eq!(grant["expires_at"], "2026-03-08T12:00:00.000Z");
    assert_eq!(grant["streams"].as_array().unwrap().len(), 1);
    assert_eq!(grant["streams"][0]["fields"], json!(["id", "title"]), "what the schema requires stays");
    assert_eq!(
        grant["streams"][0]["time_constraint"],
        json!({ "field": "updated_at", "since": "2026-02-05T00:00:00Z" })
    );
    let code = query_of(&approved.text("redirect_to"))["code"].clone();
    let answer = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    assert_eq!(answer.body["authorization_details"][0]["streams"], grant["streams"], "the client is told");
    let page = desk.get("/v1/streams/notes/records?count=exact", Some(&answer.text("access_token"))).await;
    assert_eq!(page.body["data"].as_array().unwrap().len(), 8, "four of the twelve pages are older");
    desk.clock.advance_seconds(7 * 86_400);
    assert_eq!(desk.read(&answer.text("access_token")).await, "401 authentication_error");
    desk.refresh(&client, &answer.text("refresh_token")).await.expect("400 invalid_grant");
}

#[tokio::test]
async fn nothing_can_be_added_by_narrowing() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let mut details = notes("continuous");
    details[0]["streams"][0]["time_range"] = json!({ "since": "2026-02-03", "until": "2026-02-09" });
    let page = desk.ask(&client, Some(&details)).await;
    for narrowing in [
        json!({ "sources": { "0": { "streams": ["notes", "days"] } } }),
        json!({ "sources": { "0": { "fields": { "notes": ["title", "folder"] } } } }),
        json!({ "sources": { "0": { "fields": { "days": ["line"] } } } }),
        json!({ "sources": { "0": { "connections": { "notes": [desk.loaded.home] } } } }),
        json!({ "sources": { "0": { "connections": { "notes": [] } } } }),
        json!({ "sources": { "0": { "since": { "notes": "2026-02-02" } } } }),
        json!({ "sources": { "0": { "until": { "notes": "2026-02-10" } } } }),
        json!({ "sources": { "0": { "since": { "notes": "2026-02-09" }, "until": { "notes": "2026-02-08" } } } }),
        json!({ "sources": { "0": { "since": { "notes": "soon" } } } }),
        json!({ "sources": { "0": { "streams": [] } } }),
        json!({ "sources": { "0": { "rejected": true } } }),
        json!({ "sources": { "1": {} } }),
        json!({ "sources": { "0": { "unknown": 1 } } }),
        json!({ "expires_at": "2026-03-01T12:00:00Z" }),
        json!({ "expires_at": "never" }),
        json!({ "choices": notes("continuous") }),
    ] {
        let answer = approve_narrowed(&desk, &page, narrowing.clone()).await;
        assert_eq!(answer.verdict(), "400 invalid_request", "{narrowing}");
    }
    let grants = desk.personal.store().list_grants(&pdpp_server::owner_subject()).await.unwrap();
    assert!(grants.is_empty());
    let narrower = json!({ "sources": { "0": { "since": { "notes": "2026-02-04" } } } });
    approve_narrowed(&desk, &page, narrower).await.expect("200 ok");
}

/// Where a source has several connections and the client names none, the owner chooses; nothing is chosen for them.
#[tokio::test]
async fn the_owner_chooses_between_connections() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let details = json!([{
        "type": "https://pdpp.dev/data-access", "source": { "id": "urn:pdpp:source:chat" },
        "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "continuous",
        "streams": [{ "name": "messages" }],
    }]);
    let page = desk.ask(&client, Some(&details)).await;
    let shown = desk.show(&page).await.expect("200 ok");
    let stream = &shown.body["approval_review"]["sources"][0]["streams"][0];
    assert_eq!(
        (&stream["connections"], stream["choose_connection"].as_array().unwrap().len()),
        (&json!([]), 2)
    );
    desk.approve(&page).await.expect("400 invalid_request");
    let narrowing = json!({ "sources": { "0": { "connections": { "messages": [desk.loaded.work] } } } });
    let approved = approve_narrowed(&desk, &page, narrowing).await.expect("200 ok");
    assert_eq!(approved.body["grants"][0]["streams"][0]["instance_ids"], json!([desk.loaded.work]));
}

/// The two-step way of JSON callers: review with a narrowing, then approve the revision alone.
#[tokio::test]
async fn a_reviewed_narrowing_is_approved_by_its_revision() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    let narrowing = json!({ "sources": { "0": { "fields": { "notes": ["title"] } } } });
    let review = json!({ "request_uri": page, "narrowing": narrowing });
    let reviewed = desk.decide("review", &review).await.expect("200 ok");
    let stream = &reviewed.body["approval_review"]["sources"][0]["streams"][0];
    assert_eq!(stream["fields"], json!(["id", "title"]));
    let body =
        json!({ "request_uri": page, "approval_review_revision": reviewed.text("approval_review_revision") });
    let approved = desk.decide("approve", &body).await.expect("200 ok");
    assert_eq!(approved.body["grants"][0]["streams"][0]["fields"], json!(["id", "title"]));
}
