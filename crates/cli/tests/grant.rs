//! `pdpp grant`.

use serde_json::json;

use crate::support::{Pdpp, Terminal, text};

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

#[test]
fn what_a_grant_opens_is_said_before_it_is_made() {
    let pdpp = Pdpp::with_sample();
    let args = [
        "grant",
        "create",
        "--client",
        "x",
        "--stream",
        "messages:text,sent_at",
        "--since",
        "2025-10-01",
        "--json",
    ];
    let output = pdpp.run(&args);
    let said = String::from_utf8(output.stderr).unwrap();
    let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let server = pdpp.serve();
    let page =
        server.client(&text(&made["access_token"])).get("/v1/streams/messages/records?limit=1&count=exact");
    let count = page.body["meta"]["count"]["value"].as_u64().unwrap();
    assert!(
        said.contains(&format!("This opens {count} records: ")) && said.contains("(3 of "),
        "{count} {said}"
    );
}

#[test]
fn the_way_to_an_assistant_is_named() {
    let pdpp = Pdpp::with_sample();
    let output = pdpp.run(&["grant", "create", "--client", "x", "--stream", "messages"]);
    let (out, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let id = out.split_whitespace().nth(1).unwrap();
    let data = pdpp.data().display().to_string();
    assert!(said.contains(&format!("pdpp mcp --grant {id} --data {data}")), "{said}");
    let output = pdpp.run(&["grant", "create", "--client", "x", "--stream", "messages", "--single-use"]);
    assert!(!String::from_utf8(output.stderr).unwrap().contains("pdpp mcp"), "its one token is all it gives");
}

#[test]
fn an_ambiguous_stream_names_the_connections_by_their_labels() {
    let pdpp = Pdpp::new();
    for label in ["Home", "Work"] {
        let (manifest, records) =
            (crate::support::fixture("manifest.json"), crate::support::fixture("records.jsonl"));
        pdpp.ok(&["import", "--manifest", &manifest, &records, "--connection", label]);
    }
    let (code, said) = pdpp.fails(&["grant", "create", "--client", "x", "--stream", "messages"]);
    assert!(
        code == 1 && said.contains("Home/messages (harbour-chat), Work/messages (harbour-chat)"),
        "{said}"
    );
    pdpp.ok(&["grant", "create", "--client", "x", "--stream", "Work/messages"]);
}

#[test]
fn what_is_not_said_is_asked_on_a_terminal() {
    let pdpp = Pdpp::with_sample();
    let mut terminal = Terminal::start(pdpp.command(&["grant", "create"]), 100);
    terminal.answer("Who is it for?", "");
    terminal.answer("it needs a name", "notes assistant");
    terminal.wait_for("Harbour chat");
    let streams = pdpp.json(&["streams", "--json"]);
    let filled = streams.as_array().unwrap().iter().filter(|held| held["record_count"] != json!(0));
    let place = filled.clone().position(|held| held["stream"] == json!("messages")).unwrap() + 1;
    terminal.answer("Which may it read?", "99");
    terminal.answer("no number from 1 to", &place.to_string());
    terminal.answer("Which? Numbers", "headline");
    terminal.answer("Only records since?", "2025-10-01");
    terminal.answer("When does it end?", "soon");
    terminal.answer("no time", "7d");
    terminal.wait_for("This opens ");
    terminal.answer("Make this grant?", "");
    terminal.wait_for("token ");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let grants = pdpp.json(&["grant", "list", "--json"]);
    let grant = &grants[0]["grant"];
    assert_eq!(grant["client"]["client_id"], json!("local-notes-assistant"), "{grant}");
    assert_eq!(grant["streams"][0]["name"], json!("messages"));
    assert!(text(&grant["streams"][0]["time_constraint"]["since"]).starts_with("2025-10-01"));
    assert!(!grant["streams"][0]["fields"].as_array().unwrap().contains(&json!("text")), "{grant}");
}

#[test]
fn no_at_the_end_makes_nothing() {
    let pdpp = Pdpp::with_sample();
    let mut terminal = Terminal::start(pdpp.command(&["grant", "create", "--client", "x"]), 20);
    terminal.answer("or all:", "all");
    let streams = pdpp.json(&["streams", "--json"]);
    for _ in streams.as_array().unwrap().iter().filter(|held| held["record_count"] != json!(0)) {
        terminal.answer("Enter for all:", "");
    }
    terminal.answer("Only records since?", "");
    terminal.answer("30 days:", "");
    terminal.answer("[Y/n]", "n");
    let (code, shown) = terminal.end();
    assert!(code == 1 && shown.contains("nothing was made"), "{code} {shown}");
    assert_eq!(pdpp.json(&["grant", "list", "--json"]), json!([]));
}
