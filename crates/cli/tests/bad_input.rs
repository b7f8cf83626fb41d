//! Hostile and broken input over a real socket: a typed error, and nothing changed.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::{Answer, Pdpp, raw, text};

const INGEST: &str = "/v1/ingest/messages?connector_id=harbour-chat";
const NDJSON: &str = "application/x-ndjson";

fn code(answer: &Answer) -> String {
    format!("{} {}", answer.status, answer.body["error"]["code"].as_str().unwrap_or("-"))
}

#[test]
fn broken_ingest_lines_get_receipts_and_change_nothing() {
    let pdpp = Pdpp::with_sample();
    let token = pdpp.owner_token();
    let server = pdpp.serve();
    let client = server.client(&token);
    let before = client.get("/v1/streams").body;
    let deep =
        format!(r#"{{"key":"d","data":{{"id":"d","place":{}1{}}}}}"#, "[".repeat(200), "]".repeat(200));
    let lines: [&[u8]; 9] = [
        b"{",
        b"{\"key\":\"a\",\"data\":{\"id\":\"b\"}}",
        b"{\"key\":\"a\",\"data\":{\"id\":\"a\",\"stars\":\"many\"}}",
        b"{\"key\":\"a\",\"data\":{\"id\":\"a\",\"id\":\"a\"}}",
        b"{\"key\":\"\\ud800\",\"data\":{}}",
        b"{\"key\":\"a\\u0000b\",\"data\":{\"id\":\"a\\u0000b\"}}",
        b"\xff\xfe",
        b"[]",
        deep.as_bytes(),
    ];
    let answer = client.post(INGEST, NDJSON, lines.join(&b'\n'));
    assert_eq!(answer.status, 200);
    let codes: Vec<String> =
        answer.body["rejections"].as_array().unwrap().iter().map(|r| text(&r["code"])).collect();
    assert_eq!(
        codes,
        [
            "malformed_ndjson",
            "invalid_record_identity",
            "schema_violation",
            "malformed_ndjson",
            "malformed_ndjson",
            "invalid_record_identity",
            "invalid_utf8",
            "malformed_ndjson",
            "too_deep"
        ]
    );
    let again = client.post(INGEST, NDJSON, lines.join(&b'\n'));
    assert_eq!(
        answer.body["rejections"], again.body["rejections"],
        "the same bad line replays to the same receipt"
    );
    let counts = |body: &Value| {
        body["data"].as_array().unwrap().iter().map(|s| s["record_count"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(counts(&before), counts(&client.get("/v1/streams").body));
}

#[test]
fn a_hundred_megabyte_line_is_refused_in_bounded_memory() {
    let pdpp = Pdpp::with_sample();
    let token = pdpp.owner_token();
    let server = pdpp.serve();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let size = 100 * 1024 * 1024;
    let head = format!(
        "POST {INGEST} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-type: {NDJSON}\r\ncontent-length: {size}\r\nconnection: close\r\n\r\n",
        server.address()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = vec![b'x'; 1 << 20];
    // The server may hang up as soon as it has seen too much.
    for _ in 0..100 {
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || answer.contains("resource_limit"), "{answer}");
    assert_eq!(server.client(&token).get("/v1/streams").status, 200, "it goes on");
}

#[test]
fn foreign_swapped_and_missing_credentials_are_refused() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    assert_eq!(code(&server.anonymous().get("/v1/streams")), "401 authentication_error");
    assert_eq!(code(&server.client("0123").get("/v1/streams")), "401 authentication_error");
    assert_eq!(code(&server.client(&token).post(INGEST, NDJSON, "{}")), "403 permission_error");
    let host = server.address();
    let two = format!(
        "GET /v1/streams HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nauthorization: Bearer x\r\nconnection: close\r\n\r\n"
    );
    assert_eq!(raw(server.address(), &two), "HTTP/1.1 401 Unauthorized");
    let foreign = "GET /healthz HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    assert_eq!(raw(server.address(), foreign), "HTTP/1.1 421 Misdirected Request");
}

#[test]
fn hostile_parameters_are_refused_by_name() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let client = server.client(&token);
    let check = |query: &str, expected: &str| {
        let answer = client.get(&format!("/v1/streams/messages/{query}"));
        assert_eq!(code(&answer), expected, "{query}: {}", answer.body);
    };
    check("records?limit=0", "400 invalid_request");
    check("records?limit=-5", "400 invalid_request");
    check("records?limit=ten", "400 invalid_request");
    check("records?cursor=forged", "400 invalid_cursor");
    check("records?changes_since=forged", "400 invalid_cursor");
    check("records?surprise=1", "400 invalid_request");
    check("records?sort=text", "400 invalid_sort");
    check("records?filter[text][like]=x", "400 invalid_request");
    check("records?filter[a][b][c][d][e][f][g][h][i]=x", "413 resource_limit");
    check("records?fields=nope", "400 unknown_field");
    check("records/..%2F..%2Fetc%2Fpasswd", "404 not_found");
    check("records/m_0132/field-window?field=text&offset_chars=-1", "400 invalid_window");
    check("records/m_0132/field-window?field=text&q=", "400 invalid_window");
    check(
        "records/m_0132/field-window?field=a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t",
        "400 invalid_field_path",
    );
    check("aggregate?metric=count&group_by=author&limit=1000", "400 invalid_request");
    check(
        "aggregate?metric=count&group_by_time=sent_at&granularity=day&time_zone=../../etc",
        "400 invalid_request",
    );
    let page = client.get("/v1/streams/messages/records?limit=5&order=asc");
    let cursor = text(&page.body["next_cursor"]);
    check(&format!("records?limit=5&order=desc&cursor={cursor}"), "400 invalid_cursor");
    check(&format!("records?limit=5&order=asc&filter[stars]=1&cursor={cursor}"), "400 invalid_cursor");
    let clamped = client.get("/v1/streams/messages/records?limit=99999");
    assert_eq!(clamped.body["meta"]["warnings"][0]["code"], json!("limit_clamped"));
}
