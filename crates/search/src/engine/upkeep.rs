//! What an engine does by itself: follow the log, and tidy when nothing comes any more.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tantivy::IndexWriter;

use super::rest::{Found, Occasion, Rest};
use super::{Core, MERGES_AT_END};
use crate::SearchError;
use crate::index::{Expunge, Owed, Progress, Tidying, let_go};

/// How often a started engine looks at the log without being told.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often deleted passages are merged away: a merge that was begun before something was deleted keeps it.
const ROUNDS: usize = 3;

impl Core {
    pub(super) async fn keep_up(&self) {
        while !self.is_stopping.load(Ordering::SeqCst) {
            if let Err(error) = self.follow().await {
                self.failed(&error);
            }
            self.rest().await;
            // Whether it was nudged or waited long enough, it looks.
            let _ = tokio::time::timeout(LOOK_EVERY, self.nudged.notified()).await;
        }
        if let Some(writer) = self.writing.lock().await.take() {
            let_go(writer, Some(MERGES_AT_END));
        }
    }

    pub(super) fn resting(&self) -> MutexGuard<'_, Rest> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tidies, if it was idle for long enough.
    pub(super) async fn rest(&self) {
        if !self.resting().is_due(Instant::now()) {
            return;
        }
        let found = self.tidy(Occasion::Idle).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the search index could not be tidied");
            Found::Unfinished
        });
        self.resting().found(found, Instant::now());
    }

    /// Begins what there is to merge. It is not waited for, unless nobody would see it through: what comes meanwhile is
    /// written beside it, and found.
    pub(super) async fn tidy(&self, occasion: Occasion) -> Result<Found, SearchError> {
        let mut writing = self.writing.lock().await;
        let is_started = self.is_started.load(Ordering::SeqCst);
        let found = self.begin_tidying(&mut writing, occasion)?;
        // A node that keeps many indexes comes back to each.
        let is_begun = matches!(found, Found::Begun | Found::Unfinished);
        let is_kept = is_started || (is_begun && occasion == Occasion::Idle);
        self.is_merging.store(is_kept && !is_started, Ordering::SeqCst);
        if !is_kept && let Some(writer) = writing.take() {
            let_go(writer, None);
        }
        Ok(found)
    }

    /// Lets go of a writer that was kept because of merges, once they have ended: others may want to write.
    pub(super) async fn let_go_of_merged(&self) -> Result<(), SearchError> {
        let mut writing = self.writing.lock().await;
        let segments = self.opened().index.load_metas()?.segments;
        if self.is_merging.load(Ordering::SeqCst) && self.resting().is_merged(&segments) {
            self.is_merging.store(false, Ordering::SeqCst);
            if let Some(writer) = writing.take() {
                let_go(writer, None);
            }
        }
        Ok(())
    }

    fn begin_tidying(
        &self,
        writing: &mut Option<IndexWriter>,
        occasion: Occasion,
    ) -> Result<Found, SearchError> {
        let (opened, now) = (self.opened(), Instant::now());
        let seen = opened.index.load_metas()?;
        let Some(mut progress) = Progress::of(&seen) else { return Ok(Found::Tidy) };
        let segments = seen.segments;
        let before = progress.debts.clone();
        let is_unpaid = self.resting().review(&mut progress.debts, &segments);
        let pays = self.resting().may_pay(progress.debts.open, occasion, now);
        let expunge = if pays || is_unpaid { Expunge::All } else { Expunge::Worthwhile };
        let tidying = Tidying { expunge, gathers: occasion != Occasion::Purge };
        let due = tidying.due(&segments);
        let is_due = !due.is_empty();
        let begun = self.resting().begin(due);
        let found = match progress.debts.open {
            _ if is_due => begun,
            Owed::Nothing => Found::Tidy,
            _ => Found::Owing,
        };
        if !is_due && progress.debts == before {
            return Ok(found);
        }
        if writing.is_none() {
            *writing = match opened.writer() {
                // Another process writes, and tidies when it is idle.
                Err(error) if error.is_locked() => return Ok(found),
                writer => Some(writer?),
            };
            // What another process committed before it let go would be replaced by what was known then.
            if opened.index.load_metas()?.payload != seen.payload {
                return Ok(found);
            }
        }
        if pays {
            progress.debts.take_in_hand();
        }
        if let Some(writer) = writing {
            let begun = tidying.begin(writer, &progress.write())?;
            if pays {
                self.resting().paying(begun, &segments, now);
            }
        }
        Ok(found)
    }

    /// Whether an engine that is not started is the one to pay what is owed for this or more.
    pub(super) fn is_to_pay(&self, writing: Option<&IndexWriter>, least: Owed) -> Result<bool, SearchError> {
        if self.is_started.load(Ordering::SeqCst) || writing.is_some() {
            return Ok(false);
        }
        let progress = self.opened().refresh()?.unwrap_or_default();
        Ok(progress.debts.open.max(progress.debts.in_hand) >= least)
    }

    /// Rewrites every segment that has deleted passages, and waits for it: nobody is there who would do it later.
    pub(super) fn pay(&self) -> Result<(), SearchError> {
        let opened = self.opened();
        for _ in 0..ROUNDS {
            let mut writer = match opened.writer() {
                // Another process writes, and sees from the last commit what is owed.
                Err(error) if error.is_locked() => break,
                writer => writer?,
            };
            let mut progress = opened.refresh()?.unwrap_or_default();
            progress.debts.begin_again();
            if progress.debts.open == Owed::Nothing {
                break;
            }
            progress.debts.take_in_hand();
            let tidying = Tidying { expunge: Expunge::All, gathers: false };
            let begun = tidying.begin(&mut writer, &progress.write());
            let_go(writer, None);
            begun?;
        }
        self.refresh()
    }
}
