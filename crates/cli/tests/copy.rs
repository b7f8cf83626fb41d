//! `pdpp copy`: there and back again, also when it is killed on the way.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use pdpp_testkit::PostgresServer;
use serde_json::json;

use crate::support::{Pdpp, copy_export, fixture, text};

/// An archive with attachments, a grant that was used, and a subscription's key.
fn filled() -> (Pdpp, String) {
    let pdpp = Pdpp::with_sample();
    copy_export("mail", &pdpp.path("mail"));
    pdpp.ok(&["import", &pdpp.path("mail").display().to_string()]);
    let (token, _) = pdpp.grant(&["--stream", "channels"]);
    let server = pdpp.serve();
    assert_eq!(server.client(&token).get("/v1/streams/channels/records?limit=3").status, 200);
    (pdpp, token)
}

fn path(pdpp: &Pdpp, name: &str) -> String {
    pdpp.path(name).display().to_string()
}

#[test]
fn a_store_moves_to_a_database_and_back() {
    let (here, token) = filled();
    let database = PostgresServer::of_this_run().empty();
    let node = Pdpp::over(&database);
    let data = here.data().display().to_string();
    let said = node.ok(&["copy", "--from", &data]);
    assert!(said.contains("read back and found equal"), "{said}");
    let again = node.json(&["copy", "--from", &data, "--json"]);
    assert_eq!(again["different"], json!([]), "what is there already is left alone: {again}");
    let served = node.serve();
    let page = served.client(&token).get("/v1/streams/channels/records?limit=3");
    assert_eq!((page.status, page.body["data"].as_array().map(Vec::len)), (200, Some(3)), "{}", page.body);
    drop(served);
    let said = node.ok(&["copy", "--to", &path(&node, "back")]);
    assert!(said.contains("read back and found equal"), "{said}");
    let back = path(&node, "back");
    let directory = Pdpp::new();
    assert!(directory.ok(&["verify", "--repair", "--data", &back]).contains("all is well"));
    let streams = |args: &[&str]| text(&json!(directory.ok(&[&["streams", "--json"], args].concat())));
    assert_eq!(streams(&["--data", &back]), streams(&["--data", &data]));
}

#[test]
fn a_copy_that_was_killed_goes_on_where_it_was() {
    let pdpp = Pdpp::new();
    let lines: Vec<String> = (0..20_000)
        .map(|n| {
            json!({"stream": "messages", "key": format!("m{n}"), "data": {"id": format!("m{n}"),
                "channel_id": "c", "author": "Ana", "text": format!("letter {n}"), "sent_at": "2026-01-01T00:00:00Z"}})
            .to_string()
        })
        .collect();
    let file = pdpp.write("many.jsonl", lines.join("\n"));
    pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &file]);
    let database = PostgresServer::of_this_run().empty();
    let node = Pdpp::over(&database);
    let data = pdpp.data().display().to_string();
    // Row-level security shows nothing to whoever does not say whose.
    let count = "SET pdpp.subject = '*'; SELECT count(*) FROM records";
    let copied = || database.ask(count).parse::<u32>().unwrap();
    let mut kills = 0;
    for round in 1..=3_u64 {
        let mut child = node
            .command(&["copy", "--from", &data])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(250 * round));
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills > 0, "the copy was never killed");
    let before = copied();
    let said = node.json(&["copy", "--from", &data, "--json"]);
    assert_eq!(said["different"], json!([]), "{said}");
    assert_eq!(copied(), 20_000, "{before} were there");
}

#[test]
fn what_cannot_be_copied_is_said_before_anything_is_touched() {
    let pdpp = Pdpp::with_sample();
    let data = pdpp.data().display().to_string();
    for (args, words) in [
        (&["copy"][..], "say both places"),
        (&["copy", "--from", &data, "--to", &data], "the same directory"),
        (&["copy", "--from", "postgres://a/b", "--to", "postgres://c/d"], "must be a data directory"),
        (&["copy", "--from", "mysql://ana:hunter2@a/b", "--to", &data], "postgres://USER"),
    ] {
        let (code, said) = pdpp.fails(args);
        assert!(code == 64 && said.contains(words) && !said.contains("hunter2"), "{args:?}: {code} {said}");
    }
    let (code, said) = pdpp.fails(&["copy", "--from", &path(&pdpp, "nothing"), "--to", &path(&pdpp, "new")]);
    assert!(code != 0 && said.contains("there is no data in"), "{said}");
    // Another owner's data is not mixed in.
    let other = Pdpp::new();
    let line = other.write("one.jsonl", r#"{"stream":"channels","key":"c0","data":{"id":"c0"}}"#);
    other.ok(&["import", "--manifest", &fixture("manifest.json"), &line]);
    let (code, said) = pdpp.fails(&["copy", "--from", &data, "--to", &other.data().display().to_string()]);
    assert!(code == 1 && said.contains("copy into an empty place"), "{code} {said}");
}
