//! How many passages a plan sees a term in.
//!
//! The dictionary knows for a whole segment, deleted passages included. Where some are deleted, or the
//! grant is narrower than the scope, the postings are counted; counts are kept by segment, and segments
//! never change.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tantivy::index::SegmentId;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Opstamp, TERMINATED, Term};

use super::scopes::Bounds;
use crate::SearchError;
use crate::segments::{Segment, Segments};

/// More are forgotten all at once.
const MAX_KEPT: usize = 50_000;

#[derive(PartialEq, Eq, Hash)]
struct Kept {
    segment: SegmentId,
    deletes: Option<Opstamp>,
    bounds: u64,
    term: Term,
}

/// Counts that took work.
#[derive(Default)]
pub(crate) struct Counts(Mutex<HashMap<Kept, u64>>);

impl Counts {
    /// The living passages within the bounds that have the term.
    pub(crate) fn count(
        &self,
        segments: &Segments,
        term: &Term,
        bounds: &Bounds,
    ) -> Result<u64, SearchError> {
        let mut total = 0;
        for segment in segments.all() {
            total += self.in_segment(segment, term, bounds)?;
        }
        Ok(total)
    }

    fn in_segment(&self, segment: &Segment, term: &Term, bounds: &Bounds) -> Result<u64, SearchError> {
        let inverted = segment.reader.inverted_index(term.field())?;
        let Some(info) = inverted.get_term_info(term)? else { return Ok(0) };
        if bounds.is_open() && !segment.reader.has_deletes() {
            return Ok(u64::from(info.doc_freq));
        }
        let kept = Kept {
            segment: segment.reader.segment_id(),
            deletes: segment.reader.delete_opstamp(),
            bounds: bounds.key,
            term: term.clone(),
        };
        if let Some(count) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&kept) {
            return Ok(*count);
        }
        let mut postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
        let mut count = 0;
        let mut doc = postings.doc();
        while doc != TERMINATED {
            count += u64::from(segment.is_alive(doc) && bounds.allows(segment, doc));
            doc = postings.advance();
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KEPT {
            known.clear();
        }
        known.insert(kept, count);
        Ok(count)
    }
}
