//! Looks words up in a list of passages, going through each word's own list once.

use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Term};

use super::View;
use crate::SearchError;
use crate::segments::DocAt;

/// Passages to look words up in.
pub(crate) struct Lookup<'a> {
    view: &'a View<'a>,
    docs: &'a [DocAt],
    /// Their places in the list by field of the plan.
    by_field: Vec<Vec<usize>>,
}

impl<'a> Lookup<'a> {
    /// `docs` are in order, each with its field.
    pub(crate) fn new(view: &'a View<'a>, docs: &'a [DocAt], fields: impl Iterator<Item = usize>) -> Self {
        let mut by_field = vec![Vec::new(); view.scopes.fields.len()];
        for (index, field) in fields.enumerate() {
            by_field[field].push(index);
        }
        Self { view, docs, by_field }
    }

    /// Calls back with the place of each passage of the field that has the term, and how often.
    pub(crate) fn visit(
        &self,
        field: usize,
        term: &Term,
        mut found: impl FnMut(usize, u32),
    ) -> Result<(), SearchError> {
        let mut rest = self.by_field[field].iter().copied().peekable();
        while let Some(next) = rest.peek() {
            let number = self.docs[*next].segment;
            let reader = &self.view.segments.all()[number].reader;
            let inverted = reader.inverted_index(term.field())?;
            let mut postings = inverted.read_postings(term, IndexRecordOption::WithFreqs)?;
            while let Some(index) = rest.next_if(|index| self.docs[*index].segment == number) {
                let Some(postings) = &mut postings else { continue };
                let doc = self.docs[index].doc;
                if postings.doc() < doc {
                    postings.seek(doc);
                }
                if postings.doc() == doc {
                    found(index, postings.term_freq());
                }
            }
        }
        Ok(())
    }
}
