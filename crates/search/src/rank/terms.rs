//! A term of the plan, looked up once in each segment's dictionary.

use tantivy::postings::{BlockSegmentPostings, SegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, InvertedIndexReader, TERMINATED, Term};

use super::View;
use crate::SearchError;
use crate::segments::Segment;

/// A term of one field of the plan.
#[derive(Clone)]
pub(crate) struct PlanTerm {
    /// Which field of the plan.
    pub(crate) field: usize,
    pub(crate) term: Term,
    /// What each segment's dictionary says.
    pub(crate) infos: Vec<Option<TermInfo>>,
    /// Whether it is the word as it was typed.
    pub(crate) is_typed: bool,
}

impl PlanTerm {
    pub(crate) fn find(view: &View<'_>, field: usize, term: Term) -> Result<Self, SearchError> {
        let mut infos = Vec::with_capacity(view.segments.all().len());
        for segment in view.segments.all() {
            infos.push(match dictionary(view, segment, &term) {
                Some(dictionary) => dictionary.get_term_info(&term)?,
                None => segment.reader.inverted_index(term.field())?.get_term_info(&term)?,
            });
        }
        Ok(Self { field, term, infos, is_typed: false })
    }

    pub(crate) fn is_nowhere(&self) -> bool {
        self.infos.iter().all(Option::is_none)
    }

    /// Its postings in a segment.
    pub(crate) fn postings(
        &self,
        view: &View<'_>,
        number: usize,
        option: IndexRecordOption,
    ) -> Result<Option<SegmentPostings>, SearchError> {
        let Some(info) = &self.infos[number] else { return Ok(None) };
        let segment = &view.segments.all()[number];
        if let Some(dictionary) = dictionary(view, segment, &self.term) {
            return Ok(Some(dictionary.read_postings_from_terminfo(info, option)?));
        }
        let dictionary = segment.reader.inverted_index(self.term.field())?;
        Ok(Some(dictionary.read_postings_from_terminfo(info, option)?))
    }

    /// The same, block by block and with frequencies.
    pub(crate) fn blocks(
        &self,
        view: &View<'_>,
        number: usize,
    ) -> Result<Option<BlockSegmentPostings>, SearchError> {
        let Some(info) = &self.infos[number] else { return Ok(None) };
        let segment = &view.segments.all()[number];
        let option = IndexRecordOption::WithFreqs;
        if let Some(dictionary) = dictionary(view, segment, &self.term) {
            return Ok(Some(dictionary.read_block_postings_from_terminfo(info, option)?));
        }
        let dictionary = segment.reader.inverted_index(self.term.field())?;
        Ok(Some(dictionary.read_block_postings_from_terminfo(info, option)?))
    }

    /// Every living document of a segment within the grant that has it, in order.
    pub(crate) fn for_each_doc(
        &self,
        view: &View<'_>,
        number: usize,
        mut visit: impl FnMut(DocId),
    ) -> Result<(), SearchError> {
        let Some(mut postings) = self.postings(view, number, IndexRecordOption::Basic)? else {
            return Ok(());
        };
        let segment = &view.segments.all()[number];
        let Some(allowed) = view.allowed(view.scopes.fields[self.field].part, number) else {
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if segment.is_alive(doc) {
                    visit(doc);
                }
                doc = postings.advance();
            }
            return Ok(());
        };
        let mut doc = postings.doc();
        if doc < allowed.range.start {
            doc = postings.seek(allowed.range.start);
        }
        while doc < allowed.range.end {
            if allowed.has(doc) {
                visit(doc);
            }
            doc = postings.advance();
        }
        Ok(())
    }
}

fn dictionary<'s>(view: &View<'_>, segment: &'s Segment, term: &Term) -> Option<&'s InvertedIndexReader> {
    match term.field() {
        field if field == view.segments.layout.text => Some(&segment.text),
        field if field == view.segments.layout.surface => Some(&segment.surface),
        _ => None,
    }
}
