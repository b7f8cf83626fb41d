//! A service of the same process, called without a socket.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt as _, Full};
use pdpp_client::{Bearer, Client, ClientError, FixedBearer, InProcess, Limits, Request};
use tower::service_fn;

fn client(limits: Limits) -> Client {
    let service = service_fn(|request: http::Request<Full<Bytes>>| async move {
        if request.uri().path() == "/v1/slow" {
            std::future::pending::<()>().await;
        }
        let said = format!("{} {}", request.uri(), request.headers()["authorization"].to_str().unwrap());
        let body = Full::new(Bytes::from(said)).map_err(|never: Infallible| match never {}).boxed_unsync();
        Ok::<_, Infallible>(Response::builder().status(207).header("request-id", "req_1").body(body).unwrap())
    });
    let bearer = Arc::new(FixedBearer(Bearer::new("here")));
    let service = tower::ServiceExt::<http::Request<Full<Bytes>>>::map_err(service, Into::into);
    Client::in_process(InProcess::new(service), "http://localhost", bearer, limits)
}

#[tokio::test]
async fn it_is_asked_as_a_server_is() {
    let client = client(Limits::default());
    let answer = client.send(&Request::get(["v1", "streams", "a b"]).query("x", "1&2")).await.unwrap();
    assert_eq!((answer.status, answer.request_id.as_deref()), (207, Some("req_1")));
    assert_eq!(answer.body.as_ref(), b"/v1/streams/a%20b?x=1%262 Bearer here");
    assert_eq!(client.provider_url(), "http://localhost");
}

#[tokio::test]
async fn it_has_the_same_bounds() {
    let small = client(Limits { max_bytes: 4, ..Limits::default() });
    let answer = small.send(&Request::get(["v1"])).await;
    assert_eq!(answer.unwrap_err(), ClientError::TooLarge { max_bytes: 4 });
    let hasty = client(Limits { deadline: Duration::from_millis(50), ..Limits::default() });
    let answer = hasty.send(&Request::get(["v1", "slow"])).await;
    assert!(matches!(answer, Err(ClientError::TimedOut { .. })), "{answer:?}");
}
