//! Every promise of the store, kept in memory and on the disk.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use pdpp_store::Store;
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::{FixedClock, SeededEntropy};
use tempfile::TempDir;

fn options() -> Options {
    Options::new(Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()))
}

fn in_memory() -> (Arc<dyn Store>, ()) {
    (Arc::new(SqliteStore::in_memory(options()).unwrap()), ())
}

fn on_disk() -> (Arc<dyn Store>, TempDir) {
    let home = tempfile::tempdir().unwrap();
    (Arc::new(SqliteStore::open(home.path(), options()).unwrap()), home)
}

mod memory {
    pdpp_store::conformance_tests!(crate::in_memory);
}

mod disk {
    pdpp_store::conformance_tests!(crate::on_disk);
}
