//! The owner's decision: bound to what was shown, made once, told to the client.

use serde_json::{Value, json};

use crate::desk::{Desk, encoded, query_of};
use crate::flow::{REDIRECT, notes};

async fn grant_count(desk: &Desk) -> usize {
    desk.personal.store().list_grants(&pdpp_server::owner_subject()).await.unwrap().len()
}

/// 9.2-7: the owner is shown who asks, what proves it, and where the answer goes.
#[tokio::test]
async fn what_is_asked_is_said_exactly() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    let shown = desk.show(&page).await.expect("200 ok");
    let artifact = &shown.body["approval_review"];
    assert_eq!(artifact["client"]["claimed_name"], "Test App");
    assert_eq!(artifact["client"]["registration"], "dynamic");
    assert_eq!(artifact["client"]["verified_origin"], json!(null));
    assert_eq!(artifact["client"]["first_seen"], "2026-03-01T12:00:00.000Z");
    assert_eq!(artifact["delivery"]["redirect_host"], "app.test");
    let source = &artifact["sources"][0];
    assert_eq!(source["purpose_description"], "Answer questions about my notes");
    assert_eq!(source["withheld_streams"], json!(["days"]));
    let stream = &source["streams"][0];
    assert_eq!(stream["description"], "Pages of a notebook.");
    assert_eq!(stream["fields"], json!(["body", "id", "title", "updated_at"]));
    assert_eq!(stream["required_fields"], json!(["id", "title"]));
    assert_eq!(stream["withheld_fields"], json!(["folder", "words", "pinned"]));
    assert_eq!(stream["connections"][0]["connection_id"], json!(desk.loaded.notes));
    let again = desk.show(&page).await.expect("200 ok");
    assert_eq!(shown.body, again.body, "what is shown does not depend on when");
}

/// 9.2-16: nobody but the owner sees or decides a request.
#[tokio::test]
async fn only_the_owner_decides() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let page = desk.ask(&tokens.client_id, Some(&notes("continuous"))).await;
    let path = format!("/consent?{}", encoded(&[("request_uri", &page)]));
    desk.get(&path, None).await.expect("401 owner_session_required");
    desk.get(&path, Some(&tokens.access)).await.expect("403 permission_error");
    desk.get(&path, Some("nonsense")).await.expect("401 authentication_error");
    let revision = desk.show(&page).await.expect("200 ok").text("approval_review_revision");
    let body = json!({ "request_uri": page, "approval_review_revision": revision });
    for what in ["approve", "deny", "review"] {
        let path = format!("/consent/{what}");
        desk.json(&path, None, &body).await.expect("401 owner_session_required");
        desk.json(&path, Some(&tokens.access), &body).await.expect("403 permission_error");
    }
    assert_eq!(grant_count(&desk).await, 1);
}

/// 9.3-2: an altered or stale revision approves nothing.
#[tokio::test]
async fn a_stale_or_altered_review_approves_nothing() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    let other = desk.ask(&client, Some(&notes("single_use"))).await;
    let revision = async |page: &str| desk.show(page).await.expect("200 ok").text("approval_review_revision");
    let (own, foreign) = (revision(&page).await, revision(&other).await);
    let approve = async |revision: &str| {
        let body = json!({ "request_uri": page, "approval_review_revision": revision });
        desk.decide("approve", &body).await.verdict()
    };
    for wrong in ["x", &own[..own.len() - 1], &foreign, &own.replace("sha256", "sha512")] {
        assert_eq!(approve(wrong).await, "400 invalid_request", "{wrong}");
    }
    // A connection more or less is another request than the one that was shown.
    let store = desk.personal.store();
    let name = Some("Renamed");
    store.rename_connection(&pdpp_server::owner_subject(), &desk.loaded.notes, name).await.unwrap();
    assert_eq!(approve(&own).await, "400 invalid_request");
    assert_eq!(grant_count(&desk).await, 0);
    assert_eq!(approve(&revision(&page).await).await, "200 ok");
}

/// Concurrent double approval: one grant, and the other is told.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_approve_at_once_one_is_told_that_it_was_decided() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    let revision = desk.show(&page).await.expect("200 ok").text("approval_review_revision");
    let body = json!({ "request_uri": page, "approval_review_revision": revision });
    let deny = json!({ "request_uri": page });
    let (one, two, three) = tokio::join!(
        desk.decide("approve", &body),
        desk.decide("approve", &body),
        desk.decide("deny", &deny)
    );
    let mut verdicts = [one.verdict(), two.verdict(), three.verdict()];
    verdicts.sort();
    assert_eq!(verdicts, ["200 ok", "409 approval_conflict", "409 approval_conflict"]);
    assert!(grant_count(&desk).await <= 1);
    desk.show(&page).await.expect("409 approval_conflict");
}

/// 9.2-14: a denial goes back to the waiting client, with its state and our name.
#[tokio::test]
async fn a_denial_is_told_to_the_client() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    let answer = desk.decide("deny", &json!({ "request_uri": page })).await.expect("200 ok");
    let location = answer.text("redirect_to");
    assert!(location.starts_with(REDIRECT));
    let back = query_of(&location);
    assert_eq!((back["error"].as_str(), back["state"].as_str()), ("access_denied", "st/1 ?"));
    assert_eq!(back["iss"], desk.issuer);
    assert_eq!(grant_count(&desk).await, 0);
}

#[tokio::test]
async fn a_request_waits_five_minutes() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    let revision = desk.show(&page).await.expect("200 ok").text("approval_review_revision");
    desk.clock.advance_seconds(300);
    desk.show(&page).await.expect("404 not_found");
    let body = json!({ "request_uri": page, "approval_review_revision": revision });
    desk.decide("approve", &body).await.expect("404 not_found");
    assert_eq!(grant_count(&desk).await, 0);
}

#[tokio::test]
async fn training_needs_a_yes_of_its_own() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let mut details = notes("continuous");
    details[0]["purpose_code"] = json!("https://pdpp.dev/purpose/ai_training");
    let page = desk.ask(&client, Some(&details)).await;
    desk.approve(&page).await.expect("400 invalid_request");
    let review = json!({ "request_uri": page, "ai_training_consented": true });
    let revision = desk.decide("review", &review).await.expect("200 ok").text("approval_review_revision");
    let body = json!({ "request_uri": page, "approval_review_revision": revision });
    desk.decide("approve", &body).await.expect("200 ok");
}

/// 9.2-12: a client that asks for nothing specific gets what the owner picks, by the same bound step.
#[tokio::test]
async fn a_request_without_details_is_the_owners_choice() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let page = desk.ask(&client, None).await;
    let shown = desk.show(&page).await.expect("200 ok");
    let offered = &shown.body["approval_review"]["picker"]["sources"];
    let names: Vec<_> = offered.as_array().unwrap().iter().map(|source| &source["source"]["id"]).collect();
    assert_eq!(names, ["urn:pdpp:source:chat", "urn:pdpp:source:notes"]);
    assert_eq!(shown.body["approval_review"]["sources"], json!([]), "nothing is chosen");
    let revision = shown.text("approval_review_revision");
    let approve = async |choices: Value| {
        let body = json!({
            "request_uri": page, "approval_review_revision": revision, "narrowing": { "choices": choices },
        });
        desk.decide("approve", &body).await
    };
    approve(json!([])).await.expect("400 invalid_request");
    let mut unknown = notes("continuous");
    unknown[0]["streams"][0]["name"] = json!("diary");
    approve(unknown).await.expect("400 invalid_authorization_details");
    assert_eq!(grant_count(&desk).await, 0, "half a choice grants nothing");
    let approved = approve(notes("continuous")).await.expect("200 ok");
    let back = query_of(&approved.text("redirect_to"));
    let answer = desk.redeem(&client, &back["code"], &[]).await.expect("200 ok");
    assert_eq!(desk.read(&answer.text("access_token")).await, "200 ok");
}

/// Two grants in one token never cover the same stream of the same connection.
#[tokio::test]
async fn overlapping_details_are_not_approved() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let (mut details, twice) = (notes("continuous"), notes("continuous"));
    details.as_array_mut().unwrap().push(twice[0].clone());
    let page = desk.ask(&client, Some(&details)).await;
    desk.approve(&page).await.expect("400 invalid_authorization_details");
    assert_eq!(grant_count(&desk).await, 0);
    let mut mixed = notes("continuous");
    mixed.as_array_mut().unwrap().push(notes("single_use")[0].clone());
    let answer = desk.get(&desk.authorize_path(&client, Some(&mixed), &[]), None).await;
    assert_eq!(query_of(answer.header("location"))["error"], "invalid_authorization_details");
}
