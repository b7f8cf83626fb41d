//! Puts scored records in order, once each, and says why.

use std::cmp::Ordering;
use std::collections::HashMap;

use pdpp_access::SearchOrder;
use pdpp_store::{Passage, RankedHit};
use serde_json::{Value, json};

use super::View;
use super::bonus::Bonuses;
use super::credit::{Credits, RecordCredit};
use super::groups::Group;
use crate::SearchError;

/// The most hits of a ranking.
const MAX_HITS: usize = 500;
/// The most passages of a hit.
const MAX_PASSAGES: usize = 3;
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
    credit: &'a RecordCredit,
    score: f64,
    time: Option<i64>,
    /// Its passages that match, best first.
    passages: Vec<usize>,
    duplicates: u32,
}

impl Answer<'_> {
    /// The hits, and whether some were left out.
    pub(crate) fn hits(&self, explain: bool) -> Result<(Vec<RankedHit>, bool), SearchError> {
        let placed = self.credits.records.iter().map(|credit| self.place(credit));
        let mut placed: Vec<_> = placed.filter(|placed| placed.score > 0.0).collect();
        placed
            .sort_by(|one, other| self.compare(one, other).then(one.credit.record.cmp(&other.credit.record)));
        let mut placed = self.fold(placed);
        let is_cut = placed.len() > MAX_HITS;
        placed.truncate(MAX_HITS);
        let mut hits = Vec::with_capacity(placed.len());
        for one in &placed {
            let key = self.view.segments.segment(one.credit.at).key(one.credit.at.doc)?;
            hits.extend(key.map(|key| (one, key)));
        }
        // Records the order leaves equal are told apart by their key, which is known only now.
        hits.sort_by(|(one, key), (other, its_key)| self.compare(one, other).then_with(|| key.cmp(its_key)));
        let hits = hits.into_iter().map(|(one, key)| RankedHit {
            part: one.credit.part,
            key,
            score: one.score,
            passages: one.passages.iter().take(MAX_PASSAGES).map(|at| self.passage(*at)).collect(),
            duplicates: one.duplicates,
            explanation: explain.then(|| self.explain(one)),
        });
        Ok((hits.collect(), is_cut))
    }

    fn place<'c>(&self, credit: &'c RecordCredit) -> Placed<'c> {
        let segment = self.view.segments.segment(credit.at);
        let time = segment.time(credit.at.doc).filter(|_| self.view.scopes.parts[credit.part].tells_time);
        let counts =
            self.groups.iter().enumerate().map(|(number, group)| self.counts(credit, number, group, time));
        let total: f64 = counts.sum();
        let mut passages: Vec<_> =
            credit.passages.iter().copied().filter(|at| self.passage_score(*at) > 0.0).collect();
        passages.sort_by(|one, other| {
            let by_score = self.passage_score(*other).total_cmp(&self.passage_score(*one));
            by_score.then_with(|| self.passage_place(*one).cmp(&self.passage_place(*other)))
        });
        let score = total * author(credit) * self.verbatim(credit) * self.bonuses.time.factor(time);
        Placed { credit, score, time, passages, duplicates: 0 }
    }

    /// What a word counts: as it stands in the record, or as its date says it.
    fn counts(&self, credit: &RecordCredit, number: usize, group: &Group, time: Option<i64>) -> f64 {
        let told = self.bonuses.time.is_told_by(time, &group.text);
        credit.credit(number).max(if told { DATED * group.idf } else { 0.0 })
    }

    fn verbatim(&self, credit: &RecordCredit) -> f64 {
        let verbatim = &self.bonuses.verbatim;
        let has = |at: &usize| verbatim.docs.contains_key(&self.credits.passages[*at].at);
        if credit.passages.iter().any(has) { verbatim.factor() } else { 1.0 }
    }

    fn passage_score(&self, at: usize) -> f64 {
        let passage = &self.credits.passages[at];
        let scope = &self.view.scopes.fields[passage.field];
        let given = passage.shares.iter().zip(self.groups).map(|(share, group)| share * group.idf);
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
        let by_own = other.credit.own_total().total_cmp(&one.credit.own_total());
        let by_score = other.score.total_cmp(&one.score).then(by_own);
        let by_time = other.time.cmp(&one.time);
        let by_both = match self.order {
            SearchOrder::Relevance => by_score.then(by_time),
            SearchOrder::Newest => by_time.then(by_score),
        };
        by_both.then(one.credit.part.cmp(&other.credit.part))
    }

    /// Counts records that say the same into the first of them.
    fn fold<'c>(&self, placed: Vec<Placed<'c>>) -> Vec<Placed<'c>> {
        let mut firsts: HashMap<u64, usize> = HashMap::new();
        let mut kept: Vec<Placed<'c>> = Vec::with_capacity(placed.len());
        for one in placed {
            let best = one.passages.first().map(|at| self.credits.passages[*at].at);
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

    fn passage(&self, at: usize) -> Passage {
        let passage = &self.credits.passages[at];
        let (start, end) = self.view.segments.segment(passage.at).stretch(passage.at.doc);
        let chars = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let field = self.view.scopes.fields[passage.field].field;
        Passage { field, start_chars: chars(start), end_chars: chars(end) }
    }

    fn explain(&self, one: &Placed<'_>) -> Value {
        let credit = one.credit;
        let words =
            self.groups.iter().enumerate().filter(|(_, group)| group.scores()).map(|(number, group)| {
                json!({
                    "word": group.text,
                    "passages_with_it": group.count,
                    "idf": group.idf,
                    "own": credit.own[number],
                    "lent_by_neighbours": credit.lent[number],
                    "counts": self.counts(credit, number, group, one.time),
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
