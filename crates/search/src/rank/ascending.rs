//! Looks passages up in one word's list, in their order.

use tantivy::postings::BlockSegmentPostings;
use tantivy::{DocId, TERMINATED};

/// Passages gone past one by one before the block is searched.
const STEPS: usize = 8;

/// A list, and how far it was gone through.
pub(crate) struct Ascending {
    blocks: BlockSegmentPostings,
    /// The place within the block.
    at: usize,
    /// The last passage of the block.
    last: DocId,
}

impl Ascending {
    pub(crate) fn new(blocks: BlockSegmentPostings) -> Self {
        let last = last_of(&blocks);
        Self { blocks, at: 0, last }
    }

    /// How often the word occurs in a passage, if it does. No passage comes before the one asked for last.
    pub(crate) fn times(&mut self, doc: DocId) -> Option<u32> {
        self.go_to(doc).then(|| self.blocks.freq(self.at))
    }

    /// Goes on to a passage, or to the first after it; says whether the word is in it.
    pub(crate) fn go_to(&mut self, doc: DocId) -> bool {
        self.go_to_or_after(doc) == doc
    }

    /// Goes on to a passage, or to the first after it, and says which that is.
    pub(crate) fn go_to_or_after(&mut self, doc: DocId) -> DocId {
        if doc > self.last {
            self.at = self.blocks.seek(doc);
            self.last = last_of(&self.blocks);
        } else {
            // The next one is mostly near, and the last of the block is not before it.
            let end = self.at + STEPS;
            while self.blocks.doc(self.at) < doc {
                self.at += 1;
                if self.at == end {
                    self.at = self.blocks.seek(doc);
                    break;
                }
            }
        }
        self.blocks.doc(self.at)
    }
}

fn last_of(blocks: &BlockSegmentPostings) -> DocId {
    blocks.docs().last().copied().unwrap_or(TERMINATED)
}
