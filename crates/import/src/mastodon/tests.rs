//! An invented archive with the odd cases of real ones.

use std::collections::BTreeMap;

use expect_test::expect_file;
use serde_json::json;

use super::*;
use crate::testing::{Kept, MemoryTree, read, survives_damage};
use crate::{Look, detect};

fn fixture() -> MemoryTree {
    MemoryTree::fixture("mastodon")
}

#[test]
fn an_archive_becomes_posts_lists_and_media() {
    let kept = read(&Mastodon, &mut fixture());
    expect_file!["../../../../fixtures/exports/mastodon.snap"].assert_eq(&kept.describe());
    assert_eq!(kept.blobs.len(), 4);
}

#[test]
fn the_claim_knows_whose_it_is_and_takes_its_own_files_only() {
    let mut tree = fixture();
    let entries = tree.entries().len();
    let claim = Mastodon.claim(&mut Look::new(&mut tree)).remove(0);
    assert_eq!(claim.account.as_deref(), Some("@ana@reef.example"));
    assert_eq!(claim.found, "a Mastodon archive of @ana@reef.example, 2 media files");
    assert_eq!(claim.entries.len(), entries);
    let other = br#"{"type":"OrderedCollection","orderedItems":[]}"#;
    let mut tree = MemoryTree::new([
        ("a/outbox.json", other.to_vec()),
        ("a/holiday.jpg", vec![1]),
        ("b/likes.json", other.to_vec()),
        ("c/outbox.json", b"[]".to_vec()),
    ]);
    let claims = detect(&mut tree, &[&Mastodon]).claims;
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].1.entries, [0]);
}

#[test]
fn two_archives_in_one_tree_are_two_accounts() {
    let files = |name: &str| {
        let actor = json!({"id": format!("https://x.example/users/{name}"), "preferredUsername": name});
        let outbox = json!({"type": "OrderedCollection", "orderedItems": []});
        [
            (format!("{name}/actor.json"), actor.to_string()),
            (format!("{name}/outbox.json"), outbox.to_string()),
        ]
    };
    let mut tree = MemoryTree::new(files("ana").into_iter().chain(files("ben")));
    let accounts =
        detect(&mut tree, &[&Mastodon]).claims.into_iter().map(|(_, claim)| claim.account.unwrap());
    assert_eq!(accounts.collect::<Vec<_>>(), ["@ana@x.example", "@ben@x.example"]);
}

#[test]
fn reading_twice_gives_the_same() {
    assert_eq!(read(&Mastodon, &mut fixture()).describe(), read(&Mastodon, &mut fixture()).describe());
}

#[test]
fn an_edit_changes_one_record() {
    let by_key = |kept: Kept| -> BTreeMap<String, String> {
        let told = |draft: Draft| (format!("{} {}", draft.stream, draft.key), format!("{:?}", draft.data));
        kept.records.into_iter().map(told).collect()
    };
    let before = by_key(read(&Mastodon, &mut fixture()));
    let mut tree = fixture();
    let text = String::from_utf8(tree.bytes_mut("outbox.json").clone()).unwrap();
    *tree.bytes_mut("outbox.json") = text.replace("Unlisted thought", "Unlisted afterthought").into_bytes();
    let after = by_key(read(&Mastodon, &mut tree));
    let changed: Vec<_> = after.iter().filter(|(key, data)| before.get(*key) != Some(*data)).collect();
    assert_eq!((before.len(), changed.len()), (after.len(), 1));
    assert_eq!(changed[0].0, "posts 111000002");
}

#[test]
fn damage_never_stops_the_reading() {
    survives_damage(&Mastodon, &fixture());
}

#[test]
fn hostile_activities_are_complaints() {
    let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
    let nested = format!(
        r#"{{"id":"a","type":"Create","object":{{"id":"x","type":"Note","published":"2022-01-01T00:00:00Z","odd":{}1{}}}}}"#,
        "[".repeat(60),
        "]".repeat(60)
    );
    let items = [
        deep,
        nested,
        r#"{"type":7}"#.to_owned(),
        r#"{"id":"a","type":"Create","object":{"id":7,"published":"2022-01-01T00:00:00Z"}}"#.to_owned(),
        r#"{"id":"b","type":"Announce","object":[],"published":"2022-01-01T00:00:00Z"}"#.to_owned(),
        "{\"id\":\"c\",\"type\":\"Create\",\"object\":{\"id\":\"c\",\"published\":\"2022-01-01T00:00:00Z\",\"content\":\"\\u0000 nul\",\"attachment\":[7,{}],\"to\":{},\"tag\":\"x\"}}".to_owned(),
        format!(r#"{{"id":"{}","type":"Create"}}"#, "x".repeat(LONGEST)),
    ];
    let outbox = format!(r#"{{"type":"OrderedCollection","orderedItems":[{}]}}"#, items.join(","));
    let mut tree = MemoryTree::new([("outbox.json", outbox.into_bytes()), ("actor.json", b"{}".to_vec())]);
    let kept = read(&Mastodon, &mut tree);
    assert_eq!(kept.of("posts").count(), 3, "{}", kept.describe());
    assert_eq!(kept.complaints.len(), 5, "{:?}", kept.complaints);
}

#[test]
fn more_media_than_fit_into_one_batch_are_all_told_once() {
    let post = |number: usize| {
        json!({"id": format!("p{number}"), "type": "Create", "object": {"id": format!("p{number}"),
            "published": "2022-01-01T00:00:00Z", "attachment": [{"url": format!("/media_attachments/{number}.png")}]}})
    };
    let posts: Vec<Value> = (0..5000).map(post).collect();
    let outbox = json!({"type": "OrderedCollection", "orderedItems": posts}).to_string();
    let mut tree =
        MemoryTree::new([("outbox.json", outbox.into_bytes()), ("media_attachments/4999.png", vec![1, 2])]);
    let kept = read(&Mastodon, &mut tree);
    assert_eq!((kept.of("posts").count(), kept.of("media").count(), kept.blobs.len()), (5000, 5000, 1));
}

#[test]
fn a_packed_archive_reads_like_its_folder() {
    let mut builder =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    let mut folder = fixture();
    for index in 0..folder.entries().len() {
        let entry = folder.entries()[index].clone();
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut folder.open(index).unwrap(), &mut bytes).unwrap();
        let mut header = tar::Header::new_gnu();
        header.set_size(entry.bytes);
        header.set_mode(0o644);
        builder.append_data(&mut header, &entry.path, bytes.as_slice()).unwrap();
    }
    let packed = builder.into_inner().unwrap().finish().unwrap();
    let mut tree = MemoryTree::new([("archive-20260102.tar.gz", packed)]).opened();
    let (packed, plain) = (read(&Mastodon, &mut tree), read(&Mastodon, &mut folder));
    assert_eq!(packed.records.len(), plain.records.len());
    assert!(packed.records.iter().zip(&plain.records).all(|(a, b)| (&a.key, &a.data) == (&b.key, &b.data)));
}
