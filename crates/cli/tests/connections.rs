//! `pdpp connections` and `pdpp streams`.

use serde_json::json;

use crate::support::{Pdpp, text};

#[test]
fn a_connection_is_listed_renamed_and_removed_with_its_records() {
    let pdpp = Pdpp::with_sample();
    let listed = pdpp.json(&["connections", "list", "--json"]);
    let id = text(&listed[0]["connection_id"]);
    assert_eq!(listed[0]["status"], json!("active"));
    pdpp.ok(&["connections", "rename", &id, "Old phone"]);
    let (code, said) = pdpp.fails(&["connections", "remove", "Old phone"]);
    assert_eq!(code, 1);
    assert!(said.contains("--yes"), "{said}");
    let said = pdpp.ok(&["connections", "remove", "Old phone", "--yes"]);
    assert!(said.contains("156 records"), "{said}");
    assert_eq!(pdpp.json(&["streams", "--json"]), json!([]));
}

#[test]
fn removed_text_is_gone_from_every_file() {
    let pdpp = Pdpp::with_sample();
    let holds = |needle: &str| {
        let files = std::fs::read_dir(pdpp.data()).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.is_file()).any(|path| {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
        })
    };
    assert!(holds("winter storage contract"));
    let id = text(&pdpp.json(&["connections", "list", "--json"])[0]["connection_id"]);
    pdpp.ok(&["connections", "remove", &id, "--yes"]);
    assert!(!holds("winter storage contract"));
}

#[test]
fn streams_are_listed_with_their_sizes() {
    let pdpp = Pdpp::with_sample();
    let streams = pdpp.json(&["streams", "--json"]);
    let counts: Vec<String> = streams
        .as_array()
        .unwrap()
        .iter()
        .map(|s| format!("{} {}", s["stream"], s["record_count"]))
        .collect();
    assert_eq!(counts, [r#""channels" 4"#, r#""messages" 132"#, r#""attachments" 20"#]);
    assert!(pdpp.ok(&["streams"]).starts_with("STREAM"));
}
