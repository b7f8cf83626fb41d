//! One directory's store copied into another.

use std::sync::Arc;

use pdpp_store::{Store, conformance::moving};
use pdpp_store_sqlite::SqliteStore;
use tempfile::TempDir;

use crate::support::options;

fn pair() -> ([Arc<dyn Store>; 2], [TempDir; 2]) {
    let homes = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let open =
        |home: &TempDir| -> Arc<dyn Store> { Arc::new(SqliteStore::open(home.path(), options()).unwrap()) };
    (homes.each_ref().map(open), homes)
}

#[tokio::test]
async fn a_copy_holds_and_answers_the_same() {
    let ([from, to], _homes) = pair();
    moving::a_copy_holds_and_answers_the_same(from, to).await;
}

#[tokio::test]
async fn a_copy_goes_on_where_it_was_cut_off() {
    let ([from, to], _homes) = pair();
    moving::a_copy_goes_on_where_it_was_cut_off(from, to).await;
}

#[tokio::test]
async fn two_copies_are_not_mixed() {
    let ([from, to], _homes) = pair();
    moving::two_copies_are_not_mixed(from, to).await;
}
