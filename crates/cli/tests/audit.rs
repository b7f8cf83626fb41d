//! `pdpp audit`.

use serde_json::{Value, json};

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::support::{Pdpp, Terminal, text};

fn entries(pdpp: &Pdpp, args: &[&str]) -> Vec<Value> {
    let all = [&["audit", "--json"], args].concat();
    pdpp.ok(&all).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_read_and_refusal_is_entered_without_content() {
    let pdpp = Pdpp::with_sample();
    let (token, id) = pdpp.grant(&["--stream", "messages:text"]);
    let server = pdpp.serve();
    let client = server.client(&token);
    let page = client.get("/v1/streams/messages/records?limit=2&filter[text]=secret+words");
    let window = client
        .get("/v1/streams/messages/records/m_0132/field-window?field=text&offset_chars=10&limit_chars=20");
    let refused = client.get("/v1/streams/messages/records?fields=author");
    assert_eq!((page.status, window.status, refused.status), (200, 200, 403));
    let entries = entries(&pdpp, &["--grant", &id]);
    let by_id = |request_id: &str| entries.iter().find(|entry| entry["request_id"] == request_id).unwrap();
    assert_eq!(by_id(&page.request_id)["filter_fields"], json!(["text"]));
    let entry = by_id(&window.request_id);
    assert_eq!((&entry["char_range"], &entry["record_keys"]), (&json!([10, 30]), &json!(["m_0132"])));
    assert_eq!(by_id(&refused.request_id)["refused"], json!("field_not_granted"));
    for entry in &entries {
        assert!(!entry.to_string().contains("secret words"), "operands are not entered");
        assert_eq!(text(&entry["client_id"]), "local-assistant");
    }
}

#[test]
fn the_ledger_can_be_narrowed() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    server.client(&token).get("/v1/streams/messages/records?limit=1");
    server.client(&token).get("/v1/streams/channels/records");
    assert_eq!(entries(&pdpp, &["--refused"]).len(), 1);
    assert_eq!(entries(&pdpp, &["--client", "somebody-else"]).len(), 0);
    assert_eq!(entries(&pdpp, &["--client", "assistant"]).len(), 2);
    assert_eq!(entries(&pdpp, &["--client", "local-assistant"]).len(), 2);
    assert_eq!(entries(&pdpp, &["--until", "1d"]).len(), 0);
    assert_eq!(entries(&pdpp, &["--limit", "1"]).len(), 1);
    let table = pdpp.ok(&["audit"]);
    assert!(table.contains("refused: grant_stream_not_allowed"), "{table}");
}

#[test]
fn the_ledger_is_followed_as_it_grows() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let client = server.client(&token);
    client.get("/v1/streams/messages/records?limit=1");
    let mut child = pdpp.command(&["audit", "--follow", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["action"], json!("records"), "what is there comes first");
    for limit in [2, 3] {
        let answer = client.get(&format!("/v1/streams/messages/records?limit={limit}"));
        assert_eq!(text(&next()["request_id"]), answer.request_id);
    }
    drop(lines);
    client.get("/v1/streams/messages/records?limit=4");
    assert!(child.wait().unwrap().success(), "a closed pipe is success");
}

#[test]
fn the_ledger_goes_into_a_spreadsheet_without_formulas() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    server.client(&token).get("/v1/search?q=%3DHYPERLINK(%22x%22)%2C+rope");
    server.client(&token).get("/v1/streams/channels/records");
    let table = pdpp.ok(&["audit", "--format", "csv"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("at,client_id,door,action,outcome,stream"), "{table}");
    assert!(table.contains("refused: grant_stream_not_allowed"), "{table}");
    assert!(table.contains("\"'=HYPERLINK(\"\"x\"\"), rope\""), "{table}");
    assert_eq!(lines.len(), 3, "{table}");
}

#[test]
fn a_terminal_shows_a_calendar_and_nothing_a_client_said_controls_it() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    server.client(&token).get("/v1/search?q=%1B%5B2Jrope%C2%9B31m%E2%80%AE");
    for columns in [20, 100] {
        for args in [&["audit"] as &[&str], &["audit", "--json"], &["audit", "--format", "csv"]] {
            let mut command = pdpp.command(args);
            command.env("NO_COLOR", "1");
            let (code, shown) = Terminal::start(command, columns).end();
            assert_eq!(code, 0, "{shown}");
            assert!(shown.contains("rope"), "{shown}");
            assert!(!shown.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{shown:?}");
            assert_eq!(shown.contains("Mon ") && shown.contains("served and"), args.len() == 1, "{shown}");
        }
    }
    assert!(!pdpp.ok(&["audit"]).contains("Mon "), "a pipe gets the table alone");
}

#[test]
fn wrong_filters_are_usage_errors() {
    let pdpp = Pdpp::with_sample();
    for args in [["--since", "soon"], ["--format", "xml"], ["--limit", "0"], ["--grant", ""]] {
        let (code, said) = pdpp.fails(&[&["audit"], &args[..]].concat());
        assert_eq!(code, 64, "{args:?}: {said}");
    }
    let (code, said) = pdpp.fails(&["audit", "--follow", "--until", "1d"]);
    assert!(code == 64 && said.contains("--until"), "{said}");
    let (code, said) = Pdpp::new().fails(&["audit"]);
    assert!(code == 1 && said.contains("pdpp import"), "{said}");
}
