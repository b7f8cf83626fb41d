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
use super::presence::Bits;
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
        let mut in_order: Vec<_> = (0..words.0.len()).collect();
        in_order.sort_unstable_by_key(|index| words.0[*index].place);
        for scanned in 0..words.0.len() {
            if words.0[scanned].with_rest < top.threshold() * (1.0 - SLACK) {
                break;
            }
            for (number, range) in ranges.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
                if let Some(mut scan) = Scan::new(view, number, (&words.0, &in_order), scanned, range)? {
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
    /// The words' places in that list, in the query's order.
    in_order: &'a [usize],
    scanned: usize,
    blocks: BlockSegmentPostings,
    /// About how many passages are looked up.
    lookups: u64,
    /// The lists of the other words, opened when one is looked up.
    others: Vec<Other<'a>>,
    /// How often each other word occurs in the passage that is looked at, as far as it was looked up.
    times: Vec<u32>,
    lengths: &'a [u8],
    norms: &'static Norms,
}

/// A list in which passages are looked up, in their order.
enum Other<'a> {
    Unopened,
    Nowhere,
    Open(Option<&'a Bits>, Box<Ascending>),
}

impl<'a> Scan<'a> {
    /// `None` where the segment has no such word.
    fn new(
        view: &'a View<'_>,
        number: usize,
        (words, in_order): (&'a [Word<'a>], &'a [usize]),
        scanned: usize,
        range: &Range<DocId>,
    ) -> Result<Option<Self>, SearchError> {
        let blocks = words[scanned].term.blocks(view, number, IndexRecordOption::WithFreqs)?;
        let segment = &view.segments.all()[number];
        let rows = segment.reader.max_doc().max(1);
        let share =
            |listed: u32| u64::from(listed) * u64::from(range.end.min(rows).saturating_sub(range.start));
        let scan = blocks.map(|blocks| Self {
            view,
            number,
            words,
            in_order,
            scanned,
            lookups: share(blocks.doc_freq()) / u64::from(rows),
            blocks,
            others: words.iter().map(|_| Other::Unopened).collect(),
            times: vec![0; words.len()],
            lengths: segment.length_ids(),
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
            let length = docs.len().min(times.len());
            let (docs, times) = (&docs[..length], &times[..length]);
            let has_enough = |at: &usize| times[*at] >= needed.of(length_id(lengths, docs[*at]));
            let Some(found) = (at..length).find(has_enough) else {
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
        let norm = self.norms.of(length_id(self.lengths, doc));
        // What is known is added up in another order than what counts, so it may be less by a hair.
        let enough = threshold * (1.0 - SLACK);
        let words = self.words;
        let word = &words[self.scanned];
        let mut known = word.share(times, norm);
        self.times[self.scanned] = times;
        for (index, word) in words.iter().enumerate().skip(self.scanned + 1) {
            if known + word.with_rest < enough {
                return Ok(None);
            }
            self.times[index] = self.look_up(index, doc)?;
            if self.times[index] > 0 {
                known += word.share(self.times[index], norm);
            }
        }
        if known < enough {
            return Ok(None);
        }
        for index in 0..self.scanned {
            if self.look_up(index, doc)? > 0 {
                return Ok(None);
            }
        }
        // The words before this one were seen not to be there, and all others were looked up.
        let found = self.in_order.iter().filter(|index| **index >= self.scanned && self.times[**index] > 0);
        let score = found.map(|index| words[*index].share(self.times[*index], norm)).sum();
        Ok((score >= threshold).then_some(score))
    }

    /// How often another word occurs in a passage.
    fn look_up(&mut self, index: usize, doc: DocId) -> Result<u32, SearchError> {
        if matches!(self.others[index], Other::Unopened) {
            self.others[index] = self.open(index)?;
        }
        let Other::Open(bits, list) = &mut self.others[index] else { return Ok(0) };
        let may_have = bits.is_none_or(|bits| bits.may_have(doc));
        Ok(may_have.then(|| list.times(doc)).flatten().unwrap_or_default())
    }

    fn open(&self, index: usize) -> Result<Other<'a>, SearchError> {
        let term = self.words[index].term;
        let bits = term.present(self.view, self.number, self.lookups)?;
        let blocks = term.blocks(self.view, self.number, IndexRecordOption::WithFreqs)?;
        Ok(blocks.map_or(Other::Nowhere, |blocks| Other::Open(bits, Box::new(Ascending::new(blocks)))))
    }
}

/// The number the index has for a passage's length.
fn length_id(lengths: &[u8], doc: DocId) -> u8 {
    lengths.get(doc as usize).copied().unwrap_or_default()
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
