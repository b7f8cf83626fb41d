//! The export of an invented harbour, whole, damaged and hostile.

use std::fmt::Write as _;
use std::io::Write as _;

use expect_test::{expect, expect_file};
use serde_json::json;

use super::*;
use crate::testing::{Kept, MemoryTree, read, survives_damage};
use crate::{Format, detect};

fn fixture() -> MemoryTree {
    MemoryTree::fixture("slack")
}

/// A workspace of two people and one channel with one day.
fn small(day: impl Into<Vec<u8>>) -> MemoryTree {
    let users = r#"[{"id":"U1","team_id":"T1","name":"ana","profile":{"real_name":"Ana"}}]"#;
    let channels = r#"[{"id":"C1","name":"dock","created":1704100000,"members":["U1"]}]"#;
    MemoryTree::new([
        ("users.json", users.as_bytes().to_vec()),
        ("channels.json", channels.as_bytes().to_vec()),
        ("dock/2024-01-01.json", day.into()),
    ])
}

fn complaints(kept: &Kept) -> String {
    kept.complaints.iter().fold(String::new(), |mut text, one| {
        writeln!(text, "{}: {}", one.where_, one.message).unwrap();
        text
    })
}

#[test]
fn an_export_gives_these_records() {
    let kept = read(&Slack, &mut fixture());
    expect_file!["../../../../fixtures/exports/slack.snap"].assert_eq(&kept.describe());
}

#[test]
fn the_claim_holds_the_whole_export_and_names_no_account() {
    let mut tree = fixture();
    let all = tree.entries().len();
    let detected = detect(&mut tree, &[&Slack]);
    let [(_, claim)] = detected.claims.as_slice() else { panic!("{detected:?}") };
    assert_eq!((claim.found.as_str(), &claim.account, claim.entries.len()), ("5 conversations", &None, all));
    assert!(detected.unknown.is_empty());
}

#[test]
fn lists_of_the_same_names_from_elsewhere_are_not_claimed() {
    for (name, bytes) in [
        ("users.json", r#"[{"id":1,"name":"x"}]"#),
        ("users.json", r#"{"id":"U1","profile":{},"team_id":"T"}"#),
        ("channels.json", "[]"),
        ("dms.json", ""),
    ] {
        let mut tree = MemoryTree::new([(name, bytes), ("a/2024-01-01.json", "[]")]);
        assert!(detect(&mut tree, &[&Slack]).claims.is_empty(), "{name} {bytes}");
    }
}

#[test]
fn two_exports_in_one_tree_are_two_claims() {
    let mut tree = MemoryTree::new([
        ("a/users.json", r#"[{"id":"U1","team_id":"T1","profile":{}}]"#),
        ("a/dock/2024-01-01.json", r#"[{"ts":"1704100000.000100","text":"a"}]"#),
        ("b/dms.json", r#"[{"id":"D1","created":1,"members":["U1"]}]"#),
        ("b/D1/2024-01-01.json", r#"[{"ts":"1704100000.000100","text":"b"}]"#),
    ]);
    assert_eq!(detect(&mut tree, &[&Slack]).claims.len(), 2);
    let kept = read(&Slack, &mut tree);
    let keys: Vec<&str> = kept.of("messages").map(|draft| draft.key.as_str()).collect();
    assert_eq!(keys, ["dock:1704100000.000100", "D1:1704100000.000100"]);
}

#[test]
fn reading_twice_gives_the_same() {
    let first = read(&Slack, &mut fixture()).describe();
    assert_eq!(first, read(&Slack, &mut fixture()).describe());
}

#[test]
fn an_edited_message_is_the_only_record_that_differs() {
    let mut edited = fixture();
    let day = edited.bytes_mut("engine-room/2024-01-02.json");
    *day = String::from_utf8(day.clone()).unwrap().replace("low", "high").into_bytes();
    let (before, after) = (read(&Slack, &mut fixture()), read(&Slack, &mut edited));
    let changed: Vec<&str> = before
        .records
        .iter()
        .zip(&after.records)
        .filter(|(a, b)| a != b)
        .map(|(a, b)| {
            assert_eq!(a.key, b.key);
            a.key.as_str()
        })
        .collect();
    assert_eq!(changed, ["G0ENGINE1:1704190000.000100"]);
}

#[test]
fn no_secret_of_a_link_is_kept() {
    assert!(!read(&Slack, &mut fixture()).describe().contains("xoxe"));
}

#[test]
fn files_that_a_tool_fetched_are_found_in_both_layouts() {
    let day = r#"[{"ts":"1704100000.000100","text":"x","files":[{"id":"F1","name":"a.txt"},{"id":"F2","name":"b.txt"}]}]"#;
    let mut tree = MemoryTree::new([
        ("users.json", r#"[{"id":"U1","team_id":"T1","profile":{}}]"#),
        ("dock/2024-01-01.json", day),
        ("dock/attachments/F1-a.txt", "one"),
        ("attachments/F2-b.txt", "two!"),
    ]);
    let kept = read(&Slack, &mut tree);
    let sizes: Vec<_> = kept.of("files").map(|draft| draft.data["size_bytes"].clone()).collect();
    assert_eq!(sizes, [json!(3), json!(4)]);
    assert_eq!(kept.blobs.len(), 2);
}

#[test]
fn many_files_are_given_without_losing_the_place() {
    let message = |n: u32| {
        format!(
            r#"{{"ts":"1704100000.{n:06}","text":"x","files":[{{"id":"F1","name":"a.txt","preview":"{}"}}]}}"#,
            "p".repeat(500)
        )
    };
    let day = (1..=500).map(message).collect::<Vec<_>>().join(",");
    let mut tree = MemoryTree::new([
        ("users.json", r#"[{"id":"U1","team_id":"T1","profile":{}}]"#),
        ("dock/2024-01-01.json", &format!("[{day}]")),
        ("__uploads/F1/a.txt", "bytes"),
    ]);
    let kept = read(&Slack, &mut tree);
    assert_eq!((kept.of("messages").count(), kept.of("files").count(), kept.complaints.len()), (500, 500, 0));
    assert!(kept.of("files").all(|draft| draft.data.contains_key("blob_ref")));
}

#[test]
fn a_zip_gives_what_its_folder_gives() {
    let mut folder = fixture();
    let paths: Vec<String> = folder.entries().iter().map(|entry| entry.path.clone()).collect();
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for path in paths {
        zip.start_file(path.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(folder.bytes_mut(&path)).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    let mut opened = MemoryTree::new([("harbour.zip", bytes)]).opened();
    let (from_zip, from_folder) = (read(&Slack, &mut opened), read(&Slack, &mut folder));
    let pairs = |kept: &Kept| {
        kept.records.iter().map(|draft| (draft.key.clone(), draft.data.clone())).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&from_zip), pairs(&from_folder));
    assert_eq!(from_zip.complaints[0].where_, "harbour.zip/users.json user 6");
}

#[test]
fn damage_never_stops_the_reading() {
    survives_damage(&Slack, &fixture());
}

#[test]
fn hostile_days_are_complaints() {
    let deep = format!("[{{\"ts\":\"1704100000.1\",\"x\":{}{}}}]", "[".repeat(300), "]".repeat(300));
    let kept = read(&Slack, &mut small(deep));
    expect![[r"
        dock/2024-01-01.json element 1: It is no JSON that can be read.
    "]]
    .assert_eq(&complaints(&kept));
    // Deep enough to be read, too deep for a record.
    let deep = format!("[{{\"ts\":\"1704100000.1\",\"x\":{}{}}}]", "[".repeat(100), "]".repeat(100));
    assert_eq!(read(&Slack, &mut small(deep)).of("messages").count(), 1);
    let blocks = format!("{}{}", r#"{"type":"rich_text","elements":["#.repeat(60), "]}".repeat(60));
    let kept = read(&Slack, &mut small(format!(r#"[{{"ts":"1704100000.1","blocks":[{blocks}]}}]"#)));
    assert_eq!(kept.of("messages").count(), 1);
    for (day, expected) in [
        (&b"{}"[..], "dock/2024-01-01.json: It should hold a JSON list, and does not.\n"),
        (
            b"",
            "dock/2024-01-01.json byte 0: The JSON ends too early or is broken here; what follows could not be read.\n",
        ),
        (
            b"[{\"ts\":\"1704100000.1\",\"text\":\"\xff\xfe\"}]",
            "dock/2024-01-01.json element 1: It is no JSON that can be read.\n",
        ),
        (
            b"[7,{\"ts\":1704100000}]",
            "dock/2024-01-01.json message 1: It is no object.\ndock/2024-01-01.json message 2: `ts` is missing.\n",
        ),
        (b"\0\0\0\0", "dock/2024-01-01.json: It should hold a JSON list, and does not.\n"),
    ] {
        assert_eq!(complaints(&read(&Slack, &mut small(day))), expected, "{}", String::from_utf8_lossy(day));
    }
}

#[test]
fn members_of_a_wrong_type_are_passed_over() {
    let day = r#"[{"ts":"1704100000.1","text":7,"user":{},"reactions":"x","files":[1,{"id":5}],"blocks":{"type":1},
        "edited":"yes","attachments":[null,[]],"thread_ts":9,"reply_count":"many","bot_profile":[],"file":[]}]"#;
    let kept = read(&Slack, &mut small(day));
    assert_eq!(kept.of("messages").next().unwrap().data["text_plain"], json!(""));
    assert_eq!(kept.of("files").count(), 0);
}

#[test]
fn a_huge_message_is_read_and_a_larger_one_left_out() {
    let words = "x".repeat(1 << 20);
    let long = "y".repeat(17 << 20);
    let day =
        format!(r#"[{{"ts":"1704100000.1","text":"{long}"}},{{"ts":"1704100000.2","text":"{words}"}}]"#);
    let kept = read(&Slack, &mut small(day));
    assert_eq!(kept.of("messages").count(), 1);
    assert_eq!(complaints(&kept), "dock/2024-01-01.json element 1: It is longer than 16 MiB.\n");
}

#[test]
fn the_manifest_is_sound() {
    let mut tree = fixture();
    let claim = detect(&mut tree, &[&Slack]).claims.remove(0).1;
    let manifest = Slack.manifest(&mut tree, &claim).unwrap();
    let names: Vec<&str> = manifest.streams().iter().map(|stream| stream.name().as_str()).collect();
    assert_eq!(names, ["workspaces", "channels", "users", "messages", "files", "integration_logs"]);
    pdpp_store::Admission::check_manifest(&manifest).unwrap();
}
