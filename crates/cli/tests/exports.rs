//! Exports of all services through the real binary: loaded, loaded again, written out, loaded elsewhere.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Pdpp, text};

pub(crate) fn exports() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/exports")
}

/// Every sample export, by its folder.
pub(crate) fn samples() -> Vec<String> {
    let listed = fs::read_dir(exports()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = listed
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        // Record lines come with a manifest of their own and have tests of their own.
        .filter(|name| name != "jsonl")
        .collect();
    names.sort();
    names
}

fn sample(name: &str) -> String {
    exports().join(name).display().to_string()
}

/// The receipts of an import, one per connection.
pub(crate) fn receipts(receipt: &Value) -> Vec<Value> {
    match receipt.get("connections").and_then(Value::as_array) {
        Some(several) => several.clone(),
        None => vec![receipt.clone()],
    }
}

fn total(receipt: &Value, member: &str) -> u64 {
    let streams = receipts(receipt).into_iter().flat_map(|one| one["streams"].as_array().unwrap().clone());
    streams.map(|stream| stream[member].as_u64().unwrap()).sum()
}

/// Everything a data directory holds, by connector, stream and key.
pub(crate) fn contents(pdpp: &Pdpp, folder: &str) -> BTreeMap<String, Value> {
    let folder = pdpp.path(folder);
    pdpp.ok(&["export", folder.to_str().unwrap()]);
    let index: Value = serde_json::from_slice(&fs::read(folder.join("pdpp-export.json")).unwrap()).unwrap();
    let mut all = BTreeMap::new();
    for connection in index["connections"].as_array().unwrap() {
        let records =
            fs::read_to_string(folder.join(text(&connection["folder"])).join("records.jsonl")).unwrap();
        for line in records.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let name = format!("{} {} {}", connection["connector_key"], line["stream"], line["key"]);
            assert!(all.insert(name.clone(), line["data"].clone()).is_none(), "{name} is there twice");
        }
    }
    all
}

#[test]
fn every_export_is_loaded_and_the_same_again_adds_nothing() {
    let names = samples();
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let pdpp = Pdpp::new();
        let first = pdpp.json(&["import", &sample(&name), "--json"]);
        assert!(total(&first, "added") > 0, "{name}: {first}");
        assert_eq!(total(&first, "rejected"), 0, "{name}: {first}");
        let again = pdpp.json(&["import", &sample(&name), "--json"]);
        let changed = total(&again, "added") + total(&again, "updated") + total(&again, "rejected");
        assert_eq!(changed, 0, "{name}: {again}");
        let ids = |receipt: &Value| -> Vec<Value> {
            receipts(receipt).into_iter().map(|one| one["connection_id"].clone()).collect()
        };
        assert_eq!(ids(&first), ids(&again), "{name}");
    }
}

#[test]
fn what_is_exported_is_the_same_when_it_is_loaded_elsewhere() {
    let pdpp = Pdpp::new();
    for name in samples() {
        pdpp.ok(&["import", &sample(&name)]);
    }
    let before = contents(&pdpp, "out");
    let elsewhere = Pdpp::new();
    let folder = pdpp.path("out");
    let receipt = elsewhere.json(&["import", folder.to_str().unwrap(), "--json"]);
    assert_eq!(total(&receipt, "added"), before.len() as u64, "{receipt}");
    assert!(receipts(&receipt).iter().all(|one| one["complaints"] == json!([])), "{receipt}");
    assert_eq!(contents(&elsewhere, "again"), before);
    let blobs = |pdpp: &Pdpp| -> u64 {
        pdpp.json(&["export", pdpp.path("blobs").to_str().unwrap(), "--json"])["connections"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["blobs"].as_u64().unwrap())
            .sum()
    };
    let kept = blobs(&pdpp);
    assert!(kept > 0);
    assert_eq!(blobs(&elsewhere), kept);
    assert!(pdpp.fails(&["export", folder.to_str().unwrap()]).1.contains("not empty"));
}

#[test]
fn an_edited_export_changes_exactly_what_was_edited() {
    let pdpp = Pdpp::new();
    let vault = pdpp.path("vault");
    fs::create_dir(&vault).unwrap();
    for number in 0..20 {
        fs::write(vault.join(format!("note-{number}.md")), format!("# Note {number}\n\nThe tide table.\n"))
            .unwrap();
    }
    let path = vault.display().to_string();
    pdpp.ok(&["import", &path]);
    let server = pdpp.serve();
    let owner = server.client(&pdpp.owner_token());
    let start = owner.get("/v1/streams/notes/records?changes_since=beginning&limit=100").body;
    let token = text(&start["next_changes_since"]);
    fs::write(vault.join("note-7.md"), "# Note 7\n\nThe tide table of May.\n").unwrap();
    fs::write(vault.join("note-20.md"), "# Note 20\n\nNew.\n").unwrap();
    let receipt = pdpp.json(&["import", &path, "--json"]);
    let notes =
        receipt["streams"].as_array().unwrap().iter().find(|stream| stream["name"] == "notes").unwrap();
    assert_eq!((&notes["added"], &notes["updated"], &notes["unchanged"]), (&json!(1), &json!(1), &json!(19)));
    let changes = owner.get(&format!("/v1/streams/notes/records?changes_since={token}")).body;
    let mut titles: Vec<String> =
        changes["data"].as_array().unwrap().iter().map(|record| text(&record["data"]["title"])).collect();
    titles.sort();
    assert_eq!(titles, ["Note 20", "Note 7"]);
}

#[test]
fn an_import_that_was_killed_is_completed_by_the_next() {
    let pdpp = Pdpp::new();
    let mut mbox = String::new();
    for number in 0..6_000 {
        write!(
            mbox,
            "From ana@harbour.example Mon Jan  5 10:00:00 2026\nFrom: Ana <ana@harbour.example>\n\
             To: Ben <ben@harbour.example>\nSubject: Berth {number}\nDate: Mon, 5 Jan 2026 10:00:00 +0000\n\
             Message-ID: <{number}@harbour.example>\n\nThe berth {number} is free from Monday on.\n\n"
        )
        .unwrap();
    }
    let path = pdpp.write("all.mbox", &mbox);
    for millis in [60, 250, 700] {
        let mut running = pdpp.command(&["import", &path, "--json"]).spawn().unwrap();
        thread::sleep(Duration::from_millis(millis));
        // Ended already is fine: a fast machine only makes this test weaker.
        let _ = running.kill();
        running.wait().unwrap();
    }
    let receipt = pdpp.json(&["import", &path, "--json"]);
    let messages =
        receipt["streams"].as_array().unwrap().iter().find(|one| one["name"] == "messages").unwrap();
    assert_eq!(
        messages["added"].as_u64().unwrap() + messages["unchanged"].as_u64().unwrap(),
        6_000,
        "{receipt}"
    );
    let fresh = Pdpp::new();
    fresh.ok(&["import", &path]);
    assert_eq!(contents(&pdpp, "out"), contents(&fresh, "out"));
    assert!(pdpp.ok(&["verify"]).contains("all is well"));
}

#[test]
fn a_dry_run_says_what_is_there_and_keeps_nothing() {
    let pdpp = Pdpp::new();
    let output = pdpp.run(&["import", &sample("mail"), "--dry-run"]);
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("found mail"), "{said}");
    assert!(!pdpp.data().exists());
}

#[test]
fn what_nobody_knows_is_said_and_nothing_is_made() {
    let pdpp = Pdpp::new();
    let file = pdpp.write("picture.bin", [0_u8, 1, 2, 3].repeat(50));
    let (code, said) = pdpp.fails(&["import", &file]);
    assert_eq!(code, 64);
    assert!(said.contains("nothing here is an export") && said.contains("mail"), "{said}");
    let (code, said) = pdpp.fails(&["import", &file, "--format", "paper"]);
    assert_eq!(code, 64);
    assert!(said.contains("'paper' is no format"), "{said}");
    let (_, said) = pdpp.fails(&["import", &pdpp.path("nowhere.zip").display().to_string()]);
    assert!(said.contains("cannot open"), "{said}");
    assert!(!pdpp.data().exists());
}

#[test]
fn an_account_is_found_again_whatever_its_connection_is_called() {
    let pdpp = Pdpp::new();
    let first = pdpp.json(&["import", &sample("mastodon"), "--json"]);
    let id = text(&first["connection_id"]);
    pdpp.ok(&["connections", "rename", &id, "Old home"]);
    let again = pdpp.json(&["import", &sample("mastodon"), "--json"]);
    assert_eq!(text(&again["connection_id"]), id);
    let other = pdpp.json(&["import", &sample("mastodon"), "--connection", "Second", "--json"]);
    assert_ne!(text(&other["connection_id"]), id);
    assert_eq!(pdpp.json(&["connections", "list", "--json"]).as_array().unwrap().len(), 2);
}

#[test]
fn a_sentence_from_an_export_is_found_and_gone_with_its_connection() {
    let pdpp = Pdpp::new();
    let vault = pdpp.path("vault");
    fs::create_dir(&vault).unwrap();
    fs::write(vault.join("boat.md"), "# Boat\n\nThe marmalade dinghy leaks at the bow.\n").unwrap();
    let receipt = pdpp.json(&["import", vault.to_str().unwrap(), "--json"]);
    let server = pdpp.serve();
    let owner = server.client(&pdpp.owner_token());
    let hits =
        |words: &str| owner.get(&format!("/v1/search?q={words}")).body["data"].as_array().unwrap().len();
    assert_eq!(hits("marmalade+dinghy"), 1);
    let said = pdpp.ok(&["connections", "remove", &text(&receipt["connection_id"]), "--yes"]);
    assert!(said.contains("1 records"), "{said}");
    assert_eq!(hits("marmalade+dinghy"), 0);
}

#[test]
fn a_database_file_holds_every_record_as_a_row() {
    let pdpp = Pdpp::new();
    pdpp.ok(&["import", &sample("mail"), &sample("whatsapp")]);
    let file = pdpp.path("all.sqlite");
    let told = pdpp.json(&["export", "--format", "sqlite", file.to_str().unwrap(), "--json"]);
    let database = rusqlite::Connection::open(&file).unwrap();
    let count = |table: &str| -> u64 {
        let sql = format!("SELECT count(*) FROM \"{table}\"");
        database.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap()
    };
    for held in pdpp.json(&["streams", "--json"]).as_array().unwrap() {
        let table = format!("{}_{}", text(&held["connector_key"]), text(&held["stream"]));
        assert_eq!(count(&table), held["record_count"].as_u64().unwrap(), "{table}");
    }
    let sum: u64 =
        told["connections"].as_array().unwrap().iter().map(|each| each["blobs"].as_u64().unwrap()).sum();
    assert!(sum > 0 && count("_blobs") <= sum, "{told}");
    let found: String = database
        .query_row("SELECT subject FROM mail_messages WHERE _key = 'berth-7@boats.example'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(found, "Berth seven für April");
    let (code, said) = pdpp.fails(&["export", "--format", "sqlite", file.to_str().unwrap()]);
    assert!(code == 64 && said.contains("there already"), "{code} {said}");
}
