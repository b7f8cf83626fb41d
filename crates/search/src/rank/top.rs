//! The best documents of the wide pass.

use std::cmp::Reverse;

use super::View;
use crate::segments::DocAt;

/// Documents gathered beyond the limit before the worst are let go.
const ROOM: usize = 32;

/// Orders documents of one score: the newer first where time may tell, then by the number of the record's key.
pub(crate) type Tie = (Option<i64>, Reverse<u64>, Reverse<u64>);

pub(crate) fn tie(view: &View<'_>, at: DocAt, part: usize) -> Tie {
    let segment = view.segments.segment(at);
    let number = view.scopes.parts[part].key_number(segment.record(at.doc));
    (time(view, at, part), Reverse(number), Reverse(segment.stretch(at.doc).0))
}

/// What a tie begins with, and mostly all of it that matters.
fn time(view: &View<'_>, at: DocAt, part: usize) -> Option<i64> {
    view.segments.segment(at).time(at.doc).filter(|_| view.scopes.parts[part].tells_time)
}

/// The best so far.
///
/// Equal scores are told apart by their tie. A tie takes reading three columns, so it is looked up only for documents
/// that have the worst score of all that are kept, and whole only where their times are the same.
pub(crate) struct Top<T> {
    limit: usize,
    ties: T,
    kept: Vec<Kept>,
    threshold: f64,
}

/// What tells documents of one score apart.
pub(crate) trait Ties {
    /// The beginning of a document's tie.
    fn time(&self, at: DocAt) -> Option<i64>;
    /// All of it.
    fn tie(&self, at: DocAt) -> Tie;
}

/// A document, with its time once that was looked up.
#[derive(Clone, Copy)]
struct Kept {
    bits: Bits,
    at: DocAt,
    time: Time,
}

/// A document's time, once it was looked up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Time {
    NotYet,
    Of(Option<i64>),
}

/// A positive score, ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bits(u64);

impl<T: Ties> Top<T> {
    pub(crate) fn new(limit: usize, ties: T) -> Self {
        Self { limit, ties, kept: Vec::with_capacity(limit + ROOM), threshold: 0.0 }
    }

    /// What scores less is not among the best.
    pub(crate) fn threshold(&self) -> f64 {
        self.threshold
    }

    pub(crate) fn offer(&mut self, score: f64, at: DocAt) {
        // The bits of positive floats are ordered as the floats are.
        self.kept.push(Kept { bits: Bits(score.max(0.0).to_bits()), at, time: Time::NotYet });
        if self.kept.len() >= self.limit + ROOM {
            self.let_go();
        }
    }

    /// Lets go of whatever cannot be among the best any more.
    fn let_go(&mut self) {
        let limit = self.limit;
        if self.kept.len() < limit {
            return;
        }
        let by_score = |one: &Kept, other: &Kept| other.bits.cmp(&one.bits);
        let worst = self.kept.select_nth_unstable_by(limit - 1, by_score).1.bits;
        self.threshold = f64::from_bits(worst.0);
        let mut equal: Vec<_> = self.kept.iter().filter(|one| one.bits == worst).copied().collect();
        self.kept.retain(|one| one.bits > worst);
        let room = limit - self.kept.len();
        if equal.len() > room {
            for one in equal.iter_mut().filter(|one| one.time == Time::NotYet) {
                one.time = Time::Of(self.ties.time(one.at));
            }
            equal.select_nth_unstable_by(room, |one, other| {
                let by_tie = || self.ties.tie(other.at).cmp(&self.ties.tie(one.at));
                other.time.cmp(&one.time).then_with(by_tie).then_with(|| one.at.cmp(&other.at))
            });
            equal.truncate(room);
        }
        self.kept.append(&mut equal);
    }

    /// The documents with their scores, and whether these are all that were offered.
    pub(crate) fn docs(mut self) -> (Vec<(f64, DocAt)>, bool) {
        let is_all = self.kept.len() < self.limit;
        self.let_go();
        (self.kept.into_iter().map(|one| (f64::from_bits(one.bits.0), one.at)).collect(), is_all)
    }
}

/// The ties of a plan's documents.
#[derive(Clone, Copy)]
pub(crate) struct PlanTies<'a>(pub(crate) &'a View<'a>);

impl Ties for PlanTies<'_> {
    fn time(&self, at: DocAt) -> Option<i64> {
        time(self.0, at, self.0.part(at).unwrap_or_default())
    }

    fn tie(&self, at: DocAt) -> Tie {
        tie(self.0, at, self.0.part(at).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The later document is the better; of each two the times are the same.
    struct Later;

    impl Ties for Later {
        fn time(&self, at: DocAt) -> Option<i64> {
            Some(i64::from(at.doc / 2))
        }

        fn tie(&self, at: DocAt) -> Tie {
            (self.time(at), Reverse(u64::from(u32::MAX - at.doc)), Reverse(0))
        }
    }

    const LIMIT: usize = 250;

    fn at(doc: u32) -> DocAt {
        DocAt { segment: 0, doc }
    }

    #[test]
    fn the_best_stay_and_ties_decide_among_the_worst() {
        // Of each score three, the later document the better.
        let mut top = Top::new(LIMIT, Later);
        let mut offered = Vec::new();
        for doc in 0..5_000_u32 {
            let score = 1.0 + f64::from(doc.wrapping_mul(2_654_435_761) % 1_667);
            offered.push((Bits(score.to_bits()), doc));
            if score >= top.threshold() {
                top.offer(score, at(doc));
            }
        }
        offered.sort_unstable_by(|one, other| other.cmp(one));
        let mut expected: Vec<_> = offered[..LIMIT].iter().map(|(_, doc)| at(*doc)).collect();
        let (found, is_all) = top.docs();
        let mut found: Vec<_> = found.into_iter().map(|(_, at)| at).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!((found, is_all), (expected, false));
    }
}
