//! From candidates to hits: scored, lent to by their neighbours, put in order.
//!
//! As little is worked out as the page that was asked for needs. Whatever is left out is known to have no place on it.

use pdpp_access::SearchOrder;

use super::answer::Answer;
use super::candidates::Candidates;
use super::credit::Credits;
use super::groups::Group;
use super::hits::PlacedHit;
use super::settled::{Outsiders, is_settled};
use super::{Depth, Found, MAX_HITS, Pace, View, bonus, context};
use crate::SearchError;
use crate::segments::DocAt;

/// How far a ranking came.
pub(super) enum Reached {
    /// To the hits that were wanted.
    All(Found),
    /// To the last of the candidates that were looked for, and there may be others.
    NotAll,
    /// To where it would be long: what neighbours are found by has to be made first.
    Long,
}

/// What could be had before all neighbours were scored.
enum Early {
    /// The hits that were wanted; there may be more.
    Page(Vec<PlacedHit>),
    None,
    /// What neighbours are found by has to be made first.
    Long,
}

/// Everything a ranking is made of.
pub(super) struct Ranked<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) groups: &'a [Group],
    pub(super) candidates: Candidates,
    pub(super) bonuses: &'a bonus::Bonuses,
    pub(super) order: SearchOrder,
    pub(super) explain: bool,
    pub(super) pace: Pace,
}

impl Ranked<'_> {
    pub(super) fn to(&self, depth: Depth) -> Result<Reached, SearchError> {
        let Self { view, groups, candidates, .. } = self;
        let mut credits = Credits::new(groups.len());
        credits.add(view, groups, &candidates.docs)?;
        let counts = self.counts(&credits);
        let is_complete = candidates.is_complete && counts.iter().sum::<u64>() <= MAX_HITS as u64;
        let found = credits.records.len();
        let reached = |(hits, is_all)| Found { hits, is_all, is_complete, counts, ..Found::default() };
        // By time, a record that only stands near a match is no answer.
        let lends =
            self.order == SearchOrder::Relevance && view.scopes.parts.iter().any(|part| part.follows_threads);
        if lends {
            let wanted = depth.wanted().filter(|_| !self.explain);
            match self.with_few_loans(&mut credits, found, wanted)? {
                Early::Page(hits) => return Ok(Reached::All(reached((hits, false)))),
                Early::Long => return Ok(Reached::Long),
                Early::None => context::lend(view, groups, &candidates.filter, (&mut credits, found), None)?,
            }
        }
        let ranked = credits.records.len();
        if let Some(first) = depth.wanted().and_then(|wanted| self.first(&credits, found, wanted)) {
            return Ok(Reached::All(reached(first)));
        }
        if candidates.has_later && candidates.later.is_empty() {
            return Ok(Reached::NotAll);
        }
        credits.add(view, groups, &candidates.later)?;
        let answer = self.answer(&credits, found);
        let mut placed = Vec::new();
        answer.place_after(&mut placed, 0..ranked, MAX_HITS);
        answer.place_after(&mut placed, ranked..credits.records.len(), MAX_HITS);
        placed.truncate(MAX_HITS);
        let hits = answer.hits(&placed, self.explain);
        Ok(Reached::All(reached((hits, true))))
    }

    /// A whole page, if that can be had without scoring every neighbour. Hits are the same as after all were scored.
    fn with_few_loans(
        &self,
        credits: &mut Credits,
        found: usize,
        wanted: Option<usize>,
    ) -> Result<Early, SearchError> {
        let Self { view, groups, candidates, .. } = self;
        // Leaving copies out only lowers what the last hit has, so this is the most it can be.
        let least = wanted.and_then(|wanted| self.answer(credits, found).score_at(wanted));
        let outsiders = least.and_then(|_| Outsiders::of(&self.answer(credits, found), candidates));
        let asked = wanted.zip(least).zip(outsiders);
        if let Some(((wanted, least), outsiders)) = &asked {
            let answer = self.answer(credits, found);
            if is_settled(&answer, outsiders, *least) {
                let page = answer.page(*wanted);
                let score = page.get(wanted - 1).map(|last| last.score);
                if score.is_some_and(|score| is_settled(&answer, outsiders, score)) {
                    return Ok(Early::Page(answer.hits(&page, self.explain)));
                }
            }
        }
        if self.pace == Pace::Short && !view.segments.find_at_once() {
            return Ok(Early::Long);
        }
        if let Some(((wanted, least), outsiders)) = &asked {
            let few = Some((outsiders, *least));
            context::lend(view, groups, &candidates.filter, (&mut *credits, found), few)?;
            let answer = self.answer(credits, found);
            let page = answer.page(*wanted);
            // Whoever was left out has less than this.
            if page.get(wanted - 1).is_some_and(|last| last.score >= *least) {
                return Ok(Early::Page(answer.hits(&page, self.explain)));
            }
        }
        Ok(Early::None)
    }

    /// The first hits and whether there are no more, if the first candidates have so many that nothing can change.
    fn first(&self, credits: &Credits, found: usize, wanted: usize) -> Option<(Vec<PlacedHit>, bool)> {
        let answer = self.answer(credits, found);
        let page = answer.page(wanted);
        let is_all = page.len() < wanted;
        (!is_all || !self.candidates.has_later).then(|| (answer.hits(&page, self.explain), is_all))
    }

    fn answer<'c>(&'c self, credits: &'c Credits, found: usize) -> Answer<'c> {
        let Self { view, groups, bonuses, order, .. } = self;
        Answer { view, groups, credits, bonuses, order: *order, found }
    }

    /// How many records of each part match by what they say themselves.
    fn counts(&self, credits: &Credits) -> Vec<u64> {
        let view = self.view;
        let mut counts = vec![0; view.scopes.parts.len()];
        for record in credits.records.iter().filter(|record| record.own_total > 0.0) {
            counts[record.part] += 1;
        }
        // What matches by the name of its author alone is no hit, unless names are all that was asked for.
        let only_names = self.groups.iter().filter(|group| group.scores()).all(|group| group.is_name);
        let counted =
            |at: DocAt| only_names || view.field(at).is_some_and(|field| !view.scopes.fields[field].is_actor);
        let later = self.candidates.later.iter().filter(|(_, at)| counted(*at));
        let mut later: Vec<_> =
            later.map(|(part, at)| (*part, view.segments.segment(*at).record(at.doc))).collect();
        later.sort_unstable();
        later.dedup();
        for (part, record) in later {
            counts[part] += u64::from(credits.find(part, record).is_none());
        }
        counts
    }
}
