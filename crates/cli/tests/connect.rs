//! `pdpp connect`, `pdpp token` and `pdpp disconnect`, against a real server with a real owner.

mod bad_servers;
mod cache;
mod choosing;

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Asking, OwnerDesk, Pdpp, Server, back, query, text};

/// A server with the sample archive, its owner, and somebody who asks.
struct Town {
    pdpp: Pdpp,
    server: Server,
    desk: OwnerDesk,
    /// The asker's home, apart from the owner's.
    asker: Pdpp,
}

impl Town {
    fn new() -> Self {
        let pdpp = Pdpp::with_sample();
        let owner = pdpp.owner_token();
        let server = pdpp.serve();
        let desk = OwnerDesk::new(&server, &owner);
        Self { pdpp, server, desk, asker: Pdpp::new() }
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.asker.command(args);
        command.env_remove("PDPP_DATA");
        command
    }

    fn connect(&self, args: &[&str]) -> Asking {
        Asking::start(self.command(&[&["connect", &self.url()], args].concat()))
    }

    /// Connects by way of a browser that the owner holds; gives what was printed.
    #[track_caller]
    fn connected(&self, args: &[&str]) -> Value {
        let mut asking = self.connect(&[&["--no-browser", "--json"], args].concat());
        let address = asking.until("/oauth/authorize?");
        let consent = self.desk.follow(&address);
        let approved = self.desk.approve(&query(&consent), None);
        let (status, page) = self.desk.open(&back(&approved));
        assert!(status == 200 && page.contains("close this window"), "{page}");
        let (code, printed, said) = asking.end();
        assert_eq!(code, 0, "{said}");
        serde_json::from_str(&printed).unwrap()
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn fails(&self, args: &[&str]) -> (i32, String) {
        let output = self.command(args).output().unwrap();
        assert!(!output.status.success(), "{args:?} succeeded");
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

const CHAT: [&str; 4] = ["--source", "harbour-chat", "--stream", "messages:author,text,sent_at"];

/// 9.3-14: a server of several sources is connected to without any owner token; what was asked for is what is read.
#[test]
fn a_browser_brings_back_a_credential_that_reads() {
    let town = Town::new();
    let printed = town.connected(&CHAT);
    assert_eq!(printed["provider_url"], json!(town.url()));
    assert_eq!(printed["renewable"], json!(true));
    assert_eq!(printed["streams"][0]["name"], json!("messages"));
    let fields = printed["streams"][0]["fields"].to_string();
    assert!(fields.contains("author") && !fields.contains("private_note"), "{fields}");
    let found: Value = serde_json::from_str(&town.ok(&["read", "search", "winter storage"])).unwrap();
    assert_eq!(found["data"][0]["record_key"], json!("m_0132"), "the only connected server is the one meant");
    let (code, said) = town.fails(&["read", "query-records", "channels"]);
    assert!(code == 4 && said.contains("grant_stream_not_allowed"), "{said}");
    let argv: Vec<String> =
        found["data"][0]["evidence_excerpts"][0]["command"].as_array().unwrap().iter().map(text).collect();
    let rest: Vec<&str> = argv[1..].iter().map(String::as_str).collect();
    assert!(town.ok(&rest).contains("winter storage"), "the printed command runs as it is");
    let ledger = town.pdpp.ok(&["audit", "--json"]);
    assert!(!ledger.contains(town.ok(&["token"]).trim()), "no token is in the ledger");
}

/// Without a source, the owner chooses at the server: what, and for how long.
#[test]
fn the_owner_may_choose_what_is_given() {
    let town = Town::new();
    let mut asking = town.connect(&["--no-browser", "--json"]);
    let consent = query(&town.desk.follow(&asking.until("/oauth/authorize?")));
    let shown = town.desk.review(&consent);
    let offered = shown["approval_review"]["picker"]["sources"].to_string();
    assert!(offered.contains("urn:pdpp:source:harbour-chat"), "{shown}");
    let choice = json!({
        "type": "https://pdpp.dev/data-access", "source": {"id": "urn:pdpp:source:harbour-chat"},
        "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "continuous",
        "streams": [{"name": "channels", "fields": ["name"]}],
    });
    let approved = town
        .desk
        .approve(&consent, Some(&json!({"choices": [choice], "expires_at": "2099-01-01T00:00:00Z"})));
    town.desk.open(&back(&approved));
    let (code, printed, said) = asking.end();
    assert_eq!(code, 0, "{said}");
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["streams"], json!([{"name": "channels", "fields": ["id", "name"]}]), "{printed}");
    assert!(text(&printed["grant_expires_at"]).starts_with("2099-01-01"), "{printed}");
}

#[test]
fn a_device_needs_no_browser_here() {
    let town = Town::new();
    let mut asking = town.connect(&[&["--device"][..], &CHAT].concat());
    asking.until("type the code");
    let code = asking.until("-");
    town.desk.approve(&format!("user_code={code}"), None);
    let (status, printed, said) = asking.end();
    assert_eq!(status, 0, "{said}");
    assert!(printed.contains("Connected to http://127.0.0.1") && printed.contains("messages: "), "{printed}");
    assert!(printed.contains("pdpp read search") && printed.contains("pdpp mcp --provider-url"), "{printed}");
    assert!(town.ok(&["read", "streams"]).contains("\"messages\""));
    // Without a display and without --no-browser, the same way is taken.
    let mut again = town.connect(&CHAT);
    again.until("no browser here");
    again.until("type the code");
    let code = again.until("-");
    town.desk.deny(&format!("user_code={code}"));
    let (status, printed, said) = again.end();
    assert!(status == 69 && printed.is_empty() && said.contains("approval_denied"), "{said}");
    assert!(town.ok(&["read", "streams"]).contains("\"messages\""), "a denied request changes nothing");
}

#[test]
fn a_denial_comes_back_to_whoever_asked() {
    let town = Town::new();
    let mut asking = town.connect(&[&["--no-browser"][..], &CHAT].concat());
    let consent = town.desk.follow(&asking.until("/oauth/authorize?"));
    let denied = town.desk.deny(&query(&consent));
    town.desk.open(&back(&denied));
    let (code, printed, said) = asking.end();
    assert!(code == 69 && printed.is_empty() && said.contains("approval_denied"), "{said}");
    assert_eq!(town.fails(&["read", "streams"]).0, 2, "nothing was kept");
}

/// A page that guesses the port cannot slip in an answer of its own; neither state nor issuer is taken on trust.
#[test]
fn answers_to_other_questions_are_not_taken() {
    let town = Town::new();
    let mut asking = town.connect(&[&["--no-browser"][..], &CHAT].concat());
    let consent = town.desk.follow(&asking.until("/oauth/authorize?"));
    let approved = town.desk.approve(&query(&consent), None);
    let answer = back(&approved);
    let (callback, members) = answer.split_once('?').unwrap();
    assert_eq!(town.desk.open(&format!("{callback}?code=stolen&state=guessed")).0, 400);
    assert_eq!(town.desk.open(callback).0, 404);
    assert_eq!(town.desk.open(&callback.replace("callback", "other")).0, 404);
    let foreign: Vec<String> = members
        .split('&')
        .map(|pair| {
            if pair.starts_with("iss=") {
                "iss=https%3A%2F%2Fevil.example".to_owned()
            } else {
                pair.to_owned()
            }
        })
        .collect();
    town.desk.open(&format!("{callback}?{}", foreign.join("&")));
    let (code, _, said) = asking.end();
    assert!(
        code == 69 && said.contains("connect_contract_invalid") && said.contains("evil.example"),
        "{said}"
    );
}

#[test]
fn nobody_waits_for_ever() {
    let town = Town::new();
    let asking = town.connect(&[&["--no-browser", "--timeout", "1"][..], &CHAT].concat());
    let (code, _, said) = asking.end();
    assert!(code == 69 && said.contains("approval_expired"), "{said}");
}

#[test]
fn what_is_asked_is_checked_first() {
    let town = Town::new();
    let check = |args: &[&str], code: i32, expected: &str| {
        let (got, said) = town.fails(&[&["connect"], args].concat());
        assert!(got == code && said.contains(expected), "{args:?}: {got} {said}");
    };
    let url = town.url();
    check(&[], 64, "URL");
    check(&["http://data.example.org"], 64, "unencrypted");
    check(&[&url, "--stream", "messages"], 64, "--source");
    check(&[&url, "--source", "a", "--source", "b", "--stream", "x"], 64, "one --source");
    check(&[&url, "--source", "a", "--stream", ":x"], 64, "names no stream");
    check(&[&url, "--source", "a", "--since", "someday"], 64, "is no time");
    check(&[&url, "--expires", "someday"], 64, "is no time");
    check(&[&url, "--expires", "2020-01-01"], 64, "is over");
    check(&[&url, "--no-browser", "--source", "nobody"], 69, "connect_request_failed");
    check(&["http://127.0.0.1:1", "--no-browser"], 69, "cannot be reached");
}

/// The credential is renewed when it is about to end, and each process sees the newest.
#[test]
fn the_token_is_printed_renewed() {
    let town = Town::new();
    let printed = town.connected(&CHAT);
    let path = text(&printed["path"]);
    let first = town.ok(&["token"]);
    assert_eq!(town.server.client(first.trim()).get("/v1/streams").status, 200);
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    kept["credential"]["expires_at"] = json!("2020-01-01T00:00:00Z");
    std::fs::write(&path, kept.to_string()).unwrap();
    let second = town.ok(&["token", &town.url()]);
    assert_ne!(first, second, "an ended token is renewed");
    assert_eq!(town.server.client(second.trim()).get("/v1/streams").status, 200);
    assert!(town.ok(&["read", "streams"]).contains("messages"));
}

/// What is given up is ended at the server, not only here.
#[test]
fn disconnecting_ends_the_token_and_the_file() {
    let town = Town::new();
    let printed = town.connected(&CHAT);
    let token = town.ok(&["token"]);
    let said = town.ok(&["disconnect"]);
    assert!(said.contains("Disconnected from"), "{said}");
    assert!(!std::path::Path::new(&text(&printed["path"])).exists());
    assert_eq!(town.server.client(token.trim()).get("/v1/streams").status, 401, "the server knows");
    let (code, said) = town.fails(&["token", &town.url()]);
    assert!(code == 69 && said.contains("not_connected") && said.contains("pdpp connect"), "{said}");
    assert_eq!(town.fails(&["disconnect", &town.url()]).0, 69);
}

#[test]
fn a_silent_server_does_not_lose_the_credential() {
    let town = Town::new();
    let printed = town.connected(&CHAT);
    let path = text(&printed["path"]);
    let Town { server, asker, .. } = town;
    drop(server);
    let run = |args: &[&str]| {
        let output = asker.command(args).env_remove("PDPP_DATA").output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["disconnect"]);
    assert!(code == 69 && said.contains("--force") && std::path::Path::new(&path).exists(), "{said}");
    let (code, said) = run(&["disconnect", "--force"]);
    assert!(code == 0 && !std::path::Path::new(&path).exists(), "{said}");
}

/// A second connection is the same client; an owner sees one, not a row of them.
#[test]
fn a_client_is_registered_once() {
    let town = Town::new();
    let first = town.connected(&CHAT);
    let second = town.connected(&CHAT);
    assert_eq!(first["client_id"], second["client_id"]);
    assert_ne!(first["grant_id"], second["grant_id"]);
    let path = text(&second["path"]);
    let mut kept: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    kept["client"]["client_id"] = json!("cli_forgotten");
    std::fs::write(&path, kept.to_string()).unwrap();
    let third = town.connected(&CHAT);
    assert_ne!(third["client_id"], json!("cli_forgotten"), "one the server has forgotten is made anew");
}

/// The assistant's adapter reads with what was connected.
#[test]
fn the_adapter_uses_the_kept_credential() {
    let town = Town::new();
    town.connected(&CHAT);
    let mut host = crate::support::McpHost::start(town.command(&["mcp", "--provider-url", &town.url()]));
    let found = host.call("search", &json!({"q": "winter storage"}));
    assert_ne!(found["isError"], json!(true), "{found}");
    town.ok(&["disconnect"]);
    let refused = host.call("search", &json!({"q": "winter storage"}));
    assert!(refused.to_string().contains("pdpp connect"), "{refused}");
}

#[test]
fn every_command_explains_itself() {
    let pdpp = Pdpp::new();
    for (command, expected) in [
        ("connect", "--device"),
        ("token", "PDPP_PROVIDER_URL"),
        ("disconnect", "--force"),
        ("setup", "--remove"),
    ] {
        let help = pdpp.ok(&[command, "--help"]);
        assert!(help.contains(&format!("Usage: pdpp {command}")) && help.contains(expected), "{help}");
    }
}
