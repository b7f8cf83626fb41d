//! Where a call goes, and where it does not.

use std::io;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use pdpp_egress::{EgressFault, EgressUrl, Literals, Loopback, UrlFault, UrlPolicy};

use crate::site::{Act, Site};
use crate::world::{HOST, PUBLIC, Plan, addresses, second, url};

async fn site() -> Site {
    Site::start(HOST, |_| Act::ok("hello")).await
}

/// A host with these addresses is refused, and nothing is connected.
async fn refused(answers: &[&str], fault: EgressFault) {
    let world = Plan::nowhere().answering(&[answers]).make();
    assert_eq!(world.get().await, Err(fault), "{answers:?}");
    assert_eq!(world.dialled(), [""; 0], "{answers:?}");
}

#[tokio::test]
async fn a_public_host_is_called_at_the_address_that_was_checked() {
    let site = site().await;
    let world = Plan::to(&site).make();
    assert_eq!(world.get().await.as_deref(), Ok("hello"));
    assert_eq!(world.dialled(), ["93.184.215.14:443"]);
    let request = &site.requests()[0];
    assert!(request.starts_with("GET /pdpp HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("host: hooks.example.org\r\n"), "{request}");
    assert!(request.contains("accept: application/json\r\n"), "{request}");
}

#[tokio::test]
async fn a_port_that_is_not_the_usual_one_is_dialled_and_named() {
    let site = site().await;
    let world = Plan::to(&site).make();
    world.egress.get(&url("https://hooks.example.org:8443/?a=b"), &second()).await.unwrap();
    assert_eq!(world.dialled(), ["93.184.215.14:8443"]);
    let request = &site.requests()[0];
    assert!(request.starts_with("GET /?a=b HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("host: hooks.example.org:8443\r\n"), "{request}");
}

#[tokio::test]
async fn a_host_that_changes_its_answer_is_called_where_it_was_checked() {
    let site = site().await;
    let world = Plan::to(&site).answering(&[&[PUBLIC], &["10.0.0.1"]]).make();
    assert_eq!(world.get().await.as_deref(), Ok("hello"));
    assert_eq!((world.lookups(), world.dialled()), (1, vec!["93.184.215.14:443".to_owned()]));
    // The next call asks again, and sees the new answer.
    assert_eq!(world.get().await, Err(EgressFault::ForbiddenAddress));
    assert_eq!((world.lookups(), world.dialled().len()), (2, 1));
}

#[tokio::test]
async fn a_host_that_was_in_order_at_creation_is_checked_again_at_the_call() {
    let world = Plan::nowhere().answering(&[&[PUBLIC], &["169.254.169.254"]]).make();
    let hook = url("https://hooks.example.org/pdpp");
    assert!(world.egress.check_host(&hook, &second()).await.is_ok());
    assert_eq!(world.dialled(), [""; 0], "a check connects to nobody");
    assert_eq!(world.get().await, Err(EgressFault::ForbiddenAddress));
}

#[tokio::test]
async fn a_host_in_the_owners_network_is_refused() {
    for address in [
        "127.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "::1",
        "::",
        "fd00::1",
        "fe80::1",
        "ff02::1",
    ] {
        refused(&[address], EgressFault::ForbiddenAddress).await;
    }
}

#[tokio::test]
async fn an_address_inside_an_address_is_refused() {
    for address in [
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::8.8.8.8",
        "2002:0a00:0001::1",
        "2002:0808:0808::1",
        "2001:0:4136:e378:8000:63bf:f5ff:fffe",
    ] {
        refused(&[address], EgressFault::ForbiddenAddress).await;
    }
}

#[tokio::test]
async fn a_public_address_inside_an_address_is_called() {
    let site = site().await;
    let world = Plan::to(&site).answering(&[&["::ffff:8.8.8.8"], &["64:ff9b::8.8.8.8"]]).make();
    assert_eq!(world.get().await.as_deref(), Ok("hello"));
    assert_eq!(world.get().await.as_deref(), Ok("hello"));
    assert_eq!(world.dialled(), ["8.8.8.8:443", "[64:ff9b::808:808]:443"]);
}

#[tokio::test]
async fn one_forbidden_answer_among_public_ones_refuses_the_host() {
    refused(&[PUBLIC, "10.0.0.1"], EgressFault::ForbiddenAddress).await;
    refused(&["10.0.0.1", PUBLIC], EgressFault::ForbiddenAddress).await;
    refused(&[PUBLIC, "2606:4700::1111", "1.1.1.1", "::ffff:192.168.0.1"], EgressFault::ForbiddenAddress)
        .await;
}

#[tokio::test]
async fn eight_addresses_are_taken_and_nine_are_not() {
    let many: Vec<String> = (1..=9).map(|last| format!("8.8.4.{last}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    refused(&many, EgressFault::TooManyAddresses).await;
    let site = site().await;
    let world = Plan::to(&site).answering(&[&many[..8]]).make();
    assert_eq!(world.get().await.as_deref(), Ok("hello"));
    assert_eq!(world.dialled(), ["8.8.4.1:443"]);
}

#[tokio::test]
async fn an_address_told_twice_counts_once() {
    let site = site().await;
    let world = Plan { dead: addresses(&[PUBLIC]), ..Plan::to(&site) };
    let world = world.answering(&[&[PUBLIC, "::ffff:93.184.215.14", PUBLIC, "8.8.8.8"]]).make();
    assert_eq!(world.get().await.as_deref(), Ok("hello"));
    assert_eq!(world.dialled(), ["93.184.215.14:443", "8.8.8.8:443"]);
}

#[tokio::test]
async fn a_host_without_an_address_is_refused() {
    refused(&[], EgressFault::NoAddress).await;
    let unknown = Plan { answers: vec![Err(io::ErrorKind::NotFound.into())], ..Plan::nowhere() };
    assert_eq!(unknown.make().get().await, Err(EgressFault::NoAddress));
}

#[tokio::test]
async fn a_stranger_cannot_tell_a_forbidden_host_from_one_that_does_not_exist() {
    let hook = url("https://hooks.example.org/pdpp");
    let mut texts = Vec::new();
    for answer in [&["10.1.2.3"][..], &[]] {
        let error =
            Plan::nowhere().answering(&[answer]).make().egress.get(&hook, &second()).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("10.1.2.3"), "{error:?}");
        texts.push((error.to_string(), error.internal()));
    }
    assert_eq!(texts[0].0, texts[1].0);
    assert!(texts[0].1.contains("10.1.2.3 is in 10.0.0.0/8 (private use, RFC 1918)"), "{texts:?}");
}

#[tokio::test]
async fn the_next_checked_address_is_tried_when_the_first_refuses() {
    let site = site().await;
    let plan = Plan { dead: addresses(&["8.8.8.8"]), ..Plan::to(&site) };
    let world = plan.answering(&[&["8.8.8.8", PUBLIC]]).make();
    assert_eq!(world.get().await.as_deref(), Ok("hello"));
    assert_eq!(world.dialled(), ["8.8.8.8:443", "93.184.215.14:443"]);
    let plan = Plan { dead: addresses(&["8.8.8.8", PUBLIC]), ..Plan::nowhere() };
    let world = plan.answering(&[&["8.8.8.8", PUBLIC]]).make();
    assert_eq!(world.get().await, Err(EgressFault::Unreachable));
    assert_eq!(world.dialled().len(), 2);
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let head = "location: https://hooks.example.org/elsewhere\r\n";
        let site = Site::start(HOST, move |_| Act::answer(status, head, "")).await;
        let world = Plan::to(&site).make();
        let answer = world.egress.get(&url("https://hooks.example.org/pdpp"), &second()).await.unwrap();
        assert!(answer.status.is_redirection());
        assert_eq!((site.connections(), world.lookups()), (1, 1));
    }
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused_before_anything_is_sent() {
    let site = Site::start("other.example.org", |_| Act::ok("hello")).await;
    let world = Plan::to(&site).make();
    assert_eq!(world.get().await, Err(EgressFault::Untrusted));
    assert_eq!((site.connections(), site.requests()), (1, vec![]));
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_refused_before_anything_is_sent() {
    let (site, other) = (site().await, site().await);
    let world = Plan { roots: other.roots, ..Plan::to(&site) }.make();
    assert_eq!(world.get().await, Err(EgressFault::Untrusted));
    assert_eq!((site.connections(), site.requests()), (1, vec![]));
}

#[tokio::test]
async fn a_server_without_encryption_is_refused() {
    let site = Site::plain(|_| Act::ok("hello")).await;
    let world = Plan::to(&site).make();
    assert_eq!(world.get().await, Err(EgressFault::Untrusted));
}

#[tokio::test]
async fn an_address_literal_is_checked_without_a_lookup() {
    let policy = UrlPolicy { literals: Literals::Allowed, loopback: Loopback::Refused };
    let site = Site::start("8.8.8.8", |_| Act::ok("hello")).await;
    let world = Plan::to(&site).under(policy).make();
    for (text, fault) in [
        ("https://10.0.0.1/", EgressFault::ForbiddenAddress),
        ("https://0x7f.1/", EgressFault::ForbiddenAddress),
        ("https://[::ffff:10.0.0.1]/", EgressFault::ForbiddenAddress),
    ] {
        let url = EgressUrl::parse(text, policy).unwrap();
        assert_eq!(world.egress.get(&url, &second()).await.unwrap_err().fault(), fault, "{text}");
    }
    assert_eq!((world.lookups(), world.dialled().len()), (0, 0));
    let url = EgressUrl::parse("https://8.8.8.8/", policy).unwrap();
    assert_eq!(world.egress.get(&url, &second()).await.unwrap().status, StatusCode::OK);
    assert_eq!((world.lookups(), world.dialled()), (0, vec!["8.8.8.8:443".to_owned()]));
}

#[tokio::test]
async fn an_address_read_under_looser_settings_is_not_called() {
    let loose = UrlPolicy { literals: Literals::Allowed, loopback: Loopback::Allowed };
    let world = Plan::nowhere().make();
    for (text, fault) in [
        ("http://127.0.0.1:8080/", UrlFault::Loopback),
        ("https://localhost/", UrlFault::Loopback),
        ("https://8.8.8.8/", UrlFault::IpLiteral),
    ] {
        let url = EgressUrl::parse(text, loose).unwrap();
        let called = world.egress.get(&url, &second()).await.unwrap_err().fault();
        let checked = world.egress.check_host(&url, &second()).await.unwrap_err().fault();
        assert_eq!((called, checked), (EgressFault::Url(fault), EgressFault::Url(fault)), "{text}");
    }
    assert_eq!((world.lookups(), world.dialled().len()), (0, 0));
}

#[tokio::test]
async fn a_body_is_delivered_and_the_message_is_ours() {
    let site = Site::start(HOST, |_| Act::answer("202 Accepted", "set-cookie: a=b\r\n", "")).await;
    let world = Plan::to(&site).make();
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("webhook-id", "evt_1"),
        ("content-type", "application/cloudevents+json"),
        ("host", "internal.example"),
        ("cookie", "session=1"),
        ("content-length", "3"),
        ("transfer-encoding", "chunked"),
        ("connection", "keep-alive"),
        ("user-agent", "another"),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    let hook = url("https://hooks.example.org/pdpp");
    for _ in 0..2 {
        let body = Bytes::from_static(b"{\"a\":1}");
        let answer = world.egress.post(&hook, headers.clone(), body, &second()).await.unwrap();
        assert_eq!(answer.status, StatusCode::ACCEPTED);
    }
    for request in site.requests() {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let mut lines: Vec<_> = head.lines().collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            [
                "POST /pdpp HTTP/1.1",
                "connection: close",
                "content-length: 7",
                "content-type: application/cloudevents+json",
                "host: hooks.example.org",
                concat!("user-agent: pdpp/", env!("CARGO_PKG_VERSION")),
                "webhook-id: evt_1",
            ]
        );
        assert_eq!(body, "{\"a\":1}");
    }
}
