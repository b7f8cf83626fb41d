//! Batches: each item is answered for itself, and what cannot be answered holds up nothing.

use std::time::Duration;

use serde_json::{Value, json};

use crate::protocol::adapter;
use crate::support::{Fake, Host, Reply};

/// A host that agreed on the revision with batches.
async fn host(fake: &Fake) -> Host {
    let mut host = Host::silent(adapter(fake));
    let params = json!({"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    host.request("initialize", params).await;
    host.notify("notifications/initialized").await;
    host
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

/// A call that the server of [`slow`] does not answer in time.
fn slow_call(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": "list_streams", "arguments": {"connection_id": "slow"}}})
}

fn cancel(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

async fn slow() -> Fake {
    Fake::start(|seen| {
        let reply = Reply::json(&json!({"data": []}));
        if seen.param("connection_id") == Some("slow") { reply.after(Duration::from_mins(1)) } else { reply }
    })
    .await
}

/// The ids of the answers of a batch, and the codes of its errors.
fn ids_and_codes(batch: &Value) -> (Vec<u64>, Vec<(Value, i64)>) {
    let answers = batch.as_array().unwrap_or_else(|| panic!("a batch is answered in an array: {batch}"));
    let good = answers.iter().filter(|answer| answer["result"].is_object());
    let mut ids: Vec<u64> = good.map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    let codes =
        answers.iter().filter_map(|answer| Some((answer["id"].clone(), answer["error"]["code"].as_i64()?)));
    (ids, codes.collect())
}

#[tokio::test]
async fn a_batch_is_answered_together_in_the_revision_that_has_batches() {
    let fake = Fake::always(json!({"data": []})).await;
    let mut host = host(&fake).await;
    let batch = json!([
        ping(71),
        {"jsonrpc": "2.0", "method": "notifications/unheard_of"},
        {"jsonrpc": "2.0", "id": 72, "method": "tools/call", "params": {"name": "list_streams", "arguments": {}}},
    ]);
    host.send_line(&batch.to_string()).await;
    assert_eq!(ids_and_codes(&host.receive().await), (vec![71, 72], vec![]));
}

#[tokio::test]
async fn an_item_that_is_no_message_is_refused_alone() {
    let fake = Fake::always(json!({"data": []})).await;
    let mut host = host(&fake).await;
    for (batch, ids, refused) in [
        (json!([ping(1), 1]), vec![1], vec![Value::Null]),
        (json!([{"jsonrpc": "1.0", "id": 7, "method": "ping"}, ping(2)]), vec![2], vec![json!(7)]),
        (json!([[], "text", {}]), vec![], vec![Value::Null; 3]),
        // The first of them is pending under its id, so the error must not name it.
        (json!([ping(9), ping(9), ping(10)]), vec![9, 10], vec![Value::Null]),
    ] {
        host.send_line(&batch.to_string()).await;
        let refused: Vec<(Value, i64)> = refused.into_iter().map(|id| (id, -32600)).collect();
        assert_eq!(ids_and_codes(&host.receive().await), (ids, refused), "{batch}");
    }
    host.send_line(r#"[{"jsonrpc":"2.0","method":"notifications/unheard_of"}]"#).await;
    assert_eq!(
        host.request("ping", json!({})).await["result"],
        json!({}),
        "nothing is said to notifications"
    );
}

/// The answers to the rest leave without the one that was given up, wherever in the batch it stood and whenever the
/// rest was answered.
#[tokio::test]
async fn a_cancelled_request_does_not_hold_up_its_batch() {
    let fake = slow().await;
    let mut host = host(&fake).await;
    host.send_line(&json!([ping(1), slow_call(2)]).to_string()).await;
    while fake.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    host.send_line(&cancel(2).to_string()).await;
    assert_eq!(ids_and_codes(&host.receive().await), (vec![1], vec![]));
    fake.abandoned(1).await;
    host.send_line(&json!([slow_call(3), ping(4), cancel(3), slow_call(5), cancel(5)]).to_string()).await;
    assert_eq!(ids_and_codes(&host.receive().await), (vec![4], vec![]));
    host.send_line(&json!([slow_call(6), slow_call(7), cancel(6), cancel(7)]).to_string()).await;
    assert_eq!(
        host.request("ping", json!({})).await["result"],
        json!({}),
        "a batch of nothing has no answer"
    );
    // Ids that were given up are free again, and what is unknown can be cancelled.
    host.send_line(&cancel(99).to_string()).await;
    host.send_line(&json!([ping(2), ping(3)]).to_string()).await;
    assert_eq!(ids_and_codes(&host.receive().await), (vec![2, 3], vec![]));
}
