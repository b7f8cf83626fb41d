//! The best documents of the wide pass.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::View;
use super::candidates::LIMIT;
use crate::segments::DocAt;

/// More than rounding can change in a sum of as many terms as a query has.
const MARGIN: f32 = 1e-5;

/// Orders documents of one score: the newer first where time may tell, then by the record's number.
pub(crate) type Tie = (Option<i64>, Reverse<u64>, Reverse<u64>);

pub(crate) fn tie(view: &View<'_>, at: DocAt, part: usize) -> Tie {
    let segment = view.segments.segment(at);
    let time = segment.time(at.doc).filter(|_| view.scopes.parts[part].tells_time);
    (time, Reverse(segment.record(at.doc)), Reverse(segment.stretch(at.doc).0))
}

/// The best so far, and whatever is within rounding of the worst of them.
#[derive(Default)]
pub(crate) struct Top {
    best: BinaryHeap<Reverse<(Bits, Tie, DocAt)>>,
    near: Vec<(f32, DocAt)>,
}

/// A positive score, ordered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bits(u32);

impl Top {
    pub(crate) fn is_full(&self) -> bool {
        self.best.len() >= LIMIT
    }

    fn worst(&self) -> f32 {
        self.best.peek().map_or(0.0, |Reverse((score, ..))| f32::from_bits(score.0))
    }

    pub(crate) fn threshold(&self) -> f32 {
        if self.is_full() { self.worst() * (1.0 - MARGIN) } else { 0.0 }
    }

    pub(crate) fn offer(&mut self, score: f32, tie: Tie, at: DocAt) {
        // The bits of positive floats are ordered as the floats are.
        let entry = Reverse((Bits(score.max(0.0).to_bits()), tie, at));
        if !self.is_full() {
            self.best.push(entry);
            return;
        }
        let Some(worst) = self.best.peek() else { return };
        if entry < *worst {
            self.best.push(entry);
            if let Some(Reverse((lost, _, at))) = self.best.pop() {
                self.keep_near(f32::from_bits(lost.0), at);
            }
        } else {
            self.keep_near(score, at);
        }
    }

    /// Equal scores were told apart by their tie; only what is nearly equal may be misjudged.
    fn keep_near(&mut self, score: f32, at: DocAt) {
        let (worst, threshold) = (self.worst(), self.threshold());
        if score < worst && score > threshold {
            self.near.push((score, at));
        }
        if self.near.len() > 4 * LIMIT {
            self.near.retain(|(score, _)| *score > threshold);
        }
    }

    pub(crate) fn docs(self) -> Vec<DocAt> {
        let threshold = self.threshold();
        let near = self.near.iter().filter(|(score, _)| *score > threshold).map(|(_, at)| *at);
        self.best.iter().map(|Reverse((_, _, at))| *at).chain(near).collect()
    }
}
