//! An invented archive with the odd cases of real ones.

use std::collections::BTreeMap;

use expect_test::expect_file;
use serde_json::json;

use super::*;
use crate::detect;
use crate::testing::{Kept, MemoryTree, read, survives_damage};

fn fixture() -> MemoryTree {
    MemoryTree::fixture("x")
}

#[test]
fn an_archive_becomes_posts_messages_and_media() {
    let kept = read(&X, &mut fixture());
    expect_file!["../../../../fixtures/exports/x.snap"].assert_eq(&kept.describe());
    assert_eq!(kept.blobs.len(), 5);
}

#[test]
fn the_claim_knows_whose_it_is_and_leaves_what_it_does_not_read() {
    let mut tree = fixture();
    let detected = detect(&mut tree, &[&X]);
    assert_eq!(detected.claims.len(), 1);
    let claim = &detected.claims[0].1;
    assert_eq!(claim.account.as_deref(), Some("@maraquill"));
    assert_eq!(claim.found, "an X archive of @maraquill, 5 media files");
    let unknown: Vec<&str> =
        detected.unknown.iter().map(|index| tree.entries()[*index].path.as_str()).collect();
    assert_eq!(unknown, ["data/ip-audit.js"]);
}

#[test]
fn a_script_of_another_kind_is_not_claimed() {
    let mut tree = MemoryTree::new([("data/like.js", "export const like = []"), ("follower.js", "")]);
    assert!(detect(&mut tree, &[&X]).claims.is_empty());
}

#[test]
fn reading_twice_gives_the_same() {
    assert_eq!(read(&X, &mut fixture()).describe(), read(&X, &mut fixture()).describe());
}

#[test]
fn an_edit_changes_one_record() {
    let by_key = |kept: Kept| -> BTreeMap<String, String> {
        let told = |draft: Draft| (format!("{} {}", draft.stream, draft.key), format!("{:?}", draft.data));
        kept.records.into_iter().map(told).collect()
    };
    let before = by_key(read(&X, &mut fixture()));
    let mut tree = fixture();
    let text = String::from_utf8(tree.bytes_mut("data/tweets.js").clone()).unwrap();
    *tree.bytes_mut("data/tweets.js") = text.replace("@joss yes", "@joss no").into_bytes();
    let after = by_key(read(&X, &mut tree));
    let changed: Vec<_> = after.iter().filter(|(key, data)| before.get(*key) != Some(*data)).collect();
    assert_eq!((before.len(), changed.len()), (after.len(), 1));
    assert_eq!(changed[0].0, "posts 1050118621198921730");
}

#[test]
fn damage_never_stops_the_reading() {
    survives_damage(&X, &fixture());
}

#[test]
fn posts_without_their_wrapping_are_read_too() {
    let bare = r#"window.YTD.tweet.part0 = [{"id_str":"7","created_at":"Wed Oct 10 20:19:24 +0000 2018","full_text":"bare"}]"#;
    let kept = read(&X, &mut MemoryTree::new([("tweet.js", bare)]));
    assert_eq!(kept.records[0].data["text"], "bare");
    assert_eq!(kept.records[0].data["created_at"], "2018-10-10T20:19:24Z");
}

#[test]
fn hostile_scripts_are_complaints() {
    let assigned = |list: &str| format!("window.YTD.tweets.part0 = {list}");
    let deep = format!("[{}{}]", "[".repeat(300), "]".repeat(300));
    let odd = r#"[7, {"tweet":[]}, {"tweet":{"id_str":"1","created_at":"x"}}, {"tweet":{"id_str":"9","created_at":"Wed Oct 10 20:19:24 +0000 2018","full_text":7,"entities":7,"extended_entities":{"media":[7]},"place":[],"favorite_count":"many"}}]"#;
    for (list, posts, complaints) in [
        (deep.as_str(), 0, 1),
        (odd, 1, 3),
        ("[", 0, 1),
        ("", 0, 1),
        ("\0\0\0", 0, 1),
        (&" ".repeat(100_000), 0, 1),
        ("[]", 0, 0),
        ("[{\"tweet\":{\"id_str\":\"\u{0}\u{7}\"}}", 0, 2),
    ] {
        let kept = read(&X, &mut MemoryTree::new([("data/tweets.js", assigned(list))]));
        assert_eq!((kept.of("posts").count(), kept.complaints.len()), (posts, complaints), "{list:.80}");
    }
}

#[test]
fn a_conversation_of_any_length_is_read_message_by_message() {
    let message = |number: usize| {
        json!({"messageCreate": {"id": number.to_string(), "senderId": "1", "recipientId": "2", "text": "x",
            "createdAt": "2020-01-01T00:00:00.000Z", "mediaUrls": ["https://ton.example/a.jpg"]}})
    };
    let talk = json!([{"dmConversation": {"conversationId": "1-2", "messages": (0..6000).map(message).collect::<Vec<_>>()}}]);
    let script = format!("window.YTD.direct_messages.part0 = {talk}");
    let kept = read(&X, &mut MemoryTree::new([("direct-messages.js", script)]));
    assert_eq!((kept.of("messages").count(), kept.of("media").count()), (6000, 6000));
    assert_eq!(kept.of("conversations").next().unwrap().data["message_count"], 6000);
}
