//! Lends records the words of their neighbours.
//!
//! In a conversation the answer often stands beside the message that has the question's words. So each
//! of the best records lends its words, at half their worth and less, to the four on each side of it in
//! its thread. A word counts once for a record, by itself or by its best neighbour: adding neighbours up
//! would reward chatter. Only where the grant shows whole stretches of threads.

use super::View;
use super::credit::Credits;
use super::filter::Filter;
use super::groups::Group;
use super::top::tie;
use crate::SearchError;
use crate::segments::DocAt;

/// What a neighbour's word counts, by distance.
const WORTH: [f64; 4] = [0.5, 0.4, 0.3, 0.2];
/// How many records lend.
const LENDERS: usize = 50;

/// A record that is lent to: by whom, and how far away.
struct Loan {
    lender: usize,
    to: (usize, u64),
    worth: f64,
}

pub(crate) fn lend(
    view: &View<'_>,
    groups: &[Group],
    filter: &Filter,
    credits: &mut Credits,
) -> Result<(), SearchError> {
    let mut lenders: Vec<_> = (0..credits.records.len())
        .filter(|index| view.scopes.parts[credits.records[*index].part].follows_threads)
        .filter(|index| credits.records[*index].own_total() > 0.0)
        .collect();
    lenders.sort_by(|one, other| {
        let (one, other) = (&credits.records[*one], &credits.records[*other]);
        let by_score = other.own_total().total_cmp(&one.own_total());
        by_score.then_with(|| tie(view, other.at, other.part).cmp(&tie(view, one.at, one.part)))
    });
    lenders.truncate(LENDERS);
    let (mut loans, mut borrowers) = (Vec::new(), Vec::new());
    for lender in lenders {
        let record = &credits.records[lender];
        for backwards in [true, false] {
            let mut at = record.at;
            for worth in WORTH {
                let segment = view.segments.segment(at);
                let next = if backwards { segment.previous(at.doc) } else { segment.next(at.doc) };
                let Some(number) = next else { break };
                let Some(found) = beside(view, at, number)? else { break };
                if !view.scopes.parts[record.part].grant.allows(view.segments.segment(found), found.doc) {
                    break;
                }
                at = found;
                loans.push(Loan { lender, to: (record.part, number), worth });
                if filter.admits(view, at, record.part) {
                    borrowers.push((record.part, at));
                }
            }
        }
    }
    credits.add(view, groups, &borrowers)?;
    for loan in loans {
        let Some(borrower) = credits.find(loan.to.0, loan.to.1) else { continue };
        for (number, group) in groups.iter().enumerate() {
            let lent = loan.worth * credits.records[loan.lender].own[number].min(group.idf);
            let most = &mut credits.records[borrower].lent[number];
            *most = most.max(lent);
        }
    }
    Ok(())
}

/// A neighbour's document. Threads are mostly read in their order, so it often lies next to this one.
fn beside(view: &View<'_>, at: DocAt, number: u64) -> Result<Option<DocAt>, SearchError> {
    let segment = view.segments.segment(at);
    let own = segment.record(at.doc);
    let last = segment.reader.max_doc();
    let after = (at.doc..last).find(|doc| segment.record(*doc) != own);
    let before = (0..at.doc).rev().find(|doc| segment.record(*doc) != own);
    let near = [after, before].into_iter().flatten();
    for doc in near.filter(|doc| segment.record(*doc) == number) {
        if segment.is_alive(doc) {
            return Ok(Some(DocAt { doc, ..at }));
        }
    }
    view.segments.find_record(number)
}
