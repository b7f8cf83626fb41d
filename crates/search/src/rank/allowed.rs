//! The living documents of a segment that lie within a grant's bounds, as a set.
//!
//! Testing each posting of a common word against the time column costs more than the posting itself. The set
//! is made once for a grant and a segment, and says where it begins and ends: postings outside are skipped.

use std::ops::Range;

use tantivy::DocId;

use super::scopes::Bounds;
use crate::segments::Segment;

/// Documents, one bit each.
#[derive(Debug)]
pub(crate) struct Allowed {
    /// From the first document to after the last.
    pub(crate) range: Range<DocId>,
    /// Whether it has every document of the range.
    pub(crate) has_all: bool,
    /// From the first document on.
    words: Vec<u64>,
}

impl Allowed {
    pub(crate) fn of(segment: &Segment, bounds: &Bounds) -> Self {
        let mut docs = bounds.docs(segment);
        docs.retain(|doc| segment.is_alive(*doc));
        let (Some(first), Some(last)) = (docs.first().copied(), docs.last().copied()) else {
            return Self { range: 0..0, has_all: true, words: Vec::new() };
        };
        let has_all = docs.len() == (last - first) as usize + 1;
        let mut words = vec![0; (last - first) as usize / 64 + 1];
        for doc in docs {
            words[(doc - first) as usize / 64] |= 1 << ((doc - first) % 64);
        }
        Self { range: first..last + 1, has_all, words }
    }

    pub(crate) fn has(&self, doc: DocId) -> bool {
        let Some(at) = doc.checked_sub(self.range.start) else { return false };
        self.words.get(at as usize / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words.len() * 8 + 64
    }
}
