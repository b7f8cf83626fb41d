//! `pdpp verify`: a healthy directory is said to be, and a broken index is made again.

use std::fs;

use serde_json::Value;

use crate::support::Pdpp;

fn passages(pdpp: &Pdpp, args: &[&str]) -> u64 {
    let answer: Value = serde_json::from_str(&pdpp.ok(args)).unwrap();
    assert_eq!(answer["findings"], serde_json::json!([]), "{answer}");
    answer["passages"].as_u64().unwrap()
}

#[test]
fn a_loaded_directory_is_well_and_indexed() {
    let pdpp = Pdpp::with_sample();
    let shown = pdpp.ok(&["verify"]);
    assert!(shown.starts_with("all is well"), "{shown}");
    assert!(passages(&pdpp, &["verify", "--json"]) > 100);
    assert!(!pdpp.data().join("search.verify").exists(), "nothing is left behind");
}

#[test]
fn a_damaged_or_missing_index_is_made_again() {
    let pdpp = Pdpp::with_sample();
    let whole = passages(&pdpp, &["verify", "--json"]);
    let search = pdpp.data().join("search");
    fs::write(search.join("meta.json"), "{").unwrap();
    assert_eq!(passages(&pdpp, &["verify", "--json"]), whole);
    fs::write(search.join("meta.json"), "{").unwrap();
    let shown = pdpp.ok(&["verify"]);
    assert!(
        shown.contains("could not be read and was built anew") && shown.contains("all is well"),
        "{shown}"
    );
    let shown = pdpp.ok(&["verify"]);
    assert!(!shown.contains("anew"), "{shown}");
    fs::remove_dir_all(&search).unwrap();
    assert_eq!(passages(&pdpp, &["verify", "--repair", "--json"]), whole);
}

#[test]
fn a_removed_connection_leaves_no_passages() {
    let pdpp = Pdpp::with_sample();
    let listed: Value = serde_json::from_str(&pdpp.ok(&["connections", "list", "--json"])).unwrap();
    let id = listed[0]["connection_id"].as_str().unwrap().to_owned();
    pdpp.ok(&["connections", "remove", &id, "--yes"]);
    assert_eq!(passages(&pdpp, &["verify", "--json"]), 0);
    // An index without passages has no file that could still hold their words.
    let files = fs::read_dir(pdpp.data().join("search")).unwrap().map(|file| file.unwrap().path());
    let words: Vec<_> = files
        .filter(|path| {
            path.extension()
                .is_some_and(|end| ["term", "idx", "pos", "store", "fast"].iter().any(|known| end == *known))
        })
        .collect();
    assert!(words.is_empty(), "{words:?}");
}

#[test]
fn a_blob_whose_bytes_are_gone_is_a_finding() {
    let pdpp = Pdpp::with_sample();
    let server = pdpp.serve();
    let token = pdpp.owner_token();
    let path = "/v1/blobs?connector_id=harbour-chat&stream=messages&record_key=m_0001&json_path=%40record&mime_type=text%2Fplain";
    let stored = server.client(&token).post(path, "text/plain", "bytes".to_owned());
    assert_eq!(stored.status, 200, "{}", stored.body);
    drop(server);
    let blobs = pdpp.data().join("blobs");
    fs::remove_dir_all(&blobs).unwrap();
    let output = pdpp.run(&["verify"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("cannot be read"), "{shown}");
}

#[test]
fn a_file_that_belongs_to_nobody_is_found_and_removed() {
    let pdpp = Pdpp::with_sample();
    let stray = pdpp.data().join("blobs/owner_local/ab").join("ab".repeat(32));
    fs::create_dir_all(stray.parent().unwrap()).unwrap();
    fs::write(&stray, "left over").unwrap();
    let output = pdpp.run(&["verify", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("belongs to no record"));
    assert!(stray.exists(), "looking changes nothing");
    let repaired: Value = serde_json::from_str(&pdpp.ok(&["verify", "--repair", "--json"])).unwrap();
    assert_eq!(repaired["repaired"].as_array().unwrap().len(), 1, "{repaired}");
    assert!(!stray.exists());
    assert!(pdpp.ok(&["verify"]).starts_with("all is well"));
}

#[test]
fn a_terminal_is_offered_the_repair() {
    let pdpp = Pdpp::with_sample();
    let stray = pdpp.data().join("blobs/owner_local/ab").join("ab".repeat(32));
    fs::create_dir_all(stray.parent().unwrap()).unwrap();
    fs::write(&stray, "left over").unwrap();
    let mut terminal = crate::support::Terminal::start(pdpp.command(&["verify"]), 80);
    terminal.answer("Repair what can be repaired?", "y");
    let (code, shown) = terminal.end();
    assert!(code == 0 && shown.contains("all is well"), "{code} {shown}");
    assert!(!stray.exists());
}

#[test]
fn changed_bytes_are_a_finding_that_no_repair_hides() {
    let pdpp = Pdpp::with_sample();
    let server = pdpp.serve();
    let token = pdpp.owner_token();
    let path = "/v1/blobs?connector_id=harbour-chat&stream=messages&record_key=m_0001&json_path=%40record&mime_type=text%2Fplain";
    server.client(&token).post(path, "text/plain", "bytes".to_owned());
    drop(server);
    let mut folder = pdpp.data().join("blobs/owner_local");
    for _ in 0..2 {
        folder = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    }
    fs::write(&folder, "other").unwrap();
    let output = pdpp.run(&["verify", "--repair"]);
    assert_eq!(output.status.code(), Some(1));
    let (shown, said) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(shown.contains("have changed") && said.contains("backup"), "{shown}{said}");
}
