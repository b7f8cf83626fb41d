//! How long a call takes at most, and how much it takes in.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pdpp_egress::{EgressFault, Extent, Limits, Oversize, Settings, Stage};

use crate::site::{Act, Site, silent};
use crate::world::{HOST, Plan, second, url};

const SHORT: Duration = Duration::from_millis(150);

/// A call to a server with this script, and how it ended.
async fn call(
    script: impl Fn(usize) -> Act + Send + Sync + 'static,
    limits: Limits,
) -> Result<String, EgressFault> {
    let site = Site::start(HOST, script).await;
    Plan::to(&site).make().get_within(&limits).await
}

fn timed_out(stage: Stage) -> Result<String, EgressFault> {
    Err(EgressFault::TimedOut(stage))
}

#[tokio::test]
async fn a_lookup_that_never_ends_is_given_up() {
    let world = Plan { answers: Vec::new(), ..Plan::nowhere() }.make();
    let limits = Limits { resolve: SHORT, ..second() };
    assert_eq!(world.get_within(&limits).await, timed_out(Stage::Resolve));
}

#[tokio::test]
async fn a_connection_that_never_opens_is_given_up() {
    let world = Plan::nowhere().answering(&[&["8.8.8.8", "8.8.4.4"]]).make();
    let limits = Limits { connect: SHORT, ..second() };
    assert_eq!(world.get_within(&limits).await, timed_out(Stage::Connect));
    assert_eq!(world.dialled(), ["8.8.8.8:443", "8.8.4.4:443"], "each address gets its share of the time");
}

#[tokio::test]
async fn a_server_that_never_agrees_on_encryption_is_given_up() {
    let world = Plan { to: Some(silent().await), ..Plan::nowhere() }.make();
    let limits = Limits { handshake: SHORT, ..second() };
    assert_eq!(world.get_within(&limits).await, timed_out(Stage::Handshake));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let limits = Limits { head: SHORT, ..second() };
    assert_eq!(call(|_| Act::Hang, limits).await, timed_out(Stage::Head));
}

#[tokio::test]
async fn headers_that_come_byte_by_byte_are_given_up() {
    let pause = Duration::from_millis(20);
    let slow = move |_| Act::Trickle("HTTP/1.1 200 OK\r\nx: ".into(), "a", pause);
    let limits = Limits { head: SHORT, ..second() };
    assert_eq!(call(slow, limits).await, timed_out(Stage::Head));
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_is_given_up() {
    let pause = Duration::from_millis(20);
    let slow = move |_| Act::Trickle("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".into(), "a", pause);
    let limits = Limits { body: SHORT, ..second() };
    assert_eq!(call(slow, limits).await, timed_out(Stage::Body));
}

#[tokio::test]
async fn interim_answers_without_end_are_given_up() {
    let pause = Duration::from_millis(20);
    let slow = move |_| Act::Trickle(String::new(), "HTTP/1.1 103 Early Hints\r\n\r\n", pause);
    let limits = Limits { head: SHORT, ..second() };
    assert_eq!(call(slow, limits).await, timed_out(Stage::Head));
}

#[tokio::test]
async fn the_whole_call_ends_in_time_whatever_its_stages_may_take() {
    let pause = Duration::from_millis(20);
    let slow = move |_| Act::Trickle("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n".into(), "a", pause);
    let limits = Limits { total: Duration::from_millis(400), ..second() };
    let start = Instant::now();
    // On a busy machine an earlier stage may be the one that runs out of time.
    let outcome = call(slow, limits).await;
    assert!(matches!(outcome, Err(EgressFault::TimedOut(_))), "{outcome:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_call_waits_for_others_no_longer_than_it_may_take() {
    let site = Site::start(HOST, |_| Act::Hang).await;
    let settings = Settings { max_calls: 1, ..Settings::default() };
    let world = Arc::new(Plan { settings, ..Plan::to(&site) }.make());
    let first = { Arc::clone(&world) };
    let first = tokio::spawn(async move { first.get().await });
    site.requested().await;
    let limits = Limits { total: SHORT, ..second() };
    assert_eq!(world.get_within(&limits).await, timed_out(Stage::Queue));
    first.abort();
    let _ = first.await;
    let next = world.get_within(&Limits { head: SHORT, ..second() }).await;
    assert_eq!(next, timed_out(Stage::Head), "the place of a call that was dropped is free");
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let site = Site::start(HOST, |_| Act::Hang).await;
    let world = Arc::new(Plan::to(&site).make());
    let call = tokio::spawn(async move { world.get().await });
    site.requested().await;
    call.abort();
    let closed = async {
        while site.seen.closed.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), closed).await.unwrap();
}

#[tokio::test]
async fn a_body_of_the_largest_size_is_taken_and_one_byte_more_is_not() {
    let body = |bytes: usize| move |_| Act::ok(&"a".repeat(bytes));
    assert_eq!(call(body(1_024), second()).await.map(|body| body.len()), Ok(1_024));
    let refused = call(body(1_025), second()).await;
    assert_eq!(refused, Err(EgressFault::BodyTooLarge { max_bytes: 1_024 }));
}

#[tokio::test]
async fn a_flood_is_refused_while_it_comes() {
    let heads = [
        "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
    ];
    for head in heads {
        let piece = format!("400\r\n{}\r\n", "a".repeat(1_024));
        let site = Site::start(HOST, move |_| Act::Flood(head.into(), piece.clone())).await;
        let outcome = Plan::to(&site).make().get().await;
        assert_eq!(outcome, Err(EgressFault::BodyTooLarge { max_bytes: 1_024 }), "{head}");
        // What was written is what the buffers of the two sockets took.
        let flooded = site.seen.flooded.load(Ordering::SeqCst);
        assert!(flooded < 32 * 1024 * 1024, "{flooded}");
    }
}

#[tokio::test]
async fn a_snippet_of_a_flood_can_be_kept() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n";
    let site = Site::start(HOST, move |_| Act::Flood(head.into(), "abcd".repeat(512))).await;
    let limits = Limits { max_body_bytes: 6, oversize: Oversize::Cut, ..second() };
    let world = Plan::to(&site).make();
    let answer = world.egress.get(&url("https://hooks.example.org/"), &limits).await.unwrap();
    assert_eq!((&answer.body[..], answer.extent), (&b"abcdab"[..], Extent::Cut));
    let site = Site::start(HOST, |_| Act::ok("abcdef")).await;
    let answer =
        Plan::to(&site).make().egress.get(&url("https://hooks.example.org/"), &limits).await.unwrap();
    assert_eq!((&answer.body[..], answer.extent), (&b"abcdef"[..], Extent::Whole));
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let long = |_| Act::answer("200 OK", &format!("x: {}\r\n", "a".repeat(64 * 1024)), "");
    assert_eq!(call(long, second()).await, Err(EgressFault::HeadTooLarge));
    let many = |_| Act::answer("200 OK", &"x: a\r\n".repeat(200), "");
    assert_eq!(call(many, second()).await, Err(EgressFault::HeadTooLarge));
    let endless = |_| Act::Flood("HTTP/1.1 200 OK\r\n".into(), "x: aaaaaaaaaaaaaaaaaaaaaaaa\r\n".into());
    assert_eq!(call(endless, second()).await, Err(EgressFault::HeadTooLarge));
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    for text in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
        // Without a length, only a farewell on the encrypted connection says that this is all.
        "HTTP/1.1 200 OK\r\n\r\nabc",
        "SSH-2.0-OpenSSH_9.9\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
    ] {
        assert_eq!(
            call(move |_| Act::BreakOff(text.into()), second()).await,
            Err(EgressFault::Broken),
            "{text}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_ends_with_its_connection_is_taken() {
    let site = |_| Act::Say("HTTP/1.1 200 OK\r\n\r\nabc".into());
    assert_eq!(call(site, second()).await.as_deref(), Ok("abc"));
}

#[tokio::test]
async fn a_server_that_closes_its_half_before_its_answer_is_complete_has_not_answered() {
    let site = |_| Act::Say("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".into());
    assert_eq!(call(site, second()).await, Err(EgressFault::Broken));
}
