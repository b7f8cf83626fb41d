//! The best passages by plain BM25, without looking at most of those that cannot be among them.
//!
//! Words are gone through one after the other, the rarest first. A passage is looked at with the rarest word it has, so
//! of each word's list only those matter that could be among the best with nothing but more common words. That is seen
//! from how often the word occurs and how long the passage is, before anything is looked up. What words give is added up
//! in the query's order and in 64 bits, and no bound is taken from the files. So two indexes of the same passages agree
//! to the last bit, however they are cut into segments.

use std::ops::Range;

use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;

use super::View;
use super::ascending::Ascending;
use super::terms::PlanTerm;
use super::top::{Ties, Top};
use crate::SearchError;
use crate::segments::DocAt;

/// How fast more occurrences stop to count, and how much a long passage loses.
pub(crate) const WIDE_K1: f64 = 1.2;
pub(crate) const WIDE_B: f64 = 0.75;
/// The length of a usual passage in words. Fixed, because the true average would tell of other records.
pub(crate) const USUAL_LENGTH: f64 = 20.0;

/// More than rounding can change in a sum.
const SLACK: f64 = 1e-12;

/// A word of the query, and what it counts at most.
pub(crate) type WeightedTerm<'t> = (&'t PlanTerm, f64);

/// Offers the passages that may be among the best. `range` says for a segment outside of what no document is granted.
pub(crate) fn offer_best(
    view: &View<'_>,
    terms: &[WeightedTerm<'_>],
    range: impl Fn(usize) -> Range<DocId>,
    top: &mut Top<impl Ties>,
    admits: impl Fn(DocAt) -> bool,
) -> Result<(), SearchError> {
    let ranges: Vec<_> = (0..view.segments.all().len()).map(range).collect();
    for field in 0..view.scopes.fields.len() {
        // A passage is of one field, so it has only words of one.
        let words = Words::of(view, terms, field);
        for scanned in 0..words.0.len() {
            if words.0[scanned].with_rest < top.threshold() * (1.0 - SLACK) {
                break;
            }
            for (number, range) in ranges.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
                if let Some(mut scan) = Scan::new(view, number, &words.0, scanned)? {
                    scan.offer(range, top, &admits)?;
                }
            }
        }
    }
    Ok(())
}

/// One word in one field.
struct Word<'t> {
    term: &'t PlanTerm,
    weight: f64,
    /// What it and all more common words can give together.
    with_rest: f64,
    /// Its place among the words of the field, in the query's order.
    place: usize,
    has_length: bool,
}

/// The words of one field, the rarest first.
struct Words<'t>(Vec<Word<'t>>);

impl<'t> Words<'t> {
    fn of(view: &View<'_>, terms: &[WeightedTerm<'t>], field: usize) -> Self {
        let of_field = terms.iter().filter(|(term, _)| term.field == field).enumerate();
        let mut words: Vec<_> = of_field
            .map(|(place, (term, weight))| Word {
                term,
                weight: *weight,
                with_rest: 0.0,
                place,
                has_length: term.term.field() == view.segments.layout.text,
            })
            .collect();
        words.sort_by_key(|word| word.term.listed());
        let mut sum = 0.0;
        for word in words.iter_mut().rev() {
            sum += word.weight;
            word.with_rest = sum;
        }
        Self(words)
    }
}

impl Word<'_> {
    fn share(&self, times: u32, norm: f64) -> f64 {
        let times = f64::from(times);
        let norm = if self.has_length { norm } else { Norms::all().shortest() };
        self.weight * times / (times + norm)
    }
}

/// The going through one word's list in one segment.
struct Scan<'a> {
    view: &'a View<'a>,
    number: usize,
    words: &'a [Word<'a>],
    scanned: usize,
    blocks: BlockSegmentPostings,
    /// The lists of the other words, opened when one is looked up.
    others: Vec<Other>,
    /// What each word gives the passage that is looked at, in the query's order.
    shares: Vec<f64>,
    lengths: &'a FieldNormReader,
    norms: &'static Norms,
}

/// A list in which passages are looked up, in their order.
enum Other {
    Unopened,
    Nowhere,
    Open(Box<Ascending>),
}

impl<'a> Scan<'a> {
    /// `None` where the segment has no such word.
    fn new(
        view: &'a View<'_>,
        number: usize,
        words: &'a [Word<'a>],
        scanned: usize,
    ) -> Result<Option<Self>, SearchError> {
        let blocks = words[scanned].term.blocks(view, number, IndexRecordOption::WithFreqs)?;
        let scan = blocks.map(|blocks| Self {
            view,
            number,
            words,
            scanned,
            blocks,
            others: words.iter().map(|_| Other::Unopened).collect(),
            shares: vec![0.0; words.len()],
            lengths: &view.segments.all()[number].lengths,
            norms: Norms::all(),
        });
        Ok(scan)
    }

    fn offer(
        &mut self,
        range: &Range<DocId>,
        top: &mut Top<impl Ties>,
        admits: &impl Fn(DocAt) -> bool,
    ) -> Result<(), SearchError> {
        let word = &self.words[self.scanned];
        let rest = word.with_rest - word.weight;
        let needs = |threshold: f64| Needs::new((threshold - rest) * (1.0 - SLACK), word, self.norms);
        let (mut threshold, lengths) = (top.threshold(), self.lengths);
        let mut needed = needs(threshold);
        let mut at = self.blocks.seek(range.start);
        loop {
            let (docs, times) = (self.blocks.docs(), self.blocks.freqs());
            let has_enough = |(doc, times): (&DocId, &u32)| *times >= needed.of(lengths.fieldnorm_id(*doc));
            let ahead = docs[at..].iter().zip(&times[at..]).position(has_enough);
            let Some(found) = ahead.map(|ahead| at + ahead) else {
                // Behind the last block stands an empty one.
                if docs.last().is_none_or(|last| *last >= range.end) {
                    return Ok(());
                }
                self.blocks.advance();
                at = 0;
                continue;
            };
            let (doc, times) = (docs[found], times[found]);
            if doc >= range.end {
                return Ok(());
            }
            at = found + 1;
            let doc_at = DocAt { segment: self.number, doc };
            if let Some(score) = self.score(doc, times, threshold)?
                && admits(doc_at)
            {
                top.offer(score, doc_at);
                if top.threshold().to_bits() != threshold.to_bits() {
                    threshold = top.threshold();
                    needed = needs(threshold);
                }
            }
        }
    }

    /// What a passage has, if that may be so much and no rarer word is in it.
    fn score(&mut self, doc: DocId, times: u32, threshold: f64) -> Result<Option<f64>, SearchError> {
        let norm = self.norms.of(self.lengths.fieldnorm_id(doc));
        // What is known is added up in another order than what counts, so it may be less by a hair.
        let enough = threshold * (1.0 - SLACK);
        let words = self.words;
        let word = &words[self.scanned];
        let mut known = word.share(times, norm);
        self.shares.fill(0.0);
        self.shares[word.place] = known;
        for (index, word) in words.iter().enumerate().skip(self.scanned + 1) {
            if known + word.with_rest < enough {
                return Ok(None);
            }
            if let Some(times) = self.times(index, doc)? {
                let share = word.share(times, norm);
                self.shares[word.place] = share;
                known += share;
            }
        }
        if known < enough {
            return Ok(None);
        }
        for index in 0..self.scanned {
            if self.times(index, doc)?.is_some() {
                return Ok(None);
            }
        }
        let score = self.shares.iter().sum();
        Ok((score >= threshold).then_some(score))
    }

    /// How often another word occurs in a passage, if it does.
    fn times(&mut self, index: usize, doc: DocId) -> Result<Option<u32>, SearchError> {
        let other = &mut self.others[index];
        if matches!(other, Other::Unopened) {
            let blocks =
                self.words[index].term.blocks(self.view, self.number, IndexRecordOption::WithFreqs)?;
            *other = blocks.map_or(Other::Nowhere, |blocks| Other::Open(Box::new(Ascending::new(blocks))));
        }
        let Other::Open(open) = other else { return Ok(None) };
        Ok(open.times(doc))
    }
}

/// How often a word has to occur in passages of each length to give so much.
struct Needs([u32; 256]);

impl Needs {
    fn new(least: f64, word: &Word<'_>, norms: &Norms) -> Self {
        if least <= 0.0 {
            return Self([0; 256]);
        }
        let weight = word.weight;
        let need = |length: usize| {
            let norm = if word.has_length { norms.0[length] } else { norms.shortest() };
            // From `weight * times / (times + norm) >= least`; rounded down, so that none is missed.
            let times = least * norm / (weight - least);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a bounded count")]
            let times = if weight > least { times.min(f64::from(u32::MAX)) as u32 } else { u32::MAX };
            times
        };
        Self(std::array::from_fn(need))
    }

    fn of(&self, length: u8) -> u32 {
        self.0[usize::from(length)]
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

#[cfg(test)]
mod tests;
