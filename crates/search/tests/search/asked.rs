//! What a query comes to: how much of it is looked for, and what is said of the rest.

use std::time::{Duration, Instant};

use pdpp_access::SearchRequest;
use pdpp_evidence::{IgnoredReason, parse_query};
use pdpp_store::{Search, SearchIndex as _};
use pdpp_testkit::owner;
use serde_json::json;

use crate::support::{Archive, Ranked, asking, keys, message, with};

async fn archive(texts: &[(&str, &str)]) -> Archive {
    let archive = Archive::new().await;
    let messages: Vec<_> = (1..).zip(texts).map(|(day, (id, text))| message(id, day, text)).collect();
    archive.put(&archive.home, "messages", &messages).await;
    archive
}

async fn newest(archive: &Archive, q: &str) -> Ranked {
    let request = SearchRequest { order: Some("newest".to_owned()), ..asking(q) };
    archive.rank(&owner(&archive.subject_id), request).await
}

fn sorted(ranking: &Ranked) -> Vec<String> {
    let mut keys = keys(ranking);
    keys.sort();
    keys
}

/// Sixty phrases of digits in ever another order.
fn phrases() -> String {
    let phrase = |seed: usize| {
        let digits: Vec<_> = (0..32).map(|n| ((n * n * 3 + n * seed + seed) % 10).to_string()).collect();
        format!("\"{}\"", digits.join(" "))
    };
    (1..=60).map(phrase).collect::<Vec<_>>().join(" ")
}

/// Row: bad input is bounded work.
#[tokio::test]
async fn phrases_that_nothing_has_do_not_become_thousands_of_words() {
    let archive = Archive::new().await;
    let record = |n: u32| {
        let digits: Vec<_> = (0..40).map(|at| ((n * 7 + at * at + at * n) % 10).to_string()).collect();
        message(&format!("m{n}"), 1 + n % 28, &digits.join(" "))
    };
    archive.put(&archive.home, "messages", &(0..3_000).map(record).collect::<Vec<_>>()).await;
    archive.keys("1").await;
    let started = Instant::now();
    let ranking = archive.find(&phrases()).await;
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    // Ten digits are ten words, however often each was asked for.
    let words = ranking.hits[0].explanation.as_ref().unwrap()["words"].as_array().unwrap().len();
    assert!(words <= 10, "{words}");
}

/// Row: what was not looked for is said.
#[tokio::test]
async fn words_of_phrases_past_the_sixty_fourth_are_said_to_be_left_out() {
    let archive = archive(&[("a", "word1 word80"), ("b", "typed word99")]).await;
    let words: Vec<_> = (0..100).map(|n| format!("word{n}")).collect();
    let q = format!(
        "\"{}\" typed",
        words.chunks(25).map(|words| words.join(" ")).collect::<Vec<_>>().join("\" \"")
    );
    let plan = archive.plan(&owner(&archive.subject_id), asking(&q)).await;
    let query = parse_query(&q);
    let search = Search { plan: &plan, query: &query, only: None, explain: false };
    let ranking = archive.engine.rank(search).await.unwrap();
    let ignored: Vec<_> =
        ranking.ignored.iter().map(|one| (one.reason, one.text.as_str(), one.count)).collect();
    assert_eq!(ignored, [(IgnoredReason::TooManyClauses, "word63", 37)]);
    assert!(!ranking.is_complete);
    assert_eq!(archive.keys(&q).await.len(), 2, "what stands outside of phrases is looked for");
}

/// Row: search, compounds are found whole and by their parts, and a break is said.
#[tokio::test]
async fn an_id_that_nothing_has_becomes_words_and_that_is_said() {
    let archive = archive(&[("a", "invoice INV-1000"), ("b", "invoice INV-2000")]).await;
    let ranking = archive.find("INV-9999").await;
    assert_eq!(sorted(&ranking), ["a", "b"]);
    assert_eq!(ranking.corrected.len(), 1);
    assert_eq!(
        (ranking.corrected[0].typed.as_str(), ranking.corrected[0].used.as_str()),
        ("INV-9999", "inv 9999")
    );
    let ranking = archive.find("INV-2000").await;
    assert_eq!((keys(&ranking), ranking.corrected), (vec!["b".to_owned()], vec![]));
}

/// Row: search, whole questions in the languages that are stemmed.
#[tokio::test]
async fn a_word_behind_an_elided_one_is_what_was_asked() {
    let archive = archive(&[("a", "voici mon appartement"), ("b", "l'appartement est vendu")]).await;
    for q in ["Ou est l'appartement ?", "d’appartement", "dell'appartement"] {
        assert_eq!(sorted(&archive.find(q).await), ["a", "b"], "{q}");
    }
}

/// Row: search, `-without` and `+must`.
#[tokio::test]
async fn what_is_excluded_or_required_with_a_sign_is_not_the_plain_word() {
    let archive = archive(&[("plain", "news and spam by bob"), ("tagged", "news #spam by @bob")]).await;
    assert_eq!(archive.keys("news -#spam").await, ["plain"]);
    assert_eq!(archive.keys("news -@bob").await, ["plain"]);
    assert_eq!(archive.keys("news +#spam").await, ["tagged"]);
    assert_eq!(sorted(&archive.find("#spam").await), ["plain", "tagged"]);
}

/// Row: search, `prefix*`.
#[tokio::test]
async fn a_prefix_that_is_required_or_excluded_means_every_word() {
    let archive = Archive::new().await;
    let word = |n: u32| message(&format!("m{n:03}"), 1 + n % 28, &format!("letter rex{n:03}"));
    archive.put(&archive.home, "messages", &(0..100).map(word).collect::<Vec<_>>()).await;
    archive.put(&archive.home, "messages", &[message("other", 2, "letter")]).await;
    assert_eq!(archive.keys("letter -rex*").await, ["other"]);
    let ranking = archive.find("+rex*").await;
    assert_eq!((ranking.hits.len(), ranking.is_complete), (100, true));
    // Wished for, the most frequent are looked for, and that these are not all is said.
    let ranking = archive.find("rex*").await;
    assert_eq!((ranking.hits.len(), ranking.is_complete), (64, false));
    assert!(archive.find("rex00*").await.is_complete);
}

/// Row: no trace of what is outside a grant.
#[tokio::test]
async fn words_outside_a_grant_leave_the_words_of_a_prefix_as_they_are() {
    let (plain, crowded) = (Archive::new().await, Archive::new().await);
    let granted = |n: u32| message(&format!("in{n}"), 20, &format!("zebra rez{n:02}"));
    let hidden = |n: u32| {
        let words: Vec<_> = (0..25).map(|m| format!("rea{n}x{m}")).collect();
        message(&format!("out{n}"), 2, &words.join(" "))
    };
    let granted: Vec<_> = (0..30).map(granted).collect();
    plain.put(&plain.home, "messages", &granted).await;
    crowded.put(&crowded.home, "messages", &(0..900).map(hidden).collect::<Vec<_>>()).await;
    crowded.put(&crowded.home, "messages", &granted).await;
    let mut told = Vec::new();
    for archive in [&plain, &crowded] {
        let fields = ["id", "room", "author", "text", "sent_at"];
        let since = archive.grant(|grant| grant.stream("messages", &fields).since("2026-01-10")).await;
        let ranking = archive.rank(&since, asking("re*")).await;
        told.push((keys(&ranking), ranking.is_complete));
    }
    assert_eq!(told[0].0.len(), 30);
    assert_eq!(told[0], told[1]);
}

/// Row: `order=newest` shows what relevance shows, by time.
#[tokio::test]
async fn the_newest_are_counted_by_record() {
    let archive = archive(&[("other", "the invoice for storage")]).await;
    let spread = with(message("spread", 20, "please pay for storage"), json!({"caption": "Invoice 42"}));
    archive.put(&archive.home, "messages", &[spread]).await;
    let ranking = newest(&archive, "invoice storage").await;
    assert_eq!((keys(&ranking), ranking.is_complete), (vec!["spread".to_owned(), "other".to_owned()], true));
}

/// Row: counts say what they are worth.
#[tokio::test]
async fn what_the_newest_leave_out_is_said() {
    let archive = archive(&[("half", "storage"), ("whole", "invoice storage")]).await;
    let ranking = newest(&archive, "invoice storage").await;
    assert_eq!((keys(&ranking), ranking.is_complete), (vec!["whole".to_owned()], false));
    let ranking = newest(&archive, "storage").await;
    assert_eq!((ranking.hits.len(), ranking.is_complete), (2, true));
}

/// Row: bad input is bounded work.
#[tokio::test]
async fn the_newest_of_ten_thousand_words_are_found() {
    let archive = archive(&[("a", "word1 word2"), ("b", "nothing")]).await;
    let words: Vec<_> = (0..10_000).map(|n| format!("\"word{n} other{n}\"")).collect();
    assert_eq!(keys(&newest(&archive, &words.join(" ")).await), ["a"]);
}

/// Row: `order=newest` shows hits, not what only a name matches.
#[tokio::test]
async fn messages_by_somebody_named_do_not_push_the_subject_out_of_the_newest() {
    let archive = archive(&[("pottery", "the pottery class")]).await;
    let by_ben = |n: u32| {
        with(message(&format!("b{n}"), 2 + n % 26, &format!("number {n}")), json!({"author": "ben"}))
    };
    archive.put(&archive.home, "messages", &(0..300).map(by_ben).collect::<Vec<_>>()).await;
    assert_eq!(keys(&newest(&archive, "ben pottery").await), ["pottery"]);
    assert_eq!(newest(&archive, "ben").await.hits.len(), 250);
}

/// Row: search, phrases in any field.
#[tokio::test]
async fn a_quoted_name_finds_what_its_bearer_wrote() {
    let archive = archive(&[("other", "a letter from Bob to Smith")]).await;
    let by_bob = with(message("by", 9, "see you there"), json!({"author": "Bob Smith"}));
    archive.put(&archive.home, "messages", &[by_bob]).await;
    assert_eq!(archive.keys("\"Bob Smith\"").await, ["by"]);
    assert_eq!(archive.keys("from:\"Bob Smith\"").await, ["by"]);
}

/// Row: typo tolerance is said in the answer.
#[tokio::test]
async fn a_correction_names_a_word_that_somebody_wrote() {
    let archive =
        archive(&[("a", "some exercises before lunch"), ("b", "an exercise"), ("c", "one exercise")]).await;
    let ranking = archive.find("exercys").await;
    assert_eq!(ranking.hits.len(), 3);
    assert_eq!(ranking.corrected[0].used, "exercise");
}

/// Row: bad input is bounded work.
#[tokio::test]
async fn eight_words_are_corrected_at_most() {
    let archive = archive(&[("a", "harbour")]).await;
    let wrong: Vec<_> = (0..12).map(|n| format!("xqzwv{n}")).collect();
    assert!(archive.keys(&format!("{} harbuor", wrong.join(" "))).await.is_empty());
    assert_eq!(archive.keys(&format!("{} harbuor", wrong[..7].join(" "))).await, ["a"]);
}
