//! Ranks the passages a plan lets be seen.
//!
//! First a wide, cheap pass finds candidates; then those are scored again, exactly and in 64 bits, with
//! everything that takes more than counting words. Each step goes through passages, words and fields in
//! an order the query and the records decide, never the layout of the files: two indexes that differ
//! only outside the plan give the same bits.

mod allowed;
mod answer;
mod bonus;
mod candidates;
mod context;
mod counts;
mod credit;
mod digest;
mod filter;
mod groups;
mod hits;
mod lookup;
mod phrase;
mod scopes;
mod spelling;
mod start;
mod terms;
mod top;
mod whole;

use std::cell::OnceCell;
use std::sync::Arc;

use pdpp_access::SearchOrder;
use pdpp_evidence::{Clause, What};
use pdpp_store::{Ranking, Search};
use tantivy::Term;
use tantivy::schema::Field;

pub(crate) use counts::Counts;
pub(crate) use scopes::Scopes;

use self::allowed::Allowed;
use self::answer::Answer;
use self::candidates::Candidates;
use self::credit::Credits;
use self::groups::{Group, Groups};
use self::scopes::FieldsBySegment;
use self::terms::PlanTerm;
use crate::SearchError;
use crate::segments::{DocAt, SMALL, Segments};

/// One commit of the index, as a plan sees it.
pub(crate) struct View<'a> {
    pub(crate) segments: Arc<Segments>,
    pub(crate) scopes: Scopes,
    fields: Vec<FieldsBySegment>,
    counts: &'a Counts,
    /// By part and segment, the documents within the grant.
    allowed: Vec<Vec<OnceCell<Arc<Allowed>>>>,
    passages: u64,
}

/// Passages with a word of the query, beyond which a search is not for a thread that others wait for.
const SHORT: u64 = 100_000;

/// How long a search may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// It is given up as soon as it is seen to be long.
    Short,
    Long,
}

/// Answers a search from one commit; `None` when it would be longer than it may be.
pub(crate) fn rank(
    segments: Arc<Segments>,
    counts: &Counts,
    search: Search<'_>,
    pace: Pace,
) -> Result<Option<Ranking>, SearchError> {
    let clauses = &search.query.clauses;
    let is_prefix = |clause: &Clause| matches!(clause.what, What::Prefix { .. } | What::Phrase(_));
    if pace == Pace::Short && (search.only.is_some() || clauses.iter().any(is_prefix)) {
        return Ok(None);
    }
    let scopes = Scopes::new(search.plan, search.only);
    if pace == Pace::Short && !is_ready(&segments, counts, &scopes) {
        return Ok(None);
    }
    let view = View::new(segments, counts, scopes)?;
    let Some(groups) = Groups::resolve(&view, clauses, pace)? else { return Ok(None) };
    let corrected = groups.corrected;
    let groups = groups.all;
    if !groups.iter().any(Group::scores) {
        return Ok(Some(Ranking { is_complete: true, corrected, ..Ranking::default() }));
    }
    let order = search.plan.order();
    let postings = groups.iter().map(|group| group.count).sum::<u64>();
    if pace == Pace::Short && (postings > SHORT || order == SearchOrder::Newest) {
        return Ok(None);
    }
    let whole = whole::whole(&view, &groups)?;
    let verbatim = bonus::verbatim(&view, clauses, whole.as_deref())?;
    let candidates = Candidates::find(&view, &groups, &verbatim, whole, order)?;
    let mut credits = Credits::new(groups.len());
    credits.add(&view, &groups, &candidates.docs)?;
    // By time, a record that only stands near a match is no answer.
    if order == SearchOrder::Relevance {
        context::lend(&view, &groups, &candidates.filter, &mut credits)?;
    }
    let bonuses = bonus::Bonuses { verbatim, time: bonus::NamedTime::of(clauses) };
    let answer = Answer { view: &view, groups: &groups, credits: &credits, bonuses: &bonuses, order };
    let (hits, is_cut) = answer.hits(search.explain);
    hits.name_first(search.plan.limit() as usize)?;
    let is_complete = candidates.is_complete && !is_cut;
    Ok(Some(Ranking { hits: Arc::new(hits), is_complete, is_current: false, corrected }))
}

/// Whether everything is there that is made once for a segment, or for a segment and a grant.
fn is_ready(segments: &Segments, counts: &Counts, scopes: &Scopes) -> bool {
    let large = || segments.all().iter().filter(|segment| segment.reader.max_doc() > SMALL);
    scopes.parts.iter().all(|part| {
        let finds = part.follows_threads || part.grant.has_list();
        large().all(|segment| {
            (!finds || segment.finds_at_once())
                && (part.grant.is_open() || counts.known_allowed(segment, &part.grant).is_some())
        })
    })
}

impl<'a> View<'a> {
    fn new(segments: Arc<Segments>, counts: &'a Counts, scopes: Scopes) -> Result<Self, SearchError> {
        let fields =
            segments.all().iter().map(|segment| scopes.in_segment(segment)).collect::<Result<_, _>>()?;
        let allowed = vec![vec![OnceCell::new(); segments.all().len()]; scopes.parts.len()];
        let mut view = Self { segments, scopes, fields, counts, allowed, passages: 0 };
        for part in 0..view.scopes.parts.len() {
            // The fullest field of a part tells how many records it has; the others repeat them.
            let mut most = 0;
            for (index, field) in
                view.scopes.fields.iter().enumerate().filter(|(_, field)| field.part == part)
            {
                let term = Term::from_field_text(view.segments.layout.scope, &field.scope);
                most = most.max(view.count(&PlanTerm::find(&view, index, term)?)?);
            }
            view.passages += most;
        }
        Ok(view)
    }

    /// How many passages of the plan have a term of one of its fields.
    pub(crate) fn count(&self, term: &PlanTerm) -> Result<u64, SearchError> {
        self.counts.count(self, term)
    }

    /// The documents of a segment within a part's grant; `None` when all that are alive are.
    pub(crate) fn allowed(&self, part: usize, segment: usize) -> Option<&Allowed> {
        let bounds = &self.scopes.parts[part].grant;
        let make = || self.counts.allowed(&self.segments.all()[segment], bounds);
        (!bounds.is_open()).then(|| &**self.allowed[part][segment].get_or_init(make))
    }

    /// Whether a document of a part is alive and within its grant.
    pub(crate) fn is_granted(&self, part: usize, at: DocAt) -> bool {
        match self.allowed(part, at.segment) {
            Some(allowed) => allowed.has(at.doc),
            None => self.segments.segment(at).is_alive(at.doc),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of passages are far below 2^52")]
    pub(crate) fn idf(&self, count: u64) -> f64 {
        let (all, some) = (self.passages as f64, count.min(self.passages) as f64);
        (1.0 + (all - some + 0.5) / (some + 0.5)).ln()
    }

    /// Which field of the plan a document is of.
    pub(crate) fn field(&self, at: DocAt) -> Option<usize> {
        self.fields[at.segment].field(self.segments.segment(at), at.doc)
    }

    /// Which part of the plan a document of one of its words is of.
    pub(crate) fn part(&self, at: DocAt) -> Option<usize> {
        // A word of the plan stands in its fields only, so with one part there is nothing to look up.
        if self.scopes.parts.len() == 1 { Some(0) } else { Some(self.scopes.fields[self.field(at)?].part) }
    }

    /// A word of one field of the plan, as `in_field` of the index spells it.
    pub(crate) fn term(&self, in_field: Field, field: usize, word: &str) -> Term {
        Term::from_field_text(in_field, &[&*self.scopes.fields[field].scope, word].concat())
    }
}
