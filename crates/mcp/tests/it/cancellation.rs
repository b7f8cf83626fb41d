//! Cancellation: what nobody waits for any more is not asked for any more.

use std::time::Duration;

use serde_json::{Value, json};

use crate::protocol::adapter;
use crate::support::{Fake, Host, Reply};

async fn cancel(method: &str, params: Value) {
    let fake = Fake::start(|_| Reply::json(&json!({"data": []})).after(Duration::from_mins(1))).await;
    let mut host = Host::before(adapter(&fake)).await;
    host.send_line(&json!({"jsonrpc": "2.0", "id": 99, "method": method, "params": params}).to_string())
        .await;
    while fake.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 99, "reason": "enough"}});
    host.send_line(&cancelled.to_string()).await;
    // Long before the client would have given up by itself.
    fake.abandoned(1).await;
    fake.rescript(|_| Reply::json(&json!({"data": []})));
    assert!(!host.call("list_streams", json!({})).await.is_error, "the next call works");
}

/// The server sees the connection close before it would have answered, whichever kind of request was cancelled.
#[tokio::test]
async fn a_cancelled_request_is_abandoned() {
    cancel("tools/call", json!({"name": "list_streams", "arguments": {}})).await;
    cancel("resources/read", json!({"uri": "pdpp://stream/messages"})).await;
    let prompt = json!({"type": "ref/prompt", "name": "find_evidence"});
    cancel("completion/complete", json!({"ref": prompt, "argument": {"name": "stream", "value": ""}})).await;
}
