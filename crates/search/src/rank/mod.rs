//! Ranks the passages a plan lets be seen.
//!
//! First a wide, cheap pass finds candidates; then those are scored again, exactly and in 64 bits, with
//! everything that takes more than counting words. Each step goes through passages, words and fields in
//! an order the query and the records decide, never the layout of the files: two indexes that differ
//! only outside the plan give the same bits.

mod answer;
mod bonus;
mod candidates;
mod context;
mod counts;
mod credit;
mod filter;
mod groups;
mod lookup;
mod phrase;
mod scopes;
mod spelling;
mod top;

use std::sync::Arc;

use pdpp_access::SearchOrder;
use pdpp_store::{Ranking, Search};
use tantivy::Term;
use tantivy::schema::Field;

pub(crate) use counts::Counts;
pub(crate) use scopes::Scopes;

use self::answer::Answer;
use self::candidates::Candidates;
use self::credit::Credits;
use self::groups::{Group, Groups};
use self::scopes::FieldsBySegment;
use crate::SearchError;
use crate::segments::Segments;

/// One commit of the index, as a plan sees it.
pub(crate) struct View<'a> {
    pub(crate) segments: Arc<Segments>,
    pub(crate) scopes: Scopes,
    fields: Vec<FieldsBySegment>,
    counts: &'a Counts,
    passages: u64,
}

/// Answers a search from one commit.
pub(crate) fn rank(
    segments: Arc<Segments>,
    counts: &Counts,
    search: Search<'_>,
) -> Result<Ranking, SearchError> {
    let view = View::new(segments, counts, search)?;
    let groups = Groups::resolve(&view, &search.query.clauses)?;
    let corrected = groups.corrected;
    let groups = groups.all;
    if !groups.iter().any(Group::scores) {
        return Ok(Ranking { is_complete: true, corrected, ..Ranking::default() });
    }
    let order = search.plan.order();
    let verbatim = bonus::verbatim(&view, &search.query.clauses)?;
    let candidates = Candidates::find(&view, &groups, &verbatim, order)?;
    let mut credits = Credits::default();
    credits.add(&view, &groups, &candidates.docs)?;
    // By time, a record that only stands near a match is no answer.
    if order == SearchOrder::Relevance {
        context::lend(&view, &groups, &candidates.filter, &mut credits)?;
    }
    let bonuses = bonus::Bonuses { verbatim, time: bonus::NamedTime::of(&search.query.clauses) };
    let answer = Answer { view: &view, groups: &groups, credits: &credits, bonuses: &bonuses, order };
    let (hits, is_cut) = answer.hits(search.explain)?;
    Ok(Ranking { hits, is_complete: candidates.is_complete && !is_cut, is_current: false, corrected })
}

impl<'a> View<'a> {
    fn new(segments: Arc<Segments>, counts: &'a Counts, search: Search<'_>) -> Result<Self, SearchError> {
        let scopes = Scopes::new(search.plan, search.only);
        let fields =
            segments.all().iter().map(|segment| scopes.in_segment(segment)).collect::<Result<_, _>>()?;
        let mut view = Self { segments, scopes, fields, counts, passages: 0 };
        for part in 0..view.scopes.parts.len() {
            // The fullest field of a part tells how many records it has; the others repeat them.
            let mut most = 0;
            for (index, field) in
                view.scopes.fields.iter().enumerate().filter(|(_, field)| field.part == part)
            {
                let term = Term::from_field_text(view.segments.layout.scope, &field.scope);
                most = most.max(view.count(index, &term)?);
            }
            view.passages += most;
        }
        Ok(view)
    }

    /// How many passages of the plan have a term of one of its fields.
    pub(crate) fn count(&self, field: usize, term: &Term) -> Result<u64, SearchError> {
        let bounds = &self.scopes.parts[self.scopes.fields[field].part].grant;
        self.counts.count(&self.segments, term, bounds)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of passages are far below 2^52")]
    pub(crate) fn idf(&self, count: u64) -> f64 {
        let (all, some) = (self.passages as f64, count.min(self.passages) as f64);
        (1.0 + (all - some + 0.5) / (some + 0.5)).ln()
    }

    /// Which field of the plan a document is of.
    pub(crate) fn field(&self, at: crate::segments::DocAt) -> Option<usize> {
        self.fields[at.segment].field(self.segments.segment(at), at.doc)
    }

    /// A word of one field of the plan, as `in_field` of the index spells it.
    pub(crate) fn term(&self, in_field: Field, field: usize, word: &str) -> Term {
        Term::from_field_text(in_field, &[&*self.scopes.fields[field].scope, word].concat())
    }
}
