//! The query language, answered.

use serde_json::json;

use crate::support::{Archive, keys, message, with};

async fn harbour() -> Archive {
    let archive = Archive::new().await;
    let texts = [
        ("boat", "The boat needs new ropes before spring."),
        ("rope", "Ropes are cheaper at the harbour shop."),
        ("shop", "The harbour shop closes early on the new year."),
        ("mail", "Write to bob@example.com about invoice INV-2034."),
        ("cafe", "Café Zürich was running late, organization is hard."),
        ("cjk", "港の会議は明日の午後です。"),
    ];
    let messages: Vec<_> = (1..).zip(texts).map(|(day, (id, text))| message(id, day, text)).collect();
    archive.put(&archive.home, "messages", &messages).await;
    archive
}

#[tokio::test]
async fn words_are_joined_by_or_and_the_best_covered_comes_first() {
    let archive = harbour().await;
    assert_eq!(archive.keys("harbour shop year").await, ["shop", "rope"]);
    assert_eq!(archive.keys("boat xylophone").await, ["boat"]);
    assert!(archive.find("boat").await.is_complete);
}

#[tokio::test]
async fn stems_accents_and_case_do_not_matter() {
    let archive = harbour().await;
    assert_eq!(archive.keys("ROPE").await.len(), 2);
    assert_eq!(archive.keys("zurich").await, ["cafe"]);
    assert_eq!(archive.keys("runs").await, ["cafe"]);
}

#[tokio::test]
async fn required_excluded_and_quoted_are_kept() {
    let archive = harbour().await;
    assert_eq!(archive.keys("shop +ropes").await, ["rope", "boat"]);
    assert_eq!(archive.keys("harbour -ropes").await, ["shop"]);
    assert_eq!(archive.keys("\"new ropes\"").await, ["boat"]);
    assert_eq!(archive.keys("\"harbour shop\" boat").await.len(), 2);
    assert!(archive.keys("+\"shop harbour\"").await.is_empty());
}

#[tokio::test]
async fn a_phrase_that_nothing_has_becomes_words_and_that_is_said() {
    let archive = harbour().await;
    let ranking = archive.find("\"shop harbour\"").await;
    assert_eq!(keys(&ranking).len(), 2);
    assert_eq!(ranking.corrected[0].used, "shop harbour");
}

#[tokio::test]
async fn requirements_hold_for_the_record_and_not_for_one_passage() {
    let archive = Archive::new().await;
    let one = with(message("a", 1, "apples"), json!({"caption": "a basket"}));
    archive.put(&archive.home, "messages", &[one, message("b", 2, "apples")]).await;
    assert_eq!(archive.keys("+apples +basket").await, ["a"]);
    assert_eq!(archive.keys("apples -basket").await, ["b"]);
}

#[tokio::test]
async fn prefixes_mean_words_as_they_are_written() {
    let archive = harbour().await;
    assert_eq!(archive.keys("organiz*").await, ["cafe"]);
    assert_eq!(archive.keys("harb*").await.len(), 2);
    assert!(archive.keys("zzz*").await.is_empty());
}

#[tokio::test]
async fn names_with_signs_are_found_whole_and_by_their_parts() {
    let archive = harbour().await;
    for q in ["bob@example.com", "example.com", "bob", "INV-2034", "inv 2034", "2034"] {
        assert_eq!(archive.keys(q).await, ["mail"], "{q}");
    }
}

#[tokio::test]
async fn text_without_spaces_is_found() {
    let archive = harbour().await;
    assert_eq!(archive.keys("会議").await, ["cjk"]);
    assert_eq!(archive.keys("明日の午後").await, ["cjk"]);
}

#[tokio::test]
async fn a_typing_error_is_forgiven_only_when_nothing_matches() {
    let archive = harbour().await;
    let ranking = archive.find("harbuor").await;
    assert_eq!(keys(&ranking).len(), 2);
    assert_eq!(
        (ranking.corrected[0].typed.as_str(), ranking.corrected[0].used.as_str()),
        ("harbuor", "harbour")
    );
    assert!(archive.find("harbuor boat").await.corrected.is_empty());
    assert!(archive.keys("xqzw").await.is_empty());
}

#[tokio::test]
async fn function_words_alone_are_looked_for_and_beside_others_are_not() {
    let archive = harbour().await;
    assert!(!archive.keys("the").await.is_empty());
    assert_eq!(archive.keys("the boat").await, ["boat"]);
}
