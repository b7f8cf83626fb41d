//! Hits in order, of which only those on a page are given their keys.
//!
//! A key is the one thing about a record that is read from the index's store, and a page shows few of the
//! hundreds that are ranked. The commit they were ranked in is kept for as long as they are.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdpp_store::{Hits, Passage, RankedHit, StoreError};
use pdpp_wire::RecordKey;
use serde_json::Value;
use tantivy::DocId;

use crate::SearchError;
use crate::error::caught;
use crate::segments::{DocAt, Segments};

/// The most passages of a hit.
pub(crate) const MAX_PASSAGES: usize = 3;

/// A hit without its key.
#[derive(Debug)]
pub(crate) struct UnnamedHit {
    pub(crate) at: DocAt,
    pub(crate) score: f64,
    /// Where it matched: the part's search field, and the document.
    pub(crate) passages: [Option<(u32, DocId)>; MAX_PASSAGES],
    pub(crate) duplicates: u32,
    pub(crate) explanation: Option<Box<Value>>,
}

/// A hit in its place; the order may leave it equal to the one before it.
#[derive(Debug)]
pub(crate) struct PlacedHit {
    pub(crate) part: usize,
    pub(crate) hit: UnnamedHit,
    pub(crate) is_tied: bool,
}

/// Hits of one ranking. Only the first are known in the beginning, unless there are no more.
pub(crate) struct LaterHits {
    segments: Arc<Segments>,
    counts: Vec<u64>,
    known: Mutex<Known>,
    /// Ranks everything there is.
    rank_all: Option<RankAll>,
}

pub(crate) type RankAll = Box<dyn Fn() -> Result<Vec<PlacedHit>, SearchError> + Send + Sync>;

/// The hits that are known, and whether these are all.
struct Known {
    hits: Vec<OneHit>,
    is_all: bool,
}

struct OneHit {
    part: usize,
    /// Where its ties begin. They are put in the order of their keys when one of them is read.
    tie: usize,
    hit: UnnamedHit,
    name: Named,
}

/// What is known of a hit's key.
#[derive(Clone, Debug)]
enum Named {
    NotYet,
    As(RecordKey),
    /// The index has none for it, which only damage can cause.
    Never,
}

impl std::fmt::Debug for LaterHits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LaterHits({:?})", self.counts)
    }
}

impl Known {
    fn new(placed: Vec<PlacedHit>, is_all: bool) -> Self {
        let mut hits: Vec<OneHit> = Vec::with_capacity(placed.len());
        for PlacedHit { part, hit, is_tied } in placed {
            let before = hits.last().map(|last| last.tie).filter(|_| is_tied);
            hits.push(OneHit { part, tie: before.unwrap_or(hits.len()), hit, name: Named::NotYet });
        }
        Self { hits, is_all }
    }

    /// The range with all ties of its hits.
    fn widened(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.hits[range.start].tie;
        let last = self.hits[range.end - 1].tie;
        start..range.end + self.hits[range.end..].partition_point(|hit| hit.tie == last)
    }

    fn name(&mut self, segments: &Segments, range: Range<usize>) -> Result<(), SearchError> {
        for OneHit { hit, name, .. } in &mut self.hits[range.clone()] {
            if matches!(name, Named::NotYet) {
                let key = segments.segment(hit.at).key(hit.at.doc)?;
                *name = key.map_or(Named::Never, Named::As);
            }
        }
        let mut start = range.start;
        while start < range.end {
            let end = start + self.hits[start..range.end].partition_point(|hit| hit.tie == start);
            // Ties are of one part, so putting them in order moves nothing else.
            self.hits[start..end].sort_by(|one, other| match (&one.name, &other.name) {
                (Named::As(one), Named::As(other)) => one.cmp(other),
                (one, other) => matches!(one, Named::Never).cmp(&matches!(other, Named::Never)),
            });
            start = end;
        }
        Ok(())
    }
}

impl LaterHits {
    /// `counts` are how many records of each part match; without `rank_all` the first hits are all.
    pub(crate) fn new(
        segments: Arc<Segments>,
        counts: Vec<u64>,
        first: Vec<PlacedHit>,
        rank_all: Option<RankAll>,
    ) -> Self {
        let known = Mutex::new(Known::new(first, rank_all.is_none()));
        Self { segments, counts, known, rank_all }
    }

    /// Names the first hits, which are read in any case: damage shows here, where it can be answered by a rebuild.
    pub(crate) fn name_first(&self, count: usize) -> Result<(), SearchError> {
        let mut known = self.locked();
        match count.min(known.hits.len()) {
            0 => Ok(()),
            count => {
                let range = known.widened(&(0..count));
                known.name(&self.segments, range)
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hits, up to this one if there are so many.
    fn known_to(&self, end: usize) -> Result<MutexGuard<'_, Known>, SearchError> {
        let mut known = self.locked();
        if !known.is_all
            && known.hits.len() < end
            && let Some(rank_all) = &self.rank_all
        {
            *known = Known::new(rank_all()?, true);
        }
        Ok(known)
    }

    fn ranked(&self, one: &OneHit, key: &RecordKey) -> RankedHit {
        let OneHit { part, hit, .. } = one;
        let segment = self.segments.segment(hit.at);
        let chars = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let passages = hit.passages.iter().flatten().map(|(field, doc)| {
            let (start, end) = segment.stretch(*doc);
            Passage {
                field: *field as usize,
                start_chars: chars(start),
                end_chars: chars(end),
                language: segment.language(*doc),
            }
        });
        RankedHit {
            part: *part,
            key: key.clone(),
            score: hit.score,
            passages: passages.collect(),
            duplicates: hit.duplicates,
            explanation: hit.explanation.as_deref().cloned(),
        }
    }
}

impl Hits for LaterHits {
    fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn is_at_hand(&self, end: usize) -> bool {
        let known = self.locked();
        known.is_all || known.hits.len() >= end
    }

    fn reaches(&self, end: usize) -> Result<bool, StoreError> {
        Ok(caught(|| Ok(self.known_to(end)?.hits.len() >= end))?)
    }

    fn read(&self, range: Range<usize>) -> Result<Vec<RankedHit>, StoreError> {
        Ok(caught(|| self.named(range))?)
    }
}

impl LaterHits {
    fn named(&self, range: Range<usize>) -> Result<Vec<RankedHit>, SearchError> {
        let mut known = self.known_to(range.end)?;
        let range = range.start.min(known.hits.len())..range.end.min(known.hits.len());
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let widened = known.widened(&range);
        known.name(&self.segments, widened)?;
        let named = known.hits[range].iter().filter_map(|hit| match &hit.name {
            Named::As(key) => Some(self.ranked(hit, key)),
            Named::NotYet | Named::Never => None,
        });
        Ok(named.collect())
    }
}
