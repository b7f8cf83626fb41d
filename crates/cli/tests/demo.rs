//! `pdpp demo`.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Pdpp, Terminal, text};

/// Demos leave their temporary directories here, if they leave any.
fn demos(pdpp: &Pdpp) -> Vec<PathBuf> {
    fs::read_dir(pdpp.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn with_tmp() -> Pdpp {
    let pdpp = Pdpp::new();
    fs::create_dir(pdpp.path("tmp")).unwrap();
    pdpp
}

#[test]
fn the_tour_shows_a_question_its_proof_the_read_and_a_refusal() {
    let pdpp = with_tmp();
    let output = pdpp
        .command(&["demo", "--once", "--listen", "127.0.0.1:0"])
        .env("TMPDIR", pdpp.path("tmp"))
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    for expected in [
        "[deposit]",
        "handover-2026@brandt-property.example",
        "read field-window http://127.0.0.1:",
        "We pay back the deposit by 14 March",
        "grant_stream_not_allowed",
        "local-demo-assistant",
        "refused: grant_stream_not_allowed",
    ] {
        assert!(shown.contains(expected), "{expected}:\n{shown}");
    }
    assert_eq!(demos(&pdpp), Vec::<PathBuf>::new(), "nothing is left behind");
    // What is gone is not named.
    assert!(!shown.contains("--data") && shown.contains("--keep DIR"), "{shown}");
}

#[test]
fn a_kept_demo_can_be_used_afterwards() {
    let pdpp = Pdpp::new();
    let kept = pdpp.path("kept").display().to_string();
    let shown = pdpp.ok(&["demo", "--once", "--keep", &kept, "--listen", "127.0.0.1:0"]);
    for host in ["Claude Code", "Claude Desktop", "Codex", "Cursor", "VS Code", "pdpp setup"] {
        assert!(shown.contains(host), "{host}:\n{shown}");
    }
    let ledger = pdpp.ok(&["audit", "--data", &kept]);
    assert!(ledger.contains("refused: grant_stream_not_allowed"), "{ledger}");
    let streams = pdpp.json(&["streams", "--data", &kept, "--json"]);
    let records: u64 =
        streams.as_array().unwrap().iter().map(|held| held["record_count"].as_u64().unwrap()).sum();
    assert!(records > 3_000, "{records}");
    let blobs = pdpp.json(&["export", &pdpp.path("out").display().to_string(), "--data", &kept, "--json"]);
    let kept_blobs: u64 =
        blobs["connections"].as_array().unwrap().iter().map(|each| each["blobs"].as_u64().unwrap()).sum();
    assert!(kept_blobs > 10, "{blobs}");
    let (code, said) = pdpp.fails(&["demo", "--once", "--keep", &kept]);
    assert!(code == 64 && said.contains("name a new directory"), "{code} {said}");
}

/// What the guide says can be found is found, through the grant, and what was not granted is not.
#[test]
fn the_planted_facts_are_found() {
    let pdpp = Pdpp::new();
    let kept = pdpp.path("kept").display().to_string();
    pdpp.ok(&["demo", "--once", "--keep", &kept, "--listen", "127.0.0.1:0"]);
    let grants = pdpp.json(&["grant", "list", "--data", &kept, "--json"]);
    let id = text(&grants[0]["grant_id"]);
    let token = text(&pdpp.json(&["grant", "token", &id, "--data", &kept, "--json"])["access_token"]);
    let other = text(
        &pdpp.json(&["grant", "token", &text(&grants[1]["grant_id"]), "--data", &kept, "--json"])["access_token"],
    );
    let mut command = pdpp.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PDPP_DATA", &kept);
    let server = crate::support::Server::start(command);
    let best = |query: &str| -> String {
        let path = format!("/v1/search?limit=1&q={}", query.replace(' ', "+"));
        let answers = [&token, &other].map(|token| server.client(token).get(&path).body);
        let hits = answers.iter().filter_map(|answer| answer.pointer("/data/0"));
        let shown = |hit: &Value| {
            let preview = text(&hit["evidence_excerpts"][0]["preview_text"]);
            format!("{} {preview}", text(&hit["record_key"])).replace("<mark>", "").replace("</mark>", "")
        };
        hits.map(shown).collect()
    };
    for (question, answer) in [
        ("who has the spare key", "Mrs Okafor"),
        ("what did the boiler cost", "boiler-318@kessler-heating.example"),
        ("can Jonas eat walnuts", "swollen"),
        ("train tickets Ghent booking", "KX7Q2M"),
        ("hotel in Ghent", "Zwarte Zwaan"),
    ] {
        let found = best(question);
        assert!(found.contains(answer), "{question}: {found}");
    }
    assert!(!best("passport number").contains("C7F"), "notes were not granted");
}

#[test]
fn an_interrupt_ends_it_and_leaves_nothing() {
    let pdpp = with_tmp();
    let mut command = pdpp.command(&["demo", "--listen", "127.0.0.1:0"]);
    command.env("TMPDIR", pdpp.path("tmp"));
    let terminal = Terminal::start(command, 100);
    terminal.wait_for("Ctrl-C ends it");
    assert_eq!(demos(&pdpp).len(), 1);
    terminal.interrupt();
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(demos(&pdpp), Vec::<PathBuf>::new(), "{shown}");
}

#[test]
fn an_interrupt_while_it_loads_leaves_nothing_either() {
    let pdpp = with_tmp();
    let mut command = pdpp.command(&["demo", "--listen", "127.0.0.1:0"]);
    command.env("TMPDIR", pdpp.path("tmp"));
    let terminal = Terminal::start(command, 100);
    while demos(&pdpp).is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    terminal.interrupt();
    terminal.end();
    assert_eq!(demos(&pdpp), Vec::<PathBuf>::new());
}

#[test]
fn it_fits_a_narrow_terminal() {
    let pdpp = with_tmp();
    let mut command = pdpp.command(&["demo", "--once", "--listen", "127.0.0.1:0"]);
    command.env("TMPDIR", pdpp.path("tmp")).env("NO_COLOR", "1");
    let (code, shown) = Terminal::start(command, 20).end();
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}
