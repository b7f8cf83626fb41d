//! Passages in which words stand next to each other.

use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, TERMINATED};

use super::View;
use crate::SearchError;
use crate::segments::DocAt;

/// One word of a phrase: any of its forms, and where it stands in the document that is looked at.
struct Slot {
    forms: Vec<SegmentPostings>,
    positions: Vec<u32>,
}

/// The documents that have a phrase and how often, by segment, in order.
pub(crate) type PhraseDocs = Vec<Vec<(DocId, u32)>>;

/// The documents of all fields of the plan, within its grant, that have a phrase.
pub(crate) fn phrase(view: &View<'_>, slots: &[Vec<String>]) -> Result<PhraseDocs, SearchError> {
    let mut by_segment = Vec::new();
    for number in 0..view.segments.all().len() {
        let mut docs = Vec::new();
        for field in 0..view.scopes.fields.len() {
            docs.extend(phrase_docs(view, number, field, slots, None)?);
        }
        docs.sort_unstable();
        by_segment.push(docs);
    }
    Ok(by_segment)
}

/// The documents of one field of the plan, within its grant, that have the words in order and next to each
/// other, and how often. Only `among` is looked at, in order, if there is such a list.
pub(crate) fn phrase_docs(
    view: &View<'_>,
    number: usize,
    field: usize,
    words: &[Vec<String>],
    among: Option<&[DocId]>,
) -> Result<Vec<(DocId, u32)>, SearchError> {
    let segment = &view.segments.all()[number];
    let mut slots = Vec::with_capacity(words.len());
    for forms in words {
        let mut postings = Vec::new();
        for form in forms {
            let term = view.term(view.segments.layout.text, field, form);
            postings.extend(segment.text.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)?);
        }
        if postings.is_empty() {
            return Ok(Vec::new());
        }
        slots.push(Slot { forms: postings, positions: Vec::new() });
    }
    let mut by_size: Vec<_> = (0..slots.len()).collect();
    by_size.sort_by_key(|slot| slots[*slot].size());
    let Some((rarest, others)) = by_size.split_first() else { return Ok(Vec::new()) };
    let part = view.scopes.fields[field].part;
    let mut found = Vec::new();
    let mut check = |slots: &mut [Slot], doc: DocId| {
        if others.iter().all(|slot| slots[*slot].seek(doc))
            && view.is_granted(part, DocAt { segment: number, doc })
        {
            let times = adjacent(slots, doc);
            if times > 0 {
                found.push((doc, times));
            }
        }
    };
    if let Some(among) = among {
        for doc in among {
            if slots[*rarest].seek(*doc) {
                check(&mut slots, *doc);
            }
        }
        return Ok(found);
    }
    let range = view.allowed(part, number).map_or(0..TERMINATED, |allowed| allowed.range.clone());
    slots[*rarest].seek(range.start);
    let mut doc = slots[*rarest].doc();
    while doc < range.end {
        check(&mut slots, doc);
        doc = slots[*rarest].after(doc);
    }
    Ok(found)
}

/// How often the words stand next to each other in a document that has all of them.
fn adjacent(slots: &mut [Slot], doc: DocId) -> u32 {
    for slot in slots.iter_mut() {
        slot.read_positions(doc);
    }
    let Some((first, others)) = slots.split_first() else { return 0 };
    let stands = |start: &&u32| {
        let mut others = (1_u32..).zip(others);
        others.all(|(offset, slot)| slot.positions.binary_search(&(*start + offset)).is_ok())
    };
    u32::try_from(first.positions.iter().filter(stands).count()).unwrap_or(u32::MAX)
}

impl Slot {
    fn size(&self) -> u64 {
        self.forms.iter().map(|postings| u64::from(postings.doc_freq())).sum()
    }

    fn doc(&self) -> DocId {
        self.forms.iter().map(SegmentPostings::doc).min().unwrap_or(TERMINATED)
    }

    /// The first document after this one.
    fn after(&mut self, doc: DocId) -> DocId {
        for postings in self.forms.iter_mut().filter(|postings| postings.doc() == doc) {
            postings.advance();
        }
        self.doc()
    }

    fn seek(&mut self, doc: DocId) -> bool {
        for postings in self.forms.iter_mut().filter(|postings| postings.doc() < doc) {
            postings.seek(doc);
        }
        self.forms.iter().any(|postings| postings.doc() == doc)
    }

    /// Reads where the word stands in the document, in order.
    fn read_positions(&mut self, doc: DocId) {
        self.positions.clear();
        let mut is_in_order = true;
        for postings in self.forms.iter_mut().filter(|postings| postings.doc() == doc) {
            is_in_order = self.positions.is_empty();
            postings.append_positions_with_offset(0, &mut self.positions);
        }
        if !is_in_order {
            self.positions.sort_unstable();
            self.positions.dedup();
        }
    }
}
