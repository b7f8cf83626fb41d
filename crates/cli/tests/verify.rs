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
