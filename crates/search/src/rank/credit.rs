//! What each word gives each record, exactly.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::View;
use super::candidates::USUAL_LENGTH;
use super::groups::{Group, Matches};
use super::lookup::Lookup;
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

/// A passage with what each group gives it.
pub(crate) struct PassageCredit {
    pub(crate) at: DocAt,
    pub(crate) field: usize,
    /// By group, how often it occurs, and whether as it was typed.
    times: Vec<(u32, bool)>,
    /// By group; 0 where it does not match.
    pub(crate) shares: Vec<f64>,
}

/// A record with what each group gives it.
pub(crate) struct RecordCredit {
    pub(crate) part: usize,
    pub(crate) record: u64,
    /// One of its documents.
    pub(crate) at: DocAt,
    /// Its passages in the plan's fields.
    pub(crate) passages: Vec<usize>,
    /// By group, what its own text earned.
    pub(crate) own: Vec<f64>,
    /// By group, what its neighbours' texts lend it.
    pub(crate) lent: Vec<f64>,
    /// Whether the query names who wrote it.
    pub(crate) is_by_named: bool,
}

/// All that was scored.
#[derive(Default)]
pub(crate) struct Credits {
    pub(crate) passages: Vec<PassageCredit>,
    pub(crate) records: Vec<RecordCredit>,
    by_record: HashMap<(usize, u64), usize>,
}

impl RecordCredit {
    pub(crate) fn own_total(&self) -> f64 {
        self.own.iter().sum()
    }

    /// By group, the better of what it earned and what it was lent.
    pub(crate) fn credit(&self, group: usize) -> f64 {
        self.own[group].max(self.lent[group])
    }
}

impl Credits {
    pub(crate) fn find(&self, part: usize, record: u64) -> Option<usize> {
        self.by_record.get(&(part, record)).copied()
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
        let mut added: Vec<(DocAt, usize, usize)> = Vec::new();
        for (part, at) in docs {
            let segment = view.segments.segment(*at);
            let record = segment.record(at.doc);
            let index = self.records.len();
            if *self.by_record.entry((*part, record)).or_insert(index) != index {
                continue;
            }
            self.records.push(RecordCredit::new(*part, record, *at, groups.len()));
            for doc in segment.record_docs(at.doc) {
                let at = DocAt { doc, ..*at };
                let field = view.field(at).filter(|field| view.scopes.fields[*field].part == *part);
                added.extend(field.map(|field| (at, field, index)));
            }
        }
        added.sort_unstable();
        for (at, field, record) in &added {
            self.records[*record].passages.push(self.passages.len());
            let (times, shares) = (vec![(0, false); groups.len()], vec![0.0; groups.len()]);
            self.passages.push(PassageCredit { at: *at, field: *field, times, shares });
        }
        let docs: Vec<_> = added.iter().map(|(at, ..)| *at).collect();
        let lookup = Lookup::new(view, &docs, added.iter().map(|(_, field, _)| *field));
        for (number, group) in groups.iter().enumerate().filter(|(_, group)| group.scores()) {
            for (index, times) in times(view, group, &docs, &lookup)? {
                self.passages[first_passage + index].times[number] = times;
            }
        }
        for record in &mut self.records[first_record..] {
            record.share(view, groups, &mut self.passages);
            record.earn(view, groups, &self.passages);
        }
        Ok(())
    }
}

impl RecordCredit {
    fn new(part: usize, record: u64, at: DocAt, groups: usize) -> Self {
        let none = vec![0.0; groups];
        Self { part, record, at, passages: Vec::new(), own: none.clone(), lent: none, is_by_named: false }
    }

    /// What each passage is worth to each group. A record that has every word loses nothing by length.
    fn share(&self, view: &View<'_>, groups: &[Group], passages: &mut [PassageCredit]) {
        let has = |number: usize| self.passages.iter().any(|at| passages[*at].times[number].0 > 0);
        let mut scoring = groups.iter().enumerate().filter(|(_, group)| group.scores());
        let is_whole = scoring.all(|(number, _)| has(number));
        for at in &self.passages {
            let passage = &mut passages[*at];
            let length = f64::from(view.segments.segment(passage.at).lengths.fieldnorm(passage.at.doc));
            for (share, (times, is_exact)) in passage.shares.iter_mut().zip(&passage.times) {
                if *times > 0 {
                    let exact = if *is_exact { 1.0 } else { 1.0 - STEM_ONLY };
                    *share = saturated(f64::from(*times), length, is_whole) * exact;
                }
            }
        }
    }

    /// Of each field the best passage counts, and fields add up. Who wrote a record says nothing of what
    /// it is about, unless names are all that was asked for.
    fn earn(&mut self, view: &View<'_>, groups: &[Group], passages: &[PassageCredit]) {
        let only_names = groups.iter().filter(|group| group.scores()).all(|group| group.is_name);
        for (number, group) in groups.iter().enumerate() {
            let mut best: BTreeMap<usize, f64> = BTreeMap::new();
            for passage in self.passages.iter().map(|at| &passages[*at]) {
                let field = best.entry(passage.field).or_default();
                *field = field.max(passage.shares[number]);
            }
            let (mut credit, mut is_named) = (0.0, false);
            for (field, share) in best {
                let scope = &view.scopes.fields[field];
                if scope.is_actor {
                    is_named |= share > 0.0;
                } else {
                    credit += scope.weight * share;
                }
            }
            self.is_by_named |= is_named;
            if only_names && is_named {
                credit = credit.max(1.0);
            }
            self.own[number] = group.idf * credit;
        }
    }
}

/// How often a group occurs in the passages that have it, and whether as it was typed.
fn times(
    view: &View<'_>,
    group: &Group,
    docs: &[DocAt],
    lookup: &Lookup<'_>,
) -> Result<BTreeMap<usize, (u32, bool)>, SearchError> {
    let mut times: BTreeMap<usize, u32> = BTreeMap::new();
    match &group.matches {
        Matches::Terms(terms) => {
            for (field, term) in terms {
                lookup.visit(*field, term, |index, found| {
                    let most = times.entry(index).or_default();
                    *most = found.max(*most);
                })?;
            }
        }
        Matches::Docs(by_segment) => {
            for (index, at) in docs.iter().enumerate() {
                let found = &by_segment[at.segment];
                if let Ok(place) = found.binary_search_by_key(&at.doc, |(doc, _)| *doc) {
                    times.insert(index, found[place].1);
                }
            }
        }
    }
    let exact = exact(view, group, &times, lookup)?;
    let is_exact = |index: usize| exact.as_ref().is_none_or(|exact| exact.contains(&index));
    Ok(times.into_iter().map(|(index, times)| (index, (times, is_exact(index)))).collect())
}

fn saturated(times: f64, length: f64, is_whole: bool) -> f64 {
    let norm = 1.0 - B + B * length / USUAL_LENGTH;
    let fade = if is_whole { 1.0 } else { (FADE / length.max(1.0)).sqrt().min(1.0) };
    f64::max(FLOOR * fade, times * (K1 + 1.0) / (times + K1 * norm))
}

/// The passages that have the word as it was typed; `None` where that is no question.
fn exact(
    view: &View<'_>,
    group: &Group,
    times: &BTreeMap<usize, u32>,
    lookup: &Lookup<'_>,
) -> Result<Option<HashSet<usize>>, SearchError> {
    let Some(surface) = group.surface.as_deref().filter(|_| !times.is_empty()) else { return Ok(None) };
    let layout = view.segments.layout;
    let mut exact = HashSet::new();
    for field in 0..view.scopes.fields.len() {
        for in_field in [layout.text, layout.surface] {
            lookup.visit(field, &view.term(in_field, field, surface), |index, _| {
                exact.insert(index);
            })?;
        }
    }
    Ok(Some(exact))
}
