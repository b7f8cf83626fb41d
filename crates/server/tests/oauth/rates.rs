//! How often a token and an address may ask.

use std::net::IpAddr;

use axum::body::Body;
use pdpp_api::Peer;
use pdpp_server::owner_subject;
use pdpp_store::DisclosureFilter;
use pdpp_wire::Code;
use serde_json::json;

use crate::desk::{Answer, Desk, request};
use crate::flow::notes;

async fn slow_desk() -> Desk {
    Desk::set_up(1, |file| file.requests_per_minute = Some(3)).await
}

async fn from(desk: &Desk, address: &str, bearer: Option<&str>) -> Answer {
    let mut asking = request("GET", "/v1/streams", bearer).body(Body::empty()).unwrap();
    asking.extensions_mut().insert(Peer(address.parse::<IpAddr>().unwrap()));
    desk.send(asking).await
}

#[tokio::test]
async fn a_busy_token_waits_and_the_owner_and_others_do_not() {
    let desk = slow_desk().await;
    let (busy, other) = (desk.connect(&notes("continuous")).await, desk.connect(&notes("continuous")).await);
    for _ in 0..3 {
        assert_eq!(desk.read(&busy.access).await, "200 ok");
    }
    desk.clock.advance_seconds(20);
    for _ in 0..5 {
        let refused = desk.get("/v1/streams", Some(&busy.access)).await.expect("429 rate_limit_exceeded");
        assert_eq!(refused.header("retry-after"), "40");
        desk.get("/v1/streams", Some(&desk.owner)).await.expect("200 ok");
    }
    assert_eq!(desk.read(&other.access).await, "200 ok");
    let filter = DisclosureFilter { limit: 1_000, ..DisclosureFilter::default() };
    let written = desk.personal.store().list_disclosures(&owner_subject(), &filter).await.unwrap();
    let refused = written.iter().filter(|entry| entry.refused == Some(Code::RateLimitExceeded));
    assert_eq!(refused.count(), 1, "a flood is one entry");
    desk.clock.advance_seconds(40);
    assert_eq!(desk.read(&busy.access).await, "200 ok");
}

/// Calls through `/mcp` count once, whatever the adapter asks for behind it.
#[tokio::test]
async fn mcp_calls_are_counted_at_their_own_door() {
    let desk = slow_desk().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "query_records", "arguments": {"stream": "notes", "expand": [], "limit": 1}}});
    let ask = async || {
        let asking = request("POST", "/mcp", Some(&tokens.access))
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25")
            .header("content-type", "application/json");
        desk.send(asking.body(Body::from(call.to_string())).unwrap()).await
    };
    for _ in 0..3 {
        let answer = ask().await.expect("200 ok");
        assert_eq!(answer.body["result"]["isError"], json!(false), "{:#}", answer.body);
    }
    let refused = ask().await.expect("429 rate_limit_exceeded");
    assert_eq!(refused.header("retry-after"), "60");
}

#[tokio::test]
async fn an_address_may_do_what_four_tokens_may() {
    let desk = slow_desk().await;
    let mut verdicts = Vec::new();
    for _ in 0..5 {
        let tokens = desk.connect(&notes("continuous")).await;
        for _ in 0..3 {
            verdicts.push(from(&desk, "192.0.2.9", Some(&tokens.access)).await.status);
        }
        assert_eq!(from(&desk, "127.0.0.1", Some(&desk.owner)).await.status, 200);
    }
    assert_eq!(verdicts, [[200; 12].as_slice(), &[429; 3]].concat());
}

#[tokio::test]
async fn an_address_that_guesses_tokens_is_paused() {
    let desk = slow_desk().await;
    let mut last = 0;
    for number in 0..301 {
        last = from(&desk, "192.0.2.9", Some(&format!("{number:064x}"))).await.status;
        assert_eq!(last == 429, number == 300, "{number}");
    }
    assert_eq!(last, 429);
    assert_eq!(from(&desk, "192.0.2.10", None).await.status, 401);
    assert_eq!(from(&desk, "192.0.2.9", Some(&desk.owner)).await.status, 200, "a token still opens");
}
