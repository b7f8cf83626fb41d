//! Rewrites segments that hold deleted passages, so that purged words are gone from the files too.

use tantivy::IndexWriter;

use crate::SearchError;

/// How often a merge that stands in the way is waited for.
const ATTEMPTS: usize = 40;

/// How many deleted documents are worth a rewrite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expunge {
    /// Any: something was purged for good.
    All,
    /// A hundredth of a segment.
    Worthwhile,
}

/// Rewrites them. Says whether none is left.
pub(crate) fn expunge(writer: &mut IndexWriter, what: Expunge) -> Result<bool, SearchError> {
    for _ in 0..ATTEMPTS {
        let metas = writer.index().load_metas()?.segments;
        let is_due = |deleted: u32, all: u32| match what {
            Expunge::All => deleted > 0,
            Expunge::Worthwhile => u64::from(deleted) * 100 >= u64::from(all.max(1)) && deleted > 0,
        };
        let due: Vec<_> = metas
            .iter()
            .filter(|segment| is_due(segment.num_deleted_docs(), segment.max_doc()))
            .map(tantivy::SegmentMeta::id)
            .collect();
        if due.is_empty() {
            writer.garbage_collect_files().wait()?;
            return Ok(true);
        }
        // Segments that are part of a merge already refuse, and will be free of deletions after it.
        let merged = due.iter().map(|segment| writer.merge(&[*segment])).collect::<Vec<_>>();
        let refused = merged.into_iter().filter_map(|merge| merge.wait().err()).count();
        if refused > 0 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    Ok(false)
}
