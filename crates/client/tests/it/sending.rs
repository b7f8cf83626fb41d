//! One bearer, a deadline, a bound, and at most one more try.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::Method;
use pdpp_client::{Answer, Bearer, Client, ClientError, FixedBearer, Limits, ProviderUrl, Request};
use serde_json::json;

use crate::server::{Act, Server};

const TOKEN: &str = "token-that-nobody-may-see";

fn client(url: &str) -> Client {
    let limits = Limits {
        deadline: Duration::from_secs(5),
        longest_pause: Duration::from_millis(1_100),
        max_bytes: 1024 * 1024,
    };
    limited(url, limits)
}

fn limited(url: &str, limits: Limits) -> Client {
    let bearer = Arc::new(FixedBearer(Bearer::new(TOKEN)));
    Client::http(&ProviderUrl::parse(url).unwrap(), bearer, limits).unwrap()
}

fn streams() -> Request {
    Request::get(["v1", "streams"])
}

async fn ask(server: &Server) -> Result<Answer, ClientError> {
    client(&server.url).send(&streams()).await
}

#[tokio::test]
async fn a_server_that_says_nothing_meets_the_deadline() {
    let server = Server::start(|_, _| Act::Hang).await;
    let limits = Limits { deadline: Duration::from_millis(300), ..Limits::default() };
    let started = Instant::now();
    let answer = limited(&server.url, limits).send(&streams()).await;
    assert!(matches!(answer, Err(ClientError::TimedOut { .. })), "{answer:?}");
    assert!(started.elapsed() < Duration::from_secs(2));
    server.until_closed().await;
}

#[tokio::test]
async fn a_refused_connection_is_unreachable() {
    let answer = client("http://127.0.0.1:1").send(&streams()).await;
    assert!(matches!(answer, Err(ClientError::Unreachable(_))), "{answer:?}");
}

#[tokio::test]
async fn a_broken_answer_is_asked_for_once_more() {
    let server = Server::start(|number, _| if number == 0 { Act::BreakOff } else { Act::ok("[]") }).await;
    assert_eq!(ask(&server).await.unwrap().body.as_ref(), b"[]");
    let broken = Server::start(|_, _| Act::BreakOff).await;
    let answer = ask(&broken).await;
    assert!(matches!(answer, Err(ClientError::Unreachable(_))), "{answer:?}");
    assert_eq!(broken.requests().len(), 2);
}

#[tokio::test]
async fn a_huge_answer_is_left_before_it_is_read() {
    const HUNDRED_MEGABYTES: usize = 100 * 1024 * 1024;
    let server = Server::start(|_, _| Act::Flood(HUNDRED_MEGABYTES)).await;
    let answer = ask(&server).await;
    assert_eq!(answer.unwrap_err(), ClientError::TooLarge { max_bytes: 1024 * 1024 });
    server.until_closed().await;
    // What the sockets hold in flight is more than the bound and far less than the whole.
    let taken = server.seen.flooded.load(Ordering::SeqCst);
    assert!(taken < 32 * 1024 * 1024, "{taken}");
    assert_eq!(server.requests().len(), 1, "a second try would bring as much");
}

#[tokio::test]
async fn a_request_may_have_a_bound_of_its_own() {
    let server = Server::start(|_, _| Act::ok("0123456789")).await;
    let answer = client(&server.url).send(&streams().max_bytes(9)).await;
    assert_eq!(answer.unwrap_err(), ClientError::TooLarge { max_bytes: 9 });
    assert!(client(&server.url).send(&streams().max_bytes(10)).await.is_ok());
}

#[tokio::test]
async fn a_short_pause_is_waited_for_and_a_long_one_left_to_the_caller() {
    for head in ["429 Too Many Requests\r\nretry-after: 1", "503 Service Unavailable\r\nretry-after: 1"] {
        let script = move |number, _: &str| {
            if number == 0 { Act::Answer(head, String::new()) } else { Act::ok("[]") }
        };
        let server = Server::start(script).await;
        let started = Instant::now();
        assert_eq!(ask(&server).await.unwrap().status, 200);
        assert!(started.elapsed() >= Duration::from_secs(1));
    }
    let server =
        Server::start(|_, _| Act::Answer("429 Too Many Requests\r\nretry-after: 60", String::new())).await;
    let started = Instant::now();
    let answer = ask(&server).await.unwrap();
    assert_eq!((answer.status, answer.retry_after_seconds), (429, Some(60)));
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn there_is_no_third_try() {
    let server =
        Server::start(|_, _| Act::Answer("503 Service Unavailable\r\nretry-after: 0", String::new())).await;
    assert_eq!(ask(&server).await.unwrap().status, 503);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_write_is_never_sent_twice() {
    let write = || Request::new(Method::POST, ["v1", "event-subscriptions"]).json(json!({"a": 1}));
    let unwell = Server::start(|_, _| Act::Answer("503 Service Unavailable", String::new())).await;
    assert_eq!(client(&unwell.url).send(&write()).await.unwrap().status, 503);
    assert_eq!(unwell.requests().len(), 1);
    let broken = Server::start(|_, _| Act::BreakOff).await;
    assert!(client(&broken.url).send(&write()).await.is_err());
    assert_eq!(broken.requests().len(), 1);
    assert!(broken.requests()[0].ends_with(r#"{"a":1}"#), "{:?}", broken.requests());
}

#[tokio::test]
async fn calls_share_a_connection() {
    let server = Server::start(|_, _| Act::ok("[]")).await;
    let client = client(&server.url);
    for _ in 0..20 {
        assert!(client.clone().send(&streams()).await.unwrap().is_success());
    }
    assert_eq!(server.requests().len(), 20);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn giving_up_closes_the_request() {
    let server = Server::start(|_, _| Act::Hang).await;
    let client = client(&server.url);
    let call = tokio::spawn(async move { client.send(&streams()).await });
    while server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    call.abort();
    server.until_closed().await;
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_the_token_stays_here() {
    let elsewhere = Server::start(|_, _| Act::ok("[]")).await;
    let head: &'static str = format!("302 Found\r\nlocation: {}/v1/streams", elsewhere.url).leak();
    let server = Server::start(move |_, _| Act::Answer(head, String::new())).await;
    assert_eq!(ask(&server).await.unwrap().status, 302);
    assert_eq!((server.requests().len(), elsewhere.connections()), (1, 0));
}

#[tokio::test]
async fn every_request_carries_the_one_bearer() {
    let server = Server::start(|_, _| Act::ok("[]")).await;
    ask(&server).await.unwrap();
    let request = &server.requests()[0];
    assert!(request.starts_with("GET /v1/streams HTTP/1.1\r\n"), "{request}");
    assert_eq!(request.matches(&format!("authorization: Bearer {TOKEN}\r\n")).count(), 1, "{request}");
}

#[tokio::test]
async fn the_token_shows_itself_nowhere() {
    let server = Server::start(|_, _| Act::BreakOff).await;
    let client = client(&server.url);
    let error = client.send(&streams()).await.unwrap_err();
    let unsendable = client.with_bearer(Bearer::new(format!("{TOKEN}\n")));
    let refused = unsendable.send(&streams()).await.unwrap_err();
    let bearer = FixedBearer(Bearer::new(TOKEN));
    for text in
        [format!("{client:?} {bearer:?} {error:?} {error}"), format!("{unsendable:?} {refused:?} {refused}")]
    {
        assert!(!text.contains(TOKEN), "{text}");
    }
}
