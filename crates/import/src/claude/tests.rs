//! An invented export with projects and memories, and exports that are spoilt.

use expect_test::{expect, expect_file};
use serde_json::{Value, json};

use super::*;
use crate::detect;
use crate::testing::{MemoryTree, read, survives_damage};

#[test]
fn the_sample_export_is_read() {
    let kept = read(&Claude, &mut MemoryTree::fixture("claude"));
    expect_file!["../../../../fixtures/exports/claude.snap"].assert_eq(&kept.describe());
}

#[test]
fn the_export_says_whose_it_is_unless_it_is_a_teams() {
    let mut tree = MemoryTree::fixture("claude");
    let detected = detect(&mut tree, &[&Claude]);
    let [(0, claim)] = detected.claims.as_slice() else { panic!("{detected:?}") };
    assert_eq!(claim.account.as_deref(), Some("mara@harbour.example"));
    expect!["conversations and projects of Claude"].assert_eq(&claim.found);
    assert!(detected.unknown.is_empty(), "{detected:?}");
    *tree.bytes_mut("users.json") =
        br#"[{"email_address":"a@x.example"},{"email_address":"b@x.example"}]"#.to_vec();
    assert_eq!(detect(&mut tree, &[&Claude]).claims[0].1.account, None);
}

#[test]
fn archives_that_were_delivered_together_are_one_export() {
    let mut tree = MemoryTree::new([
        ("in/conversations-000.zip/conversations.json", r#"[{"uuid":"c1","chat_messages":[]}]"#),
        ("in/conversations-001.zip/conversations.json", r#"[{"uuid":"c2","chat_messages":[]}]"#),
        ("in/memories-000.zip/memories/a.json", r#"{"conversations_memory":"m","project_memories":{}}"#),
        ("in/projects-000.zip/projects/p.json", r#"{"uuid":"p","name":"P","docs":[]}"#),
        ("in/users-000.zip/users.json", r#"[{"email_address":"a@x.example","full_name":"A"}]"#),
        ("in/projects/notes.json", r#"{"something":"else"}"#),
    ]);
    let detected = detect(&mut tree, &[&Claude]);
    assert_eq!((detected.claims.len(), detected.unknown.as_slice()), (1, [5].as_slice()));
    assert_eq!(detected.claims[0].1.account.as_deref(), Some("a@x.example"));
    let kept = read(&Claude, &mut tree);
    let told: Vec<_> = kept.records.iter().map(|draft| format!("{} {}", draft.stream, draft.key)).collect();
    assert_eq!(told, ["conversations c1", "conversations c2", "projects p", "memories account:account"]);
}

#[test]
fn damage_never_stops_the_reading() {
    survives_damage(&Claude, &MemoryTree::fixture("claude"));
}

#[test]
fn reading_twice_gives_the_same_and_an_edit_changes_its_record_only() {
    let mut tree = MemoryTree::fixture("claude");
    let first = read(&Claude, &mut tree);
    assert_eq!(first.records, read(&Claude, &mut tree).records);
    let bytes = tree.bytes_mut("conversations.json");
    let edited = String::from_utf8(bytes.clone()).unwrap().replace("\"A clove hitch.\"", "\"A sheet bend.\"");
    *bytes = edited.into_bytes();
    let second = read(&Claude, &mut tree);
    let changed: Vec<_> = second.records.iter().filter(|draft| !first.records.contains(draft)).collect();
    assert!(matches!(changed.as_slice(), [draft] if draft.data["text"] == "A sheet bend."), "{changed:?}");
}

#[test]
fn members_of_wrong_types_are_passed_over() {
    let text = json!([{"uuid": 7, "name": [], "account": "me", "created_at": 5, "chat_messages": [
        {"uuid": {}, "sender": 1, "content": {"type": "text"}, "text": null, "attachments": [1, {}, {"file_size": "x"}],
            "files": [{"file_name": ""}, null]},
        {"content": [1, {"type": 4}, {"type": "text", "text": 5, "citations": [1, {}]},
            {"type": "tool_result", "content": {"a": 1}}, {"type": "tool_use", "input": [1]}]}]}]);
    let kept = read(&Claude, &mut MemoryTree::new([("conversations.json", text.to_string())]));
    assert_eq!(kept.of("messages").count(), 2);
    assert!(kept.of("messages").all(|draft| draft.data["text"] == ""));
    assert!(kept.complaints.is_empty(), "{:?}", kept.complaints);
}

#[test]
fn parents_in_a_circle_are_followed_once() {
    let message = |id: &str, parent: &str| json!({"uuid": id, "parent_message_uuid": parent, "text": id});
    let text = json!([{"uuid": "c", "current_leaf_message_uuid": "a",
        "chat_messages": [message("a", "b"), message("b", "a"), message("x", "x"), message("y", "gone")]}]);
    let kept = read(&Claude, &mut MemoryTree::new([("conversations.json", text.to_string())]));
    let told: Vec<_> = kept
        .of("messages")
        .map(|draft| {
            (
                draft.data.get("parent_id").cloned().unwrap_or(Value::Null),
                draft.data["on_current_path"].clone(),
            )
        })
        .collect();
    let expected = [json!(["b", true]), json!(["a", true]), json!([null, false]), json!([null, false])];
    assert_eq!(told.into_iter().map(|(a, b)| json!([a, b])).collect::<Vec<_>>(), expected);
}
