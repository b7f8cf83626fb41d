//! `pdpp doctor`.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Pdpp, text};

/// Says in its settings that it listens on a free port, so that no other server of this machine is met.
fn settled(pdpp: &Pdpp) -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    fs::create_dir_all(pdpp.data()).unwrap();
    fs::write(pdpp.data().join("pdpp.toml"), format!("listen = \"{address}\"\n")).unwrap();
    listener
}

fn checks(pdpp: &Pdpp) -> (Option<i32>, Value) {
    let output = pdpp.run(&["doctor", "--json"]);
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

#[track_caller]
fn finding(checks: &Value, name: &str, said: &str) {
    let found = checks["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == name && check["state"] != "well");
    let found = found.unwrap_or_else(|| panic!("nothing about {name}: {checks}"));
    assert!(text(&found["said"]).contains(said), "{found}");
    assert!(found["fix"].is_string(), "{found}");
}

#[test]
fn a_healthy_directory_has_no_findings() {
    let pdpp = Pdpp::with_sample();
    drop(settled(&pdpp));
    let (code, checks) = checks(&pdpp);
    assert_eq!((code, &checks["findings"]), (Some(0), &json!(0)), "{checks}");
    let shown = pdpp.ok(&["doctor"]);
    assert!(shown.contains("nothing is wrong") && shown.contains("passages"), "{shown}");
}

#[test]
fn a_machine_without_data_is_told_where_to_begin() {
    let pdpp = Pdpp::new();
    let output = pdpp.run(&["doctor"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("pdpp import"), "{shown}");
    assert!(!pdpp.data().exists(), "looking makes nothing");
}

#[test]
fn open_modes_a_taken_port_and_bad_settings_are_findings() {
    let pdpp = Pdpp::with_sample();
    let listener = settled(&pdpp);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            drop(stream);
        }
    });
    fs::set_permissions(pdpp.data(), fs::Permissions::from_mode(0o755)).unwrap();
    let (code, found) = checks(&pdpp);
    assert_eq!(code, Some(1));
    finding(&found, "modes", "755");
    finding(&found, "server", "taken by another program");
    fs::write(pdpp.data().join("pdpp.toml"), "lisen = 1\n").unwrap();
    finding(&checks(&pdpp).1, "settings", "lisen");
}

#[test]
fn our_own_server_is_recognised() {
    let pdpp = Pdpp::with_sample();
    let server = pdpp.serve();
    fs::write(pdpp.data().join("pdpp.toml"), format!("listen = \"{}\"\n", server.address())).unwrap();
    let (code, found) = checks(&pdpp);
    assert_eq!(code, Some(0), "{found}");
    let said = found.to_string();
    assert!(said.contains("one answers on") && said.contains("another process has the data open"), "{said}");
}

#[test]
fn a_store_of_a_newer_program_and_a_damaged_one_are_explained() {
    let pdpp = Pdpp::with_sample();
    drop(settled(&pdpp));
    fs::write(pdpp.data().join("store.db"), b"this is no database at all, not even nearly one".repeat(100))
        .unwrap();
    let (code, found) = checks(&pdpp);
    assert_eq!(code, Some(1));
    finding(&found, "store", "");
    assert!(found.to_string().contains("pdpp restore"), "{found}");
}

#[test]
fn grants_that_end_soon_and_credentials_others_can_read_are_told() {
    let pdpp = Pdpp::with_sample();
    drop(settled(&pdpp));
    let (_, id) = pdpp.grant(&["--stream", "messages", "--expires", "2d"]);
    let cache = pdpp.path("cache");
    fs::create_dir_all(cache.join("clients")).unwrap();
    let kept = cache.join("clients/data.example.json");
    fs::write(&kept, r#"{"provider_url":"https://data.example","access_token":"x"}"#).unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(cache.join("clients/half.json"), "{\"provider").unwrap();
    let output = pdpp.run(&["doctor", "--json", "--cache-root", &cache.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    finding(&found, "grants", &id);
    let said = found.to_string();
    assert!(said.contains("can be read by others") && said.contains("half.json is damaged"), "{said}");
}
