//! Whether what neighbours lend could change the first hits.
//!
//! Finding the neighbours of the best records takes longer than everything before it, and on most pages they have
//! no place: a record that only stands near a match counts half as much as the match. So the most that loans could
//! come to is reckoned first, from above, and where that is less than what the last hit of the page has, no
//! neighbour is looked up until another page is asked for. Where it is not, the same is reckoned for each neighbour
//! before it is scored.

use super::answer::{AUTHOR, Answer};
use super::candidates::{Candidates, LIMIT};
use super::context::most_lent;
use super::credit::most_share;
use super::groups::{Group, Matches};

/// Below what score a record surely is, whatever rounding did.
const SURELY: f64 = 1.0 - 1e-9;

/// What records can have that are not among the first candidates.
pub(crate) struct Outsiders {
    /// The most each group gives one that has it.
    own: Vec<f64>,
    /// What is multiplied with that at most.
    factor: f64,
}

impl Outsiders {
    /// `None` where the time of a record decides as well.
    pub(crate) fn of(answer: &Answer<'_>, candidates: &Candidates) -> Option<Self> {
        if !answer.bonuses.time.is_none() {
            return None;
        }
        let is_named = answer.groups.iter().any(|group| group.is_name);
        let author = if is_named { 1.0 + AUTHOR } else { 1.0 };
        let all = candidates.is_complete && !candidates.has_later;
        let most = |group: &Group| {
            if all || !group.scores() { 0.0 } else { own(answer, group, candidates.threshold) }
        };
        let own = answer.groups.iter().map(most).collect();
        // The query as it was typed is looked for in all that has every word.
        Some(Self { own, factor: author * answer.bonuses.verbatim.factor_of_others() })
    }

    /// Whether one that has these groups, and is lent so much of each, surely has less than this.
    pub(crate) fn is_less(&self, has: impl Fn(usize) -> bool, lent: &[f64], least: f64) -> bool {
        let own = |group: usize| if has(group) { self.own[group] } else { 0.0 };
        let total: f64 = lent.iter().enumerate().map(|(group, lent)| lent.max(own(group))).sum();
        total * self.factor < least * SURELY
    }

    /// The most any can have that is lent something, if no more than this is lent of each group.
    fn most(&self, groups: &[Group], lent: &[f64]) -> f64 {
        let (mut total, mut least_gain) = (0.0, f64::MAX);
        for ((_, own), lent) in
            groups.iter().zip(&self.own).zip(lent).filter(|((group, _), _)| group.scores())
        {
            total += f64::max(*own, *lent);
            least_gain = f64::min(least_gain, (own - lent).max(0.0));
        }
        // At least one of its words is lent.
        (total - least_gain).max(0.0) * self.factor
    }
}

/// Whether the first hits stay as they are, whatever is lent, if the last of them has this score.
pub(crate) fn is_settled(answer: &Answer<'_>, outsiders: &Outsiders, last: f64) -> bool {
    let most = most_lent(answer.groups, answer.credits);
    let threshold = last * SURELY;
    let is_still = |record: usize| {
        let own = answer.credits.own(record);
        let is_worth = own.iter().zip(&most).all(|(own, lent)| lent <= own);
        is_worth || {
            let total: f64 = own.iter().zip(&most).map(|(own, lent)| own.max(*lent)).sum();
            total * answer.factor(&answer.credits.records[record]) < threshold
        }
    };
    outsiders.most(answer.groups, &most) < threshold && (0..answer.credits.records.len()).all(is_still)
}

/// The most a word can count for a record of which each passage has this much at most in the wide pass.
fn own(answer: &Answer<'_>, group: &Group, threshold: f64) -> f64 {
    let fields = &answer.view.scopes.fields;
    let threshold = match &group.matches {
        Matches::Terms(_) => threshold,
        // The wide pass knows no phrases; all records that have one are candidates, unless they are too many.
        Matches::Docs(_) if group.count <= LIMIT as u64 => return 0.0,
        Matches::Docs(_) => f64::MAX,
    };
    let weight = |part: usize| {
        let of_part = fields.iter().filter(|field| field.part == part && !field.is_actor);
        of_part.map(|field| field.weight * most_share(threshold / (group.idf * field.weight))).sum::<f64>()
    };
    let parts = 0..answer.view.scopes.parts.len();
    // Somebody's name counts in full where nothing else was asked for.
    group.idf * parts.map(weight).fold(1.0, f64::max)
}
