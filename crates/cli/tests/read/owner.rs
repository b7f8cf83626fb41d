//! The owner reads their own directory: no server, no grant, and an entry in the ledger.

use serde_json::{Value, json};

use super::{failed, succeeded};
use crate::support::{Pdpp, copy_export, text};

fn read(pdpp: &Pdpp, args: &[&str]) -> std::process::Output {
    let data = pdpp.data().display().to_string();
    pdpp.command(&[&["read"], args, &["--data", &data]].concat()).output().unwrap()
}

fn answer(pdpp: &Pdpp, args: &[&str]) -> Value {
    serde_json::from_str(&succeeded(&read(pdpp, args))).unwrap()
}

#[test]
fn the_owner_goes_the_whole_ladder_without_a_server() {
    let pdpp = Pdpp::with_sample();
    assert_eq!(answer(&pdpp, &["streams"])["data"].as_array().unwrap().len(), 3);
    assert_eq!(answer(&pdpp, &["schema"])["bearer"]["token_kind"], json!("owner"));
    let found = answer(&pdpp, &["search", "winter storage", "--limit", "1"]);
    let command = &found["data"][0]["evidence_excerpts"][0]["command"];
    let argv: Vec<String> = command.as_array().unwrap().iter().map(text).collect();
    assert!(
        argv.contains(&"--data".to_owned()) && !argv.iter().any(|word| word.starts_with("http")),
        "{argv:?}"
    );
    let rest: Vec<&str> = argv[1..].iter().map(String::as_str).collect();
    let window = succeeded(&pdpp.run(&rest));
    assert!(window.contains("winter storage"), "{window}");
    assert_eq!(answer(&pdpp, &["aggregate", "messages"])["value"], json!(132));
    assert_eq!(answer(&pdpp, &["fetch", "messages", "m_0132"])["id"], json!("m_0132"));
    assert_eq!(answer(&pdpp, &["query-records", "channels"])["data"].as_array().unwrap().len(), 4);
    let ledger = pdpp.ok(&["audit", "--json"]);
    let doors: Vec<Value> =
        ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["door"].clone()).collect();
    assert!(doors.len() >= 6 && doors.iter().all(|door| door == "cli"), "{ledger}");
}

/// A cursor lives in the process that made it, so more is asked for at once; the printed command works as it stands.
#[test]
fn the_next_hits_are_read_by_the_printed_command() {
    let pdpp = Pdpp::with_sample();
    let first = answer(&pdpp, &["search", "winter storage", "--limit", "1"]);
    let argv: Vec<String> = first["next_command"].as_array().unwrap().iter().map(text).collect();
    let rest: Vec<&str> = argv[1..].iter().map(String::as_str).collect();
    let next: Value = serde_json::from_str(&succeeded(&pdpp.run(&rest))).unwrap();
    assert_eq!(next["data"][0]["result_id"], first["data"][0]["result_id"]);
    assert!(next["data"].as_array().unwrap().len() > 1, "{argv:?}");
}

#[test]
fn a_passphrase_guards_the_directory() {
    let pdpp = Pdpp::with_sample();
    let mut reset = pdpp.command(&["owner", "reset", "--passphrase-stdin"]);
    reset.stdin(std::fs::File::open(pdpp.write("secret", "a long passphrase\n")).unwrap());
    assert!(reset.output().unwrap().status.success());
    let (code, said) = failed(&read(&pdpp, &["streams"]));
    assert!(code == 64 && said.contains("passphrase"), "{said}");
    let data = pdpp.data().display().to_string();
    let mut command = pdpp.command(&["read", "streams", "--data", &data, "--passphrase-stdin"]);
    command.stdin(std::fs::File::open(pdpp.path("secret")).unwrap());
    succeeded(&command.output().unwrap());
}

#[test]
fn a_directory_and_a_server_are_not_named_together() {
    let pdpp = Pdpp::with_sample();
    let (code, said) = failed(&read(&pdpp, &["streams", "--url", "http://localhost:1"]));
    assert!(code == 2 && said.contains("--data"), "{said}");
    assert_eq!(failed(&read(&pdpp, &["streams", "http://localhost:1"])).0, 2);
    let empty = pdpp.path("empty").display().to_string();
    let (code, said) = failed(&pdpp.run(&["read", "streams", "--data", &empty]));
    assert!(code == 1 && said.contains("pdpp import"), "{said}");
}

/// An owner of several sources is asked which only where there is a choice, and may say it in their own words.
#[test]
fn the_connection_is_the_one_that_has_the_stream() {
    let pdpp = Pdpp::with_sample();
    copy_export("mail", &pdpp.path("mail"));
    pdpp.ok(&["import", &pdpp.path("mail").display().to_string(), "--connection", "Letters"]);
    assert_eq!(answer(&pdpp, &["query-records", "channels"])["data"].as_array().unwrap().len(), 4);
    assert_eq!(answer(&pdpp, &["aggregate", "threads"])["value"], json!(14));
    assert_eq!(answer(&pdpp, &["fetch", "channels", "c_garden"])["stream"], json!("channels"));
    let (code, said) = failed(&read(&pdpp, &["aggregate", "messages"]));
    assert!(code == 2 && said.contains("--connection-id") && said.contains("Letters"), "{code} {said}");
    assert_eq!(answer(&pdpp, &["aggregate", "messages", "--connection-id", "Letters"])["value"], json!(18));
    let found = answer(&pdpp, &["search", "berth", "--connection-id", "Letters", "--limit", "1"]);
    assert_eq!(found["data"][0]["display_name"], json!("Letters"), "{found}");
    assert_eq!(failed(&read(&pdpp, &["query-records", "nowhere"])).0, 1);
}
