//! The order of hits.

use pdpp_access::SearchRequest;
use pdpp_testkit::owner;
use serde_json::json;

use crate::support::{Archive, asking, key, keys, message, with};

fn in_room(id: &str, minute: u32, text: &str) -> serde_json::Value {
    with(message(id, 1, text), json!({"room": "r", "sent_at": format!("2026-01-01T10:{minute:02}:00Z")}))
}

#[tokio::test]
async fn an_answer_is_found_beside_its_question() {
    let archive = Archive::new().await;
    let talk = [
        in_room("q", 1, "Which museum did you visit in Lisbon?"),
        in_room("a", 2, "The one with the tiles."),
        in_room("b", 3, "I see."),
        in_room("c", 4, "Dinner at eight then?"),
        in_room("d", 5, "Yes."),
        in_room("e", 6, "Fine."),
    ];
    archive.put(&archive.home, "messages", &talk).await;
    let ranking = archive.find("museum Lisbon").await;
    assert_eq!(keys(&ranking), ["q", "a", "b", "c", "d"]);
    assert!(ranking.hits[1].passages.is_empty());
    assert!(ranking.hits[1].score < ranking.hits[0].score * 0.6);
}

#[tokio::test]
async fn neighbours_change_with_the_thread() {
    let archive = Archive::new().await;
    archive.put(&archive.home, "messages", &[in_room("q", 1, "museum"), in_room("a", 5, "tiles")]).await;
    assert_eq!(archive.keys("museum").await, ["q", "a"]);
    let between =
        [in_room("w", 2, "hm"), in_room("x", 2, "ah"), in_room("y", 3, "well"), in_room("z", 4, "so")];
    archive.put(&archive.home, "messages", &between).await;
    assert_eq!(archive.keys("museum").await, ["q", "w", "x", "y", "z"]);
    archive.delete(&archive.home, "x").await;
    assert_eq!(archive.keys("museum").await, ["q", "w", "y", "z", "a"]);
    archive
        .put(&archive.home, "messages", &[with(in_room("q", 1, "museum"), json!({"room": "other"}))])
        .await;
    assert_eq!(archive.keys("museum").await, ["q"]);
}

#[tokio::test]
async fn somebody_named_lifts_what_they_wrote() {
    let archive = Archive::new().await;
    let by =
        |id: &str, day, author: &str| with(message(id, day, "the pottery class"), json!({"author": author}));
    let fill = |n: u32| with(message(&format!("f{n}"), 1, "nothing much"), json!({"author": "carla"}));
    archive.put(&archive.home, "messages", &[by("a", 3, "anna"), by("b", 2, "ben")]).await;
    archive.put(&archive.home, "messages", &(0..20).map(fill).collect::<Vec<_>>()).await;
    assert_eq!(archive.keys("Ben pottery").await[0], "b");
    assert_eq!(archive.keys("ben").await, ["b"]);
}

#[tokio::test]
async fn a_query_that_stands_word_for_word_comes_first() {
    let archive = Archive::new().await;
    let texts = ["key to the red door, door, red", "lost the red door key yesterday", "red key"];
    let messages: Vec<_> = (1..).zip(texts).map(|(n, text)| message(&format!("m{n}"), n, text)).collect();
    archive.put(&archive.home, "messages", &messages).await;
    assert_eq!(archive.keys("the red door key").await[0], "m2");
}

#[tokio::test]
async fn records_that_say_the_same_are_counted_into_one() {
    let archive = Archive::new().await;
    let text = "Reminder: the garden meeting is on Friday evening";
    let messages: Vec<_> = (1..5).map(|n| message(&format!("m{n}"), n, text)).collect();
    archive.put(&archive.home, "messages", &messages).await;
    let ranking = archive.find("garden meeting").await;
    assert_eq!((keys(&ranking), ranking.hits[0].duplicates), (vec!["m4".to_owned()], 3));
}

const LETTER: &str = "Dear all, the boiler in the basement will be repaired next week, so there will be no warm \
    water from early morning until the afternoon. Please fill a kettle the evening before.";

#[tokio::test]
async fn quoted_and_forwarded_copies_are_counted_into_one() {
    let archive = Archive::new().await;
    let quoted =
        format!("Thanks!\n\nOn Mon, 5 May 2025 at 10:03, Anna <anna@example.org> wrote:\n> {LETTER}");
    let forwarded = format!(
        "---------- Forwarded message ---------\nFrom: Anna <anna@example.org>\nDate: Mon, 5 May 2025\n\n{LETTER}"
    );
    let mistyped = LETTER.replace("kettle", "ketle");
    let texts = [LETTER, &quoted, &forwarded, &mistyped];
    let messages: Vec<_> = (1..).zip(texts).map(|(n, text)| message(&format!("m{n}"), n, text)).collect();
    archive.put(&archive.home, "messages", &messages).await;
    let ranking = archive.find("boiler basement").await;
    assert_eq!((ranking.hits.len(), ranking.hits[0].duplicates), (1, 3), "{:?}", keys(&ranking));
    // A word that only one of them has is never hidden by another.
    assert_eq!(keys(&archive.find("ketle").await), ["m4"]);
    let both = archive.find("boiler ketle").await;
    assert_eq!((both.hits[0].key.as_str(), both.hits[0].duplicates), ("m4", 3));
    assert_eq!(archive.find("boiler thanks").await.hits[0].key.as_str(), "m2");
}

#[tokio::test]
async fn records_on_one_subject_stay_apart() {
    let archive = Archive::new().await;
    let answered = format!(
        "I shall be away the whole of that week, and my sister has the key. Could the plumber please ring her bell \
         on the second floor, and not before nine, because she works at night?\nAnna wrote:\n> {LETTER}"
    );
    let order = |number: u32| {
        format!(
            "Thank you for buying a boiler. Your order {number} has left our warehouse today and will be with you in \
             a few days. You can follow it on its way with the link below."
        )
    };
    let texts = [LETTER.to_owned(), answered, order(4_711), order(815), order(1_234)];
    let messages: Vec<_> = (1..).zip(&texts).map(|(n, text)| message(&format!("m{n}"), n, text)).collect();
    archive.put(&archive.home, "messages", &messages).await;
    let ranking = archive.find("boiler").await;
    assert_eq!(ranking.hits.len(), 5);
    assert!(ranking.hits.iter().all(|hit| hit.duplicates == 0));
}

#[tokio::test]
async fn a_long_copy_is_known_wherever_its_passages_begin() {
    let archive = Archive::new().await;
    let sentences: Vec<_> =
        (0..120).map(|n| format!("Sentence {n} is about the lighthouse and item {}.", n * 7)).collect();
    let text = sentences.join(" ");
    let note = |id: &str, body: String| json!({"id": id, "title": id, "body": body});
    let longer = format!("This is what he sent me last summer, for you to read at leisure. {text}");
    // Half of its pairs of words are others: well below the three quarters that make a copy.
    let another = text.replace("lighthouse", "harbour wall, and of course not the old lighthouse,");
    archive.put(&archive.home, "notes", &[note("a", text), note("b", longer), note("c", another)]).await;
    let ranking = archive.find("lighthouse").await;
    let duplicates: Vec<_> = ranking.hits.iter().map(|hit| hit.duplicates).collect();
    assert_eq!(duplicates, [1, 0], "{:?}", keys(&ranking));
}

#[tokio::test]
async fn newest_first_is_by_time() {
    let archive = Archive::new().await;
    let messages =
        [message("a", 1, "apple apple"), message("b", 9, "an apple and much else"), message("c", 5, "apple")];
    archive.put(&archive.home, "messages", &messages).await;
    let request = SearchRequest { order: Some("newest".to_owned()), ..asking("apple") };
    assert_eq!(keys(&archive.rank(&owner(&archive.subject_id), request).await), ["b", "c", "a"]);
}

#[tokio::test]
async fn a_long_field_says_where_it_matched() {
    let archive = Archive::new().await;
    let filler = "Rain on the roof, wind in the ropes, and nobody at the door. ";
    let text =
        format!("{}The key lies under the third flowerpot. {}", filler.repeat(150), filler.repeat(150));
    archive.put(&archive.home, "notes", &[json!({"id": "n", "title": "Rain", "body": text})]).await;
    let ranking = archive.find("flowerpot").await;
    let passage = ranking.hits[0].passages[0];
    let stretch: String =
        text.chars().skip(passage.start_chars).take(passage.end_chars - passage.start_chars).collect();
    assert!(stretch.contains("third flowerpot") && stretch.len() < 1_600);
    assert_eq!(passage.field, 1);
    assert!(archive.find("rain").await.hits[0].passages.len() == 3);
}

#[tokio::test]
async fn nested_fields_are_searched() {
    let archive = Archive::new().await;
    let one = with(message("a", 1, "hello"), json!({"meta": {"topic": "astronomy", "other": "geology"}}));
    archive.put(&archive.home, "messages", &[one]).await;
    assert_eq!(archive.keys("astronomy").await, ["a"]);
    assert!(archive.keys("geology").await.is_empty());
}

#[tokio::test]
async fn only_named_records_are_hits_when_that_is_asked() {
    let archive = Archive::new().await;
    archive.put(&archive.home, "messages", &[message("a", 1, "apple"), message("b", 2, "apple")]).await;
    let plan = archive.plan(&owner(&archive.subject_id), asking("apple")).await;
    let part = plan.parts().iter().position(|part| {
        part.part().connection_id() == &archive.home && part.read().stream().as_str() == "messages"
    });
    let only = [(part.unwrap(), key("a"))];
    let query = pdpp_evidence::parse_query("apple");
    let search = pdpp_store::Search { plan: &plan, query: &query, only: Some(&only), explain: false };
    assert_eq!(keys(&archive.run(search).await), ["a"]);
}
