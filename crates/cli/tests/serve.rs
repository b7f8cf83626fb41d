//! `pdpp serve`.

use std::process::Stdio;

use serde_json::json;

use crate::support::{Client, Pdpp, Server, raw};

#[test]
fn it_says_when_it_is_alive_and_ready() {
    let pdpp = Pdpp::with_sample();
    let server = pdpp.serve();
    assert_eq!(server.anonymous().get("/healthz").status, 200);
    assert_eq!(server.anonymous().get("/readyz").status, 200);
    assert_eq!(server.anonymous().get("/openapi.json").body["openapi"], json!("3.1.0"));
}

#[test]
fn while_nobody_is_the_owner_it_prints_a_link_that_makes_one() {
    let pdpp = Pdpp::with_sample();
    let server = pdpp.serve();
    let secret = server.said_after("/owner/first-run?secret=");
    assert!(secret.len() >= 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{secret}");
    let page = |secret: &str| server.anonymous().get(&format!("/owner/first-run?secret={secret}")).status;
    assert_eq!((page(&secret), page("0")), (200, 404));
    let next = pdpp.serve().said_after("/owner/first-run?secret=");
    assert_eq!((page(&secret), page(&next)), (404, 200), "the next start makes another");
}

#[test]
fn told_to_stop_it_ends_in_order() {
    let pdpp = Pdpp::with_sample();
    let mut server = pdpp.serve();
    assert!(server.terminate().success());
}

#[test]
fn it_refuses_to_be_reached_from_elsewhere_without_a_guard() {
    let pdpp = Pdpp::with_sample();
    let (code, said) = pdpp.fails(&["serve", "--listen", "0.0.0.0:0"]);
    assert!(code == 64 && said.contains("--public-url"), "{said}");
    let (code, said) =
        pdpp.fails(&["serve", "--listen", "0.0.0.0:0", "--public-url", "https://data.example.org"]);
    assert!(code == 64 && said.contains("pdpp owner reset"), "{said}");
}

#[test]
fn metrics_are_on_a_listener_of_their_own() {
    let pdpp = Pdpp::with_sample();
    let command = pdpp.command(&["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
    let server = Server::start(command);
    server.anonymous().get("/healthz");
    assert_eq!(server.anonymous().get("/metrics").status, 404);
    let metrics = Client::new(&server.metrics_address(), None).get("/metrics");
    assert_eq!(metrics.status, 200);
}

#[test]
fn the_metrics_listener_answers_for_its_own_hosts_only() {
    let pdpp = Pdpp::with_sample();
    let args = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--metrics-listen",
        "127.0.0.1:0",
        "--allow-host",
        "nas.example",
    ];
    let server = Server::start(pdpp.command(&args));
    let address = server.metrics_address();
    let ask = |path: &str, host: &str| {
        raw(&address, &format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"))
    };
    for host in [address.as_str(), "localhost", "127.0.0.1", "nas.example:9100"] {
        assert_eq!(ask("/metrics", host), "HTTP/1.1 200 OK", "{host}");
    }
    assert_eq!(ask("/metrics", "evil.example"), "HTTP/1.1 421 Misdirected Request");
    assert_eq!(ask("/", "evil.example"), "HTTP/1.1 421 Misdirected Request");
}

#[test]
fn metrics_are_not_shown_elsewhere_without_a_guard() {
    let pdpp = Pdpp::with_sample();
    let args = ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "0.0.0.0:0"];
    let (code, said) = pdpp.fails(&args);
    assert!(code == 64 && said.contains("--public-url"), "{said}");
    let (code, said) = pdpp.fails(&[&args[..], &["--public-url", "https://data.example.org"]].concat());
    assert!(code == 64 && said.contains("pdpp owner reset"), "{said}");
}

#[test]
fn the_settings_file_is_read_and_its_mistakes_are_named() {
    let pdpp = Pdpp::with_sample();
    std::fs::write(pdpp.data().join("pdpp.toml"), "lisen = \"127.0.0.1:0\"").unwrap();
    let (code, said) = pdpp.fails(&["serve"]);
    assert!(code == 64 && said.contains("unknown field `lisen`"), "{said}");
    std::fs::write(pdpp.data().join("pdpp.toml"), "listen = \"127.0.0.1:0\"\nresource_name = \"Ana\"")
        .unwrap();
    let server = Server::start(pdpp.command(&["serve"]));
    assert_eq!(server.anonymous().get("/").body["resource_name"], json!("Ana"));
}

#[test]
fn logs_hold_no_tokens_and_no_content() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    for format in ["text", "json"] {
        let args = ["serve", "--listen", "127.0.0.1:0", "--log-level", "trace", "--log-format", format];
        let server = Server::start(pdpp.command(&args));
        let answer = server.client(&token).get("/v1/streams/messages/records?filter[author]=Dagny");
        assert_eq!(answer.status, 200);
        server.client("0000secret0000").get("/v1/streams");
        std::thread::sleep(std::time::Duration::from_millis(200));
        let log = server.log();
        assert!(log.contains(&answer.request_id), "{log}");
        for secret in [token.as_str(), "0000secret0000", "Dagny", "tide"] {
            assert!(!log.contains(secret), "{secret} is in the log");
        }
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let pdpp = Pdpp::with_sample();
    let mut child = pdpp.command(&["streams"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_address_that_is_taken_is_named_with_the_way_out() {
    let pdpp = Pdpp::with_sample();
    let server = pdpp.serve();
    let (code, said) = pdpp.fails(&["serve", "--listen", server.address()]);
    assert_eq!(code, 74, "{said}");
    assert!(said.contains(server.address()) && said.contains("--listen"), "{said}");
}
