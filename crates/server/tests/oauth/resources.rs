//! Tokens are for this server, and their grants are what was approved then.

use pdpp_access::{Secret, TokenAuthority as _};
use pdpp_auth::Audience;
use pdpp_wire::manifest::Manifest;
use serde_json::json;

use crate::desk::{Desk, query_of};
use crate::flow::notes;

/// 9.2-11: a resource that is not this server is refused, and a token is refused by any other server.
#[tokio::test]
async fn tokens_are_bound_to_this_server() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let local = desk.issuer.replace("127.0.0.1", "localhost");
    for own in [desk.issuer.clone(), format!("{}/mcp", desk.issuer), format!("{local}/mcp")] {
        let path = desk.authorize_path(&client, Some(&notes("continuous")), &[("resource", &own)]);
        assert!(desk.get(&path, None).await.header("location").contains("/consent?"), "{own}");
    }
    for foreign in ["https://evil.test/mcp", "mcp", "https://127.0.0.1/mcp", &format!("{}/v1", desk.issuer)] {
        let path = desk.authorize_path(&client, Some(&notes("continuous")), &[("resource", foreign)]);
        let back = query_of(desk.get(&path, None).await.header("location"));
        assert_eq!(back["error"], "invalid_target", "{foreign}");
        let device = [("client_id", client.as_str()), ("resource", foreign)];
        desk.form("/oauth/device_authorization", &device).await.expect("400 invalid_target");
    }
    let tokens = desk.connect(&notes("continuous")).await;
    let elsewhere = desk.personal.authority().for_audience(Audience::of("https://other.test"));
    let refused = elsewhere.introspect(&Secret::presented(&tokens.access)).await;
    assert!(refused.unwrap_err().to_string().contains("for another server"));
    assert_eq!(desk.read(&tokens.access).await, "200 ok");
}

/// 9.3-8: what a newer declaration adds is invisible under an older grant.
#[tokio::test]
async fn a_newer_declaration_widens_no_grant() {
    let desk = Desk::new().await;
    let mut details = notes("continuous");
    details[0]["streams"][0].as_object_mut().unwrap().remove("fields");
    let tokens = desk.connect(&details).await;
    let mut document = pdpp_testkit::sample::notes::manifest().document().clone();
    document["version"] = json!("2");
    document["streams"][0]["schema"]["properties"]["mood"] = json!({ "type": "string" });
    let manifest = Manifest::from_document(document).unwrap();
    let (store, subject) = (desk.personal.store(), pdpp_server::owner_subject());
    store.put_manifest(&subject, &manifest, pdpp_store::OnConflict::Replace).await.unwrap();
    let answer = desk.get("/v1/streams/notes/records?fields=mood", Some(&tokens.access)).await;
    answer.expect("403 field_not_granted");
    desk.get("/v1/streams/days/records", Some(&tokens.access)).await.expect("403 grant_stream_not_allowed");
}

/// 9.3-7: a record without its time is invisible under a time constraint.
#[tokio::test]
async fn a_record_without_its_time_is_invisible_under_a_time_constraint() {
    let desk = Desk::new().await;
    let chat = |time_range: serde_json::Value| {
        json!([{
            "type": "https://pdpp.dev/data-access", "source": { "id": "urn:pdpp:source:chat" },
            "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "continuous",
            "streams": [{ "name": "messages", "instance_ids": [desk.loaded.home], "time_range": time_range }],
        }])
    };
    let timeless = async |details| {
        let tokens = desk.connect(&details).await;
        let path = "/v1/streams/messages/records?limit=100";
        let page = desk.get(path, Some(&tokens.access)).await.expect("200 ok");
        let records = page.body["data"].as_array().unwrap().clone();
        records.iter().filter(|record| record["data"]["sent_at"].as_str().is_none()).count()
    };
    assert_eq!(timeless(chat(json!({ "since": "2000-01-01" }))).await, 0);
    let mut open = chat(json!({}));
    open[0]["streams"][0].as_object_mut().unwrap().remove("time_range");
    assert!(timeless(open).await > 0, "the sample has such a record");
}

/// RFC 9700, 4.3: addresses end up in histories and logs, so a token in one opens nothing.
#[tokio::test]
async fn a_token_in_an_address_opens_nothing() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    for path in ["/v1/streams", "/mcp"] {
        let path = format!("{path}?access_token={}", tokens.access);
        desk.get(&path, None).await.expect("401 authentication_error");
    }
}
