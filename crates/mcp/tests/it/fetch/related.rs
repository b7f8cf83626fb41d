//! Related records in a document: bounded, looked at once, and with the call that reads those that are not there.

use serde_json::{Value, json};

use super::{checked, record};
use crate::samples::PROSE;
use crate::support::{Fake, Host, Reply};

/// Related records are shown, bounded.
#[tokio::test]
async fn expanded_relations_are_shown_bounded() {
    let fake = Fake::start(|seen| {
        if seen.path == "/v1/schema" {
            let row = json!({"name": "messages", "expand_capabilities": [{"name": "replies"}]});
            return Reply::json(&json!({"streams": [row]}));
        }
        let reply = |n: usize, text: &str| {
            json!({"object": "record", "id": format!("r{n}"), "stream": "replies", "connection_id": "cin_a",
                "data": {"text": text}, "emitted_at": "2026-01-01T00:00:00Z"})
        };
        let replies = [reply(1, "yes"), reply(2, &PROSE.repeat(500))];
        let mut body = record(json!({"title": "T", "text": "x"}));
        body["expanded"] = json!({"replies": {"object": "list", "has_more": true, "data": replies}});
        Reply::json(&body)
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let result = checked(host.call("fetch", json!({"id": "cin_a/messages:m1", "expand": ["replies"]})).await);
    let metadata = &result.structured["metadata"];
    assert_eq!(metadata["expanded"]["replies"]["data"][0]["data"]["text"], "yes");
    assert_eq!(metadata["truncated_fields"][0]["read"]["args"]["id"], "cin_a/replies:r2");
}

/// S1-R4: many large related records fit beside a text of which little does, for which the document is written anew
/// some twenty times.
#[tokio::test]
async fn related_records_fit_beside_a_dense_text() {
    let reply = |n: usize| {
        json!({"object": "record", "id": format!("r{n}"), "stream": "replies", "connection_id": "cin_a",
            "data": {"text": PROSE.repeat(10), "tags": vec!["a"; 20_000]}})
    };
    let replies: Vec<Value> = (0..60).map(reply).collect();
    let fake = Fake::start(move |seen| {
        if seen.path == "/v1/schema" {
            let row = json!({"name": "messages", "expand_capabilities": [{"name": "replies"}]});
            return Reply::json(&json!({"streams": [row]}));
        }
        let text =
            if seen.path.ends_with("/dense") { "\u{13080}\u{13171}".repeat(6_000) } else { "x".into() };
        let mut body = record(json!({"title": "T", "text": text}));
        body["expanded"] = json!({"replies": {"object": "list", "has_more": false, "data": replies}});
        Reply::json(&body)
    })
    .await;
    let mut host = Host::connect(&fake).await;
    for id in ["short", "dense"] {
        let given = json!({"id": format!("cin_a/messages:{id}"), "expand": ["replies"]});
        checked(host.call("fetch", given).await);
    }
}

/// S3-R1-S1: where more related records follow, the document has the call that reads them, under the same connection.
#[tokio::test]
async fn a_related_list_that_goes_on_is_read_by_the_printed_call() {
    let reply =
        |n: usize| json!({"object": "record", "id": format!("r{n}"), "stream": "replies", "data": {"n": n}});
    let fake = Fake::start(move |seen| match seen.path.as_str() {
        "/v1/schema" => {
            let relation = |name: &str| {
                json!({"name": name, "target_stream": "replies", "foreign_key": "message_id",
                    "cardinality": "has_many"})
            };
            let relations = [relation("replies"), relation("drafts")];
            Reply::json(&json!({"streams": [{"name": "messages", "expand_capabilities": relations}]}))
        }
        "/v1/streams/replies/records" => Reply::json(&json!({"data": (0..9).map(reply).collect::<Vec<_>>()})),
        _ => {
            let mut body = record(json!({"title": "T", "text": PROSE.repeat(400)}));
            let list = |more: bool| json!({"object": "list", "has_more": more, "data": [reply(0)]});
            body["expanded"] = json!({"replies": list(true), "drafts": list(false)});
            Reply::json(&body)
        }
    })
    .await;
    let mut host = Host::connect(&fake).await;
    let given = json!({"id": "cin_a/messages:m1", "expand": ["replies", "drafts"]});
    let result = checked(host.call("fetch", given).await);
    let calls = result.structured["metadata"]["continuations"].as_array().unwrap();
    let related: Vec<&Value> = calls.iter().filter(|call| call["tool"] == "query_records").collect();
    let [call] = related[..] else { panic!("{calls:?}") };
    let all = host.call("query_records", call["args"].clone()).await;
    assert!(all.text.contains(": 9 record(s)."), "{}", all.text);
    let seen = fake.last();
    assert_eq!((seen.param("filter[message_id]"), seen.param("connection_id")), (Some("m1"), Some("cin_a")));
}
