//! What each word gives each record, exactly.

use std::collections::HashMap;
use std::ops::Range;

use super::View;
use super::digest::ByDigest;
use super::groups::{Group, Matches};
use super::lookup::Lookup;
use super::wide::{USUAL_LENGTH, WIDE_B, WIDE_K1};
use crate::SearchError;
use crate::segments::DocAt;

/// How fast more occurrences stop to count, and how much a long passage loses.
const K1: f64 = 0.8;
const B: f64 = 0.4;
/// The least a match counts in a passage of up to so many words; it fades in longer ones. Together with
/// what neighbours and named authors add, it keeps a record that only stands near a match below the match.
const FLOOR: f64 = 0.9;
const FADE: f64 = 80.0;
/// What is lost when only the stem is the same.
const STEM_ONLY: f64 = 0.1;

/// A passage of a record.
pub(crate) struct PassageCredit {
    pub(crate) at: DocAt,
    pub(crate) field: usize,
}

/// A record and what its own text earned.
pub(crate) struct RecordCredit {
    pub(crate) part: usize,
    pub(crate) record: u64,
    /// One of its documents.
    pub(crate) at: DocAt,
    /// Its passages in the plan's fields.
    pub(crate) passages: Range<usize>,
    /// What all groups give it by its own text.
    pub(crate) own_total: f64,
    /// Whether the query names who wrote it.
    pub(crate) is_by_named: bool,
    /// Whether it is no hit after all.
    pub(crate) is_out: bool,
}

/// How often a group occurs in a passage, and whether as it was typed.
#[derive(Clone, Copy, Default)]
struct Times {
    times: u32,
    is_exact: bool,
}

/// All that was scored. What each group gives each passage or record stands in one list, group after group.
#[derive(Default)]
pub(crate) struct Credits {
    groups: usize,
    pub(crate) passages: Vec<PassageCredit>,
    pub(crate) records: Vec<RecordCredit>,
    times: Vec<Times>,
    shares: Vec<f64>,
    own: Vec<f64>,
    lent: Vec<f64>,
    by_record: HashMap<(usize, u64), usize, ByDigest>,
}

impl Credits {
    pub(crate) fn new(groups: usize) -> Self {
        Self { groups, ..Self::default() }
    }

    pub(crate) fn find(&self, part: usize, record: u64) -> Option<usize> {
        self.by_record.get(&(part, record)).copied()
    }

    /// What each group gives a passage; 0 where it does not match.
    pub(crate) fn shares(&self, passage: usize) -> &[f64] {
        &self.shares[passage * self.groups..][..self.groups]
    }

    /// What each group gives a record by its own text.
    pub(crate) fn own(&self, record: usize) -> &[f64] {
        &self.own[record * self.groups..][..self.groups]
    }

    /// What each group gives a record by its neighbours' texts.
    pub(crate) fn lent(&self, record: usize) -> &[f64] {
        &self.lent[record * self.groups..][..self.groups]
    }

    /// Lends a record what it was not lent yet.
    pub(crate) fn lend(&mut self, record: usize, group: usize, credit: f64) {
        let most = &mut self.lent[record * self.groups + group];
        *most = most.max(credit);
    }

    /// Leaves records out, from this one on, to which no group is worth more by a loan.
    pub(crate) fn leave_out_unlent(&mut self, from: usize) {
        for record in from..self.records.len() {
            let mut both = self.lent(record).iter().zip(self.own(record));
            self.records[record].is_out = !both.any(|(lent, own)| lent > own);
        }
    }

    /// Scores the records these documents are of, each with all its passages. Each document comes with
    /// its part; records that are known already are passed over.
    pub(crate) fn add(
        &mut self,
        view: &View<'_>,
        groups: &[Group],
        docs: &[(usize, DocAt)],
    ) -> Result<(), SearchError> {
        let (first_record, first_passage) = (self.records.len(), self.passages.len());
        let mut added: Vec<(DocAt, usize, usize)> = Vec::with_capacity(docs.len() * 2);
        self.by_record.reserve(docs.len());
        for (part, at) in docs {
            let segment = view.segments.segment(*at);
            let record = segment.record(at.doc);
            let index = self.records.len();
            if *self.by_record.entry((*part, record)).or_insert(index) != index {
                continue;
            }
            self.records.push(RecordCredit {
                part: *part,
                record,
                at: *at,
                passages: 0..0,
                own_total: 0.0,
                is_by_named: false,
                is_out: false,
            });
            for doc in segment.record_docs(at.doc) {
                let at = DocAt { doc, ..*at };
                let field = view.field(at).filter(|field| view.scopes.fields[*field].part == *part);
                added.extend(field.map(|field| (at, field, index)));
            }
        }
        added.sort_unstable_by_key(|(at, ..)| at.number());
        for (at, field, record) in &added {
            // A record's documents lie next to each other, so its passages do.
            let next = self.passages.len();
            let passages = &mut self.records[*record].passages;
            passages.start = if passages.end == 0 { next } else { passages.start };
            passages.end = next + 1;
            self.passages.push(PassageCredit { at: *at, field: *field });
        }
        self.times.resize(self.passages.len() * self.groups, Times::default());
        self.shares.resize(self.passages.len() * self.groups, 0.0);
        self.own.resize(self.records.len() * self.groups, 0.0);
        self.lent.resize(self.records.len() * self.groups, 0.0);
        let docs: Vec<_> = added.iter().map(|(at, ..)| *at).collect();
        let lookup = Lookup::new(view, &docs, added.iter().map(|(_, field, _)| *field));
        let times = &mut self.times[first_passage * self.groups..];
        for (number, group) in groups.iter().enumerate().filter(|(_, group)| group.scores()) {
            count(group, &docs, &lookup, &mut Column { times, groups: self.groups, number })?;
        }
        let scoring: Vec<bool> = groups.iter().map(Group::scores).collect();
        for record in first_record..self.records.len() {
            self.share(view, &scoring, record);
            self.earn(view, groups, record);
        }
        Ok(())
    }

    /// What each passage is worth to each group. A record that has every word loses nothing by length.
    fn share(&mut self, view: &View<'_>, scoring: &[bool], record: usize) {
        let passages = self.records[record].passages.clone();
        let times = |passage: usize, group: usize| self.times[passage * self.groups + group];
        let has = |group: usize| passages.clone().any(|passage| times(passage, group).times > 0);
        let is_whole = scoring.iter().enumerate().all(|(group, scores)| !scores || has(group));
        for passage in passages {
            let at = self.passages[passage].at;
            let length = f64::from(view.segments.segment(at).lengths.fieldnorm(at.doc));
            for place in passage * self.groups..(passage + 1) * self.groups {
                let Times { times, is_exact } = self.times[place];
                if times > 0 {
                    let exact = if is_exact { 1.0 } else { 1.0 - STEM_ONLY };
                    self.shares[place] = saturated(f64::from(times), length, is_whole) * exact;
                }
            }
        }
    }

    /// Of each field the best passage counts, and fields add up. Who wrote a record says nothing of what
    /// it is about, unless names are all that was asked for.
    fn earn(&mut self, view: &View<'_>, groups: &[Group], record: usize) {
        let only_names = groups.iter().filter(|group| group.scores()).all(|group| group.is_name);
        let passages = self.records[record].passages.clone();
        let fields = view.scopes.fields_of(self.records[record].part);
        for (number, group) in groups.iter().enumerate() {
            let (mut credit, mut is_named) = (0.0, false);
            for field in fields.clone() {
                let of_field = passages.clone().filter(|passage| self.passages[*passage].field == field);
                let shares = of_field.map(|passage| self.shares[passage * self.groups + number]);
                let share = shares.fold(0.0, f64::max);
                let scope = &view.scopes.fields[field];
                if scope.is_actor {
                    is_named |= share > 0.0;
                } else {
                    credit += scope.weight * share;
                }
            }
            if only_names && is_named {
                credit = f64::max(credit, 1.0);
            }
            self.records[record].is_by_named |= is_named;
            self.own[record * self.groups + number] = group.idf * credit;
        }
        self.records[record].own_total = self.own(record).iter().sum();
    }
}

/// One group's share of the list.
struct Column<'t> {
    times: &'t mut [Times],
    groups: usize,
    number: usize,
}

impl Column<'_> {
    fn at(&mut self, passage: usize) -> &mut Times {
        &mut self.times[passage * self.groups + self.number]
    }
}

/// How often a group occurs in the passages that have it, and whether as it was typed.
fn count(
    group: &Group,
    docs: &[DocAt],
    lookup: &Lookup<'_>,
    column: &mut Column<'_>,
) -> Result<(), SearchError> {
    let mut is_any = false;
    let mut note = |at: &mut Times, found: u32, is_typed: bool| {
        at.times = at.times.max(found);
        at.is_exact |= is_typed || group.typed.is_none();
        is_any = true;
    };
    match &group.matches {
        Matches::Terms(terms) => {
            for term in terms {
                lookup.visit(term, |index, found| note(column.at(index), found, term.is_typed))?;
            }
        }
        Matches::Docs(by_segment) => {
            for (index, doc) in docs.iter().enumerate() {
                let found = &by_segment[doc.segment];
                if let Ok(place) = found.binary_search_by_key(&doc.doc, |(doc, _)| *doc) {
                    note(column.at(index), found[place].1, false);
                }
            }
        }
    }
    for term in group.typed.iter().flatten().filter(|_| is_any) {
        lookup.visit(term, |index, _| column.at(index).is_exact = true)?;
    }
    Ok(())
}

/// The most a passage gives a group to which it gives so much in the wide pass, of 1. Both grow with the times the
/// word occurs and fall with the length; for what the wide pass gives, it is most where both are large.
pub(crate) fn most_share(wide: f64) -> f64 {
    let short = if wide < 1.0 { K1 * B / (WIDE_K1 * WIDE_B) * (1.0 / wide - 1.0) } else { 0.0 };
    f64::max(FLOOR, (K1 + 1.0) / (1.0 + short))
}

fn saturated(times: f64, length: f64, is_whole: bool) -> f64 {
    let norm = 1.0 - B + B * length / USUAL_LENGTH;
    let fade = if is_whole { 1.0 } else { (FADE / length.max(1.0)).sqrt().min(1.0) };
    f64::max(FLOOR * fade, times * (K1 + 1.0) / (times + K1 * norm))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_passage_gives_more_than_its_wide_score_allows() {
        for times in 1_u32..40 {
            for length in 1_u32..600 {
                let (times, length) = (f64::from(times), f64::from(length));
                let norm = WIDE_K1 * (1.0 - WIDE_B + WIDE_B * length / USUAL_LENGTH);
                let most = most_share(times / (times + norm));
                for is_whole in [true, false] {
                    assert!(saturated(times, length, is_whole) <= most + 1e-12, "{times} in {length}");
                }
            }
        }
    }
}
