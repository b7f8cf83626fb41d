//! Passages in which words stand next to each other.

use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, TERMINATED, Term};

use crate::SearchError;
use crate::layout::Layout;
use crate::segments::Segment;

/// One word of a phrase: any of its forms.
struct Slot(Vec<SegmentPostings>);

/// The documents of one scope that have the words in order and next to each other, and how often.
pub(crate) fn phrase_docs(
    segment: &Segment,
    layout: Layout,
    scope: &str,
    words: &[Vec<String>],
) -> Result<Vec<(DocId, u32)>, SearchError> {
    let inverted = segment.reader.inverted_index(layout.text)?;
    let mut slots = Vec::with_capacity(words.len());
    for forms in words {
        let mut postings = Vec::new();
        for form in forms {
            let term = Term::from_field_text(layout.text, &[scope, form].concat());
            postings.extend(inverted.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)?);
        }
        if postings.is_empty() {
            return Ok(Vec::new());
        }
        slots.push(Slot(postings));
    }
    let Some(rarest) = (0..slots.len()).min_by_key(|slot| slots[*slot].size()) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut doc = slots[rarest].doc();
    while doc != TERMINATED {
        let others = slots.iter_mut().enumerate().all(|(at, slot)| at == rarest || slot.seek(doc));
        if others && segment.is_alive(doc) {
            let times = adjacent(&mut slots, doc);
            if times > 0 {
                found.push((doc, times));
            }
        }
        doc = slots[rarest].after(doc);
    }
    Ok(found)
}

fn adjacent(slots: &mut [Slot], doc: DocId) -> u32 {
    let mut starts: Vec<u32> = Vec::new();
    for (offset, slot) in (0_u32..).zip(slots) {
        let positions = slot.positions(doc);
        if offset == 0 {
            starts = positions;
        } else {
            starts.retain(|start| positions.binary_search(&(start + offset)).is_ok());
        }
    }
    u32::try_from(starts.len()).unwrap_or(u32::MAX)
}

impl Slot {
    fn size(&self) -> u64 {
        self.0.iter().map(|postings| u64::from(postings.doc_freq())).sum()
    }

    fn doc(&self) -> DocId {
        self.0.iter().map(SegmentPostings::doc).min().unwrap_or(TERMINATED)
    }

    /// The first document after this one.
    fn after(&mut self, doc: DocId) -> DocId {
        for postings in self.0.iter_mut().filter(|postings| postings.doc() == doc) {
            postings.advance();
        }
        self.doc()
    }

    fn seek(&mut self, doc: DocId) -> bool {
        for postings in self.0.iter_mut().filter(|postings| postings.doc() < doc) {
            postings.seek(doc);
        }
        self.0.iter().any(|postings| postings.doc() == doc)
    }

    /// Where the word stands in the document, in order.
    fn positions(&mut self, doc: DocId) -> Vec<u32> {
        let (mut all, mut some) = (Vec::new(), Vec::new());
        for postings in self.0.iter_mut().filter(|postings| postings.doc() == doc) {
            postings.positions(&mut some);
            all.append(&mut some);
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}
