//! Agents that wait for their own request's outcome.

use serde_json::{Value, json};

use crate::desk::{Answer, Desk, query_of};
use crate::flow::notes;

async fn start(desk: &Desk, request_uri: &str, client: &str) -> Answer {
    desk.json("/agent-connect", None, &json!({ "request_uri": request_uri, "client_id": client })).await
}

async fn poll(desk: &Desk, attempt: &Value) -> Answer {
    let path = format!("/agent-connect/{}/token", attempt["id"].as_str().unwrap());
    desk.json(&path, None, &json!({ "polling_code": attempt["polling_code"] })).await
}

/// 9.2-2: only who pushed the request can wait for it, and only once.
#[tokio::test]
async fn only_the_requester_waits() {
    let desk = Desk::new().await;
    let (client, stranger) = (desk.register().await, desk.register().await);
    let (requester, url) = desk.push(&client, &notes("continuous")).await;
    let shown = query_of(&url)["request_uri"].clone();
    start(&desk, &shown, &client).await.expect("400 invalid_request");
    start(&desk, &requester, &stranger).await.expect("400 invalid_request");
    desk.json("/agent-connect", None, &json!({ "request_uri": requester }))
        .await
        .expect("400 invalid_request");
    desk.json("/agent-connect", None, &json!({ "client_id": client })).await.expect("400 invalid_request");
    let attempt = start(&desk, &requester, &client).await.expect("201 ok");
    assert_eq!(attempt.text("object"), "agent_connect_attempt");
    assert!(!attempt.text("approval_url").contains(requester.rsplit(':').next().unwrap()));
    start(&desk, &requester, &client).await.expect("400 invalid_request");
}

/// 9.3-1, 9.3-14: the outcome is fetched once; no owner token is involved on the client's side.
#[tokio::test]
async fn the_outcome_is_fetched_once() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let (requester, url) = desk.push(&client, &notes("continuous")).await;
    let attempt = start(&desk, &requester, &client).await.expect("201 ok").body;
    let waiting = poll(&desk, &attempt).await.expect("202 authorization_pending");
    assert_eq!(waiting.body["status"], "pending");
    let mut foreign = attempt.clone();
    foreign["polling_code"] = json!("agc_poll_0000");
    poll(&desk, &foreign).await.expect("401 invalid_grant");
    let mut elsewhere = attempt.clone();
    elsewhere["id"] = json!("agc_0000");
    poll(&desk, &elsewhere).await.expect("401 invalid_grant");
    let approved = desk.approve(&query_of(&url)["request_uri"]).await.expect("200 ok");
    assert_eq!(approved.text("handover"), "client_polls", "nothing redeemable is shown");
    let answer = poll(&desk, &attempt).await.expect("200 ok");
    assert_eq!(answer.body["expires_in"], json!(600));
    assert_eq!(answer.body["grant"]["grant_id"], answer.body["grant_id"]);
    assert_eq!(desk.read(&answer.text("access_token")).await, "200 ok");
    poll(&desk, &attempt).await.expect("401 invalid_grant");
    assert_eq!(desk.read(&answer.text("access_token")).await, "200 ok");
}

#[tokio::test]
async fn an_agent_is_told_of_a_denial_and_of_its_end() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let (requester, url) = desk.push(&client, &notes("continuous")).await;
    let attempt = start(&desk, &requester, &client).await.expect("201 ok").body;
    desk.decide("deny", &json!({ "request_uri": query_of(&url)["request_uri"] })).await.expect("200 ok");
    poll(&desk, &attempt).await.expect("403 access_denied");
    let (requester, _) = desk.push(&client, &notes("continuous")).await;
    let attempt = start(&desk, &requester, &client).await.expect("201 ok").body;
    desk.clock.advance_seconds(300);
    poll(&desk, &attempt).await.expect("400 expired_token");
}
