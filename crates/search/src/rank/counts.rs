//! How many passages a plan sees a term in.
//!
//! The dictionary knows for a whole segment, deleted passages included. Where some are deleted, or the
//! grant is narrower than the scope, the postings are counted; counts are kept by segment, and segments
//! never change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::index::SegmentId;
use tantivy::{Opstamp, Term};

use super::View;
use super::allowed::Allowed;
use super::scopes::Bounds;
use super::terms::PlanTerm;
use crate::SearchError;
use crate::segments::Segment;

/// More are forgotten all at once.
const MAX_KEPT: usize = 50_000;
/// Bytes of document sets kept; more are forgotten all at once.
const MAX_ALLOWED_BYTES: usize = 32 << 20;

/// A segment as one commit has it, and a grant's bounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Within {
    segment: SegmentId,
    deletes: Option<Opstamp>,
    bounds: u64,
}

/// What took work.
#[derive(Default)]
pub(crate) struct Counts {
    counts: Mutex<HashMap<(Within, Term), u64>>,
    allowed: Mutex<HashMap<Within, (Bounds, Arc<Allowed>)>>,
}

impl Within {
    fn of(segment: &Segment, bounds: &Bounds) -> Self {
        Self {
            segment: segment.reader.segment_id(),
            deletes: segment.reader.delete_opstamp(),
            bounds: bounds.key,
        }
    }
}

impl Counts {
    /// The documents of a segment within bounds, if they are known.
    pub(crate) fn known_allowed(&self, segment: &Segment, bounds: &Bounds) -> Option<Arc<Allowed>> {
        let known = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        // What may be seen does not hang on a hash alone.
        let (of, allowed) = known.get(&Within::of(segment, bounds))?;
        (of == bounds).then(|| allowed.clone())
    }

    /// The documents of a segment within bounds.
    pub(crate) fn allowed(&self, segment: &Segment, bounds: &Bounds) -> Arc<Allowed> {
        if let Some(known) = self.known_allowed(segment, bounds) {
            return known;
        }
        let made = Arc::new(Allowed::of(segment, bounds));
        let mut known = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if known.values().map(|(_, one)| one.bytes()).sum::<usize>() + made.bytes() > MAX_ALLOWED_BYTES {
            known.clear();
        }
        known.insert(Within::of(segment, bounds), (bounds.clone(), made.clone()));
        made
    }

    /// The living passages within the grant that have a term of the plan.
    pub(crate) fn count(&self, view: &View<'_>, term: &PlanTerm) -> Result<u64, SearchError> {
        let mut total = 0;
        for (number, segment) in view.segments.all().iter().enumerate() {
            let Some(info) = &term.infos[number] else { continue };
            let bounds = &view.scopes.parts[view.scopes.fields[term.field].part].grant;
            if bounds.is_open() && !segment.reader.has_deletes() {
                total += u64::from(info.doc_freq);
                continue;
            }
            let kept = (Within::of(segment, bounds), term.term.clone());
            if let Some(count) = self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(&kept) {
                total += count;
                continue;
            }
            let count = term.count_docs(view, number)?;
            total += count;
            let mut known = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MAX_KEPT {
                known.clear();
            }
            known.insert(kept, count);
        }
        Ok(total)
    }
}
