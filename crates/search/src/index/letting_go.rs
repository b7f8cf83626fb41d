//! Ends a writer so that nothing of it writes afterwards.
//!
//! A writer that is dropped gives its lock back at once, while a merge of it may be about to write its list of segments.
//! The next writer, in this process or another, then works on a list that is replaced behind its back by one that names
//! files it has removed. So a writer keeps its lock until its merges have ended.

use std::ops::{Deref, DerefMut};
use std::sync::mpsc;
use std::time::Duration;

use tantivy::IndexWriter;

/// How long is waited for the merges of a writer that a panic left with half of a record.
const AFTER_A_PANIC: Duration = Duration::from_secs(5);

/// A writer at work. What it took in before a panic is never committed, because nobody gets it back.
pub(crate) struct Held(Option<IndexWriter>);

impl Held {
    pub(crate) fn new(writer: IndexWriter) -> Self {
        Self(Some(writer))
    }

    /// The writer, whose work is done.
    pub(crate) fn release(mut self) -> Option<IndexWriter> {
        self.0.take()
    }

    pub(crate) fn let_go(self, patience: Option<Duration>) {
        if let Some(writer) = self.release() {
            let_go(writer, patience);
        }
    }
}

impl Deref for Held {
    type Target = IndexWriter;

    fn deref(&self) -> &IndexWriter {
        self.0.as_ref().expect("the writer is there until it is released")
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut IndexWriter {
        self.0.as_mut().expect("the writer is there until it is released")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(writer) = self.0.take() {
            let_go(writer, Some(AFTER_A_PANIC));
        }
    }
}

/// Waits for the merges of a writer, at most so long, and lets go of its lock when they have ended. Merges that take
/// longer go on, and end with the process at the latest: a list of segments is written whole or not at all.
pub(crate) fn let_go(writer: IndexWriter, patience: Option<Duration>) {
    let end = move || {
        if let Err(error) = writer.wait_merging_threads() {
            tracing::warn!(%error, "a merge of search segments was given up");
        }
    };
    let Some(patience) = patience else { return end() };
    let (done, is_done) = mpsc::channel();
    let thread = std::thread::Builder::new().name("search-merging".to_owned());
    let spawned = thread.spawn(move || {
        end();
        // Nobody may be waiting any more.
        let _ = done.send(());
    });
    if spawned.is_ok() && is_done.recv_timeout(patience).is_err() {
        tracing::info!("merges of search segments go on while the index is closed");
    }
}
