//! Neighbours of the best records, before they are scored.
//!
//! Most of them have none of the words themselves, and no place on the page either. Which words one has is found
//! for all of them together, and takes far less than scoring them.

use tantivy::DocId;
use tantivy::schema::IndexRecordOption;

use super::View;
use super::ascending::Ascending;
use super::groups::{Group, Matches};
use super::settled::Outsiders;
use super::terms::PlanTerm;
use crate::SearchError;
use crate::segments::DocAt;

/// A record of a part of the plan, by the first of its documents.
#[derive(Clone, Copy)]
struct Borrower {
    part: usize,
    at: DocAt,
    record: u64,
}

/// Records that are lent something, each once, in the order of their documents.
pub(crate) struct Borrowers {
    groups: usize,
    all: Vec<Borrower>,
    /// What each is lent of each group, one borrower after the other.
    lent: Vec<f64>,
}

impl Borrowers {
    pub(crate) fn new(groups: usize) -> Self {
        Self { groups, all: Vec::new(), lent: Vec::new() }
    }

    /// Notes what a record of a part is lent of each group. They come in the order of their documents.
    pub(crate) fn add(&mut self, record: (usize, u64), at: DocAt, lent: impl Iterator<Item = f64>) {
        let (part, record) = record;
        if self.all.last().is_none_or(|last| (last.at, last.part) != (at, part)) {
            self.all.push(Borrower { part, at, record });
            self.lent.resize(self.all.len() * self.groups, 0.0);
        }
        let start = self.lent.len() - self.groups;
        for (known, lent) in self.lent[start..].iter_mut().zip(lent) {
            *known = known.max(lent);
        }
    }

    /// Those that could come to so much, each with its part.
    pub(crate) fn worthwhile(
        &self,
        view: &View<'_>,
        groups: &[Group],
        outsiders: &Outsiders,
        least: f64,
    ) -> Result<Vec<(usize, DocAt)>, SearchError> {
        let possible =
            (0..self.all.len()).filter(|index| !outsiders.is_less(|_| true, self.lent(*index), least));
        let possible: Vec<usize> = possible.collect();
        let mut has = vec![false; possible.len() * self.groups];
        for (number, group) in groups.iter().enumerate().filter(|(_, group)| group.scores()) {
            let mut note = |place: usize| has[place * self.groups + number] = true;
            let borrowers = possible.iter().map(|index| &self.all[*index]).enumerate();
            match &group.matches {
                Matches::Terms(terms) => {
                    for term in terms {
                        let part = view.scopes.fields[term.field].part;
                        let mut lists = Lists { view, term, open: None };
                        for (place, borrower) in borrowers.clone().filter(|(_, one)| one.part == part) {
                            if lists.has(borrower)? {
                                note(place);
                            }
                        }
                    }
                }
                Matches::Docs(by_segment) => {
                    for (place, borrower) in borrowers {
                        let docs = &by_segment[borrower.at.segment];
                        let next = docs.get(docs.partition_point(|(doc, _)| *doc < borrower.at.doc));
                        if next.is_some_and(|(doc, _)| borrower.is_of(view, *doc)) {
                            note(place);
                        }
                    }
                }
            }
        }
        let has = |place: usize, group: usize| has[place * self.groups + group];
        let worthwhile = possible.iter().enumerate().filter(|(place, index)| {
            !outsiders.is_less(|group| has(*place, group), self.lent(**index), least)
        });
        Ok(worthwhile.map(|(_, index)| (self.all[*index].part, self.all[*index].at)).collect())
    }

    fn lent(&self, index: usize) -> &[f64] {
        &self.lent[index * self.groups..][..self.groups]
    }
}

impl Borrower {
    /// Whether a document is of the record, not before its first.
    fn is_of(&self, view: &View<'_>, doc: DocId) -> bool {
        let segment = &view.segments.all()[self.at.segment];
        doc < segment.reader.max_doc() && segment.record(doc) == self.record
    }
}

/// A word's lists, gone through in the order of documents.
struct Lists<'a> {
    view: &'a View<'a>,
    term: &'a PlanTerm,
    /// The segment, and its list if it has one.
    open: Option<(usize, Option<Ascending>)>,
}

impl Lists<'_> {
    /// Whether a record has the word. No record comes before the one asked for last.
    fn has(&mut self, borrower: &Borrower) -> Result<bool, SearchError> {
        let number = borrower.at.segment;
        if self.open.as_ref().is_none_or(|(open, _)| *open != number) {
            let blocks = self.term.blocks(self.view, number, IndexRecordOption::Basic)?;
            self.open = Some((number, blocks.map(Ascending::new)));
        }
        let Some((_, Some(list))) = &mut self.open else { return Ok(false) };
        // Nothing but the record's own documents stands between its first and the next of its own.
        let next = list.go_to_or_after(borrower.at.doc);
        Ok(borrower.is_of(self.view, next))
    }
}
