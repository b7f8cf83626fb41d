//! Servers that are not what they say: nothing is asked of them, and nothing kept.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use crate::support::Pdpp;

/// A server that answers each path with a document, made from its own address.
fn fake(answers: impl Fn(&str, &str) -> Option<Value> + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let own = url.clone();
    thread::spawn(move || {
        for visitor in listener.incoming() {
            let Ok(mut visitor) = visitor else { return };
            let mut head = [0; 4096];
            let count = visitor.read(&mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..count]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or("/");
            let (status, body) = match answers(&own, path) {
                Some(body) => ("200 OK", body.to_string()),
                None => ("404 Not Found", "{}".to_owned()),
            };
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = visitor.write_all(answer.as_bytes());
        }
    });
    url
}

#[track_caller]
fn check(url: &str, expected: &str) {
    let pdpp = Pdpp::new();
    let (code, said) = pdpp.fails(&["connect", url, "--no-browser", "--timeout", "5"]);
    assert!(code == 69 && said.contains(expected), "{code} {said}");
    assert!(said.lines().last().unwrap().starts_with("pdpp: "), "{said}");
}

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";

#[test]
fn a_server_of_something_else_is_recognised() {
    check(&fake(|_, _| None), "is no protected-resource document");
}

/// The wrong host: a document that speaks for another server.
#[test]
fn a_server_cannot_speak_for_another() {
    let elsewhere = fake(|_, path| {
        (path == RESOURCE).then(|| json!({"resource": "https://other.example", "authorization_servers": ["https://other.example"]}))
    });
    check(&elsewhere, "calls itself 'https://other.example'");
    let borrowed = fake(|own, path| match path {
        RESOURCE => Some(json!({"resource": own, "authorization_servers": [own]})),
        SERVER => Some(json!({"issuer": "https://other.example", "token_endpoint": format!("{own}/token")})),
        _ => None,
    });
    check(&borrowed, "belongs to 'https://other.example'");
}

#[test]
fn secrets_are_not_sent_in_the_clear() {
    let open = fake(|own, path| match path {
        RESOURCE => Some(json!({"resource": own, "authorization_servers": [own]})),
        SERVER => Some(json!({"issuer": own, "token_endpoint": "http://collector.example/token"})),
        _ => None,
    });
    check(&open, "unencrypted");
    let nobody = fake(|own, path| (path == RESOURCE).then(|| json!({"resource": own})));
    check(&nobody, "names no authorization server");
}
