//! An archive moved from a directory to a database and back.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/mod.rs"]
mod support;

use std::sync::Arc;

use pdpp_store::{Store, conformance::moving};
use pdpp_store_sqlite::SqliteStore;
use pdpp_testkit::{FixedClock, SeededEntropy};
use tempfile::TempDir;

fn embedded() -> (Arc<dyn Store>, TempDir) {
    let home = tempfile::tempdir().unwrap();
    let outside = (Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()));
    let options = pdpp_store_sqlite::Options::new(outside.0, outside.1);
    (Arc::new(SqliteStore::open(home.path(), options).unwrap()), home)
}

#[tokio::test]
async fn a_directory_copied_into_a_database_holds_and_answers_the_same() {
    let ((from, _home), (to, _database)) = (embedded(), support::fresh_store());
    moving::a_copy_holds_and_answers_the_same(from, to).await;
}

#[tokio::test]
async fn a_database_copied_into_a_directory_holds_and_answers_the_same() {
    let ((from, _database), (to, _home)) = (support::fresh_store(), embedded());
    moving::a_copy_holds_and_answers_the_same(from, to).await;
}

#[tokio::test]
async fn a_copy_into_a_database_goes_on_where_it_was_cut_off() {
    let ((from, _home), (to, _database)) = (embedded(), support::fresh_store());
    moving::a_copy_goes_on_where_it_was_cut_off(from, to).await;
}

#[tokio::test]
async fn a_copy_out_of_a_database_goes_on_where_it_was_cut_off() {
    let ((from, _database), (to, _home)) = (support::fresh_store(), embedded());
    moving::a_copy_goes_on_where_it_was_cut_off(from, to).await;
}

#[tokio::test]
async fn another_store_is_not_mixed_into_a_copy() {
    let ((from, _home), (to, _database)) = (embedded(), support::fresh_store());
    moving::two_copies_are_not_mixed(from, to).await;
}
