//! Passages that have every word of a query.
//!
//! They are candidates whatever the wide pass thinks of them, and the only ones that can have the query word
//! for word, so they are found once for both.

use tantivy::DocId;
use tantivy::schema::IndexRecordOption;

use super::View;
use super::ascending::Ascending;
use super::groups::{Group, Matches};
use crate::SearchError;
use crate::segments::DocAt;

/// Passages of a word up to which all of them are looked at.
pub(crate) const DRIVEN: usize = 20_000;

/// The passages within the grant that have every word but names, with their fields, in order; `None` when there
/// is only one such word, or too many passages have even the rarest of them.
pub(crate) fn whole(view: &View<'_>, groups: &[Group]) -> Result<Option<Vec<(DocAt, usize)>>, SearchError> {
    let mut groups: Vec<_> = groups.iter().filter(|group| group.scores() && !group.is_name).collect();
    groups.sort_by_key(|group| group.count);
    let Some((rarest, others)) = groups.split_first() else { return Ok(None) };
    if others.is_empty() || rarest.count > DRIVEN as u64 {
        return Ok(None);
    }
    let mut all = Vec::new();
    for number in 0..view.segments.all().len() {
        let mut docs = starting(view, rarest, number)?;
        for group in others {
            retain(view, group, number, &mut docs)?;
        }
        all.extend(docs.into_iter().map(|(doc, field)| (DocAt { segment: number, doc }, field)));
    }
    Ok(Some(all))
}

/// The passages of a segment that have a group, each once.
fn starting(view: &View<'_>, group: &Group, number: usize) -> Result<Vec<(DocId, usize)>, SearchError> {
    let mut docs = Vec::new();
    match &group.matches {
        Matches::Docs(found) => {
            let field = |doc: DocId| view.field(DocAt { segment: number, doc });
            docs.extend(found[number].iter().filter_map(|(doc, _)| Some((*doc, field(*doc)?))));
        }
        Matches::Terms(terms) => {
            for term in terms {
                let before = docs.len();
                term.for_each_doc(view, number, |doc| docs.push((doc, term.field)))?;
                merge(&mut docs, before);
            }
            return Ok(docs);
        }
    }
    docs.sort_unstable();
    docs.dedup();
    Ok(docs)
}

/// Puts two lists, each in order, that lie one after the other in order as one, each entry once.
fn merge<T: Ord + Copy>(both: &mut Vec<T>, second: usize) {
    if second == 0 || second == both.len() {
        return;
    }
    let first = both[..second].to_vec();
    let mut first = first.into_iter().peekable();
    let second = both.split_off(second);
    both.clear();
    for one in second {
        while let Some(before) = first.next_if(|before| *before < one) {
            both.push(before);
        }
        first.next_if_eq(&one);
        both.push(one);
    }
    both.extend(first);
}

/// Keeps those that have another group as well.
fn retain(
    view: &View<'_>,
    group: &Group,
    number: usize,
    docs: &mut Vec<(DocId, usize)>,
) -> Result<(), SearchError> {
    match &group.matches {
        Matches::Docs(found) => {
            docs.retain(|(doc, _)| found[number].binary_search_by_key(doc, |(doc, _)| *doc).is_ok());
        }
        Matches::Terms(terms) => {
            let mut has = vec![false; docs.len()];
            for term in terms {
                if docs.is_empty() {
                    break;
                }
                let bits = term.present(view, number, docs.len() as u64)?;
                let Some(blocks) = term.blocks(view, number, IndexRecordOption::Basic)? else { continue };
                let mut list = Ascending::new(blocks);
                for ((doc, field), has) in docs.iter().zip(&mut has) {
                    if *field == term.field && !*has && bits.is_none_or(|bits| bits.may_have(*doc)) {
                        *has = list.go_to(*doc);
                    }
                }
            }
            let mut has = has.into_iter();
            docs.retain(|_| has.next().unwrap_or_default());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_become_one_in_order() {
        for (first, second) in [
            (vec![], vec![]),
            (vec![1], vec![]),
            (vec![], vec![2]),
            (vec![1, 4, 6], vec![2, 4, 9]),
            (vec![7, 8], vec![1, 2]),
        ] {
            let mut both = [first.clone(), second.clone()].concat();
            merge(&mut both, first.len());
            let expected: std::collections::BTreeSet<u32> = first.into_iter().chain(second).collect();
            assert_eq!(both, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
