//! A defect of ours costs one call, and what is written stays the protocol.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use pdpp_client::{Bearer, Client, FixedBearer, InProcess, Limits};
use pdpp_mcp::{Adapter, Settings};
use serde_json::json;

use crate::support::Host;

/// S3-R1: a panic in the midst of a call is that call's error; every line is a message, and the next call is answered.
#[tokio::test]
async fn a_panic_costs_one_call_and_writes_nothing_else() {
    let service = tower::service_fn(|request: http::Request<Full<Bytes>>| async move {
        assert_ne!(request.uri().path(), "/v1/streams", "the part that breaks");
        let body = Full::new(Bytes::from(json!({"streams": [{"name": "messages"}]}).to_string()));
        let body = body.map_err(|never| match never {}).boxed_unsync();
        Ok::<_, tower::BoxError>(http::Response::new(body))
    });
    let bearer = Arc::new(FixedBearer(Bearer::new("a-token")));
    let client = Client::in_process(InProcess::new(service), "http://localhost", bearer, Limits::default());
    // The host takes every line for JSON, and fails where one is not.
    let mut host = Host::before(Adapter::new(client, Settings::default())).await;
    let broken = host.call("list_streams", json!({})).await;
    assert_eq!(broken.code(), "api_error");
    assert!(broken.text.contains("other calls still work"), "{}", broken.text);
    assert!(!broken.visible().contains("the part that breaks"), "{}", broken.visible());
    let next = host.call("schema", json!({})).await;
    assert!(!next.is_error, "{}", next.text);
}
