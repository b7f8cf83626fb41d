//! Looks words up in a list of passages, going through each word's own list once.

use tantivy::schema::IndexRecordOption;

use super::View;
use super::ascending::Ascending;
use super::terms::PlanTerm;
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

    /// Calls back with the place of each passage of the term's field that has it, and how often.
    pub(crate) fn visit(
        &self,
        term: &PlanTerm,
        mut found: impl FnMut(usize, u32),
    ) -> Result<(), SearchError> {
        let mut rest = self.by_field[term.field].as_slice();
        while let Some(next) = rest.first() {
            let number = self.docs[*next].segment;
            let here = rest.partition_point(|index| self.docs[*index].segment == number);
            let (here, later) = rest.split_at(here);
            rest = later;
            let Some(blocks) = term.blocks(self.view, number, IndexRecordOption::WithFreqs)? else {
                continue;
            };
            let mut list = Ascending::new(blocks);
            let bits = term.presence.known(number);
            let may_have = |index: &&usize| bits.is_none_or(|bits| bits.may_have(self.docs[**index].doc));
            for index in here.iter().filter(may_have) {
                if let Some(times) = list.times(self.docs[*index].doc) {
                    found(*index, times);
                }
            }
        }
        Ok(())
    }
}
