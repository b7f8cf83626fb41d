//! What prefixes stand for: words of the plan's own dictionary.
//!
//! A word that is wished for is one of the most frequent with that beginning, because each has to be looked up in
//! passages. What is required or excluded is another matter: every word with that beginning counts, so their
//! documents are gathered instead.
//!
//! Words are gone through in the alphabet's order, in all segments at once, and only those count of which the plan
//! sees a passage. So where it ends depends on nothing outside the plan, nor on the cut into segments.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use pdpp_evidence::{Clause, Need, What};
use tantivy::schema::Field;
use tantivy::{DocId, Term};

use super::View;
use super::phrase::PhraseDocs;
use super::terms::PlanTerm;
use crate::SearchError;
use crate::place::SCOPE_CHARS;

/// Words one prefix stands for at most, and at least if there are so many.
const MAX_WORDS: usize = 64;
const MIN_WORDS: usize = 4;
/// Words all prefixes of a query stand for together.
const ALL_WORDS: usize = 256;
/// Words counted in one field for all prefixes of a query together.
const ALL_COUNTED: usize = 20_000;

/// How far the prefixes of one query are followed.
#[derive(Clone, Copy)]
pub(crate) struct Breadth {
    words: usize,
    counted: usize,
}

impl Breadth {
    pub(crate) fn of(clauses: &[Clause]) -> Self {
        let is_wish =
            |clause: &&Clause| clause.need == Need::Should && matches!(clause.what, What::Prefix { .. });
        let prefixes = clauses.iter().filter(is_wish).count().max(1);
        Self { words: (ALL_WORDS / prefixes).clamp(MIN_WORDS, MAX_WORDS), counted: ALL_COUNTED / prefixes }
    }

    /// The terms that begin with a prefix: the most frequent ones, by what the plan sees; and whether these are all.
    pub(crate) fn expand(self, view: &View<'_>, prefix: &str) -> Result<(Vec<PlanTerm>, bool), SearchError> {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        let mut is_all = true;
        for field in 0..view.scopes.fields.len() {
            for in_field in [view.segments.layout.text, view.segments.layout.surface] {
                let mut left = self.counted;
                for_each_word(view, (field, in_field), prefix, |word, term| {
                    let count = view.count(&term)?;
                    if count > 0 && left == 0 {
                        is_all = false;
                        return Ok(ControlFlow::Break(()));
                    }
                    if count > 0 {
                        left -= 1;
                        *found.entry(word.to_owned()).or_default() += count;
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
        }
        let mut best: Vec<_> = found.into_iter().collect();
        best.sort_by(|(word, count), (other, more)| more.cmp(count).then_with(|| word.cmp(other)));
        is_all &= best.len() <= self.words;
        best.truncate(self.words);
        let mut terms = Vec::new();
        for (word, _) in best {
            for field in 0..view.scopes.fields.len() {
                for in_field in [view.segments.layout.text, view.segments.layout.surface] {
                    let term = PlanTerm::find(view, field, view.term(in_field, field, &word))?;
                    if !term.is_nowhere() {
                        terms.push(term);
                    }
                }
            }
        }
        Ok((terms, is_all))
    }
}

/// The documents of the plan with any word that begins with a prefix.
pub(crate) fn docs(view: &View<'_>, prefix: &str) -> Result<PhraseDocs, SearchError> {
    let rows = view.segments.all().iter().map(|segment| segment.reader.max_doc() as usize);
    let mut bits: Vec<Vec<u64>> = rows.map(|rows| vec![0; rows / 64 + 1]).collect();
    for field in 0..view.scopes.fields.len() {
        for in_field in [view.segments.layout.text, view.segments.layout.surface] {
            for_each_word(view, (field, in_field), prefix, |_, term| {
                for (number, bits) in bits.iter_mut().enumerate() {
                    term.for_each_doc(view, number, |doc| bits[doc as usize / 64] |= 1 << (doc % 64))?;
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
    }
    let docs = |bits: Vec<u64>| {
        let set = (0..).zip(bits).filter(|(_, word)| *word != 0);
        let docs = set.flat_map(|(at, word): (DocId, u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| (at * 64 + bit, 1))
        });
        docs.collect()
    };
    Ok(bits.into_iter().map(docs).collect())
}

/// Goes through the words of one field of the plan that begin with a prefix, in order, each with what every segment
/// says of it.
pub(super) fn for_each_word(
    view: &View<'_>,
    (field, in_field): (usize, Field),
    prefix: &str,
    mut visit: impl FnMut(&str, PlanTerm) -> Result<ControlFlow<()>, SearchError>,
) -> Result<(), SearchError> {
    let begin = [&view.scopes.fields[field].scope, prefix].concat();
    let begin = begin.as_bytes();
    let mut lists = Vec::with_capacity(view.segments.all().len());
    for segment in view.segments.all() {
        let inverted = if in_field == view.segments.layout.text { &segment.text } else { &segment.surface };
        let mut list = inverted.terms().range().ge(begin).into_stream()?;
        let is_open = list.advance() && list.key().starts_with(begin);
        lists.push((list, is_open));
    }
    let mut key = Vec::new();
    loop {
        let open = lists.iter().filter(|(_, is_open)| *is_open);
        let Some(next) = open.map(|(list, _)| list.key()).min() else { return Ok(()) };
        key.clear();
        key.extend_from_slice(next);
        let mut infos = Vec::with_capacity(lists.len());
        for (list, is_open) in &mut lists {
            let has = *is_open && list.key() == key;
            infos.push(has.then(|| list.value().clone()));
            *is_open = if has { list.advance() && list.key().starts_with(begin) } else { *is_open };
        }
        let Ok(name) = std::str::from_utf8(&key) else { continue };
        let term = PlanTerm::of(field, Term::from_field_text(in_field, name), infos);
        if visit(&name[SCOPE_CHARS..], term)?.is_break() {
            return Ok(());
        }
    }
}
