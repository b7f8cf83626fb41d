//! Where a preview may be cut: the boundaries of words and graphemes near a match.
//!
//! Only the neighbourhood of the match is segmented, because a field may be tens of megabytes long. The one
//! exception is text that gives no certain boundary before the neighbourhood (a long run of flags, say); then
//! segmentation starts as far back as it must, still in one pass.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::plain;
use crate::scalars;

/// A place between two grapheme clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Boundary {
    pub(super) chars: usize,
    /// The byte offset in [`Layout::region`].
    pub(super) byte: usize,
    /// Whether words end or begin here too.
    pub(super) word: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Word,
    Grapheme,
}

/// The boundaries around a match, and the budget to choose among them.
pub(super) struct Layout<'t> {
    region: &'t str,
    boundaries: Vec<Boundary>,
    max: usize,
    total: usize,
}

impl<'t> Layout<'t> {
    /// Lays out the text up to `max` characters on either side of `anchor`.
    pub(super) fn new(text: &'t str, total: usize, anchor: &Range<usize>, max: usize) -> Self {
        let start = anchor.start.saturating_sub(max);
        let end = (anchor.end + max).min(total);
        let (before, rest) = scalars::split(text, start);
        let region = scalars::split(rest, end - start).0;
        let boundaries = if plain::is_plain(before, region) {
            plain::boundaries(region, start, end == total)
        } else {
            boundaries(text, (before, region), start, end == total)
        };
        Self { region, boundaries, max, total }
    }

    /// The range to show.
    pub(super) fn choose(&self, anchor: &Range<usize>, min: usize) -> Range<usize> {
        let Some(core) = self.core(anchor) else {
            // A single cluster longer than the budget: the budget wins, because the output must be bounded.
            return anchor.start..(anchor.start + self.max).min(self.total);
        };
        let mut span = Span { layout: self, low: core.start, high: core.end };
        let share = (self.max - span.len()) / 2;
        let limit = span.len() + share;
        span.extend_before(Step::Word, limit);
        if span.is_blank(span.low..core.start) {
            span.extend_before(Step::Grapheme, limit);
        }
        let limit = span.len() + share;
        span.extend_after(Step::Word, limit);
        if span.is_blank(core.end..span.high) {
            span.extend_after(Step::Grapheme, limit);
        }
        span.extend_after(Step::Word, self.max);
        span.extend_before(Step::Word, self.max);
        span.fill(min);
        span.trim(&core, min);
        span.range()
    }

    /// The boundaries that enclose the match: whole words if they fit, else whole graphemes, else as many
    /// graphemes from its start as fit.
    fn core(&self, anchor: &Range<usize>) -> Option<Range<usize>> {
        for step in [Step::Word, Step::Grapheme] {
            let low = self.boundaries.iter().rposition(|b| b.chars <= anchor.start && b.stops(step));
            let high = self.boundaries.iter().position(|b| b.chars >= anchor.end && b.stops(step));
            if let (Some(low), Some(high)) = (low, high)
                && self.length(low, high) <= self.max
            {
                return Some(low..high);
            }
        }
        let low = self.boundaries.iter().rposition(|b| b.chars <= anchor.start)?;
        let high = self.boundaries.iter().rposition(|b| b.chars <= self.boundaries[low].chars + self.max)?;
        // What is left must still reach into the match, or the preview would not show it.
        (self.boundaries[high].chars > anchor.start).then_some(low..high)
    }

    fn length(&self, low: usize, high: usize) -> usize {
        self.boundaries[high].chars.saturating_sub(self.boundaries[low].chars)
    }
}

impl Boundary {
    fn stops(self, step: Step) -> bool {
        step == Step::Grapheme || self.word
    }
}

/// A range of boundaries that grows inside a layout.
struct Span<'l> {
    layout: &'l Layout<'l>,
    low: usize,
    high: usize,
}

impl Span<'_> {
    fn len(&self) -> usize {
        self.layout.length(self.low, self.high)
    }

    fn range(&self) -> Range<usize> {
        self.layout.boundaries[self.low].chars..self.layout.boundaries[self.high].chars
    }

    /// Takes in whole steps before the span while its length stays within `limit`.
    fn extend_before(&mut self, step: Step, limit: usize) {
        for index in (0..self.low).rev() {
            if self.layout.length(index, self.high) > limit {
                break;
            }
            if self.layout.boundaries[index].stops(step) {
                self.low = index;
            }
        }
    }

    /// Takes in whole steps after the span while its length stays within `limit`.
    fn extend_after(&mut self, step: Step, limit: usize) {
        for index in self.high + 1..self.layout.boundaries.len() {
            if self.layout.length(self.low, index) > limit {
                break;
            }
            if self.layout.boundaries[index].stops(step) {
                self.high = index;
            }
        }
    }

    /// Takes in single graphemes, after the span and then before it, until it is `min` long.
    fn fill(&mut self, min: usize) {
        let last = self.layout.boundaries.len() - 1;
        while self.len() < min
            && self.high < last
            && self.layout.length(self.low, self.high + 1) <= self.layout.max
        {
            self.high += 1;
        }
        while self.len() < min
            && self.low > 0
            && self.layout.length(self.low - 1, self.high) <= self.layout.max
        {
            self.low -= 1;
        }
    }

    /// Drops white space at a cut edge, and at the front the punctuation of what was left out, as long as the
    /// span stays long enough and keeps its core.
    fn trim(&mut self, core: &Range<usize>, min: usize) {
        while self.low < core.start
            && self.range().start > 0
            && self.layout.length(self.low + 1, self.high) >= min
            && self.ends_something(self.low..self.low + 1)
        {
            self.low += 1;
        }
        while self.high > core.end
            && self.range().end < self.layout.total
            && self.layout.length(self.low, self.high - 1) >= min
            && self.is_blank(self.high - 1..self.high)
        {
            self.high -= 1;
        }
    }

    fn ends_something(&self, between: Range<usize>) -> bool {
        self.text(between)
            .trim_start_matches(|c: char| c.is_whitespace() || ",.;:!?)]}»”’、。".contains(c))
            .is_empty()
    }

    fn is_blank(&self, between: Range<usize>) -> bool {
        self.text(between).trim().is_empty()
    }

    fn text(&self, between: Range<usize>) -> &str {
        let bytes = self.layout.boundaries[between.start].byte..self.layout.boundaries[between.end].byte;
        &self.layout.region[bytes]
    }
}

/// The boundaries in the region of `text` that stands behind `before`, which has `start` characters.
pub(super) fn boundaries(
    text: &str,
    (before, region): (&str, &str),
    start: usize,
    ends_text: bool,
) -> Vec<Boundary> {
    let words = word_boundaries(region, start == 0, ends_text);
    let mut boundaries = Vec::new();
    let (mut chars, mut counted) = (start, 0);
    for byte in grapheme_boundaries(text, before.len(), region.len(), ends_text) {
        chars += scalars::count(&region[counted..byte]);
        counted = byte;
        boundaries.push(Boundary { chars, byte, word: words.binary_search(&byte).is_ok() });
    }
    boundaries
}

/// Byte offsets in `region` where words begin or end. The edges count only where the text itself ends there.
fn word_boundaries(region: &str, starts_text: bool, ends_text: bool) -> Vec<usize> {
    let mut offsets: Vec<usize> =
        region.split_word_bound_indices().map(|(byte, _)| byte).skip(usize::from(!starts_text)).collect();
    if ends_text {
        offsets.push(region.len());
    }
    offsets
}

/// Byte offsets in the region (`length` bytes of `text` from byte `start`) between grapheme clusters.
///
/// Each start of a cluster is a boundary whatever follows the region; its end is one only at the end of the text.
fn grapheme_boundaries(text: &str, start: usize, length: usize, ends_text: bool) -> Vec<usize> {
    let settled = settled_before(text, start);
    let mut offsets: Vec<usize> = text[settled..start + length]
        .grapheme_indices(true)
        .filter_map(|(byte, _)| (settled + byte).checked_sub(start))
        .collect();
    if ends_text && length > 0 {
        offsets.push(length);
    }
    offsets
}

/// The last byte offset up to `start` at which a boundary is certain without looking further back.
fn settled_before(text: &str, start: usize) -> usize {
    let mut next_is_plain = text[start..].chars().next().is_some_and(stands_alone);
    for (byte, c) in text[..start].char_indices().rev() {
        let plain = stands_alone(c);
        if c == '\n' || (plain && next_is_plain) {
            return byte + c.len_utf8();
        }
        next_is_plain = plain;
    }
    0
}

/// Letters and signs between two of which there is always a boundary: they join neither way by themselves.
fn stands_alone(c: char) -> bool {
    matches!(c,
        ' '..='~' | 'À'..='ʯ' | 'Ͱ'..='҂' | 'א'..='ת' | 'ؠ'..='ي' | 'ऄ'..='ह' | 'ก'..='ะ'
        | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '\u{3400}'..='\u{9FFF}' | '가'..='힣')
}
