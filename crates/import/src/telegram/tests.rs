//! Invented exports of an account and of one chat, whole, damaged and hostile.

use std::fmt::Write as _;

use expect_test::{expect, expect_file};
use serde_json::json;

use super::*;
use crate::testing::{Kept, MemoryTree, read, survives_damage};
use crate::{Format, detect};

fn one(messages: &str) -> MemoryTree {
    let json = format!(r#"{{"name":"A","type":"personal_chat","id":7,"messages":[{messages}]}}"#);
    MemoryTree::new([("result.json", json)])
}

fn complaints(kept: &Kept) -> String {
    kept.complaints.iter().fold(String::new(), |mut text, one| {
        writeln!(text, "{}: {}", one.where_, one.message).unwrap();
        text
    })
}

#[test]
fn an_account_gives_these_records() {
    let kept = read(&Telegram, &mut MemoryTree::fixture("telegram"));
    expect_file!["../../../../fixtures/exports/telegram.snap"].assert_eq(&kept.describe());
}

#[test]
fn one_chat_gives_these_records() {
    let kept = read(&Telegram, &mut MemoryTree::fixture("telegram-chat"));
    expect_file!["../../../../fixtures/exports/telegram-chat.snap"].assert_eq(&kept.describe());
}

#[test]
fn the_claim_names_the_account_and_holds_the_media() {
    let mut tree = MemoryTree::fixture("telegram");
    let all = tree.entries().len();
    let detected = detect(&mut tree, &[&Telegram]);
    let [(_, claim)] = detected.claims.as_slice() else { panic!("{detected:?}") };
    assert_eq!(claim.account.as_deref(), Some("@maraquist"));
    assert_eq!((claim.entries.len(), detected.unknown.len()), (all, 0));
    let mut tree = MemoryTree::fixture("telegram-chat");
    let claim = detect(&mut tree, &[&Telegram]).claims.remove(0).1;
    assert_eq!((claim.account, claim.found.as_str()), (None, "the chat Liv"));
}

#[test]
fn exports_beside_each_other_keep_their_own_media() {
    let json = |id: u8| {
        format!(
            r#"{{"name":"A","type":"personal_chat","id":{id},"messages":[{{"id":1,"photo":"photos/p.jpg"}}]}}"#
        )
    };
    let mut tree = MemoryTree::new([
        ("a/result.json", json(1)),
        ("a/photos/p.jpg", "first".into()),
        ("b.zip/result.json", json(2)),
        ("b.zip/photos/p.jpg", "second".into()),
        ("photos/p.jpg", "of nobody".into()),
    ]);
    let detected = detect(&mut tree, &[&Telegram]);
    let entries: Vec<_> = detected.claims.iter().map(|(_, claim)| claim.entries.clone()).collect();
    assert_eq!((entries, detected.unknown), (vec![vec![0, 1], vec![2, 3]], vec![4]));
    assert_eq!(read(&Telegram, &mut tree).blobs.len(), 2);
}

#[test]
fn reading_twice_gives_the_same() {
    let first = read(&Telegram, &mut MemoryTree::fixture("telegram")).describe();
    assert_eq!(first, read(&Telegram, &mut MemoryTree::fixture("telegram")).describe());
}

#[test]
fn an_edited_message_is_the_only_record_that_differs() {
    let mut edited = MemoryTree::fixture("telegram");
    let bytes = edited.bytes_mut("result.json");
    *bytes = String::from_utf8(bytes.clone()).unwrap().replace("the flares", "the rope").into_bytes();
    let before = read(&Telegram, &mut MemoryTree::fixture("telegram"));
    let after = read(&Telegram, &mut edited);
    let changed: Vec<_> = before.records.iter().zip(&after.records).filter(|(a, b)| a != b).collect();
    assert_eq!(changed.len(), 1);
    assert_eq!((changed[0].0.key.as_str(), changed[0].1.key.as_str()), ("user700100:30", "user700100:30"));
}

#[test]
fn damage_never_stops_the_reading() {
    survives_damage(&Telegram, &MemoryTree::fixture("telegram"));
    survives_damage(&Telegram, &MemoryTree::fixture("telegram-chat"));
}

#[test]
fn a_damaged_message_is_one_complaint_and_the_next_is_read() {
    let kept = read(
        &Telegram,
        &mut one(r#"{"id":1,"text":"a"},{"id":2,"text":"\ud800"},7,{"id":"x"},{"id":3,"text":"b"}"#),
    );
    let ids: Vec<_> = kept.of("messages").map(|draft| draft.key.clone()).collect();
    assert_eq!(ids, ["user7:1", "user7:3"]);
    expect![[r"
        result.json message 2: It is no JSON that can be read.
        result.json message 3: It is no object.
        result.json message 4: `id` is missing or no number.
    "]]
    .assert_eq(&complaints(&kept));
}

#[test]
fn hostile_messages_are_survived() {
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let wrong = format!(
        r#"{{"id":1,"text":{deep},"reactions":[1,{{"count":"x"}}],"poll":{{"question":7,"answers":[7,{{}}]}},"x":{deep},
        "photo":7,"file":"/etc/passwd","from_id":[],"date_unixtime":"soon","date":"yesterday","location_information":7,
        "contact_information":"x","inline_bot_buttons":[7,[7]],"text_entities":{{}},"members":"x","action":"a"}}"#
    );
    let kept = read(&Telegram, &mut one(&wrong));
    assert_eq!((kept.of("messages").count(), kept.complaints.len()), (1, 0));
    let media = kept.of("media").next().unwrap();
    assert_eq!((&media.data["is_included"], media.data.get("blob_ref")), (&json!(false), None));
    let nested = format!(r#"{{"id":1,"x":{}{}}}"#, "[".repeat(400), "]".repeat(400));
    assert_eq!(read(&Telegram, &mut one(&nested)).complaints.len(), 1);
    let endless = format!(r#"{{"id":1,"x":{}"#, "[".repeat(100_000));
    assert_eq!(read(&Telegram, &mut one(&endless)).complaints.len(), 1);
    let long = format!(r#"{{"id":1,"text":"{}"}},{{"id":2,"text":"ok"}}"#, "x".repeat(17 << 20));
    assert_eq!(
        complaints(&read(&Telegram, &mut one(&long))),
        "result.json message 1: It is longer than 16 MiB.\n"
    );
}

#[test]
fn many_media_are_given_without_losing_the_place() {
    // Enough to fill the queue several times.
    let name = "n".repeat(600);
    let message = |id: usize| {
        format!(r#"{{"id":{id},"file":"files/x","file_name":"{name}","mime_type":"text/plain"}}"#)
    };
    let all = (1..=2_000).map(message).collect::<Vec<_>>().join(",");
    let json = format!(r#"{{"name":"A","type":"personal_chat","id":7,"messages":[{all}]}}"#);
    let mut tree = MemoryTree::new([("result.json", json.as_str()), ("files/x", "bytes")]);
    let kept = read(&Telegram, &mut tree);
    assert_eq!((kept.of("messages").count(), kept.of("media").count()), (2_000, 2_000));
    assert_eq!(kept.complaints.len(), 0);
    assert!(kept.of("media").all(|draft| draft.data.contains_key("blob_ref")));
    let chats: Vec<_> = kept.of("chats").map(|draft| draft.data["message_count"].clone()).collect();
    assert_eq!(chats, [json!(2_000)]);
}

#[test]
fn the_manifest_is_sound() {
    let mut tree = MemoryTree::fixture("telegram");
    let claim = detect(&mut tree, &[&Telegram]).claims.remove(0).1;
    let manifest = Telegram.manifest(&mut tree, &claim).unwrap();
    let names: Vec<&str> = manifest.streams().iter().map(|stream| stream.name().as_str()).collect();
    assert_eq!(names, ["chats", "messages", "media", "contacts"]);
    pdpp_store::Admission::check_manifest(&manifest).unwrap();
}
