//! Which passages of a segment may have a word, as bits.
//!
//! Looking a passage up in a word's list takes some dozens of steps, and most passages that are looked up do not have
//! the word. Where a list is about to be asked often, it is gone through once instead, and then tells for each passage
//! in a step or two whether looking it up is worth while. Passages share a bit where few have the word, so that bits
//! take about as long to make as the list is.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::rc::Rc;

use tantivy::DocId;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;

use super::View;
use super::terms::PlanTerm;
use crate::SearchError;

/// Passages of a list that are gone through in the time one is looked up.
const PER_LOOKUP: u64 = 8;
/// Bits for each passage of a list, at least.
const BITS_EACH: u64 = 8;
/// Below this many nothing is gained.
const FEWEST_LOOKUPS: u64 = 256;
/// What the bits of one search may take together.
const MAX_BYTES: usize = 32 << 20;

/// The bits of one word, by segment; shared by all copies of a term.
#[derive(Clone, Default)]
pub(crate) struct Presence(Rc<[OnceCell<Bits>]>);

/// How many bytes are left for bits.
pub(crate) struct Room(Cell<usize>);

impl Default for Room {
    fn default() -> Self {
        Self(Cell::new(MAX_BYTES))
    }
}

/// The passages of a stretch of a segment that may have a word.
pub(crate) struct Bits {
    stretch: Range<DocId>,
    /// So many passages, as a power of two, share a bit.
    shared: u32,
    words: Vec<u64>,
}

impl Presence {
    pub(crate) fn new(segments: usize) -> Self {
        Self((0..segments).map(|_| OnceCell::new()).collect())
    }

    /// The bits of a segment, if they were made.
    pub(crate) fn known(&self, number: usize) -> Option<&Bits> {
        self.0.get(number)?.get()
    }
}

impl Bits {
    fn new(stretch: Range<DocId>, listed: u64) -> Self {
        let most = stretch.len() as u64 / (listed * BITS_EACH).max(1);
        let shared = most.max(1).ilog2();
        let words = vec![0; (stretch.len() >> shared) / 64 + 1];
        Self { stretch, shared, words }
    }

    fn bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Marks the passages of a list.
    fn fill(&mut self, mut blocks: BlockSegmentPostings) {
        let mut at = blocks.seek(self.stretch.start);
        while let Some(last) = blocks.docs().last().copied() {
            self.mark(&blocks.docs()[at..]);
            if last >= self.stretch.end {
                break;
            }
            blocks.advance();
            at = 0;
        }
    }

    /// Marks those of some passages, in order, that lie within the stretch.
    fn mark(&mut self, docs: &[DocId]) {
        let Range { start, end } = self.stretch;
        let (before, inside) =
            (docs.partition_point(|doc| *doc < start), docs.partition_point(|doc| *doc < end));
        for doc in &docs[before..inside] {
            let place = (doc - start) >> self.shared;
            self.words[place as usize / 64] |= 1 << (place % 64);
        }
    }

    /// Whether a passage has the word, for all that is known here.
    #[inline]
    pub(crate) fn may_have(&self, doc: DocId) -> bool {
        // What no grant shows was not looked at.
        if !self.stretch.contains(&doc) {
            return true;
        }
        let place = (doc - self.stretch.start) >> self.shared;
        self.words[place as usize / 64] >> (place % 64) & 1 == 1
    }
}

impl PlanTerm {
    /// Which passages may have the word, of those in a segment that its part of the plan shows, if finding out is
    /// worth while for so many lookups.
    pub(crate) fn present(
        &self,
        view: &View<'_>,
        number: usize,
        lookups: u64,
    ) -> Result<Option<&Bits>, SearchError> {
        let Some(cell) = self.presence.0.get(number) else { return Ok(None) };
        if cell.get().is_some() || lookups < FEWEST_LOOKUPS {
            return Ok(cell.get());
        }
        let rows = view.segments.all()[number].reader.max_doc();
        let allowed = view.allowed(view.scopes.fields[self.field].part, number);
        let stretch = allowed.map_or(0..rows, |allowed| allowed.range.clone());
        let listed = self.infos[number].as_ref().map_or(0, |info| u64::from(info.doc_freq));
        let here = listed * stretch.len() as u64 / u64::from(rows.max(1));
        if here > lookups * PER_LOOKUP {
            return Ok(None);
        }
        let mut bits = Bits::new(stretch, here);
        let Some(left) = view.room.0.get().checked_sub(bits.bytes()) else { return Ok(None) };
        let Some(blocks) = self.blocks(view, number, IndexRecordOption::Basic)? else { return Ok(None) };
        view.room.0.set(left);
        bits.fill(blocks);
        Ok(Some(cell.get_or_init(|| bits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_know_every_passage_of_a_list_and_few_others() {
        for listed in [1_u32, 40, 700, 5_000] {
            let docs: Vec<DocId> = (0..listed).map(|n| n * (20_000 / listed) + n % 3).collect();
            for stretch in [0..20_000, 3_000..7_001, 19_999..20_000, 5..5] {
                let mut bits = Bits::new(stretch.clone(), u64::from(listed) * stretch.len() as u64 / 20_000);
                bits.mark(&docs);
                let others = (stretch.clone()).filter(|doc| docs.binary_search(doc).is_err());
                let wrong = others.filter(|doc| bits.may_have(*doc)).count();
                assert!(wrong * 4 <= stretch.len(), "{wrong} of {stretch:?} with {listed}");
                assert!(docs.iter().all(|doc| bits.may_have(*doc)), "{stretch:?} with {listed}");
                assert!(bits.may_have(stretch.end));
            }
        }
    }
}
