//! The end of tokens and grants.

use std::collections::BTreeSet;

use serde_json::json;

use crate::desk::{Desk, encoded};
use crate::flow::notes;

/// 9.3-3: revoking a grant bites on the next request.
#[tokio::test]
async fn a_revoked_grant_reads_nothing_from_the_next_request_on() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    assert_eq!(desk.read(&tokens.access).await, "200 ok");
    let path = format!("/grants/{}/revoke", tokens.grant_id);
    let answer = desk.json(&path, Some(&desk.owner), &json!({})).await.expect("200 ok");
    assert_eq!(answer.body, json!({ "revoked": true }));
    assert_eq!(desk.read(&tokens.access).await, "403 grant_revoked");
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("400 invalid_grant");
}

#[tokio::test]
async fn a_client_may_give_up_its_own_grant_and_no_other() {
    let desk = Desk::new().await;
    let (tokens, other) =
        (desk.connect(&notes("continuous")).await, desk.connect(&notes("continuous")).await);
    let revoke = async |grant: &str, bearer: Option<&str>| {
        desk.json(&format!("/grants/{grant}/revoke"), bearer, &json!({})).await.verdict()
    };
    assert_eq!(revoke(&tokens.grant_id, None).await, "401 authentication_error");
    assert_eq!(revoke(&tokens.grant_id, Some("nonsense")).await, "401 authentication_error");
    assert_eq!(revoke(&tokens.grant_id, Some(&other.access)).await, "403 permission_error");
    assert_eq!(revoke("grt_unknown", Some(&desk.owner)).await, "404 not_found");
    assert_eq!(revoke(&tokens.grant_id, Some(&tokens.access)).await, "200 ok");
    assert_eq!(revoke(&tokens.grant_id, Some(&tokens.access)).await, "200 ok", "also when it has ended");
    assert_eq!(desk.read(&tokens.access).await, "403 grant_revoked");
    assert_eq!(desk.read(&other.access).await, "200 ok");
}

/// RFC 7009.
#[tokio::test]
async fn a_client_ends_its_tokens() {
    let desk = Desk::new().await;
    let (tokens, other) =
        (desk.connect(&notes("continuous")).await, desk.connect(&notes("continuous")).await);
    let revoke = async |token: &str, client: &str| {
        desk.form("/oauth/revoke", &[("token", token), ("client_id", client)]).await.verdict()
    };
    assert_eq!(revoke(&tokens.access, &other.client_id).await, "400 invalid_grant");
    assert_eq!(revoke(tokens.refresh(), &other.client_id).await, "400 invalid_grant");
    assert_eq!(desk.read(&tokens.access).await, "200 ok");
    assert_eq!(revoke("unknown", &tokens.client_id).await, "200 ok");
    assert_eq!(revoke(&tokens.access, &tokens.client_id).await, "200 ok");
    assert_eq!(desk.read(&tokens.access).await, "401 authentication_error");
    let again = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    assert_eq!(revoke(&again.text("refresh_token"), &tokens.client_id).await, "200 ok");
    assert_eq!(
        desk.read(&again.text("access_token")).await,
        "401 authentication_error",
        "the whole line ends"
    );
    desk.refresh(&tokens.client_id, &again.text("refresh_token")).await.expect("400 invalid_grant");
    assert_eq!(desk.read(&other.access).await, "200 ok");
}

/// One token over several grants searches all of them at once, loses the revoked one at once, and everything with the
/// last.
#[tokio::test]
async fn a_token_over_several_grants_loses_them_one_by_one() {
    let desk = Desk::new().await;
    let mut details = notes("continuous");
    let chat = json!({
        "type": "https://pdpp.dev/data-access", "source": { "id": "urn:pdpp:source:chat" },
        "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "continuous",
        "streams": [{ "name": "messages", "instance_ids": [desk.loaded.home] }],
    });
    details.as_array_mut().unwrap().push(chat);
    let client = desk.register().await;
    let code = desk.code(&client, &details).await;
    let answer = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    let token = answer.text("access_token");
    let ids: Vec<String> = serde_json::from_value(answer.body["grant_ids"].clone()).unwrap();
    assert_eq!((ids.len(), answer.body["authorization_details"].as_array().unwrap().len()), (2, 2));
    assert_eq!(answer.body.get("grant_id"), None);
    let chat = async || desk.get("/v1/streams/messages/records?limit=1", Some(&token)).await.verdict();
    assert_eq!((desk.read(&token).await.as_str(), chat().await.as_str()), ("200 ok", "200 ok"));
    let text = async |stream: &str, field: &str| {
        let page = desk.get(&format!("/v1/streams/{stream}/records?limit=1"), Some(&token)).await;
        page.expect("200 ok").body["data"][0]["data"][field].as_str().unwrap().to_owned()
    };
    let question = format!("{} {}", text("notes", "title").await, text("messages", "text").await);
    let path = format!("/v1/search?{}", encoded(&[("q", question.as_str())]));
    let searched = async || {
        let found = desk.get(&path, Some(&token)).await.expect("200 ok");
        let hits = found.body["data"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["stream"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    assert_eq!(searched().await, ["messages", "notes"].map(str::to_owned).into());
    desk.json(&format!("/grants/{}/revoke", ids[0]), Some(&desk.owner), &json!({})).await.expect("200 ok");
    assert_eq!(desk.read(&token).await, "403 grant_stream_not_allowed");
    assert_eq!(chat().await, "200 ok");
    assert_eq!(searched().await, ["messages".to_owned()].into());
    let refreshed = desk.refresh(&client, &answer.text("refresh_token")).await.expect("200 ok");
    assert_eq!(refreshed.text("grant_id"), ids[1]);
    desk.json(&format!("/grants/{}/revoke", ids[1]), Some(&desk.owner), &json!({})).await.expect("200 ok");
    assert_eq!(chat().await, "403 grant_revoked");
    desk.refresh(&client, &refreshed.text("refresh_token")).await.expect("400 invalid_grant");
}
