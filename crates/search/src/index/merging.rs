//! Says when segments are merged, so that a test can pull the plug in the middle of it.

use tantivy::SegmentMeta;
use tantivy::indexer::{LogMergePolicy, MergeCandidate, MergePolicy};

/// Merges five segments of about one size into one, and those of which a fifth is deleted.
#[derive(Debug)]
pub(crate) struct Merging(LogMergePolicy);

impl Default for Merging {
    fn default() -> Self {
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(5);
        policy.set_del_docs_ratio_before_merge(0.2);
        Self(policy)
    }
}

impl MergePolicy for Merging {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let candidates = self.0.compute_merge_candidates(segments);
        for MergeCandidate(ids) in &candidates {
            let ids: Vec<_> = ids.iter().map(tantivy::index::SegmentId::uuid_string).collect();
            // The crash test of the command line reads this line.
            tracing::debug!("merging search segments {}", ids.join(","));
        }
        candidates
    }
}
