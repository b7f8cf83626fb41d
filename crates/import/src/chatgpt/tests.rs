//! An invented export with every kind of content, and exports that are spoilt.

use expect_test::{expect, expect_file};
use serde_json::{Value, json};

use super::*;
use crate::claude::Claude;
use crate::detect;
use crate::testing::{Kept, MemoryTree, read, survives_damage};

fn one(conversation: &Value) -> Kept {
    let text = format!("[{conversation}]");
    read(&ChatGpt, &mut MemoryTree::new([("conversations.json", text)]))
}

fn said(id: &str, parent: Option<&str>, message: &Value) -> Value {
    json!({"id": id, "parent": parent, "children": [], "message": message})
}

#[test]
fn the_sample_export_is_read() {
    let kept = read(&ChatGpt, &mut MemoryTree::fixture("chatgpt"));
    expect_file!["../../../../fixtures/exports/chatgpt.snap"].assert_eq(&kept.describe());
}

#[test]
fn an_opened_tree_gives_the_same() {
    let plain = read(&ChatGpt, &mut MemoryTree::fixture("chatgpt"));
    let opened = read(&ChatGpt, &mut MemoryTree::fixture("chatgpt").opened());
    assert_eq!(plain.describe(), opened.describe());
}

#[test]
fn the_export_says_whose_it_is_and_takes_its_files_along() {
    let mut tree = MemoryTree::fixture("chatgpt");
    let detected = detect(&mut tree, &[&ChatGpt]);
    let [(0, claim)] = detected.claims.as_slice() else { panic!("{detected:?}") };
    assert_eq!(claim.account.as_deref(), Some("mara@harbour.example"));
    expect!["conversations of ChatGPT in 2 parts, 4 files"].assert_eq(&claim.found);
    assert!(detected.unknown.is_empty(), "{detected:?}");
}

#[test]
fn two_exports_in_one_tree_are_two_claims_and_strangers_stay_unclaimed() {
    let text = r#"[{"mapping":{}}]"#;
    let mut tree = MemoryTree::new([
        ("a/conversations.json", text),
        ("a/file-X-y.png", "png"),
        ("a/deep/b/conversations.json", text),
        ("a/deep/b/user.json", r#"{"email":"b@example.org"}"#),
        ("a/deep/b/holiday.jpg", "jpg"),
        ("file-Z.dat", "elsewhere"),
    ]);
    let detected = detect(&mut tree, &[&ChatGpt]);
    let told: Vec<_> =
        detected.claims.iter().map(|(_, claim)| (claim.entries.clone(), claim.account.as_deref())).collect();
    assert_eq!(told, [(vec![0, 1], None), (vec![2, 3], Some("b@example.org"))]);
    assert_eq!(detected.unknown, [4, 5]);
}

#[test]
fn the_other_service_with_the_same_file_name_is_left_alone() {
    let mut tree = MemoryTree::fixture("claude");
    assert!(detect(&mut tree, &[&ChatGpt]).claims.is_empty());
    let mut tree = MemoryTree::fixture("chatgpt");
    assert!(detect(&mut tree, &[&Claude]).claims.is_empty());
    for text in
        ["", "[]", "{\"mapping\":{}}", "[7]", "[[{\"mapping\":1}]]", "\u{feff}[{\"a\":{\"mapping\":1}}]"]
    {
        let mut tree = MemoryTree::new([("conversations.json", text)]);
        assert!(detect(&mut tree, &[&ChatGpt]).claims.is_empty(), "{text}");
    }
}

#[test]
fn damage_never_stops_the_reading() {
    survives_damage(&ChatGpt, &MemoryTree::fixture("chatgpt"));
}

#[test]
fn reading_twice_gives_the_same_and_an_edit_changes_its_record_only() {
    let mut tree = MemoryTree::fixture("chatgpt");
    let first = read(&ChatGpt, &mut tree);
    assert_eq!(first.records, read(&ChatGpt, &mut tree).records);
    // The repetition in the second part would contradict the edited one.
    tree.bytes_mut("conversations-001.json").truncate(0);
    let bytes = tree.bytes_mut("conversations-000.json");
    let edited = String::from_utf8(bytes.clone()).unwrap().replace("Use a small tin.", "Use a big tin.");
    *bytes = edited.into_bytes();
    let second = read(&ChatGpt, &mut tree);
    let missing: Vec<_> = second.records.iter().filter(|draft| !first.records.contains(draft)).collect();
    assert!(matches!(missing.as_slice(), [draft] if draft.data["text"] == "Use a big tin."), "{missing:?}");
}

#[test]
fn members_of_wrong_types_are_passed_over() {
    let message =
        json!({"id": 7, "author": "me", "create_time": "x", "content": [1], "metadata": null, "status": {}});
    let odd = json!({"author": {"role": ["user"]}, "content": {"content_type": "multimodal_text", "parts":
        [null, 1, [], {"asset_pointer": 5}, {"asset_pointer": "file-service://file-Q"}, {"text": "kept"}]},
        "metadata": {"attachments": [1, {"id": ""}, {"id": "file-Q", "size": -4}], "citations": [{}, 2]}});
    let kept = one(&json!({"mapping": {"a": said("a", None, &message), "b": said("b", Some("a"), &odd)},
        "title": 5, "create_time": true, "current_node": []}));
    let texts: Vec<_> = kept.of("messages").map(|draft| draft.data["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["", "kept"]);
    let files: Vec<_> = kept.of("attachments").map(|draft| draft.data["file_id"].as_str().unwrap()).collect();
    assert_eq!(files, ["file-Q"]);
    assert!(kept.complaints.is_empty(), "{:?}", kept.complaints);
}

#[test]
fn content_of_an_unknown_kind_is_kept_unless_it_is_too_deep() {
    let deep = (0..60).fold(json!(1), |inner, _| json!([inner]));
    let message = json!({"content": {"content_type": "maze", "text": "walls", "way": deep}});
    let kept = one(&json!({"conversation_id": "c", "mapping": {"a": said("a", None, &message)}}));
    assert_eq!(kept.of("messages").next().map(|draft| draft.data["text"].clone()), Some(json!("walls")));
    expect![[r#"
        [
            Complaint {
                where_: "conversations.json conversation 1 message a",
                code: ImportDamaged,
                message: "`content` is nested too deep; only its text was kept.",
            },
        ]
    "#]]
    .assert_debug_eq(&kept.complaints);
}

#[test]
fn a_text_of_nothing_but_brackets_is_one_complaint() {
    let text = format!("[{{\"mapping\":{{\"a\":{}", "[".repeat(200_000));
    let kept = read(&ChatGpt, &mut MemoryTree::new([("conversations.json", text)]));
    assert_eq!((kept.records.len(), kept.complaints.len()), (0, 1));
}
