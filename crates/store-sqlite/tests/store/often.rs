//! A store that is read for weeks: short reads go on the caller's own thread, and their statements are kept.

use pdpp_store::{Catalogues as _, ChangeLog as _};
use pdpp_store_sqlite::SqliteStore;
use pdpp_testkit::sample;

use crate::support::{Desk, options};

/// The engine counts the steps of a kept statement over all its runs, also those of the one that begins a transaction.
#[tokio::test]
async fn the_fifty_thousandth_read_is_answered_like_the_first() {
    let home = tempfile::tempdir().unwrap();
    let desk = Desk::filled(SqliteStore::open(home.path(), options()).unwrap()).await;
    let subject_id = sample::subject();
    let head = desk.store.log_head(&subject_id).await.unwrap();
    for _ in 0..50_000 {
        assert_eq!(desk.store.log_head(&subject_id).await.unwrap(), head);
    }
    assert!(!desk.store.catalogue(&subject_id).await.unwrap().sources.is_empty());
}
