//! A page is the beginning of the whole ranking, however much of it was worked out.

use pdpp_access::Principal;
use pdpp_evidence::parse_query;
use pdpp_store::{RankedHit, Search, SearchIndex as _};
use pdpp_testkit::owner;
use serde_json::{Value, json};

use crate::support::{Archive, asking, message, with};

const WORDS: u32 = 160;
const RECORDS: u32 = 4_000;

struct Dice(u32);

impl Dice {
    fn roll(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % below
    }

    /// Some words that are often said together.
    fn subject(&mut self) -> String {
        let first = self.roll(40) * 4;
        (0..3 + self.roll(2)).map(|place| format!("w{}o", first + place)).collect::<Vec<_>>().join(" ")
    }

    /// The later words are the rarer ones.
    fn word(&mut self) -> String {
        let most = 1 + self.roll(WORDS);
        format!("w{}o", self.roll(most))
    }
}

/// Talk in few rooms, mostly short, so that what a neighbour lends often decides; here and there somebody repeats what
/// was said.
fn talk(dice: &mut Dice) -> Vec<Value> {
    let mut said: Vec<String> = Vec::new();
    let message = |number: u32| {
        let text = match dice.roll(12) {
            0 | 4 if !said.is_empty() => said[dice.roll(number) as usize].clone(),
            1 => (0..40).map(|_| dice.word()).collect::<Vec<_>>().join(" "),
            2 | 3 => dice.subject(),
            _ => (0..=dice.roll(7)).map(|_| dice.word()).collect::<Vec<_>>().join(" "),
        };
        said.push(text.clone());
        let at = format!("2026-01-{:02}T10:{:02}:00Z", 1 + number % 28, number / 28 % 60);
        let room = json!({"room": format!("r{}", dice.roll(12)), "author": format!("p{}", dice.roll(20)), "sent_at": at});
        with(message(&format!("m{number}"), 1, &text), room)
    };
    (0..RECORDS).map(message).collect()
}

/// The first page, as it is shown and without asking for more.
async fn page(archive: &Archive, principal: &Principal, q: &str, explain: bool) -> Vec<RankedHit> {
    let plan = archive.plan(principal, asking(q)).await;
    let query = parse_query(q);
    let ranking =
        archive.engine.rank(Search { plan: &plan, query: &query, only: None, explain }).await.unwrap();
    let hits = ranking.hits.read(0..25).unwrap();
    hits.into_iter().map(|hit| RankedHit { explanation: None, ..hit }).collect()
}

#[tokio::test]
async fn a_page_is_the_same_whether_all_neighbours_were_scored_or_few() {
    let archive = Archive::new().await;
    let mut dice = Dice(11);
    let talk = talk(&mut dice);
    archive.put(&archive.home, "messages", &talk).await;
    archive.engine.catch_up().await.unwrap();
    let narrow = archive
        .grant(|grant| {
            grant.stream("messages", &["id", "room", "author", "text", "sent_at"]).since("2026-01-15")
        })
        .await;
    let mut lent = 0;
    for number in 0..240 {
        let mut words: Vec<_> = (0..=number % 4).map(|_| dice.word()).collect();
        match number % 8 {
            0..4 => words = vec![dice.subject()],
            4 => words.push(dice.subject()),
            6 => words.push(format!("p{}", number % 20)),
            7 => words.push("nowhere".to_owned()),
            _ => {}
        }
        let q = words.join(" ");
        for principal in [&owner(&archive.subject_id), &narrow] {
            // Explained, every hit is scored with all there is.
            let whole = page(&archive, principal, &q, true).await;
            assert_eq!(page(&archive, principal, &q, false).await, whole, "{q}");
            lent += whole.iter().filter(|hit| hit.passages.is_empty()).count();
        }
    }
    assert!(lent > 100, "only {lent} hits stand beside a match");
}
