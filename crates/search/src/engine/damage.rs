//! What is done about an index that cannot be followed or read: once more, or anew.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::{Core, runtime};
use crate::SearchError;
use crate::error::caught;

/// How often a catch-up begins again when a merge took a file away under it.
const RETRIES: usize = 3;
/// What it waits before.
const RETRY_AFTER: Duration = Duration::from_millis(50);
/// How often all files are read to see whether they are damaged. A fault in the program looks the same from outside, and
/// must not make the machine read them for every search.
const CHECK_EVERY: Duration = Duration::from_mins(10);
/// How long an indexer that panicked rests.
const RECOVERY: Duration = Duration::from_secs(5);

impl Core {
    /// Gets the index to follow the log, without waiting for it.
    pub(crate) fn call_indexer(self: &Arc<Self>) {
        if self.is_started.load(Ordering::SeqCst) {
            self.nudged.notify_one();
        } else if !self.is_helping.swap(true, Ordering::SeqCst) {
            let core = self.clone();
            let help = move || {
                let followed = caught(|| runtime()?.block_on(core.follow()));
                if let Err(error) = followed {
                    core.failed(&error);
                }
                core.is_helping.store(false, Ordering::SeqCst);
            };
            let spawned = std::thread::Builder::new().name("search-helper".to_owned()).spawn(help);
            if spawned.is_err() {
                self.is_helping.store(false, Ordering::SeqCst);
            }
        }
    }

    /// Gets the index to be made anew, without waiting for it.
    pub(crate) fn call_for_rebuild(self: &Arc<Self>) {
        self.is_damaged.store(true, Ordering::SeqCst);
        self.call_indexer();
    }

    /// Catches up, once more if a file was gone that the list of files named: the next list names what took its place.
    pub(super) async fn follow(&self) -> Result<bool, SearchError> {
        for _ in 0..RETRIES {
            match self.catch_up().await {
                Err(error) if error.is_vanished_file() => tokio::time::sleep(RETRY_AFTER).await,
                done => return done,
            }
        }
        self.catch_up().await
    }

    /// Reads all files once, where it keeps nobody waiting: one that is damaged without being cut short can give wrong
    /// answers rather than none.
    pub(super) fn check_files(self: &Arc<Self>) {
        let core = self.clone();
        let check = move || match caught(|| core.opened().is_damaged()) {
            Ok(true) => {
                tracing::warn!("files of the search index are not as they were written, and it is rebuilt");
                core.call_for_rebuild();
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the files of the search index could not be checked"),
        };
        // Without a thread for it, whoever meets the damage tells.
        let _ = std::thread::Builder::new().name("search-checking".to_owned()).spawn(check);
    }

    /// Follows the log until the engine ends, whatever happens.
    pub(super) fn keep_on(self: Arc<Self>, runtime: &Runtime) {
        self.check_files();
        let keep_up = || {
            runtime.block_on(self.keep_up());
            Ok(())
        };
        while let Err(error) = caught(keep_up) {
            self.failed(&error);
            let began_at = Instant::now();
            // Searches that wait for it do not hasten it.
            while began_at.elapsed() < RECOVERY && !self.is_stopping.load(Ordering::SeqCst) {
                std::thread::sleep(RETRY_AFTER);
            }
        }
    }

    /// Takes note of why the log could not be followed.
    pub(super) fn failed(&self, error: &SearchError) {
        tracing::warn!(%error, "the search index could not follow the log");
        let is_damaged = match error {
            SearchError::Panicked => self.finds_damage(),
            error => error.is_damage(),
        };
        if is_damaged {
            self.is_damaged.store(true, Ordering::SeqCst);
        }
    }

    /// Whether the files are not what was once written, as far as it may be looked at now.
    pub(crate) fn finds_damage(&self) -> bool {
        let mut checked_at = self.checked_at.lock().unwrap_or_else(PoisonError::into_inner);
        if checked_at.is_some_and(|at: Instant| at.elapsed() < CHECK_EVERY) {
            return false;
        }
        *checked_at = Some(Instant::now());
        // Who asks meanwhile is told what was known before, and waits for nothing.
        drop(checked_at);
        self.opened().is_damaged().unwrap_or_default()
    }
}
