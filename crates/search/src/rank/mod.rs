//! Ranks the passages a plan lets be seen.
//!
//! First a wide, cheap pass finds candidates; then those are scored again, exactly and in 64 bits, with
//! everything that takes more than counting words. Each step goes through passages, words and fields in
//! an order the query and the records decide, never the layout of the files: two indexes that differ
//! only outside the plan give the same bits.

mod allowed;
mod answer;
mod ascending;
mod bonus;
mod borrowers;
mod candidates;
mod context;
mod counts;
mod credit;
mod digest;
mod filter;
mod groups;
mod hits;
mod lookup;
mod newest;
mod phrase;
mod prefixes;
mod presence;
mod ranked;
mod said;
mod scopes;
mod settled;
mod spelling;
mod terms;
mod top;
mod whole;
mod wide;
mod wishes;

use std::cell::OnceCell;
use std::sync::Arc;

use pdpp_access::SearchOrder;
use pdpp_evidence::{Clause, Ignored, What};
use pdpp_store::{Correction, Ranking, Search};
use tantivy::Term;
use tantivy::schema::Field;

pub(crate) use counts::Counts;
pub(crate) use scopes::Scopes;

use self::allowed::Allowed;
use self::candidates::{Candidates, Width};
use self::groups::{Group, Groups};
use self::hits::{LaterHits, PlacedHit, RankAll};
use self::presence::Room;
use self::ranked::{Ranked, Reached};
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
    pub(crate) room: Room,
    passages: u64,
}

/// Passages with a word of the query, beyond which a search is not for a thread that others wait for.
const SHORT: u64 = 400_000;

/// How long a search may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// It is given up as soon as it is seen to be long.
    Short,
    Long,
}

/// The most hits of a ranking.
const MAX_HITS: usize = 500;

/// How many hits are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// So many at least, if there are.
    First(usize),
    All,
}

impl Depth {
    fn wanted(self) -> Option<usize> {
        match self {
            Self::First(wanted) => Some(wanted),
            Self::All => None,
        }
    }
}

/// Hits in order.
#[derive(Default)]
struct Found {
    hits: Vec<PlacedHit>,
    /// Whether there are no more.
    is_all: bool,
    is_complete: bool,
    counts: Vec<u64>,
    corrected: Vec<Correction>,
    ignored: Vec<Ignored>,
}

/// Answers a search from one commit; `None` when it would be longer than it may be.
pub(crate) fn rank(
    segments: &Arc<Segments>,
    counts: &Arc<Counts>,
    search: Search<'_>,
    pace: Pace,
) -> Result<Option<Ranking>, SearchError> {
    // One more than the page, to know whether there is another.
    let wanted = search.plan.limit() as usize;
    let found = find(segments.clone(), counts, search, pace, Depth::First(wanted + 1))?;
    let Some(Found { hits, is_all, is_complete, counts: counted, corrected, ignored }) = found else {
        return Ok(None);
    };
    let rank_all = (!is_all).then(|| later(segments.clone(), counts.clone(), search));
    let hits = LaterHits::new(segments.clone(), counted, hits, rank_all);
    hits.name_first(wanted)?;
    Ok(Some(Ranking { hits: Arc::new(hits), is_complete, is_current: false, corrected, ignored }))
}

/// Ranks the same once more, to the last hit.
fn later(segments: Arc<Segments>, counts: Arc<Counts>, search: Search<'_>) -> RankAll {
    let (plan, query, only) = (search.plan.clone(), search.query.clone(), search.only.map(<[_]>::to_vec));
    let explain = search.explain;
    Box::new(move || {
        let search = Search { plan: &plan, query: &query, only: only.as_deref(), explain };
        let found = find(segments.clone(), &counts, search, Pace::Long, Depth::All)?;
        Ok(found.unwrap_or_default().hits)
    })
}

fn find(
    segments: Arc<Segments>,
    counts: &Counts,
    search: Search<'_>,
    pace: Pace,
    depth: Depth,
) -> Result<Option<Found>, SearchError> {
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
    let Groups { all: groups, corrected, ignored, is_complete } = groups;
    let counted = vec![0; view.scopes.parts.len()];
    if !groups.iter().any(Group::scores) {
        let nothing = Found { is_all: true, corrected, ignored, counts: counted, ..Found::default() };
        return Ok(Some(Found { is_complete, ..nothing }));
    }
    let order = search.plan.order();
    let postings = groups.iter().map(|group| group.count).sum::<u64>();
    if pace == Pace::Short && (postings > SHORT || order == SearchOrder::Newest) {
        return Ok(None);
    }
    let whole = whole::whole(&view, &groups)?;
    let verbatim = bonus::verbatim(&view, clauses, whole.as_deref())?;
    let bonuses = bonus::Bonuses { verbatim, time: bonus::NamedTime::of(clauses) };
    let whole = whole.unwrap_or_default();
    for width in Width::of(depth.wanted(), postings) {
        let candidates = Candidates::find(&view, &groups, &bonuses.verbatim, &whole, order, width)?;
        let (view, groups, bonuses) = (&view, &groups, &bonuses);
        let ranked = Ranked { view, groups, candidates, bonuses, order, explain: search.explain, pace };
        match ranked.to(depth)? {
            Reached::All(found) => {
                let is_complete = is_complete && found.is_complete;
                return Ok(Some(Found { is_complete, corrected, ignored, ..found }));
            }
            Reached::Long => return Ok(None),
            Reached::NotAll => {}
        }
    }
    Ok(Some(Found { corrected, ignored, counts: counted, ..Found::default() }))
}

/// Whether everything is there that is made once for a segment and a grant.
fn is_ready(segments: &Segments, counts: &Counts, scopes: &Scopes) -> bool {
    let large = || segments.all().iter().filter(|segment| segment.reader.max_doc() > SMALL);
    scopes.parts.iter().all(|part| {
        part.grant.is_open() || large().all(|segment| counts.known_allowed(segment, &part.grant).is_some())
    })
}

impl<'a> View<'a> {
    fn new(segments: Arc<Segments>, counts: &'a Counts, scopes: Scopes) -> Result<Self, SearchError> {
        let in_segment = |segment| scopes.in_segment(segments.layout, segment);
        let known: Vec<_> = segments.all().iter().map(in_segment).collect::<Result<_, _>>()?;
        let fields = known.iter().map(|scopes| FieldsBySegment::of(scopes)).collect();
        let allowed = vec![vec![OnceCell::new(); segments.all().len()]; scopes.parts.len()];
        let mut view = Self { segments, scopes, fields, counts, allowed, room: Room::default(), passages: 0 };
        for part in 0..view.scopes.parts.len() {
            // The fullest field of a part tells how many records it has; the others repeat them.
            let mut most = 0;
            for (index, field) in
                view.scopes.fields.iter().enumerate().filter(|(_, field)| field.part == part)
            {
                let term = Term::from_field_text(view.segments.layout.scope, &field.scope);
                let infos = known.iter().map(|scopes| scopes[index].info.clone()).collect();
                most = most.max(view.count(&PlanTerm::of(index, term, infos))?);
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
