//! Lends records the words of their neighbours.
//!
//! In a conversation the answer often stands beside the message that has the question's words. So each
//! of the best records lends its words, at half their worth and less, to the four on each side of it in
//! its thread. A word counts once for a record, by itself or by its best neighbour: adding neighbours up
//! would reward chatter. Only where the grant shows whole stretches of threads.

use super::View;
use super::borrowers::Borrowers;
use super::credit::Credits;
use super::filter::Filter;
use super::groups::Group;
use super::settled::Outsiders;
use super::top::tie;
use crate::SearchError;
use crate::segments::DocAt;

/// What a neighbour's word counts, by distance.
const WORTH: [f64; 4] = [0.5, 0.4, 0.3, 0.2];
/// How many records lend.
const LENDERS: usize = 24;

/// A record that is lent to: by whom, and how far away.
struct Loan {
    lender: usize,
    to: (usize, u64),
    /// One of its documents.
    at: DocAt,
    worth: f64,
    /// Whether it may be a hit.
    is_admitted: bool,
}

impl Loan {
    /// What is lent of a group.
    fn of(&self, credits: &Credits, group: usize, most: f64) -> f64 {
        self.worth * credits.own(self.lender)[group].min(most)
    }
}

/// Lends to every neighbour of the best of so many first records, or only to those that could come to this much.
pub(crate) fn lend(
    view: &View<'_>,
    groups: &[Group],
    filter: &Filter,
    (credits, first): (&mut Credits, usize),
    least: Option<(&Outsiders, f64)>,
) -> Result<(), SearchError> {
    let loans = loans(view, filter, (credits, first));
    let mut admitted: Vec<_> = loans.iter().filter(|loan| loan.is_admitted).collect();
    let borrowers = match least {
        None => admitted.into_iter().map(|loan| (loan.to.0, loan.at)).collect(),
        Some((outsiders, least)) => {
            admitted.retain(|loan| credits.find(loan.to.0, loan.to.1).is_none());
            admitted.sort_unstable_by_key(|loan| (loan.at.number(), loan.to.0));
            let mut borrowers = Borrowers::new(groups.len());
            for loan in admitted {
                let lent = groups.iter().enumerate();
                let lent = lent.map(|(number, group)| loan.of(credits, number, group.idf));
                borrowers.add(loan.to, loan.at, lent);
            }
            borrowers.worthwhile(view, groups, outsiders, least)?
        }
    };
    let found = credits.records.len();
    credits.add(view, groups, &borrowers)?;
    for loan in loans {
        let Some(borrower) = credits.find(loan.to.0, loan.to.1) else { continue };
        for (number, group) in groups.iter().enumerate() {
            let lent = loan.of(credits, number, group.idf);
            credits.lend(borrower, number, lent);
        }
    }
    // Whom no loan brings anything was not among the best, and is not now.
    credits.leave_out_unlent(found);
    Ok(())
}

/// Who would be lent to by the best records.
fn loans(view: &View<'_>, filter: &Filter, (credits, first): (&Credits, usize)) -> Vec<Loan> {
    let mut lenders: Vec<_> = (0..first)
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
    let mut loans = Vec::with_capacity(lenders.len() * WORTH.len() * 2);
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
            let is_admitted = filter.admits(view, found, part);
            loans.push(Loan { lender: *lender, to: (part, number), at: found, worth, is_admitted });
            true
        });
    }
    loans
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
