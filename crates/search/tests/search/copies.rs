//! Which records are one hit because they say the same, and which are not.

use pdpp_testkit::owner;
use serde_json::{Value, json};

use crate::support::{Archive, Ranked, asking, keys, message, with};

const LETTER: &str = "Dear all, the boiler in the basement will be repaired next week, so there will be no warm \
    water from early morning until the afternoon. Please fill a kettle the evening before.";

fn note(id: &str, title: &str, body: &str) -> Value {
    json!({ "id": id, "title": title, "body": body })
}

/// What the owner finds among these notes.
async fn found(notes: &[Value], q: &str) -> Ranked {
    let archive = Archive::new().await;
    archive.put(&archive.home, "notes", notes).await;
    archive.find(q).await
}

#[track_caller]
fn check_apart(ranking: &Ranked, count: usize) {
    assert_eq!(ranking.hits.len(), count, "{:?}", keys(ranking));
    assert!(ranking.hits.iter().all(|hit| hit.duplicates == 0), "{:?}", ranking.hits);
}

#[track_caller]
fn check_folded(ranking: &Ranked, count: u32) {
    let duplicates: Vec<_> = ranking.hits.iter().map(|hit| hit.duplicates).collect();
    assert_eq!(duplicates, [count - 1], "{:?}", keys(ranking));
}

const SUBJECT: &str = "Re: Plan for the summer trip to Malta";

/// Decision 0006: letters under one long subject are as many hits as there are letters.
#[tokio::test]
async fn letters_under_one_subject_stay_apart() {
    let bodies = [
        "I would take the early ferry, because the heat at noon is hard on the children.",
        "My passport runs out in May; can somebody tell me how long a new one takes?",
        "Grandmother cannot walk far, so the hotel should be close to the harbour.",
        "Yes.",
        "No.",
        "Count me in!",
        "",
    ];
    let notes: Vec<_> = (1..).zip(bodies).map(|(n, body)| note(&format!("n{n}"), SUBJECT, body)).collect();
    check_apart(&found(&notes, "summer trip Malta").await, bodies.len());
}

/// Decision 0006: a conversation and what was said in it are two things, whatever they are called.
#[tokio::test]
async fn records_of_two_streams_stay_apart() {
    let archive = Archive::new().await;
    archive.put(&archive.home, "notes", &[note("n", LETTER, "")]).await;
    archive.put(&archive.home, "messages", &[message("m", 1, LETTER)]).await;
    check_apart(&archive.find("boiler").await, 2);
}

#[tokio::test]
async fn copies_in_two_connections_of_a_stream_are_one_hit() {
    let archive = Archive::new().await;
    for connection in [&archive.home, &archive.work] {
        archive.put(connection, "notes", &[note("n", "Boiler", LETTER)]).await;
    }
    check_folded(&archive.find("boiler").await, 2);
}

/// Decision 0006: a letter that came again under a subject that says so is a copy.
#[tokio::test]
async fn what_was_answered_or_passed_on_keeps_its_subject() {
    let subjects = ["No warm water", "Re: No warm water", "AW: Fwd: no warm water", "RE[2]: No warm water"];
    let notes: Vec<_> = (1..).zip(subjects).map(|(n, title)| note(&format!("n{n}"), title, LETTER)).collect();
    check_folded(&found(&notes, "boiler").await, 4);
    let long: Vec<_> = (1..)
        .zip([SUBJECT, "Plan for the summer trip to Malta"])
        .map(|(n, title)| note(&format!("n{n}"), title, LETTER))
        .collect();
    check_folded(&found(&long, "Malta").await, 2);
}

/// Decision 0006: letters that differ in a short subject are not copies, and least of all in its number.
#[tokio::test]
async fn a_title_of_its_own_keeps_a_record_apart() {
    let titles = ["Order 4711", "Order 4712", "Boiler", "Warm water", ""];
    let notes: Vec<_> = (1..).zip(titles).map(|(n, title)| note(&format!("n{n}"), title, LETTER)).collect();
    check_apart(&found(&notes, "kettle").await, titles.len());
    // Beside a long text a short title is little, but its number is not.
    let long: Vec<_> = (0..60).map(|n| format!("Sentence {n} is about the lighthouse.")).collect();
    let named = |titles: [&str; 2]| {
        let notes = (1..).zip(titles).map(|(n, title)| note(&format!("n{n}"), title, &long.join(" ")));
        notes.collect::<Vec<_>>()
    };
    check_folded(&found(&named(["Light", "Tower"]), "lighthouse").await, 2);
    check_apart(&found(&named(["Draft 4711", "Draft 4712"]), "lighthouse").await, 2);
}

/// Decision 0006: fields beside the text may differ, as long as they say little and no number is another.
#[tokio::test]
async fn what_describes_a_copy_may_differ_a_little() {
    let archive = Archive::new().await;
    let long = "a photograph of the old boiler with a hand-written label on its left side, taken by the plumber on \
        his last visit";
    let captions = ["inbox", "sent, house", "room 4", "room 5", long];
    let messages: Vec<_> = (1..)
        .zip(captions)
        .map(|(n, caption)| with(message(&format!("m{n}"), n, LETTER), json!({ "caption": caption })))
        .collect();
    archive.put(&archive.home, "messages", &messages[..2]).await;
    check_folded(&archive.find("kettle").await, 2);
    archive.put(&archive.home, "messages", &messages[2..]).await;
    archive.delete(&archive.home, "m1").await;
    archive.delete(&archive.home, "m2").await;
    check_apart(&archive.find("kettle").await, 3);
}

/// Decision 0006: what a reader may not see neither makes two records one nor keeps them apart.
#[tokio::test]
async fn only_what_may_be_seen_tells_copies() {
    let archive = Archive::new().await;
    let notes: Vec<_> = (1..)
        .zip(["one thing", "another thing", "a third"])
        .map(|(n, body)| note(&format!("n{n}"), SUBJECT, body))
        .collect();
    archive.put(&archive.home, "notes", &notes).await;
    check_apart(&archive.rank(&owner(&archive.subject_id), asking("Malta")).await, 3);
    let titles = archive.grant(|grant| grant.stream("notes", &["id", "title"])).await;
    check_folded(&archive.rank(&titles, asking("Malta")).await, 3);
}
