//! Finds the passages worth scoring.
//!
//! A wide pass takes the best by plain BM25 ([`super::wide`]); passages with a phrase, with every word, or with the
//! query as it was typed are candidates whatever it thinks of them.

use std::cmp::Reverse;
use std::ops::Range;

use pdpp_access::SearchOrder;
use tantivy::{DocId, TERMINATED};

use super::View;
use super::bonus::Verbatim;
use super::filter::Filter;
use super::groups::{Group, Matches};
use super::newest::Newest;
use super::terms::PlanTerm;
use super::top::{PlanTies, Tie, Top, tie};
use super::whole::DRIVEN;
use super::wide::{WeightedTerm, offer_best};
use crate::SearchError;
use crate::segments::DocAt;

/// Passages that may be hits.
pub(crate) const LIMIT: usize = 250;
/// Of those, how many are ranked before the others, by exact scores and with their neighbours. Few pages are asked
/// for that need more, and what the wide pass puts behind so many others is hardly ever the best.
const FIRST: usize = 64;
/// The same where a query has few passages at all: ranking them together takes less than finding out whether one that
/// was left out could have a place.
const FIRST_OF_FEW: usize = 128;
/// Passages with every word that are candidates whatever the wide pass thinks of them.
const MAX_WHOLE: usize = 64;
/// What an actor's name counts in the wide pass.
const ACTOR_WEIGHT: f64 = 0.6;

/// How wide candidates are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    /// How many are ranked first.
    first: usize,
    /// How many are found.
    all: usize,
}

impl Width {
    /// How wide for so many hits of a query with so many passages, all hits unless it says how many; and how wide if
    /// that was not enough. Few are counted to the last.
    pub(crate) fn of(wanted: Option<usize>, postings: u64) -> impl Iterator<Item = Self> {
        let has_few = postings <= 2 * LIMIT as u64;
        let first = if has_few { FIRST_OF_FEW } else { FIRST };
        let narrow = wanted.filter(|wanted| !has_few && *wanted <= FIRST / 2).map(|_| first);
        narrow.into_iter().chain([LIMIT]).map(move |all| Self { first, all })
    }
}

/// Passages that may be hits, each with its part, and whether these are all.
pub(crate) struct Candidates {
    /// Those that are ranked first.
    pub(crate) docs: Vec<(usize, DocAt)>,
    /// Those that come after all hits that come of the first, as far as they were looked for.
    pub(crate) later: Vec<(usize, DocAt)>,
    /// Whether there are such, found or not.
    pub(crate) has_later: bool,
    /// What a passage that is not among the first has in the wide pass at most.
    pub(crate) threshold: f64,
    pub(crate) is_complete: bool,
    pub(crate) filter: Filter,
}

impl Candidates {
    pub(crate) fn find(
        view: &View<'_>,
        groups: &[Group],
        verbatim: &Verbatim,
        whole: &[(DocAt, usize)],
        order: SearchOrder,
        width: Width,
    ) -> Result<Self, SearchError> {
        let (filter, rarest) = Filter::new(view, groups)?;
        let finder = Finder { view, groups, filter: &filter };
        let driving = rarest.filter(|group| group.count <= DRIVEN as u64);
        let Wide { mut docs, later, has_later, threshold, mut is_complete } = match (order, driving) {
            (SearchOrder::Newest, _) => finder.newest()?,
            (_, Some(group)) => Wide::all(finder.all_of(group)?),
            _ => finder.best(width)?,
        };
        // To all that have what is required nothing can be added.
        if order == SearchOrder::Relevance && driving.is_none() {
            for group in groups.iter().filter(|group| group.scores()) {
                if let Matches::Docs(by_segment) = &group.matches {
                    let all = by_segment.iter().enumerate();
                    let all = all.flat_map(|(segment, docs)| {
                        docs.iter().map(move |(doc, times)| (segment, *doc, *times))
                    });
                    is_complete &= finder.add_frequent(all, &mut docs);
                }
            }
            docs.extend(finder.whole(whole));
            let all = verbatim.docs.iter().map(|(at, times)| (at.segment, at.doc, *times));
            is_complete &= finder.add_frequent(all, &mut docs);
        }
        docs.sort_unstable();
        docs.dedup();
        let with_part = |at: DocAt| Some((view.part(at)?, at));
        let docs = docs.into_iter().filter_map(with_part).collect();
        let later = later.into_iter().filter_map(with_part).collect();
        Ok(Self { docs, later, has_later, threshold, is_complete, filter })
    }
}

/// What the wide pass found.
struct Wide {
    docs: Vec<DocAt>,
    later: Vec<DocAt>,
    has_later: bool,
    threshold: f64,
    is_complete: bool,
}

impl Wide {
    fn all(docs: Vec<DocAt>) -> Self {
        Self { docs, later: Vec::new(), has_later: false, threshold: 0.0, is_complete: true }
    }
}

struct Finder<'a> {
    view: &'a View<'a>,
    groups: &'a [Group],
    filter: &'a Filter,
}

impl Finder<'_> {
    fn admits(&self, at: DocAt) -> Option<usize> {
        let part = self.view.part(at)?;
        self.filter.admits(self.view, at, part).then_some(part)
    }

    fn tie(&self, at: DocAt, part: usize) -> Tie {
        tie(self.view, at, part)
    }

    fn all_of(&self, group: &Group) -> Result<Vec<DocAt>, SearchError> {
        let mut docs = Vec::new();
        group.for_each_doc(self.view, |segment, doc| {
            let at = DocAt { segment, doc };
            docs.extend(self.admits(at).map(|_| at));
        })?;
        Ok(docs)
    }

    /// Adds the documents with the most occurrences in the fewest words. Says whether all were added.
    fn add_frequent(&self, all: impl Iterator<Item = (usize, DocId, u32)>, docs: &mut Vec<DocAt>) -> bool {
        let mut found: Vec<_> = all
            .filter_map(|(segment, doc, times)| {
                let at = DocAt { segment, doc };
                let length = self.view.segments.segment(at).lengths.fieldnorm(doc);
                Some((Reverse(times), length, Reverse(self.tie(at, self.admits(at)?)), at))
            })
            .collect();
        found.sort_unstable();
        docs.extend(found.iter().take(LIMIT).map(|(.., at)| *at));
        found.len() <= LIMIT
    }

    /// The best by plain BM25, the first of them apart.
    fn best(&self, width: Width) -> Result<Wide, SearchError> {
        let ties = PlanTies(self.view);
        let mut top = Top::new(width.all, ties);
        let terms: Vec<WeightedTerm<'_>> = weighted_terms(self.view, self.groups).collect();
        offer_best(self.view, &terms, |number| self.range(number), &mut top, |at| self.admits(at).is_some())?;
        let (mut all, is_complete) = top.docs();
        let mut later = Vec::new();
        if all.len() > width.first {
            let mut first = Top::new(width.first, ties);
            for (score, at) in &all {
                first.offer(*score, *at);
            }
            let first = first.docs().0;
            all.retain(|one| !first.contains(one));
            later = std::mem::replace(&mut all, first);
        }
        let threshold = all.iter().map(|(score, _)| *score).fold(f64::MAX, f64::min);
        let docs = |all: Vec<(f64, DocAt)>| all.into_iter().map(|(_, at)| at).collect();
        Ok(Wide {
            has_later: !is_complete || !later.is_empty(),
            docs: docs(all),
            later: docs(later),
            threshold,
            is_complete,
        })
    }

    /// Outside of which no document of a segment is within any grant.
    fn range(&self, segment: usize) -> Range<DocId> {
        let mut range: Option<Range<DocId>> = None;
        for part in 0..self.view.scopes.parts.len() {
            let Some(allowed) = self.view.allowed(part, segment) else { return 0..TERMINATED };
            let (start, end) = (allowed.range.start, allowed.range.end);
            range = Some(range.map_or(start..end, |range| range.start.min(start)..range.end.max(end)));
        }
        range.unwrap_or(0..0)
    }

    /// Of the passages that have every word but names, the shortest. The wide pass thinks little of long ones.
    fn whole(&self, docs: &[(DocAt, usize)]) -> Vec<DocAt> {
        let part = |field: usize| self.view.scopes.fields[field].part;
        let length = |at: DocAt| self.view.segments.segment(at).lengths.fieldnorm(at.doc);
        let admitted = docs.iter().filter(|(at, field)| self.filter.admits(self.view, *at, part(*field)));
        let mut docs: Vec<_> = admitted.map(|(at, field)| (length(*at), *at, *field)).collect();
        if docs.len() > MAX_WHOLE {
            let longest = docs.select_nth_unstable_by_key(MAX_WHOLE - 1, |(length, ..)| *length).1.0;
            // Only of those that are as long as the longest some are left out, so only they are told apart.
            let (mut kept, last): (Vec<_>, Vec<_>) =
                docs.into_iter().filter(|(length, ..)| *length <= longest).partition(|one| one.0 < longest);
            let tied = |one: (u32, DocAt, usize)| (Reverse(self.tie(one.1, part(one.2))), one);
            let mut last: Vec<_> = last.into_iter().map(tied).collect();
            last.sort_unstable_by(|(one, at), (other, than)| one.cmp(other).then(at.1.cmp(&than.1)));
            kept.extend(last.into_iter().take(MAX_WHOLE - kept.len()).map(|(_, one)| one));
            docs = kept;
        }
        docs.into_iter().map(|(_, at, _)| at).collect()
    }

    /// The newest that have most of the words.
    fn newest(&self) -> Result<Wide, SearchError> {
        let mut newest = Newest::new(self.view, self.groups);
        for number in 0..self.view.segments.all().len() {
            newest.look(number, &self.range(number), |at| self.admits(at).is_some())?;
        }
        let (mut docs, is_complete) = newest.docs();
        let later = docs.split_off(docs.len().min(FIRST));
        let has_later = !later.is_empty();
        Ok(Wide { docs, later, has_later, threshold: 0.0, is_complete })
    }
}

/// Every term that gives credit, with its weight in the wide pass.
pub(crate) fn weighted_terms<'g>(
    view: &'g View<'_>,
    groups: &'g [Group],
) -> impl Iterator<Item = (&'g PlanTerm, f64)> {
    let groups = groups.iter().filter(|group| group.scores());
    groups.flat_map(move |group| {
        let terms: &[PlanTerm] = match &group.matches {
            Matches::Terms(terms) => terms,
            Matches::Docs(_) => &[],
        };
        terms.iter().map(move |term| (term, group.idf * wide_weight(view, term.field)))
    })
}

fn wide_weight(view: &View<'_>, field: usize) -> f64 {
    let field = &view.scopes.fields[field];
    if field.is_actor { ACTOR_WEIGHT } else { field.weight }
}
