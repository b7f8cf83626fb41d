//! Finds the passages worth scoring.
//!
//! The wide pass is the engine's own: a union of terms with plain BM25, in which blocks that cannot reach
//! the best so far are skipped. It works in 32 bits and sums in an order the files decide, so whatever
//! comes within rounding of the limit is kept, and cut later by exact scores.

use std::cmp::Reverse;
use std::ops::Range;

use pdpp_access::SearchOrder;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, TERMINATED, Term};

use super::View;
use super::bonus::Verbatim;
use super::filter::Filter;
use super::groups::{Group, Matches};
use super::lookup::Lookup;
use super::start::StartingAt;
use super::terms::PlanTerm;
use super::top::{MARGIN, Tie, Top, tie};
use super::whole::DRIVEN;
use crate::SearchError;
use crate::segments::DocAt;

/// Passages that may be hits.
pub(crate) const LIMIT: usize = 250;
/// Of those, how many are ranked before the others, by exact scores and with their neighbours. Few pages are asked
/// for that need more, and what the wide pass puts behind a hundred others is hardly ever the best.
const FIRST: usize = 100;
/// Passages with every word that are candidates whatever the wide pass thinks of them.
const MAX_WHOLE: usize = 100;
/// What an actor's name counts in the wide pass.
const ACTOR_WEIGHT: f64 = 0.6;
/// The engine's own constants.
pub(crate) const WIDE_K1: f64 = 1.2;
pub(crate) const WIDE_B: f64 = 0.75;
/// The length of a usual passage in words. Fixed, because the true average would tell of other records.
pub(crate) const USUAL_LENGTH: f64 = 20.0;

/// Passages that may be hits, each with its part, and whether these are all.
pub(crate) struct Candidates {
    /// Those that are ranked first.
    pub(crate) docs: Vec<(usize, DocAt)>,
    /// Those that come after all hits that come of the first.
    pub(crate) later: Vec<(usize, DocAt)>,
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
        whole: Option<Vec<(DocAt, usize)>>,
        order: SearchOrder,
    ) -> Result<Self, SearchError> {
        let (filter, rarest) = Filter::new(view, groups)?;
        let finder = Finder { view, groups, filter: &filter };
        let Wide { mut docs, later, threshold, mut is_complete } = match (order, rarest) {
            (SearchOrder::Newest, _) => finder.newest()?,
            (_, Some(group)) if group.count <= DRIVEN as u64 => Wide::all(finder.all_of(group)?),
            _ => finder.best()?,
        };
        if order == SearchOrder::Relevance {
            for group in groups.iter().filter(|group| group.scores()) {
                if let Matches::Docs(by_segment) = &group.matches {
                    let all = by_segment.iter().enumerate();
                    let all = all.flat_map(|(segment, docs)| {
                        docs.iter().map(move |(doc, times)| (segment, *doc, *times))
                    });
                    is_complete &= finder.add_frequent(all, &mut docs);
                }
            }
            docs.extend(finder.whole(whole.unwrap_or_default()));
            let all = verbatim.docs.iter().map(|(at, times)| (at.segment, at.doc, *times));
            is_complete &= finder.add_frequent(all, &mut docs);
        }
        docs.sort_unstable();
        docs.dedup();
        let with_part = |at: DocAt| Some((view.part(at)?, at));
        let docs = docs.into_iter().filter_map(with_part).collect();
        let later = later.into_iter().filter_map(with_part).collect();
        Ok(Self { docs, later, threshold, is_complete, filter })
    }
}

/// What the wide pass found.
struct Wide {
    docs: Vec<DocAt>,
    later: Vec<DocAt>,
    threshold: f64,
    is_complete: bool,
}

impl Wide {
    fn all(docs: Vec<DocAt>) -> Self {
        Self { docs, later: Vec::new(), threshold: 0.0, is_complete: true }
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

    /// The best by plain BM25, and those that may be among them.
    fn best(&self) -> Result<Wide, SearchError> {
        let tie = |at| self.tie(at, self.view.part(at).unwrap_or_default());
        let mut top = Top::new(LIMIT, tie);
        let terms: Vec<_> = weighted_terms(self.view, self.groups).collect();
        if terms.is_empty() {
            return Ok(Wide::all(Vec::new()));
        }
        for (number, segment) in self.view.segments.all().iter().enumerate() {
            let range = self.range(number);
            let union = terms.iter().map(|(term, weight)| {
                let query = TermQuery::new(term.term.clone(), IndexRecordOption::WithFreqs);
                #[expect(clippy::cast_possible_truncation, reason = "the wide pass works in 32 bits")]
                let boost = (weight / Fixed::IDF) as f32;
                let query = StartingAt::new(BoostQuery::new(Box::new(query), boost), range.start);
                (Occur::Should, Box::new(query) as Box<dyn Query>)
            });
            let scoring =
                EnableScoring::enabled_from_statistics_provider(&Fixed, &self.view.segments.searcher);
            let weight = BooleanQuery::new(union.collect()).weight(scoring)?;
            weight.for_each_pruning(top.threshold(), &segment.reader, &mut |doc, score| {
                if doc >= range.end {
                    return f32::MAX;
                }
                let at = DocAt { segment: number, doc };
                if self.admits(at).is_some() {
                    top.offer(score, at);
                }
                top.threshold()
            })?;
        }
        let (all, is_complete) = top.docs();
        let mut first = Top::new(FIRST, tie);
        for (score, at) in &all {
            if *score > first.threshold() {
                first.offer(*score, *at);
            }
        }
        let first = first.docs().0;
        // What rounding may have misjudged is within this of the least of them. The engine multiplies by a constant.
        let least = first.iter().map(|(score, _)| *score).fold(f32::MAX, f32::min);
        let threshold = f64::from(least) * (1.0 + 2.0 * f64::from(MARGIN)) / (1.0 + WIDE_K1);
        let docs = self.cut(first.into_iter().map(|(_, at)| at).collect(), FIRST)?;
        let mut later: Vec<_> = all.into_iter().map(|(_, at)| at).collect();
        if later.len() > LIMIT {
            later = self.cut(later, LIMIT)?;
        }
        if docs.len() < later.len() {
            later.retain(|at| !docs.contains(at));
        } else {
            later.clear();
        }
        Ok(Wide { docs, later, threshold, is_complete })
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

    /// Of the passages that have every word but names. The wide pass thinks little of long ones.
    fn whole(&self, docs: Vec<(DocAt, usize)>) -> Vec<DocAt> {
        let docs = docs.into_iter().filter_map(|(at, field)| {
            let part = self.view.scopes.fields[field].part;
            let length = || self.view.segments.segment(at).lengths.fieldnorm(at.doc);
            let admitted = self.filter.admits(self.view, at, part);
            admitted.then(|| (length(), Reverse(self.tie(at, part)), at))
        });
        let mut docs: Vec<_> = docs.collect();
        if docs.len() > MAX_WHOLE {
            docs.select_nth_unstable(MAX_WHOLE);
            docs.truncate(MAX_WHOLE);
        }
        docs.into_iter().map(|(.., at)| at).collect()
    }

    /// The best by the exact form of the wide pass.
    fn cut(&self, mut docs: Vec<DocAt>, limit: usize) -> Result<Vec<DocAt>, SearchError> {
        if docs.len() <= limit {
            return Ok(docs);
        }
        docs.sort_unstable();
        let fields: Vec<_> = docs.iter().map(|at| self.view.field(*at).unwrap_or_default()).collect();
        let mut scores = vec![0.0; docs.len()];
        let lookup = Lookup::new(self.view, &docs, fields.iter().copied());
        for (term, weight) in weighted_terms(self.view, self.groups) {
            let has_length = term.term.field() == self.view.segments.layout.text;
            let lengths = |at: DocAt| {
                let length = || self.view.segments.segment(at).lengths.fieldnorm(at.doc);
                f64::from(if has_length { length() } else { 1 })
            };
            lookup.visit(term, |index, times| {
                let norm = WIDE_K1 * (1.0 - WIDE_B + WIDE_B * lengths(docs[index]) / USUAL_LENGTH);
                scores[index] += weight * f64::from(times) / (f64::from(times) + norm);
            })?;
        }
        let mut best: Vec<_> = (0..docs.len()).collect();
        let tie = |index: usize| self.tie(docs[index], self.view.scopes.fields[fields[index]].part);
        best.sort_by(|one, other| {
            scores[*other].total_cmp(&scores[*one]).then_with(|| tie(*other).cmp(&tie(*one)))
        });
        Ok(best.into_iter().take(limit).map(|index| docs[index]).collect())
    }

    /// The newest passages that have most of the words.
    fn newest(&self) -> Result<Wide, SearchError> {
        let segments = self.view.segments.all();
        let mut counted: Vec<Vec<(u8, u8)>> =
            segments.iter().map(|segment| vec![(0, 0); segment.reader.max_doc() as usize]).collect();
        let scoring = self.groups.iter().filter(|group| group.scores());
        let mut groups = 0_u8;
        for group in scoring {
            groups = groups.saturating_add(1);
            group.for_each_doc(self.view, |segment, doc| {
                let (count, last) = &mut counted[segment][doc as usize];
                if *last != groups {
                    (*count, *last) = (count.saturating_add(1), groups);
                }
            })?;
        }
        // Two thirds of the words, or as many as any passage has.
        let mut needed = (groups * 2).div_ceil(3).max(1);
        loop {
            let mut found = Vec::new();
            for (segment, docs) in counted.iter().enumerate() {
                for (doc, _) in (0_u32..).zip(docs).filter(|(_, (count, _))| *count >= needed) {
                    let at = DocAt { segment, doc };
                    if let Some(part) = self.admits(at) {
                        found.push((Reverse(self.tie(at, part)), at));
                    }
                }
            }
            if !found.is_empty() || needed == 1 {
                found.sort_unstable();
                let is_complete = found.len() <= LIMIT;
                let mut docs: Vec<_> = found.into_iter().take(LIMIT).map(|(_, at)| at).collect();
                let later = docs.split_off(docs.len().min(FIRST));
                return Ok(Wide { docs, later, threshold: 0.0, is_complete });
            }
            needed -= 1;
        }
    }
}

/// Every term that gives credit, with its weight in the wide pass.
fn weighted_terms<'g>(view: &'g View<'_>, groups: &'g [Group]) -> impl Iterator<Item = (&'g PlanTerm, f64)> {
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

/// Statistics of nobody: weights are given as boosts, so the engine's own are constant.
struct Fixed;

impl Fixed {
    /// What the engine makes of one passage that has the word, of one there is.
    const IDF: f64 = 0.287_682_072_451_780_9;
}

impl Bm25StatisticsProvider for Fixed {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small constant")]
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(USUAL_LENGTH as u64)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(1)
    }

    fn doc_freq(&self, _: &Term) -> tantivy::Result<u64> {
        Ok(1)
    }
}
