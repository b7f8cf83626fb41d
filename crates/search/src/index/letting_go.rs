//! Ends a writer so that nothing of it writes afterwards.
//!
//! A writer that is dropped gives its lock back at once, while a merge of it may be about to write its list of segments.
//! The next writer, in this process or another, then works on a list that is replaced behind its back by one that names
//! files it has removed. So a writer keeps its lock until its merges have ended.

use std::sync::mpsc;
use std::time::Duration;

use tantivy::IndexWriter;

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
