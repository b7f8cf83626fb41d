//! `pdpp grant`.

use serde_json::json;

use crate::support::{Pdpp, text};

#[test]
fn a_grant_opens_exactly_its_slice() {
    let pdpp = Pdpp::with_sample();
    let (token, _) = pdpp.grant(&["--stream", "messages:author,sent_at", "--since", "2025-10-01"]);
    let server = pdpp.serve();
    let page = server.client(&token).get("/v1/streams/messages/records?limit=100&count=exact");
    assert_eq!(page.status, 200);
    for record in page.body["data"].as_array().unwrap() {
        let mut names: Vec<&String> = record["data"].as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, ["author", "id", "sent_at"]);
        assert!(text(&record["data"]["sent_at"]).as_str() >= "2025-10-01");
    }
    assert_eq!(page.body["meta"]["count"]["value"], json!(page.body["data"].as_array().unwrap().len()));
    let refused = |path: &str| text(&server.client(&token).get(path).body["error"]["code"]);
    assert_eq!(refused("/v1/streams/channels/records"), "grant_stream_not_allowed");
    assert_eq!(refused("/v1/streams/messages/records?fields=text"), "field_not_granted");
    assert_eq!(refused("/v1/streams/messages/records?filter[text]=x"), "field_not_granted");
    assert_eq!(refused("/v1/streams/messages/records/m_0001"), "not_found");
}

#[test]
fn a_revocation_bites_on_the_next_request() {
    let pdpp = Pdpp::with_sample();
    let (token, id) = pdpp.grant(&["--stream", "messages"]);
    let server = pdpp.serve();
    let client = server.client(&token);
    assert_eq!(client.get("/v1/streams").status, 200);
    pdpp.ok(&["grant", "revoke", &id]);
    let refused = client.get("/v1/streams");
    assert_eq!((refused.status, text(&refused.body["error"]["code"])), (403, "grant_revoked".to_owned()));
    let ledger = pdpp.ok(&["audit", "--grant", &id]);
    assert!(ledger.contains("refused: grant_revoked"), "{ledger}");
    let (code, said) = pdpp.fails(&["grant", "revoke", &id]);
    assert_eq!(code, 1);
    assert!(said.contains("already revoked"), "{said}");
}

#[test]
fn a_single_use_grant_gives_one_token() {
    let pdpp = Pdpp::with_sample();
    let (_, once) = pdpp.grant(&["--stream", "messages", "--single-use"]);
    let (code, said) = pdpp.fails(&["grant", "token", &once]);
    assert_eq!(code, 1);
    assert!(said.contains("single-use"), "{said}");
    let (_, many) = pdpp.grant(&["--stream", "messages"]);
    assert!(pdpp.json(&["grant", "token", &many, "--json"])["access_token"].is_string());
}

#[test]
fn grants_are_listed_and_shown() {
    let pdpp = Pdpp::with_sample();
    let (_, id) = pdpp.grant(&["--stream", "messages:text", "--stream", "channels", "--expires", "12h"]);
    let listed = pdpp.json(&["grant", "list", "--json"]);
    assert_eq!(listed[0]["grant_id"], json!(id));
    assert_eq!(listed[0]["state"], json!("active"));
    let shown = pdpp.ok(&["grant", "show", &id]);
    assert!(shown.contains("reads    messages: id, text"), "{shown}");
    assert!(pdpp.ok(&["grant", "list"]).contains("messages,channels"));
}

#[test]
fn impossible_grants_say_why() {
    let pdpp = Pdpp::with_sample();
    let check = |args: &[&str], code: i32, said: &str| {
        let all = [&["grant", "create", "--client", "x"], args].concat();
        let (got, line) = pdpp.fails(&all);
        assert!(got == code && line.contains(said), "{args:?}: {got} {line}");
    };
    check(&["--stream", "nowhere"], 1, "nowhere");
    check(&["--stream", "messages:colour"], 1, "colour");
    check(&["--stream", "attachments", "--since", "7d"], 1, "time");
    check(&["--stream", "messages", "--expires", "whenever"], 64, "no time");
    check(&["--stream", "messages", "--since", "2026-02-01", "--until", "2026-01-01"], 1, "in order");
    check(&[], 64, "--stream");
    let (code, said) = Pdpp::new().fails(&["grant", "list"]);
    assert!(code == 1 && said.contains("pdpp import"), "{said}");
}
