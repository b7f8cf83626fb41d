//! Puts scored records in order, once each, and says why.

use std::cmp::Ordering;
use std::ops::Range;

use pdpp_access::SearchOrder;
use serde_json::{Value, json};

use super::View;
use super::bonus::Bonuses;
use super::credit::{Credits, PassageCredit, RecordCredit};
use super::groups::Group;
use super::hits::{MAX_PASSAGES, PlacedHit, UnnamedHit};
use super::said::Said;

/// What the month or year a query names counts for a record whose own time it is, beside the word itself.
const DATED: f64 = 0.9;
/// For a record by somebody the query names.
pub(crate) const AUTHOR: f64 = 0.8;

pub(crate) struct Answer<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) groups: &'a [Group],
    pub(crate) credits: &'a Credits,
    pub(crate) bonuses: &'a Bonuses,
    pub(crate) order: SearchOrder,
    /// Records up to here were found by their own words, and ranked first.
    pub(crate) found: usize,
}

/// Records put in order beyond those that have a place, in case some are copies of others.
const COPIES: usize = 16;

/// A record in its place.
pub(crate) struct Placed<'a> {
    pub(crate) index: usize,
    credit: &'a RecordCredit,
    pub(crate) score: f64,
    duplicates: u32,
    /// What it says, where that was found by its own words and tells it from others.
    said: Option<Said>,
}

impl<'a> Answer<'a> {
    /// The first records of all, and those that tie with the last.
    pub(crate) fn page(&self, most: usize) -> Vec<Placed<'a>> {
        let mut placed = Vec::new();
        self.place_after(&mut placed, 0..self.credits.records.len(), most);
        placed
    }

    /// Puts records after those that are placed already, until there are so many and all that tie with the last.
    pub(crate) fn place_after(&self, placed: &mut Vec<Placed<'a>>, records: Range<usize>, most: usize) {
        let next = records.map(|index| self.place(index));
        let mut next: Vec<_> = next.filter(|one| one.score > 0.0 && !one.credit.is_out).collect();
        let number = |one: &Placed<'_>| self.view.scopes.parts[one.credit.part].key_number(one.credit.record);
        let order = |one: &Placed<'_>, other: &Placed<'_>| {
            self.compare(one, other).then_with(|| number(one).cmp(&number(other)))
        };
        let (mut scored, mut is_full) = (Vec::new(), placed.len() >= most);
        let mut rest = next.as_mut_slice();
        while !rest.is_empty() {
            // Few have a place, so few are put in order; behind the last place order means nothing.
            let some =
                if is_full { rest.len() } else { rest.len().min(most - placed.len().min(most) + COPIES) };
            if some < rest.len() {
                rest.select_nth_unstable_by(some, order);
            }
            let (here, later) = rest.split_at_mut(some);
            rest = later;
            if !is_full {
                here.sort_unstable_by(order);
            }
            for one in here {
                // Neither placed nor counted.
                if is_full && one.index >= self.found {
                    continue;
                }
                one.said = self.said(one.credit, &mut scored);
                if let Some(first) = self.first_like(placed, one) {
                    // Those that come later may never be looked at, so they are not counted whether they are or not.
                    placed[first].duplicates += u32::from(one.index < self.found);
                    continue;
                }
                is_full = is_full
                    || (placed.len() >= most
                        && placed.last().is_some_and(|last| self.compare(last, one) != Ordering::Equal));
                if !is_full {
                    placed.push(Placed { said: one.said.take(), ..*one });
                }
            }
        }
    }

    /// The score of the record that so many are not worse than, copies included.
    pub(crate) fn score_at(&self, place: usize) -> Option<f64> {
        let scores = (0..self.credits.records.len()).map(|at| self.place(at).score);
        let mut scores: Vec<_> = scores.filter(|score| *score > 0.0).collect();
        let at = place.checked_sub(1).filter(|at| *at < scores.len())?;
        Some(*scores.select_nth_unstable_by(at, |one, other| other.total_cmp(one)).1)
    }

    /// The hits, in their order.
    pub(crate) fn hits(&self, placed: &[Placed<'_>], explain: bool) -> Vec<PlacedHit> {
        let mut scored = Vec::new();
        let hit = |(index, one): (usize, &Placed<'_>)| {
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
            PlacedHit { part: one.credit.part, hit, is_tied }
        };
        placed.iter().enumerate().map(hit).collect()
    }

    fn place(&self, index: usize) -> Placed<'a> {
        let credit = &self.credits.records[index];
        let times = self.bonuses.time.factor(self.named_time(credit));
        let score = self.total(index) * self.factor(credit) * times;
        Placed { index, credit, score, duplicates: 0, said: None }
    }

    /// What all words count.
    fn total(&self, index: usize) -> f64 {
        let (own, lent) = (self.credits.own(index), self.credits.lent(index));
        if self.bonuses.time.is_none() {
            return own.iter().zip(lent).map(|(own, lent)| own.max(*lent)).sum();
        }
        let time = self.time(&self.credits.records[index]);
        let counts = self.groups.iter().enumerate();
        counts.map(|(number, group)| self.counts(index, number, group, time)).sum()
    }

    /// A record's own time, where it may tell.
    fn time(&self, credit: &RecordCredit) -> Option<i64> {
        let tells = self.view.scopes.parts[credit.part].tells_time;
        self.view.segments.segment(credit.at).time(credit.at.doc).filter(|_| tells)
    }

    /// The same, where the query names one.
    fn named_time(&self, credit: &RecordCredit) -> Option<i64> {
        if self.bonuses.time.is_none() { None } else { self.time(credit) }
    }

    /// What a record's words are multiplied by, but for its time.
    pub(crate) fn factor(&self, credit: &RecordCredit) -> f64 {
        author(credit) * self.verbatim(credit)
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

    fn said(&self, credit: &RecordCredit, scored: &mut Vec<(f64, usize)>) -> Option<Said> {
        self.matching(credit, scored);
        if scored.is_empty() {
            return None;
        }
        Said::by(self.view, credit.part, &self.credits.passages[credit.passages.clone()])
    }

    /// What a word counts: as it stands in the record, or as its date says it.
    fn counts(&self, record: usize, number: usize, group: &Group, time: Option<i64>) -> f64 {
        let told = self.bonuses.time.is_told_by(time, &group.text);
        let credit = self.credits.own(record)[number].max(self.credits.lent(record)[number]);
        credit.max(if told { DATED * group.idf } else { 0.0 })
    }

    fn verbatim(&self, credit: &RecordCredit) -> f64 {
        let verbatim = &self.bonuses.verbatim;
        let has = |at: usize| verbatim.has(self.credits.passages[at].at);
        if !verbatim.docs.is_empty() && credit.passages.clone().any(has) { verbatim.factor() } else { 1.0 }
    }

    fn passage_score(&self, at: usize) -> f64 {
        let passage = &self.credits.passages[at];
        let scope = &self.view.scopes.fields[passage.field];
        let given = self.credits.shares(at).iter().zip(self.groups).map(|(share, group)| share * group.idf);
        let total = given.sum::<f64>() * scope.weight;
        if self.bonuses.verbatim.has(passage.at) { total * self.bonuses.verbatim.factor() } else { total }
    }

    fn passage_place(&self, at: usize) -> (usize, u64) {
        let passage = &self.credits.passages[at];
        let start = self.view.segments.segment(passage.at).stretch(passage.at.doc).0;
        (passage.field, start)
    }

    fn compare(&self, one: &Placed<'_>, other: &Placed<'_>) -> Ordering {
        let by_own = || other.credit.own_total.total_cmp(&one.credit.own_total);
        let by_score = || other.score.total_cmp(&one.score).then_with(by_own);
        let by_time = || self.time(other.credit).cmp(&self.time(one.credit));
        let by_both = match self.order {
            SearchOrder::Relevance => by_score().then_with(by_time),
            SearchOrder::Newest => by_time().then_with(by_score),
        };
        by_both.then(one.credit.part.cmp(&other.credit.part))
    }

    /// The first record in its place that says nearly the same. One that has a word of the query which the other has
    /// not is never left out for it.
    fn first_like(&self, placed: &[Placed<'_>], one: &Placed<'_>) -> Option<usize> {
        let said = one.said.as_ref()?;
        let is_like = |known: &Placed<'_>| known.said.as_ref().is_some_and(|known| said.is_like(known));
        placed.iter().position(|known| is_like(known) && self.has_words_of(known.index, one.index))
    }

    /// Whether a record has every word of the query that another has.
    fn has_words_of(&self, record: usize, other: usize) -> bool {
        let mut both = self.credits.own(record).iter().zip(self.credits.own(other));
        both.all(|(own, other)| *own > 0.0 || *other <= 0.0)
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
                    "counts": self.counts(one.index, number, group, self.time(credit)),
                })
            });
        json!({
            "score": one.score,
            "words": words.collect::<Vec<_>>(),
            "times": {
                "by_somebody_named": author(credit),
                "word_for_word": self.verbatim(credit),
                "of_the_month_named": self.bonuses.time.factor(self.time(credit)),
            },
            "passages_in_scope": self.view.passages,
        })
    }
}

fn author(credit: &RecordCredit) -> f64 {
    if credit.is_by_named { 1.0 + AUTHOR } else { 1.0 }
}
