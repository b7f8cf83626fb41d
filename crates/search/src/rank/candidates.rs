//! Finds the passages worth scoring.
//!
//! The wide pass is the engine's own: a union of terms with plain BM25, in which blocks that cannot reach
//! the best so far are skipped. It works in 32 bits and sums in an order the files decide, so whatever
//! comes within rounding of the limit is kept, and cut later by exact scores.

use std::cmp::Reverse;

use pdpp_access::SearchOrder;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Term};

use super::View;
use super::bonus::Verbatim;
use super::filter::Filter;
use super::groups::{Group, Matches};
use super::lookup::Lookup;
use super::top::{Tie, Top, tie};
use crate::SearchError;
use crate::segments::DocAt;

/// Passages that are scored exactly.
pub(crate) const LIMIT: usize = 250;
/// Passages of a required word up to which all of them are candidates, without a wide pass.
const DRIVEN: usize = 20_000;
/// Passages with every word that are candidates whatever the wide pass thinks of them.
const MAX_WHOLE: usize = 100;
/// What an actor's name counts in the wide pass.
const ACTOR_WEIGHT: f64 = 0.6;
/// The engine's own constants.
const WIDE_K1: f64 = 1.2;
const WIDE_B: f64 = 0.75;
/// The length of a usual passage in words. Fixed, because the true average would tell of other records.
pub(crate) const USUAL_LENGTH: f64 = 20.0;

/// Passages that may be hits, each with its part, and whether these are all.
pub(crate) struct Candidates {
    pub(crate) docs: Vec<(usize, DocAt)>,
    pub(crate) is_complete: bool,
    pub(crate) filter: Filter,
}

impl Candidates {
    pub(crate) fn find(
        view: &View<'_>,
        groups: &[Group],
        verbatim: &Verbatim,
        order: SearchOrder,
    ) -> Result<Self, SearchError> {
        let (filter, rarest) = Filter::new(view, groups)?;
        let finder = Finder { view, groups, filter: &filter };
        let (mut docs, mut is_complete) = match (order, rarest) {
            (SearchOrder::Newest, _) => finder.newest()?,
            (_, Some(group)) if group.count <= DRIVEN as u64 => (finder.all_of(group)?, true),
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
            docs.extend(finder.whole()?);
            let all = verbatim.docs.iter().map(|(at, times)| (at.segment, at.doc, *times));
            is_complete &= finder.add_frequent(all, &mut docs);
        }
        docs.sort_unstable();
        docs.dedup();
        let part = |at: DocAt| view.field(at).map(|field| (view.scopes.fields[field].part, at));
        let docs = docs.into_iter().filter_map(part).collect();
        Ok(Self { docs, is_complete, filter })
    }
}

struct Finder<'a> {
    view: &'a View<'a>,
    groups: &'a [Group],
    filter: &'a Filter,
}

impl Finder<'_> {
    fn admits(&self, at: DocAt) -> Option<usize> {
        let part = self.view.scopes.fields[self.view.field(at)?].part;
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
    fn best(&self) -> Result<(Vec<DocAt>, bool), SearchError> {
        let mut terms: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (_, term, weight) in weighted_terms(self.view, self.groups) {
            let query = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
            #[expect(clippy::cast_possible_truncation, reason = "the wide pass works in 32 bits")]
            let boost = (weight / Fixed::IDF) as f32;
            terms.push((Occur::Should, Box::new(BoostQuery::new(Box::new(query), boost))));
        }
        let mut top = Top::default();
        if terms.is_empty() {
            return Ok((Vec::new(), true));
        }
        let scoring = EnableScoring::enabled_from_statistics_provider(&Fixed, &self.view.segments.searcher);
        let weight = BooleanQuery::new(terms).weight(scoring)?;
        for (number, segment) in self.view.segments.all().iter().enumerate() {
            weight.for_each_pruning(top.threshold(), &segment.reader, &mut |doc, score| {
                let at = DocAt { segment: number, doc };
                if let Some(part) = self.admits(at) {
                    top.offer(score, self.tie(at, part), at);
                }
                top.threshold()
            })?;
        }
        let is_complete = !top.is_full();
        Ok((self.cut(top.docs())?, is_complete))
    }

    /// Passages that have every word but names. The wide pass thinks little of long ones.
    fn whole(&self) -> Result<Vec<DocAt>, SearchError> {
        let mut groups: Vec<_> =
            self.groups.iter().filter(|group| group.scores() && !group.is_name).collect();
        groups.sort_by_key(|group| group.count);
        let Some((rarest, others)) = groups.split_first() else { return Ok(Vec::new()) };
        if others.is_empty() || rarest.count > DRIVEN as u64 {
            return Ok(Vec::new());
        }
        let mut docs = self.all_of(rarest)?;
        docs.sort_unstable();
        docs.dedup();
        for group in others {
            let mut has = vec![false; docs.len()];
            match &group.matches {
                Matches::Docs(found) => {
                    for (has, at) in has.iter_mut().zip(&docs) {
                        *has = found[at.segment].binary_search_by_key(&at.doc, |(doc, _)| *doc).is_ok();
                    }
                }
                Matches::Terms(terms) => {
                    let fields = docs.iter().map(|at| self.view.field(*at).unwrap_or_default());
                    let lookup = Lookup::new(self.view, &docs, fields);
                    for (field, term) in terms {
                        lookup.visit(*field, term, |index, _| has[index] = true)?;
                    }
                }
            }
            let mut has = has.into_iter();
            docs.retain(|_| has.next().unwrap_or_default());
        }
        let short = |at: &DocAt| {
            let part = self.view.field(*at).map_or(0, |field| self.view.scopes.fields[field].part);
            (self.view.segments.segment(*at).lengths.fieldnorm(at.doc), Reverse(self.tie(*at, part)))
        };
        docs.sort_by_cached_key(short);
        docs.truncate(MAX_WHOLE);
        Ok(docs)
    }

    /// The best by the exact form of the wide pass.
    fn cut(&self, mut docs: Vec<DocAt>) -> Result<Vec<DocAt>, SearchError> {
        if docs.len() <= LIMIT {
            return Ok(docs);
        }
        docs.sort_unstable();
        let fields: Vec<_> = docs.iter().map(|at| self.view.field(*at).unwrap_or_default()).collect();
        let mut scores = vec![0.0; docs.len()];
        let lookup = Lookup::new(self.view, &docs, fields.iter().copied());
        for (field, term, weight) in weighted_terms(self.view, self.groups) {
            let has_length = term.field() == self.view.segments.layout.text;
            let lengths = |at: DocAt| {
                let length = || self.view.segments.segment(at).lengths.fieldnorm(at.doc);
                f64::from(if has_length { length() } else { 1 })
            };
            lookup.visit(field, term, |index, times| {
                let norm = WIDE_K1 * (1.0 - WIDE_B + WIDE_B * lengths(docs[index]) / USUAL_LENGTH);
                scores[index] += weight * f64::from(times) / (f64::from(times) + norm);
            })?;
        }
        let mut best: Vec<_> = (0..docs.len()).collect();
        let tie = |index: usize| self.tie(docs[index], self.view.scopes.fields[fields[index]].part);
        best.sort_by(|one, other| {
            scores[*other].total_cmp(&scores[*one]).then_with(|| tie(*other).cmp(&tie(*one)))
        });
        Ok(best.into_iter().take(LIMIT).map(|index| docs[index]).collect())
    }

    /// The newest passages that have most of the words.
    fn newest(&self) -> Result<(Vec<DocAt>, bool), SearchError> {
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
                return Ok((found.into_iter().take(LIMIT).map(|(_, at)| at).collect(), is_complete));
            }
            needed -= 1;
        }
    }
}

/// Every term that gives credit, with its field of the plan and its weight in the wide pass.
fn weighted_terms<'g>(
    view: &'g View<'_>,
    groups: &'g [Group],
) -> impl Iterator<Item = (usize, &'g Term, f64)> {
    let groups = groups.iter().filter(|group| group.scores());
    groups.flat_map(move |group| {
        let terms: &[(usize, Term)] = match &group.matches {
            Matches::Terms(terms) => terms,
            Matches::Docs(_) => &[],
        };
        terms.iter().map(move |(field, term)| (*field, term, group.idf * wide_weight(view, *field)))
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
