//! Cuts a long text into passages at sentence borders, each sharing its beginning with the end of the
//! one before, so that a sentence on a border is whole in one of them.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

/// A text up to this long is one passage.
const WHOLE_CHARS: usize = 1_500;
/// How long a passage may be.
const PASSAGE_CHARS: usize = 1_200;
/// How much of it the next one repeats.
const OVERLAP_CHARS: usize = 200;
/// A passage ends no earlier than this, even at a sentence border.
const MIN_CHARS: usize = 600;
/// The rest of an endless text is not searched.
const MAX_PASSAGES: usize = 2_000;

/// A stretch of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// In bytes.
    pub(crate) bytes: Range<usize>,
    /// In characters.
    pub(crate) chars: Range<usize>,
}

/// The passages of a text, in order; at least one.
pub(crate) fn passages(text: &str) -> Vec<Stretch> {
    let mut bytes: Vec<usize> = Vec::new();
    let limit = MAX_PASSAGES * PASSAGE_CHARS;
    bytes.extend(text.char_indices().map(|(byte, _)| byte).take(limit + 1));
    if bytes.len() <= limit {
        bytes.push(text.len());
    }
    let end = bytes.len() - 1;
    if end <= WHOLE_CHARS {
        return vec![Stretch { bytes: 0..text.len(), chars: 0..end }];
    }
    let text = &text[..bytes[end]];
    let borders = Borders { text, bytes: &bytes, sentences: sentences(text, &bytes) };
    let (mut stretches, mut start) = (Vec::new(), 0);
    while stretches.len() < MAX_PASSAGES {
        let stop = borders.stop(start, end);
        stretches.push(Stretch { bytes: bytes[start]..bytes[stop], chars: start..stop });
        if stop == end {
            break;
        }
        start = borders.restart(start, stop);
    }
    stretches
}

/// Where sentences begin, in characters.
fn sentences(text: &str, bytes: &[usize]) -> Vec<usize> {
    let starts = text.split_sentence_bound_indices().map(|(byte, _)| byte);
    starts.filter_map(|byte| bytes.binary_search(&byte).ok()).collect()
}

struct Borders<'t> {
    text: &'t str,
    bytes: &'t [usize],
    sentences: Vec<usize>,
}

impl Borders<'_> {
    /// Where the passage that begins at `start` ends.
    fn stop(&self, start: usize, end: usize) -> usize {
        if end - start <= PASSAGE_CHARS {
            return end;
        }
        let (least, most) = (start + MIN_CHARS, start + PASSAGE_CHARS);
        let sentence = self.sentences[..self.sentences.partition_point(|at| *at <= most)].last().copied();
        let word = || (least..most).rev().find(|at| self.is_space(*at)).map(|at| at + 1);
        sentence.filter(|at| *at >= least).or_else(word).unwrap_or(most)
    }

    /// Where the passage after the one from `start` to `stop` begins.
    fn restart(&self, start: usize, stop: usize) -> usize {
        let least = (stop - OVERLAP_CHARS).max(start + 1);
        let sentence = self.sentences.get(self.sentences.partition_point(|at| *at < least)).copied();
        let word = || (least..stop).find(|at| self.is_space(*at)).map(|at| at + 1);
        sentence.filter(|at| *at < stop).or_else(word).unwrap_or(least).min(stop)
    }

    fn is_space(&self, at: usize) -> bool {
        self.text[self.bytes[at]..].chars().next().is_some_and(char::is_whitespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_one_passage() {
        let text = "é".repeat(WHOLE_CHARS);
        assert_eq!(passages(&text), [Stretch { bytes: 0..2 * WHOLE_CHARS, chars: 0..WHOLE_CHARS }]);
        assert_eq!(passages(""), [Stretch { bytes: 0..0, chars: 0..0 }]);
    }

    #[test]
    fn passages_cover_the_text_overlap_and_end_at_sentences() {
        let text = "A sentence, the same as the others, is about ümlauts. ".repeat(140);
        let found = passages(&text);
        assert!(found.len() > 3);
        assert_eq!(found[0].chars.start, 0);
        assert_eq!(found.last().unwrap().chars.end, text.chars().count());
        for pair in found.windows(2) {
            assert!(pair[1].chars.start < pair[0].chars.end && pair[1].chars.start > pair[0].chars.start);
            assert!(text[pair[0].bytes.clone()].ends_with("ümlauts. "));
            assert!(text[pair[1].bytes.clone()].starts_with("A sentence"));
        }
    }

    #[test]
    fn text_without_borders_is_cut_all_the_same() {
        let text = "字".repeat(10_000);
        let found = passages(&text);
        assert!(found.iter().all(|stretch| stretch.chars.len() <= PASSAGE_CHARS));
        assert_eq!(found.last().unwrap().bytes.end, text.len());
    }

    #[test]
    fn an_endless_text_is_bounded() {
        assert!(passages(&"word ".repeat(1_000_000)).len() <= MAX_PASSAGES);
    }
}
