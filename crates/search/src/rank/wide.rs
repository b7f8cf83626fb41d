//! The best passages by plain BM25, without looking at most of those that cannot be among them.
//!
//! A word that could not lift a passage among the best so far, not even with every word that counts less, is no longer
//! gone through: it is looked up in passages that have one of the others. What words give is added up in the query's
//! order and in 64 bits, and no bound is taken from the files. So two indexes of the same passages agree to the last
//! bit, however they are cut into segments.

use std::ops::Range;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::{DocId, TERMINATED};

use super::View;
use super::terms::PlanTerm;
use super::top::{Tie, Top};
use crate::SearchError;
use crate::segments::DocAt;

/// How fast more occurrences stop to count, and how much a long passage loses.
pub(crate) const WIDE_K1: f64 = 1.2;
pub(crate) const WIDE_B: f64 = 0.75;
/// The length of a usual passage in words. Fixed, because the true average would tell of other records.
pub(crate) const USUAL_LENGTH: f64 = 20.0;

/// Passages in one block of a word's list.
const BLOCK: usize = 128;
/// More than rounding can change in a sum.
const SLACK: f64 = 1e-12;

/// A word of the query, and what it counts at most.
pub(crate) type WeightedTerm<'t> = (&'t PlanTerm, f64);

/// Offers the passages of one segment that may be among the best.
pub(crate) fn offer_best<F: Fn(DocAt) -> Tie>(
    view: &View<'_>,
    number: usize,
    terms: &[WeightedTerm<'_>],
    range: &Range<DocId>,
    top: &mut Top<F>,
    admits: impl Fn(DocAt) -> bool,
) -> Result<(), SearchError> {
    let mut walk = Walk::new(view, number, terms, range)?;
    while let Some(doc) = walk.next(top.threshold()) {
        if doc >= range.end {
            break;
        }
        let at = DocAt { segment: number, doc };
        if let Some(score) = walk.score(doc, top.threshold())
            && admits(at)
        {
            top.offer(score, at);
        }
    }
    Ok(())
}

/// The words of a query in one segment.
struct Walk<'a> {
    /// Those that count least come first.
    cursors: Vec<Cursor>,
    /// For each, what it and those before it can give together.
    sums: Vec<f64>,
    /// The first that is gone through; those before it are only looked up.
    first: usize,
    /// What each word gives the passage that is looked at, in the query's order.
    shares: Vec<f64>,
    lengths: &'a FieldNormReader,
    norms: &'static Norms,
}

impl<'a> Walk<'a> {
    fn new(
        view: &'a View<'_>,
        number: usize,
        terms: &[WeightedTerm<'_>],
        range: &Range<DocId>,
    ) -> Result<Self, SearchError> {
        let mut cursors = Vec::with_capacity(terms.len());
        for (place, (term, weight)) in terms.iter().enumerate() {
            let Some(blocks) = term.blocks(view, number)? else { continue };
            let has_length = term.term.field() == view.segments.layout.text;
            let mut cursor = Cursor::new(blocks, place, *weight, has_length);
            cursor.seek(range.start);
            cursors.push(cursor);
        }
        cursors.sort_by(|one, other| one.weight.total_cmp(&other.weight));
        let mut sum = 0.0;
        let sums = cursors.iter().map(|cursor| {
            sum += cursor.weight;
            sum
        });
        Ok(Self {
            sums: sums.collect(),
            cursors,
            first: 0,
            shares: vec![0.0; terms.len()],
            lengths: &view.segments.all()[number].lengths,
            norms: Norms::all(),
        })
    }

    /// The next passage that may have so much.
    fn next(&mut self, threshold: f64) -> Option<DocId> {
        while self.sums.get(self.first).is_some_and(|sum| *sum < threshold) {
            self.first += 1;
        }
        match &mut self.cursors[self.first..] {
            [] => None,
            [alone] => {
                let others = self.first.checked_sub(1).map_or(0.0, |last| self.sums[last]);
                alone.skip_below((threshold - others) * (1.0 - SLACK), self.lengths, self.norms);
                Some(alone.doc)
            }
            several => several.iter().map(|cursor| cursor.doc).min(),
        }
    }

    /// What a passage has, if that may be so much, and goes on behind it.
    fn score(&mut self, doc: DocId, threshold: f64) -> Option<f64> {
        let norm = self.norms.of(self.lengths.fieldnorm_id(doc));
        let enough = threshold * (1.0 - SLACK);
        let mut known = 0.0;
        self.shares.fill(0.0);
        let (looked_up, gone_through) = self.cursors.split_at_mut(self.first);
        for cursor in gone_through.iter_mut().filter(|cursor| cursor.doc == doc) {
            let share = cursor.share(norm);
            self.shares[cursor.place] = share;
            known += share;
            cursor.advance();
        }
        for (cursor, others) in looked_up.iter_mut().zip(&self.sums).rev() {
            if known + others < enough {
                return None;
            }
            if cursor.doc < doc {
                cursor.seek(doc);
            }
            if cursor.doc == doc {
                let share = cursor.share(norm);
                self.shares[cursor.place] = share;
                known += share;
            }
        }
        let score = self.shares.iter().sum();
        (score >= threshold).then_some(score)
    }
}

/// Where the going through a word's passages is.
struct Cursor {
    blocks: BlockSegmentPostings,
    /// The place within the block.
    at: usize,
    doc: DocId,
    /// The word's place in the query.
    place: usize,
    weight: f64,
    has_length: bool,
    needs: Option<Needs>,
}

/// How often a word has to occur in passages of each length to give so much.
struct Needs {
    least: f64,
    by_length: Box<[u32; 256]>,
}

impl Cursor {
    fn new(blocks: BlockSegmentPostings, place: usize, weight: f64, has_length: bool) -> Self {
        let doc = blocks.doc(0);
        Self { blocks, at: 0, doc, place, weight, has_length, needs: None }
    }

    fn share(&self, norm: f64) -> f64 {
        let times = f64::from(self.blocks.freq(self.at));
        let norm = if self.has_length { norm } else { Norms::all().shortest() };
        self.weight * times / (times + norm)
    }

    fn advance(&mut self) {
        self.at += 1;
        if self.at == BLOCK {
            self.blocks.advance();
            self.at = 0;
        }
        self.doc = self.blocks.doc(self.at);
    }

    fn seek(&mut self, doc: DocId) {
        if self.doc < doc {
            self.at = self.blocks.seek(doc);
            self.doc = self.blocks.doc(self.at);
        }
    }

    /// Goes on to the next passage to which the word may give so much, if it is not at one.
    fn skip_below(&mut self, least: f64, lengths: &FieldNormReader, norms: &Norms) {
        if least <= 0.0 || !self.has_length {
            return;
        }
        let needs = match self.needs.take() {
            Some(needs) if needs.least.to_bits() == least.to_bits() => needs,
            _ => Needs::new(least, self.weight, norms),
        };
        while self.doc != TERMINATED {
            let (docs, times) = (&self.blocks.docs()[self.at..], &self.blocks.freqs()[self.at..]);
            let has_enough = |(doc, times): (&DocId, &u32)| *times >= needs.of(lengths.fieldnorm_id(*doc));
            if let Some(ahead) = docs.iter().zip(times).position(has_enough) {
                self.at += ahead;
                self.doc = self.blocks.doc(self.at);
                break;
            }
            self.blocks.advance();
            self.at = 0;
            self.doc = self.blocks.doc(0);
        }
        self.needs = Some(needs);
    }
}

impl Needs {
    fn new(least: f64, weight: f64, norms: &Norms) -> Self {
        let need = |length: usize| {
            // From `weight * times / (times + norm) >= least`; rounded down, so that none is missed.
            let times = least * norms.0[length] / (weight - least);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bounded count")]
            let times = if weight > least { times.min(f64::from(u32::MAX)) as u32 } else { u32::MAX };
            times
        };
        Self { least, by_length: Box::new(std::array::from_fn(need)) }
    }

    fn of(&self, length: u8) -> u32 {
        self.by_length[usize::from(length)]
    }
}

/// What a passage's length takes from its words, by the number the index has for the length.
struct Norms([f64; 256]);

impl Norms {
    fn all() -> &'static Self {
        static ALL: std::sync::LazyLock<Norms> = std::sync::LazyLock::new(|| {
            Norms(std::array::from_fn(|id| {
                let length = FieldNormReader::id_to_fieldnorm(u8::try_from(id).unwrap_or(u8::MAX));
                WIDE_K1 * (1.0 - WIDE_B + WIDE_B * f64::from(length) / USUAL_LENGTH)
            }))
        });
        &ALL
    }

    fn of(&self, length: u8) -> f64 {
        self.0[usize::from(length)]
    }

    /// Of a passage of one word, as which those count whose length is not kept.
    fn shortest(&self) -> f64 {
        self.of(1)
    }
}
