//! Answers do not depend on how an index is cut into segments, nor on what a connection is called.

use std::sync::Arc;

use pdpp_access::Principal;
use pdpp_evidence::parse_query;
use pdpp_search::Place;
use pdpp_store::{Search, SearchIndex as _, Store};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::{FixedClock, SeededEntropy, owner};
use serde_json::{Value, json};

use crate::support::{Archive, asking, message, with};

const WORDS: [&str; 9] =
    ["tide", "harbour", "lantern", "choir", "crane", "ferry", "fee", "hose", "rehearsal"];
const RECORDS: u32 = 2_400;

/// A store whose ids come from this seed.
async fn archive(seed: u64) -> Archive {
    let options = Options::new(Arc::new(FixedClock::default()), Arc::new(SeededEntropy::new(seed)));
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory(options).unwrap());
    Archive::at(Place::Memory, store).await
}

/// Few words and few days, so that a great many passages have the same score at the same time.
fn records() -> Vec<Value> {
    let mut dice = 7_u32;
    let mut roll = |below: u32| {
        dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (dice >> 16) % below
    };
    (0..RECORDS)
        .map(|number| {
            let text: Vec<_> = (0..=roll(24)).map(|_| WORDS[roll(9) as usize]).collect();
            let day = 1 + roll(4);
            let room = json!({"room": format!("r{}", roll(40))});
            with(message(&format!("m{number}"), day, &text.join(" ")), room)
        })
        .collect()
}

/// The first page and how much there is, scores as bits.
async fn first_page(archive: &Archive, principal: &Principal, q: &str) -> Vec<String> {
    let plan = archive.plan(principal, asking(q)).await;
    let query = parse_query(q);
    let search = Search { plan: &plan, query: &query, only: None, explain: false };
    let ranking = archive.engine.rank(search).await.unwrap();
    let hits = ranking.hits.read(0..25).unwrap();
    let told = |hit: &pdpp_store::RankedHit| {
        format!("{} {:x} {:?} {}", hit.key, hit.score.to_bits(), hit.passages, hit.duplicates)
    };
    let counts = format!("{:?} {}", ranking.hits.counts(), ranking.is_complete);
    hits.iter().map(told).chain([counts]).collect()
}

#[tokio::test]
async fn the_same_records_have_the_same_answers_however_the_index_is_cut() {
    let (whole, cut) = (archive(1).await, archive(2).await);
    assert_ne!(whole.home, cut.home);
    let records = records();
    whole.put(&whole.home, "messages", &records).await;
    whole.engine.catch_up().await.unwrap();
    for batch in records.chunks(170).rev() {
        // First something else under the same keys, so that passages are deleted too.
        let other: Vec<_> = batch.iter().map(|one| with(one.clone(), json!({"text": "tide fee"}))).collect();
        for records in [&other[..batch.len() / 3], batch] {
            cut.put(&cut.home, "messages", records).await;
            cut.engine.catch_up().await.unwrap();
        }
    }
    let queries = (0..WORDS.len()).flat_map(|first| {
        (1..=5).map(move |count| {
            let words: Vec<_> = (0..count).map(|n| WORDS[(first + n * n + n) % WORDS.len()]).collect();
            words.join(" ")
        })
    });
    for q in queries {
        for since in [None, Some("2026-01-03")] {
            let mut pages = Vec::new();
            for archive in [&whole, &cut] {
                let principal = match since {
                    None => owner(&archive.subject_id),
                    Some(since) => {
                        let fields = ["id", "room", "author", "text", "sent_at"];
                        archive.grant(|grant| grant.stream("messages", &fields).since(since)).await
                    }
                };
                pages.push(first_page(archive, &principal, &q).await);
            }
            assert_eq!(pages[0], pages[1], "{q} since {since:?}");
        }
    }
}
