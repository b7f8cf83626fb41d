//! A term of the plan, looked up once in each segment's dictionary.

use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, InvertedIndexReader, Term};

use super::View;
use super::presence::Presence;
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
    pub(crate) presence: Presence,
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
        Ok(Self::of(field, term, infos))
    }

    pub(crate) fn of(field: usize, term: Term, infos: Vec<Option<TermInfo>>) -> Self {
        let presence = Presence::new(infos.len());
        Self { field, term, infos, is_typed: false, presence }
    }

    pub(crate) fn is_nowhere(&self) -> bool {
        self.infos.iter().all(Option::is_none)
    }

    /// How many passages are listed under it, whoever may see them.
    pub(crate) fn listed(&self) -> u64 {
        self.infos.iter().flatten().map(|info| u64::from(info.doc_freq)).sum()
    }

    /// Its postings in a segment, block by block.
    pub(crate) fn blocks(
        &self,
        view: &View<'_>,
        number: usize,
        option: IndexRecordOption,
    ) -> Result<Option<BlockSegmentPostings>, SearchError> {
        let Some(info) = &self.infos[number] else { return Ok(None) };
        let segment = &view.segments.all()[number];
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
        let Some(mut blocks) = self.blocks(view, number, IndexRecordOption::Basic)? else { return Ok(()) };
        let segment = &view.segments.all()[number];
        let Some(allowed) = view.allowed(view.scopes.fields[self.field].part, number) else {
            while !blocks.docs().is_empty() {
                blocks.docs().iter().copied().filter(|doc| segment.is_alive(*doc)).for_each(&mut visit);
                blocks.advance();
            }
            return Ok(());
        };
        let mut at = blocks.seek(allowed.range.start);
        while let Some(first) = blocks.docs().first()
            && *first < allowed.range.end
        {
            blocks.docs()[at..].iter().copied().filter(|doc| allowed.has(*doc)).for_each(&mut visit);
            blocks.advance();
            at = 0;
        }
        Ok(())
    }

    /// How many those are.
    pub(crate) fn count_docs(&self, view: &View<'_>, number: usize) -> Result<u64, SearchError> {
        let allowed = view.allowed(view.scopes.fields[self.field].part, number);
        if let Some(allowed) = allowed.filter(|allowed| allowed.has_all) {
            let Some(mut blocks) = self.blocks(view, number, IndexRecordOption::Basic)? else { return Ok(0) };
            let before = blocks.rank(allowed.range.start);
            return Ok(u64::from(blocks.rank(allowed.range.end) - before));
        }
        let mut count = 0;
        self.for_each_doc(view, number, |_| count += 1)?;
        Ok(count)
    }
}

fn dictionary<'s>(view: &View<'_>, segment: &'s Segment, term: &Term) -> Option<&'s InvertedIndexReader> {
    match term.field() {
        field if field == view.segments.layout.text => Some(&segment.text),
        field if field == view.segments.layout.surface => Some(&segment.surface),
        _ => None,
    }
}
