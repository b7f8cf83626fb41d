//! What a started engine does by itself: follow the log, and tidy when nothing comes any more.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{Core, MERGES_AT_END};
use crate::SearchError;
use crate::index::{Expunge, expunge, gathering_due, let_go};

/// How often a started engine looks at the log without being told.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long it is idle before it merges deleted passages away, and many segments into one.
const TIDY_AFTER: Duration = Duration::from_secs(30);

impl Core {
    pub(super) async fn keep_up(self: Arc<Self>) {
        let mut idle_since = Some(Instant::now());
        while !self.is_stopping.load(Ordering::SeqCst) {
            match self.catch_up().await {
                Ok(true) => idle_since = Some(Instant::now()),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(%error, "the search index could not follow the log");
                    self.is_damaged.store(error.is_damage(), Ordering::SeqCst);
                }
            }
            if idle_since.is_some_and(|since| since.elapsed() > TIDY_AFTER) {
                let is_tidy = self.tidy().await.unwrap_or_else(|error| {
                    tracing::warn!(%error, "the search index could not be tidied");
                    true
                });
                // What another merge or process held on to is looked at again.
                idle_since = (!is_tidy).then(Instant::now);
            }
            // Whether it was nudged or waited long enough, it looks.
            let _ = tokio::time::timeout(LOOK_EVERY, self.nudged.notified()).await;
        }
        if let Some(writer) = self.writing.lock().await.take() {
            let_go(writer, Some(MERGES_AT_END));
        }
    }

    /// Does what there is time for while nothing is written. Says whether that was nothing.
    pub(super) async fn tidy(&self) -> Result<bool, SearchError> {
        let mut writing = self.writing.lock().await;
        if let Some(writer) = &mut *writing {
            let has_purged = self.has_purged.load(Ordering::SeqCst);
            let what = if has_purged { Expunge::All } else { Expunge::Worthwhile };
            if !expunge(writer, what)? {
                return Ok(false);
            }
            self.has_purged.store(false, Ordering::SeqCst);
        }
        let opened = self.opened();
        let due = gathering_due(&opened.index.load_metas()?.segments);
        if due.is_empty() {
            return Ok(true);
        }
        if writing.is_none() {
            *writing = match opened.writer() {
                // Another process writes, and tidies when it is idle.
                Err(error) if error.is_locked() => None,
                writer => Some(writer?),
            };
        }
        // Not waited for: what comes meanwhile is written beside it, and found.
        if let Some(writer) = &mut *writing {
            drop(writer.merge(&due));
        }
        // Unless nobody else is here to see it through.
        if !self.is_started.load(Ordering::SeqCst)
            && let Some(writer) = writing.take()
        {
            let_go(writer, None);
        }
        Ok(false)
    }
}
