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

/// What a neighbour's word counts, by distance.
const WORTH: [f64; 4] = [0.5, 0.4, 0.3, 0.2];
/// How many records lend.
const LENDERS: usize = 24;

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
        .filter(|index| credits.records[*index].own_total > 0.0)
        .collect();
    let order = |one: &usize, other: &usize| {
        let (one, other) = (&credits.records[*one], &credits.records[*other]);
        let by_score = other.own_total.total_cmp(&one.own_total);
        by_score.then_with(|| tie(view, other.at, other.part).cmp(&tie(view, one.at, one.part)))
    };
    if lenders.len() > LENDERS {
        lenders.select_nth_unstable_by(LENDERS, order);
    }
    lenders.truncate(LENDERS);
    let (mut loans, mut borrowers) = (Vec::new(), Vec::new());
    let both_ways =
        |lender: usize| [true, false].map(|backwards| (lender, backwards, credits.records[lender].at));
    let mut walks: Vec<_> = lenders.into_iter().flat_map(both_ways).collect();
    // All go one step before any goes the next: what one of them waits for, memory, others can wait for meanwhile.
    for worth in WORTH {
        walks.retain_mut(|(lender, backwards, at)| {
            let part = credits.records[*lender].part;
            let segment = view.segments.segment(*at);
            let next = if *backwards { segment.previous(at.doc) } else { segment.next(at.doc) };
            let Some(number) = next else { return false };
            let Some(found) = view.segments.find_record_near(at.segment, number) else { return false };
            if !view.is_granted(part, found) {
                return false;
            }
            *at = found;
            loans.push(Loan { lender: *lender, to: (part, number), worth });
            if filter.admits(view, found, part) {
                borrowers.push((part, found));
            }
            true
        });
    }
    let found = credits.records.len();
    credits.add(view, groups, &borrowers)?;
    for loan in loans {
        let Some(borrower) = credits.find(loan.to.0, loan.to.1) else { continue };
        for (number, group) in groups.iter().enumerate() {
            let lent = loan.worth * credits.own(loan.lender)[number].min(group.idf);
            credits.lend(borrower, number, lent);
        }
    }
    // Whom no loan brings anything was not among the best, and is not now.
    credits.leave_out_unlent(found);
    Ok(())
}

/// What could be lent to a record that has none of the words: for each group what the best lender has of it.
pub(crate) fn most_lent(groups: &[Group], credits: &Credits) -> Vec<f64> {
    let mut most = vec![0.0; groups.len()];
    for record in 0..credits.records.len() {
        for ((most, own), group) in most.iter_mut().zip(credits.own(record)).zip(groups) {
            *most = f64::max(*most, WORTH[0] * own.min(group.idf));
        }
    }
    most
}
