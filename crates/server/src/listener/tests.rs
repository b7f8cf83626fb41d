//! A tiny router behind the real accept loop, over raw sockets.

use std::net::SocketAddr;

use axum::body::Body;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;

const SHORT: Duration = Duration::from_millis(300);
/// Long enough for a busy machine; nothing here should come near it.
const PATIENCE: Duration = Duration::from_secs(20);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

async fn start(bounds: Bounds) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new()
        .route("/", get(async || "here"))
        .route("/slow", get(async || tokio::time::sleep(SHORT).await))
        .route("/never", get(std::future::pending::<()>))
        .route("/large", get(async || Body::from(vec![b'x'; 64 << 20])));
    let (stop, told) = oneshot::channel();
    let ended = tokio::spawn(serve(listener, router, (bounds, Arc::default()), async {
        let _ = told.await;
    }));
    Running { address, stop, ended }
}

async fn send(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// Everything up to the end of the connection.
async fn read_all(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset is an end too.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("the connection ends");
    String::from_utf8_lossy(&answer).into_owned()
}

/// One answer on a connection that stays open.
async fn read_answer(stream: &mut TcpStream) -> String {
    let mut answer = String::new();
    while !answer.ends_with("here") {
        let mut part = [0; 1024];
        let count = timeout(PATIENCE, stream.read(&mut part)).await.expect("an answer").unwrap();
        assert!(count > 0, "the connection ended: {answer}");
        answer.push_str(&String::from_utf8_lossy(&part[..count]));
    }
    answer
}

#[tokio::test]
async fn a_connection_serves_one_request_after_another() {
    let running = start(Bounds::default()).await;
    let mut stream = send(running.address, REQUEST).await;
    assert!(read_answer(&mut stream).await.starts_with("HTTP/1.1 200 OK"));
    stream.write_all(REQUEST).await.unwrap();
    assert!(read_answer(&mut stream).await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn half_a_request_head_is_not_waited_for() {
    let running = start(Bounds { head: SHORT, ..Bounds::default() }).await;
    let half = send(running.address, b"GET / HTTP/1.1\r\nhost: loc").await;
    let silent = send(running.address, b"").await;
    assert!(!read_all(half).await.contains("200 OK"));
    assert_eq!(read_all(silent).await, "");
    let mut stream = send(running.address, REQUEST).await;
    assert!(read_answer(&mut stream).await.ends_with("here"), "others are served");
}

#[tokio::test]
async fn an_answer_nobody_takes_is_not_held_for_ever() {
    let running = start(Bounds { stall: SHORT, ..Bounds::default() }).await;
    let stream = send(running.address, b"GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    tokio::time::sleep(SHORT * 4).await;
    assert!(read_all(stream).await.len() < 64 << 20);
}

#[tokio::test]
async fn connections_beyond_the_bound_wait_for_room() {
    let running = start(Bounds { connections: 1, ..Bounds::default() }).await;
    let mut first = send(running.address, REQUEST).await;
    read_answer(&mut first).await;
    let mut second = send(running.address, REQUEST).await;
    let early = timeout(SHORT, second.readable()).await;
    assert!(early.is_err(), "the second connection waits");
    drop(first);
    assert!(read_answer(&mut second).await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn told_to_stop_it_finishes_open_requests_and_closes_idle_connections() {
    let running = start(Bounds::default()).await;
    let slow = send(running.address, b"GET /slow HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut idle = send(running.address, REQUEST).await;
    read_answer(&mut idle).await;
    running.stop.send(()).unwrap();
    assert_eq!(read_all(idle).await, "");
    assert!(read_all(slow).await.starts_with("HTTP/1.1 200 OK"));
    timeout(PATIENCE, running.ended).await.expect("it ends").unwrap();
    assert!(TcpStream::connect(running.address).await.is_err(), "nothing listens any more");
}

#[tokio::test]
async fn a_request_that_never_ends_is_dropped_after_the_drain() {
    let running = start(Bounds { drain: SHORT, ..Bounds::default() }).await;
    let never = send(running.address, b"GET /never HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut other = send(running.address, REQUEST).await;
    read_answer(&mut other).await;
    running.stop.send(()).unwrap();
    timeout(PATIENCE, running.ended).await.expect("it ends").unwrap();
    assert_eq!(read_all(never).await, "");
}
