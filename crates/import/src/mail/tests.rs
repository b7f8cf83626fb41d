//! Whole exports, in the layouts people have them in.

use expect_test::expect_file;
use serde_json::Value;

use super::*;
use crate::detect;
use crate::testing::{Kept, MemoryTree, read, survives_damage};

fn fixture() -> Kept {
    read(&Mail, &mut MemoryTree::fixture("mail"))
}

fn mbox(messages: &[&str]) -> MemoryTree {
    let text = messages
        .iter()
        .map(|one| format!("From a@x Fri Jan  2 03:04:05 2026\n{one}\n\n"))
        .collect::<Vec<_>>()
        .concat();
    MemoryTree::new([("box.mbox", text)])
}

fn field<'k>(kept: &'k Kept, key: &str, name: &str) -> &'k Value {
    let draft = kept.of("messages").find(|draft| draft.key == key).unwrap();
    draft.data.get(name).unwrap_or(&Value::Null)
}

#[test]
fn an_export_gives_these_records() {
    expect_file!["../../../../fixtures/exports/mail.snap"].assert_eq(&fixture().describe());
}

#[test]
fn what_is_found_is_told_and_the_rest_is_left_to_others() {
    let mut tree = MemoryTree::new([
        ("Takeout/Mail/All.mbox", "From a Fri Jan 2 03:04:05 2026\nSubject: x\n\ny\n"),
        ("Takeout/notes/From me", "From the desk of nobody, this is prose\n"),
        ("Takeout/notes/cur/photo.jpg", "\u{1}\u{2}no mail"),
        ("Takeout/calendar.ics", "BEGIN:VCALENDAR\n"),
        (
            "Profile/pop.example.org/Inbox",
            "From - Fri Jan 2 03:04:05 2026\nX-Mozilla-Status: 0001\nSubject: z\n\n",
        ),
        ("Profile/pop.example.org/Inbox.msf", "// index\n"),
        ("Profile/pop.example.org/old.stuff", "From - Fri Jan 2 03:04:05 2026\nSubject: dotted\n\n"),
        ("Profile/pop.example.org/old.stuff.msf", "// index\n"),
        ("Profile/pop.example.org/Empty", ""),
        ("letter.eml", "Subject: one\nFrom: a@x\n\nz\n"),
        ("fake.eml", "%PDF-1.4 no mail at all\n"),
    ]);
    let found = detect(&mut tree, &[&Mail]);
    let (_, claim) = &found.claims[0];
    assert_eq!((found.claims.len(), claim.found.as_str()), (1, "3 mailboxes, 1 message file"));
    assert_eq!(claim.account, None);
    let paths: Vec<&str> = claim.entries.iter().map(|index| tree.entries()[*index].path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "Profile/pop.example.org/Inbox",
            "Profile/pop.example.org/Inbox.msf",
            "Profile/pop.example.org/old.stuff",
            "Profile/pop.example.org/old.stuff.msf",
            "Takeout/Mail/All.mbox",
            "letter.eml",
        ]
    );
}

#[test]
fn reading_twice_gives_the_same_records_in_the_same_order() {
    let (one, two) = (fixture(), fixture());
    assert_eq!(one.records, two.records);
    assert_eq!(one.complaints, two.complaints);
}

#[test]
fn no_record_is_told_twice() {
    let kept = fixture();
    let mut keys: Vec<_> = kept.records.iter().map(|draft| (&draft.stream, &draft.key)).collect();
    keys.sort_unstable();
    let all = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), all);
}

#[test]
fn an_edited_message_changes_its_record_and_no_other() {
    let path = "Takeout/Mail/All mail Including Spam and Trash.mbox";
    let before = fixture();
    let mut tree = MemoryTree::fixture("mail");
    let bytes = tree.bytes_mut(path);
    let at = bytes.windows(10).position(|ten| ten == b"usual =E2=").unwrap();
    bytes[at..at + 5].copy_from_slice(b"other");
    let after = read(&Mail, &mut tree);
    let changed: Vec<_> = before.records.iter().zip(&after.records).filter(|(one, two)| one != two).collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].0.key, "berth-7@boats.example");
}

#[test]
fn labels_of_later_copies_are_not_lost_whatever_their_order() {
    let kept = fixture();
    assert_eq!(
        field(&kept, "winter@boats.example", "labels"),
        &serde_json::json!(["Archives/2026", "Inbox", "Work", "boat"])
    );
    assert_eq!(field(&kept, "md-1@boats.example", "labels"), &serde_json::json!(["Archive/2026", "INBOX"]));
    let copies = [
        "Subject: s\nMessage-ID: <a@x>\nX-Gmail-Labels: Two\n\nt",
        "Subject: s\nMessage-ID: <a@x>\nX-Gmail-Labels: One,Two\n\nt",
        "Subject: s\nMessage-ID: <a@x>\nX-Gmail-Labels: Three\n\nt",
    ];
    let kept = read(&Mail, &mut mbox(&copies));
    assert_eq!(kept.of("messages").count(), 1);
    assert_eq!(field(&kept, "a@x", "labels"), &serde_json::json!(["Two", "One", "Three"]));
    assert_eq!(kept.of("threads").next().unwrap().data["message_count"], 1);
}

#[test]
fn one_id_for_several_messages_loses_none_of_them() {
    let kept = fixture();
    let subjects: Vec<&str> =
        kept.of("messages").filter_map(|draft| draft.data.get("subject")?.as_str()).collect();
    assert!(
        subjects.contains(&"One id for everything, first")
            && subjects.contains(&"One id for everything, second")
    );
    let same = [
        "From: a@x\nMessage-ID: <d>\nDate: 1 Jan 2026 00:00:00 +0000\n\nx",
        "From: a@x\nMessage-ID: <d>\nDate: 2 Jan 2026 00:00:00 +0000\n\ny",
        "From: a@x\nMessage-ID: <d>\nDate: 2 Jan 2026 00:00:00 +0000\n\ny",
    ];
    assert_eq!(read(&Mail, &mut mbox(&same)).of("messages").count(), 2);
}

#[test]
fn an_answer_to_an_answer_belongs_to_the_first_message() {
    let kept = fixture();
    let thread = field(&kept, "winter@boats.example", "thread_id");
    assert_eq!(field(&kept, "winter-2@boats.example", "thread_id"), thread);
    assert_eq!(field(&kept, "winter-3@boats.example", "thread_id"), thread);
    // In whatever order they lie, and even when two claim to answer each other.
    let circle = [
        "Message-ID: <a@x>\nIn-Reply-To: <b@x>\nSubject: s\n\n1",
        "Message-ID: <b@x>\nIn-Reply-To: <a@x>\nSubject: s\n\n2",
        "Message-ID: <c@x>\nIn-Reply-To: <c@x>\nSubject: s\n\n3",
    ];
    assert_eq!(read(&Mail, &mut mbox(&circle)).of("messages").count(), 3);
}

#[test]
fn marks_in_the_names_of_files_are_read_with_a_colon_too() {
    let message = "Subject: x\nMessage-ID: <a@x>\nDate: 1 Jan 2026 00:00:00 +0000\n\ny\n";
    let kept = read(&Mail, &mut MemoryTree::new([("Maildir/cur/1.host:2,RS", message)]));
    assert_eq!(field(&kept, "a@x", "is_read"), &Value::Bool(true));
    assert_eq!(field(&kept, "a@x", "is_answered"), &Value::Bool(true));
    assert_eq!(field(&kept, "a@x", "is_starred"), &Value::Bool(false));
}

#[test]
fn damage_does_no_harm() {
    survives_damage(&Mail, &MemoryTree::fixture("mail"));
}

#[test]
fn hostile_mail_is_read_within_bounds() {
    let nested = format!("Subject: x\n{}", "Content-Type: message/rfc822\n\n".repeat(100_000));
    let deep = (0..20_000)
        .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"))
        .collect::<Vec<_>>()
        .concat();
    let long = format!("Subject: {}\nTo: {}\n\nx", "s".repeat(3_000_000), "a@x, ".repeat(100_000));
    let many = format!(
        "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n{}",
        "--b\nContent-Type: a/b\n\nx\n".repeat(3000)
    );
    let encoded = format!("Subject: {}\n\nx", "=?utf-8?B?".repeat(50_000));
    let zeros = "Subject: a\0b\nMessage-ID: <z\0@x>\n\n\0\0\0".to_owned();
    let html = format!("Subject: x\nContent-Type: text/html\n\n{}", "<div".repeat(200_000));
    for message in [nested, format!("Subject: x\n{deep}"), long, many, encoded, zeros, html] {
        let kept = read(&Mail, &mut mbox(&[&message]));
        assert_eq!(kept.of("messages").count(), 1);
    }
}

#[test]
fn what_is_no_mail_is_a_complaint_with_its_place() {
    let mut tree = mbox(&[
        "Subject: good\nMessage-ID: <a@x>\n\nx",
        "X-Odd: only this\n\ny",
        "Subject: also good\nMessage-ID: <b@x>\n\nz",
    ]);
    let kept = read(&Mail, &mut tree);
    assert_eq!(kept.of("messages").count(), 2);
    assert_eq!(kept.complaints.len(), 1);
    assert_eq!(kept.complaints[0].where_, "box.mbox message 2");
}

#[test]
fn mail_in_an_archive_is_read_like_mail_in_a_folder() {
    use std::io::{Cursor, Write as _};
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("Takeout/Mail/All.mbox", zip::write::SimpleFileOptions::default()).unwrap();
    archive.write_all(b"From a Fri Jan 2 03:04:05 2026\nSubject: x\nMessage-ID: <a@x>\n\ny\n").unwrap();
    let bytes = archive.finish().unwrap().into_inner();
    let kept = read(&Mail, &mut MemoryTree::new([("takeout-1.zip", bytes)]).opened());
    assert_eq!(field(&kept, "a@x", "text"), &Value::from("y"));
}
