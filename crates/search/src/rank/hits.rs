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

/// Hits of one ranking.
#[derive(Debug)]
pub(crate) struct LaterHits {
    segments: Arc<Segments>,
    parts: Vec<usize>,
    /// Where each hit's ties begin. They are put in the order of their keys when one of them is read.
    ties: Vec<usize>,
    hits: Mutex<Vec<(UnnamedHit, Named)>>,
}

/// What is known of a hit's key.
#[derive(Clone, Debug)]
enum Named {
    NotYet,
    As(RecordKey),
    /// The index has none for it, which only damage can cause.
    Never,
}

impl LaterHits {
    pub(crate) fn new(segments: Arc<Segments>, count: usize) -> Self {
        let hits = Mutex::new(Vec::with_capacity(count));
        Self { segments, parts: Vec::with_capacity(count), ties: Vec::with_capacity(count), hits }
    }

    /// Adds the next hit; the order may leave it equal to the one before it.
    pub(crate) fn push(&mut self, part: usize, hit: UnnamedHit, is_tied: bool) {
        let before = self.ties.last().copied().filter(|_| is_tied);
        self.ties.push(before.unwrap_or(self.parts.len()));
        self.parts.push(part);
        self.hits.get_mut().unwrap_or_else(PoisonError::into_inner).push((hit, Named::NotYet));
    }

    /// Names the first hits, which are read in any case: damage shows here, where it can be answered by a rebuild.
    pub(crate) fn name_first(&self, count: usize) -> Result<(), SearchError> {
        match count.min(self.parts.len()) {
            0 => Ok(()),
            count => self.name(&mut self.locked(), self.widened(&(0..count))),
        }
    }

    fn locked(&self) -> MutexGuard<'_, Vec<(UnnamedHit, Named)>> {
        self.hits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The range with all ties of its hits.
    fn widened(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.ties[range.start];
        let last = self.ties[range.end - 1];
        start..range.end + self.ties[range.end..].partition_point(|tie| *tie == last)
    }

    fn name(&self, hits: &mut [(UnnamedHit, Named)], range: Range<usize>) -> Result<(), SearchError> {
        for (hit, name) in &mut hits[range.clone()] {
            if matches!(name, Named::NotYet) {
                let key = self.segments.segment(hit.at).key(hit.at.doc)?;
                *name = key.map_or(Named::Never, Named::As);
            }
        }
        let mut start = range.start;
        while start < range.end {
            let end = start + self.ties[start..range.end].partition_point(|tie| *tie == start);
            hits[start..end].sort_by(|(_, one), (_, other)| match (one, other) {
                (Named::As(one), Named::As(other)) => one.cmp(other),
                (one, other) => matches!(one, Named::Never).cmp(&matches!(other, Named::Never)),
            });
            start = end;
        }
        Ok(())
    }

    fn ranked(&self, part: usize, hit: &UnnamedHit, key: &RecordKey) -> RankedHit {
        let segment = self.segments.segment(hit.at);
        let chars = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let passages = hit.passages.iter().flatten().map(|(field, doc)| {
            let (start, end) = segment.stretch(*doc);
            Passage { field: *field as usize, start_chars: chars(start), end_chars: chars(end) }
        });
        RankedHit {
            part,
            key: key.clone(),
            score: hit.score,
            passages: passages.collect(),
            duplicates: hit.duplicates,
            explanation: hit.explanation.as_deref().cloned(),
        }
    }
}

impl Hits for LaterHits {
    fn parts(&self) -> &[usize] {
        &self.parts
    }

    fn read(&self, range: Range<usize>) -> Result<Vec<RankedHit>, StoreError> {
        let range = range.start.min(self.parts.len())..range.end.min(self.parts.len());
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let mut hits = self.locked();
        self.name(&mut hits, self.widened(&range))?;
        let named = range.filter_map(|index| match &hits[index] {
            // The part is the same for all ties, so putting them in order does not move it.
            (hit, Named::As(key)) => Some(self.ranked(self.parts[index], hit, key)),
            (_, Named::NotYet | Named::Never) => None,
        });
        Ok(named.collect())
    }
}
