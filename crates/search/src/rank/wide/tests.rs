//! The wide pass finds what looking at every passage finds.

use std::collections::BTreeMap;
use std::sync::Arc;

use pdpp_access::{Authorizer, Sealer, SearchRequest};
use pdpp_evidence::parse_query;
use pdpp_store::{Admission, OnConflict, Store, WriteTarget};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::{FixedClock, SeededEntropy, client, grant, owner, sample};
use pdpp_wire::Instant;
use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};
use tantivy::schema::IndexRecordOption;

use super::*;
use crate::engine::SearchEngine;
use crate::index::Place;
use crate::rank::candidates::weighted_terms;
use crate::rank::groups::Groups;
use crate::rank::top::PlanTies;
use crate::rank::{Counts, Pace, Scopes};

/// From common to rare; some with the same stem.
const WORDS: [&str; 12] = [
    "tide",
    "tides",
    "harbour",
    "ferry",
    "crane",
    "lantern",
    "choir",
    "hoses",
    "hose",
    "quay",
    "rehearsal",
    "anna",
];

fn manifest() -> Manifest {
    let text = json!({"type": "string"});
    let document = json!({
        "protocol_version": "0.1.0", "connector_key": "talk", "version": "1", "display_name": "Talk",
        "streams": [{
            "name": "messages", "description": "What was said.", "semantics": "mutable_state",
            "primary_key": ["id"], "cursor_field": "sent_at", "consent_time_field": "sent_at",
            "selection": {"fields": true, "resources": true},
            "schema": {"type": "object", "required": ["id"], "properties": {
                "id": text, "text": {"type": "string", "x_pdpp_role": "body"}, "caption": text,
                "author": {"type": "string", "x_pdpp_role": "actor"},
                "sent_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
            }},
            "query": {"search": {"lexical_fields": ["text", "caption", "author"]}},
        }],
    });
    Manifest::parse(&document.to_string()).unwrap()
}

struct Dice(u32);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % bound
    }

    /// The later words are the rarer ones.
    fn word(&mut self) -> &'static str {
        let most = 1 + self.below(12);
        WORDS[self.below(most) as usize]
    }

    fn words(&mut self, most: u32) -> String {
        (0..=self.below(most)).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// Now and then one word, or two, over and over: no passage has more of what a word can give.
    fn text(&mut self) -> String {
        if self.below(4) > 0 {
            return self.words(30);
        }
        let (one, other, times) = (self.word(), self.word(), 1 + self.below(40) as usize);
        let both = if self.below(2) == 0 { format!("{one} {other} ") } else { format!("{one} ") };
        both.repeat(times)
    }
}

/// Messages in several segments, some of them written twice.
async fn archive(dice: &mut Dice) -> (Arc<dyn Store>, SearchEngine) {
    let options = Options::new(Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()));
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory(options).unwrap());
    let manifest = manifest();
    store.put_manifest(&sample::subject(), &manifest, OnConflict::Refuse).await.unwrap();
    let made = store.create_connection(&sample::subject(), manifest.key(), None).await.unwrap();
    let target = WriteTarget {
        subject_id: sample::subject(),
        connection_id: made.unwrap().connection_id,
        stream: "messages".parse().unwrap(),
    };
    let admission = Admission::new(manifest.find_stream("messages").unwrap()).unwrap();
    let engine = SearchEngine::open(Place::Memory, store.clone()).unwrap();
    for _ in 0..3 {
        let mut record = |_| -> Value {
            let (number, day) = (dice.below(900), 1 + dice.below(9));
            json!({
                "id": format!("m{number}"), "text": dice.text(), "caption": dice.words(6),
                "author": (if dice.below(9) == 0 { "anna" } else { "ben" }),
                "sent_at": format!("2026-01-{day:02}T10:00:00Z"),
            })
        };
        let records: Vec<_> = (0..400).map(&mut record).collect();
        let at = Instant::parse("2026-01-01").unwrap();
        let admitted = records.iter().map(|data| admission.upsert(&data["id"], data.clone(), at).unwrap());
        store.apply(&target, admitted.collect()).await.unwrap();
        engine.catch_up().await.unwrap();
    }
    (store, engine)
}

/// Every passage with what all its words give it, in the query's order.
fn scores(view: &View<'_>, terms: &[WeightedTerm<'_>]) -> BTreeMap<DocAt, f64> {
    let mut scores = BTreeMap::new();
    for field in 0..view.scopes.fields.len() {
        let mut shares: BTreeMap<DocAt, Vec<f64>> = BTreeMap::new();
        let words = Words::of(view, terms, field);
        for word in &words.0 {
            for number in 0..view.segments.all().len() {
                let Some(mut blocks) = word.term.blocks(view, number, IndexRecordOption::WithFreqs).unwrap()
                else {
                    continue;
                };
                let lengths = &view.segments.all()[number].lengths;
                while !blocks.docs().is_empty() {
                    for (doc, times) in blocks.docs().iter().zip(blocks.freqs()) {
                        let norm = Norms::all().of(lengths.fieldnorm_id(*doc));
                        let at = DocAt { segment: number, doc: *doc };
                        let shares = shares.entry(at).or_insert_with(|| vec![0.0; words.0.len()]);
                        shares[word.place] = word.share(*times, norm);
                    }
                    blocks.advance();
                }
            }
        }
        scores.extend(shares.into_iter().map(|(at, shares)| (at, shares.iter().sum())));
    }
    scores
}

#[tokio::test]
async fn the_best_are_those_that_looking_at_every_passage_finds() {
    let mut dice = Dice(11);
    let (store, engine) = archive(&mut dice).await;
    let catalogue = store.catalogue(&sample::subject()).await.unwrap();
    let narrow = grant(&catalogue.sources[0]).stream("messages", &["id", "text", "sent_at"]);
    let narrow = client(&[narrow.since("2026-01-04T00:00:00Z").build()]);
    let counts = Counts::default();
    // How often something had to be left out.
    let mut pruned = 0;
    for round in 0..600 {
        let principal = if round % 3 == 0 { &narrow } else { &owner(&sample::subject()) };
        let q = dice.words(5);
        let request = SearchRequest { q: q.clone(), limit: 10, ..SearchRequest::default() };
        let plan = Authorizer::new(principal, &catalogue).search(&request, &Sealer::new(&[7; 32])).unwrap();
        let segments = engine.core.opened().segments();
        let view = View::new(segments, &counts, Scopes::new(&plan, None)).unwrap();
        let groups = Groups::resolve(&view, &parse_query(&q).clauses, Pace::Long).unwrap().unwrap().all;
        let terms: Vec<_> = weighted_terms(&view, &groups).collect();
        let admits = |at| view.part(at).is_some_and(|part| view.is_granted(part, at));
        let all = scores(&view, &terms);
        for limit in [1, 7, 40, 2_000] {
            let mut expected = Top::new(limit, PlanTies(&view));
            for (at, score) in all.iter().filter(|(at, _)| admits(**at)) {
                expected.offer(*score, *at);
            }
            let expected = sorted(expected);
            let mut top = Top::new(limit, PlanTies(&view));
            offer_best(&view, &terms, |_| 0..DocId::MAX, &mut top, admits).unwrap();
            assert_eq!(sorted(top), expected, "{q}, {limit}");
            pruned += usize::from(!expected.1);
        }
    }
    assert!(pruned > 1_200, "{pruned}");
}

fn sorted(top: Top<PlanTies<'_>>) -> (Vec<(u64, DocAt)>, bool) {
    let (docs, is_all) = top.docs();
    let mut docs: Vec<_> = docs.into_iter().map(|(score, at)| (score.to_bits(), at)).collect();
    docs.sort_unstable_by(|one, other| other.cmp(one));
    (docs, is_all)
}
