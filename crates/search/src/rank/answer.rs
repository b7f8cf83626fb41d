//! Puts scored records in order, once each, and says why.

use std::cmp::Ordering;
use std::collections::HashMap;

use pdpp_access::SearchOrder;
use serde_json::{Value, json};

use super::View;
use super::bonus::Bonuses;
use super::credit::{Credits, PassageCredit, RecordCredit};
use super::digest::ByDigest;
use super::groups::Group;
use super::hits::{LaterHits, MAX_PASSAGES, UnnamedHit};

/// The most hits of a ranking.
const MAX_HITS: usize = 500;
/// What the month or year a query names counts for a record whose own time it is, beside the word itself.
const DATED: f64 = 0.9;
/// For a record by somebody the query names.
const AUTHOR: f64 = 0.8;

pub(crate) struct Answer<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) groups: &'a [Group],
    pub(crate) credits: &'a Credits,
    pub(crate) bonuses: &'a Bonuses,
    pub(crate) order: SearchOrder,
}

/// A record in its place.
struct Placed<'a> {
    index: usize,
    credit: &'a RecordCredit,
    score: f64,
    time: Option<i64>,
    duplicates: u32,
}

impl Answer<'_> {
    /// The hits, and whether some were left out.
    pub(crate) fn hits(&self, explain: bool) -> (LaterHits, bool) {
        let placed = self.credits.records.iter().enumerate();
        let placed = placed.map(|(index, credit)| self.place(index, credit));
        let mut placed: Vec<_> = placed.filter(|placed| placed.score > 0.0).collect();
        placed.sort_unstable_by(|one, other| {
            self.compare(one, other).then(one.credit.record.cmp(&other.credit.record))
        });
        let mut scored = Vec::new();
        let mut placed = self.fold(placed, &mut scored);
        let is_cut = placed.len() > MAX_HITS;
        placed.truncate(MAX_HITS);
        let mut hits = LaterHits::new(self.view.segments.clone(), placed.len());
        for (index, one) in placed.iter().enumerate() {
            // Records the order leaves equal are told apart by their key, which is not known yet.
            let is_tied = index > 0 && self.compare(&placed[index - 1], one) == Ordering::Equal;
            let mut passages = [None; MAX_PASSAGES];
            self.matching(one.credit, &mut scored);
            for (passage, (_, at)) in passages.iter_mut().zip(&scored) {
                let PassageCredit { at, field } = &self.credits.passages[*at];
                let field = u32::try_from(self.view.scopes.fields[*field].field);
                *passage = field.ok().map(|field| (field, at.doc));
            }
            let hit = UnnamedHit {
                at: one.credit.at,
                score: one.score,
                passages,
                duplicates: one.duplicates,
                explanation: explain.then(|| Box::new(self.explain(one))),
            };
            hits.push(one.credit.part, hit, is_tied);
        }
        (hits, is_cut)
    }

    fn place<'c>(&self, index: usize, credit: &'c RecordCredit) -> Placed<'c> {
        let segment = self.view.segments.segment(credit.at);
        let time = segment.time(credit.at.doc).filter(|_| self.view.scopes.parts[credit.part].tells_time);
        let counts =
            self.groups.iter().enumerate().map(|(number, group)| self.counts(index, number, group, time));
        let total: f64 = counts.sum();
        let score = total * author(credit) * self.verbatim(credit) * self.bonuses.time.factor(time);
        Placed { index, credit, score, time, duplicates: 0 }
    }

    /// The record's passages that match, best first.
    fn matching(&self, credit: &RecordCredit, scored: &mut Vec<(f64, usize)>) {
        scored.clear();
        let all = credit.passages.clone().map(|at| (self.passage_score(at), at));
        scored.extend(all.filter(|(score, _)| *score > 0.0));
        if scored.len() > 1 {
            scored.sort_by(|(score, one), (more, other)| {
                more.total_cmp(score).then_with(|| self.passage_place(*one).cmp(&self.passage_place(*other)))
            });
        }
    }

    /// What a word counts: as it stands in the record, or as its date says it.
    fn counts(&self, record: usize, number: usize, group: &Group, time: Option<i64>) -> f64 {
        let told = self.bonuses.time.is_told_by(time, &group.text);
        let credit = self.credits.own(record)[number].max(self.credits.lent(record)[number]);
        credit.max(if told { DATED * group.idf } else { 0.0 })
    }

    fn verbatim(&self, credit: &RecordCredit) -> f64 {
        let verbatim = &self.bonuses.verbatim;
        let has = |at: usize| verbatim.docs.contains_key(&self.credits.passages[at].at);
        if !verbatim.docs.is_empty() && credit.passages.clone().any(has) { verbatim.factor() } else { 1.0 }
    }

    fn passage_score(&self, at: usize) -> f64 {
        let passage = &self.credits.passages[at];
        let scope = &self.view.scopes.fields[passage.field];
        let given = self.credits.shares(at).iter().zip(self.groups).map(|(share, group)| share * group.idf);
        let total = given.sum::<f64>() * scope.weight;
        let is_verbatim = self.bonuses.verbatim.docs.contains_key(&passage.at);
        if is_verbatim { total * self.bonuses.verbatim.factor() } else { total }
    }

    fn passage_place(&self, at: usize) -> (usize, u64) {
        let passage = &self.credits.passages[at];
        let start = self.view.segments.segment(passage.at).stretch(passage.at.doc).0;
        (passage.field, start)
    }

    fn compare(&self, one: &Placed<'_>, other: &Placed<'_>) -> Ordering {
        let by_own = other.credit.own_total.total_cmp(&one.credit.own_total);
        let by_score = other.score.total_cmp(&one.score).then(by_own);
        let by_time = other.time.cmp(&one.time);
        let by_both = match self.order {
            SearchOrder::Relevance => by_score.then(by_time),
            SearchOrder::Newest => by_time.then(by_score),
        };
        by_both.then(one.credit.part.cmp(&other.credit.part))
    }

    /// Counts records that say the same into the first of them.
    fn fold<'c>(&self, placed: Vec<Placed<'c>>, scored: &mut Vec<(f64, usize)>) -> Vec<Placed<'c>> {
        let mut firsts: HashMap<u64, usize, ByDigest> =
            HashMap::with_capacity_and_hasher(placed.len(), ByDigest::default());
        let mut kept: Vec<Placed<'c>> = Vec::with_capacity(placed.len());
        for one in placed {
            self.matching(one.credit, scored);
            let best = scored.first().map(|(_, at)| self.credits.passages[*at].at);
            let print = best.map_or(0, |at| self.view.segments.segment(at).fingerprint(at.doc));
            match firsts.get(&print) {
                Some(first) if print != 0 => kept[*first].duplicates += 1,
                _ => {
                    firsts.insert(print, kept.len());
                    kept.push(one);
                }
            }
        }
        kept
    }

    fn explain(&self, one: &Placed<'_>) -> Value {
        let credit = one.credit;
        let words =
            self.groups.iter().enumerate().filter(|(_, group)| group.scores()).map(|(number, group)| {
                json!({
                    "word": group.text,
                    "passages_with_it": group.count,
                    "idf": group.idf,
                    "own": self.credits.own(one.index)[number],
                    "lent_by_neighbours": self.credits.lent(one.index)[number],
                    "counts": self.counts(one.index, number, group, one.time),
                })
            });
        json!({
            "score": one.score,
            "words": words.collect::<Vec<_>>(),
            "times": {
                "by_somebody_named": author(credit),
                "word_for_word": self.verbatim(credit),
                "of_the_month_named": self.bonuses.time.factor(one.time),
            },
            "passages_in_scope": self.view.passages,
        })
    }
}

fn author(credit: &RecordCredit) -> f64 {
    if credit.is_by_named { 1.0 + AUTHOR } else { 1.0 }
}
