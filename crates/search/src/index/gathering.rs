//! Says which segments an idle index makes into one.
//!
//! A word is looked up in every segment, so what a search takes grows with their number, and merging five of a size
//! leaves up to four of each. A segment is only gathered up when the smaller ones together are a fair part of it: so a
//! passage is written again a few times while the archive grows tenfold, and not for each message that comes.

use tantivy::SegmentMeta;
use tantivy::index::SegmentId;

/// A segment is taken when it has at most so many times the passages of all smaller ones.
const MOST_TIMES: u64 = 4;
/// Larger ones stay as they are: rewriting them would keep a small machine busy for minutes.
const MOST_PASSAGES: u64 = 10_000_000;

/// The segments that are to be one; none, or two and more.
pub(crate) fn due(segments: &[SegmentMeta]) -> Vec<SegmentId> {
    let mut sizes: Vec<_> =
        segments.iter().map(|segment| (u64::from(segment.num_docs()), segment.id())).collect();
    sizes.sort_unstable();
    let count = worthwhile(sizes.iter().map(|(passages, _)| *passages));
    sizes.into_iter().take(count).map(|(_, id)| id).collect()
}

/// How many of these, the smallest first, are to be one.
fn worthwhile(sizes: impl Iterator<Item = u64>) -> usize {
    let (mut smaller, mut count) = (0, 0);
    for (place, passages) in sizes.take_while(|passages| *passages <= MOST_PASSAGES).enumerate() {
        if place > 0 && passages <= smaller * MOST_TIMES {
            count = place + 1;
        }
        smaller += passages;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: &[u64], expected: usize) {
        assert_eq!(worthwhile(sizes.iter().copied()), expected, "{sizes:?}");
    }

    #[test]
    fn segments_are_gathered_when_the_small_ones_are_a_fair_part() {
        check(&[], 0);
        check(&[7], 0);
        check(&[7, 7], 2);
        check(&[1, 1_000], 0);
        check(&[1, 1, 1_000], 2);
        check(&[250, 1_000], 2);
        // What stands between is taken along.
        check(&[1, 100, 150, 1_000], 4);
        check(&[1, 100, 1_000, 1_100, 100_000], 4);
        check(&[4_000_000, 9_000_000, 11_000_000], 2);
    }

    #[test]
    fn a_growing_archive_writes_each_passage_a_few_times() {
        let (mut segments, mut written) = (vec![1_000_u64], 0_u64);
        for _ in 0..20_000 {
            segments.push(1);
            segments.sort_unstable();
            let count = worthwhile(segments.iter().copied());
            if count > 0 {
                let together: u64 = segments.drain(..count).sum();
                written += together;
                segments.push(together);
            }
            assert!(segments.len() <= 10);
        }
        assert!(written <= 20_000 * 30, "{written}");
    }
}
