//! Nothing outside a plan is found, and nothing outside it changes what is.

use pdpp_access::{Principal, SearchRequest};
use serde_json::{Value, json};

use crate::support::{Archive, Ranked, asking, keys, message, with};

const GRANTED: [&str; 5] = ["id", "room", "author", "text", "sent_at"];

async fn narrow(archive: &Archive) -> Principal {
    let home = archive.home.clone();
    archive.grant(|grant| grant.stream("messages", &GRANTED).connections(&[&home]).since("2026-01-10")).await
}

async fn some_records(archive: &Archive) -> Principal {
    let home = archive.home.clone();
    let keys: Vec<_> = (0..60).step_by(3).map(|n| format!("in{n}")).collect();
    let keys: Vec<_> = keys.iter().map(String::as_str).collect();
    archive.grant(|grant| grant.stream("messages", &GRANTED).connections(&[&home]).resources(&keys)).await
}

fn inside() -> Vec<Value> {
    let words = ["apple", "pear", "plum", "ship", "the lake", "rain", "ferry boat"];
    (0..60_usize)
        .map(|n| {
            let text = format!("{} and {} number {n}", words[n % 7], words[(n * n + 3) % 7]);
            let day = 10 + u32::try_from(n % 20).unwrap();
            with(message(&format!("in{n}"), day, &text), json!({"room": format!("r{}", n % 4)}))
        })
        .collect()
}

/// Everything about a hit that a reader could tell apart, scores as bits.
fn told(ranking: &Ranked) -> Vec<String> {
    let hit = |hit: &pdpp_store::RankedHit| {
        format!("{} {} {:x} {:?} {}", hit.part, hit.key, hit.score.to_bits(), hit.passages, hit.duplicates)
    };
    let mut told: Vec<_> = ranking.hits.iter().map(hit).collect();
    told.push(format!("{} {:?}", ranking.is_complete, ranking.corrected));
    told
}

#[tokio::test]
async fn ungranted_fields_connections_times_and_records_never_match() {
    let archive = Archive::new().await;
    let early = message("early", 2, "apples");
    let secret = with(message("open", 12, "pears"), json!({"secret": "apples", "caption": "apples"}));
    archive.put(&archive.home, "messages", &[early, secret]).await;
    archive.put(&archive.work, "messages", &[message("elsewhere", 12, "apples")]).await;
    let principal = narrow(&archive).await;
    assert!(archive.rank(&principal, asking("apples")).await.hits.is_empty());
    assert_eq!(keys(&archive.rank(&principal, asking("pears")).await), ["open"]);
    let only = archive.grant(|grant| grant.stream("messages", &GRANTED).resources(&["early"])).await;
    assert_eq!(keys(&archive.rank(&only, asking("apples pears")).await), ["early"]);
}

#[tokio::test]
async fn a_request_narrows_hits_further() {
    let archive = Archive::new().await;
    archive.put(&archive.home, "messages", &[message("a", 12, "apples"), message("b", 20, "apples")]).await;
    let principal = narrow(&archive).await;
    let request = SearchRequest { since: Some("2026-01-15".to_owned()), ..asking("apples") };
    assert_eq!(keys(&archive.rank(&principal, request).await), ["b"]);
}

#[tokio::test]
async fn what_lies_outside_changes_no_bit_of_an_answer() {
    let (plain, crowded) = (Archive::new().await, Archive::new().await);
    plain.put(&plain.home, "messages", &inside()).await;
    // The same inside, in another order, in several commits, with others before, between and after.
    let mut shuffled = inside();
    shuffled.reverse();
    let outside = |n: u32| {
        let text = "apple ferry boat plum lake apple harbour";
        let in_room = |message| with(message, json!({"room": format!("r{}", n % 4)}));
        [
            in_room(message(&format!("out{n}"), 1 + n % 9, text)),
            in_room(message(&format!("gone{n}"), 12, text)),
        ]
    };
    for (n, batch) in (0..).zip(shuffled.chunks(13)) {
        crowded.put(&crowded.home, "messages", &outside(n)).await;
        crowded.put(&crowded.work, "messages", &outside(n + 100)).await;
        let hidden =
            |one: &Value| with(one.clone(), json!({"secret": "apple pear ferry", "caption": "plum ship"}));
        crowded.put(&crowded.home, "messages", &batch.iter().map(hidden).collect::<Vec<_>>()).await;
        crowded
            .put(&crowded.home, "notes", &[json!({"id": format!("n{n}"), "title": "apple", "body": "plum"})])
            .await;
        crowded.engine.catch_up().await.unwrap();
        crowded.delete(&crowded.home, &format!("gone{n}")).await;
        crowded.engine.catch_up().await.unwrap();
    }
    for (one, other) in [
        (narrow(&plain).await, narrow(&crowded).await),
        (some_records(&plain).await, some_records(&crowded).await),
    ] {
        compare((&plain, &one), (&crowded, &other)).await;
    }
}

async fn compare((plain, one): (&Archive, &Principal), (crowded, other): (&Archive, &Principal)) {
    let queries = [
        "apple",
        "apple pear",
        "ferry boat",
        "\"ferry boat\" plum",
        "the lake in the rain",
        "+plum ship -apple",
        "pl*",
        "harbuor",
        "aple",
        "anna rain",
        "number 7",
        "harbour",
        "plum January 2026",
        "apple pear plum ship",
    ];
    for q in queries {
        for order in [None, Some("newest".to_owned())] {
            let request = SearchRequest { order, ..asking(q) };
            let (told_one, told_other) =
                (told(&plain.rank(one, request.clone()).await), told(&crowded.rank(other, request).await));
            assert_eq!(told_one, told_other, "{q}");
        }
    }
}
