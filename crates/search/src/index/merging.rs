//! Says which segments are merged: by size as they come, and what is tidied away when somebody asks for it.
//!
//! Tidying goes through the policy too, and not through a merge that is asked of the writer: a policy is shown only the
//! segments that no merge is at, while the writer lets two merges copy the same segments, of which the later one fails
//! when both are done. So asking again while a merge runs begins nothing.

use std::sync::{Arc, Mutex, PoisonError};

use tantivy::index::SegmentId;
use tantivy::indexer::{LogMergePolicy, MergeCandidate, MergePolicy};
use tantivy::{IndexWriter, SegmentMeta};

use super::gathering;
use crate::SearchError;

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
            let ids: Vec<_> = ids.iter().map(SegmentId::uuid_string).collect();
            // The crash test of the command line reads this line.
            tracing::debug!("merging search segments {}", ids.join(","));
        }
        candidates
    }
}

/// How many deleted passages are worth a rewrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expunge {
    /// Any: their words have to go.
    All,
    /// A hundredth of a segment.
    Worthwhile,
}

impl Expunge {
    fn is_due(self, segment: &SegmentMeta) -> bool {
        let deleted = u64::from(segment.num_deleted_docs());
        match self {
            Self::All => deleted > 0,
            Self::Worthwhile => deleted > 0 && deleted * 100 >= u64::from(segment.max_doc()),
        }
    }
}

/// Merges deleted passages away, and many segments into one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tidying {
    pub(crate) expunge: Expunge,
    pub(crate) gathers: bool,
}

impl Tidying {
    /// What of these segments is to be merged, each list into one.
    pub(crate) fn due(self, segments: &[SegmentMeta]) -> Vec<Vec<SegmentId>> {
        let together = if self.gathers { gathering::due(segments) } else { Vec::new() };
        let alone = segments
            .iter()
            .filter(|segment| self.expunge.is_due(segment) && !together.contains(&segment.id()))
            .map(|segment| vec![segment.id()]);
        let mut due: Vec<_> = alone.collect();
        due.extend(Some(together).filter(|together| !together.is_empty()));
        due
    }

    /// Begins what is due and no merge is at, and does not wait for it. Says which segments those are. A commit is what
    /// makes the writer look.
    pub(crate) fn begin(
        self,
        writer: &mut IndexWriter,
        payload: &str,
    ) -> Result<Vec<SegmentId>, SearchError> {
        let begun = Arc::default();
        writer.set_merge_policy(Box::new(Beginning { tidying: self, begun: Arc::clone(&begun) }));
        let committed = writer.prepare_commit().and_then(|mut prepared| {
            prepared.set_payload(payload);
            prepared.commit()
        });
        writer.set_merge_policy(Box::new(Merging::default()));
        committed?;
        Ok(std::mem::take(&mut *begun.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Has the writer begin what is due of the segments it shows, and takes note of them.
#[derive(Debug)]
struct Beginning {
    tidying: Tidying,
    begun: Arc<Mutex<Vec<SegmentId>>>,
}

impl MergePolicy for Beginning {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let due = self.tidying.due(segments);
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).extend(due.iter().flatten());
        due.into_iter().map(MergeCandidate).collect()
    }
}

#[cfg(test)]
mod tests;
