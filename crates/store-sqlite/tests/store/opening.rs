//! Opening a data directory: fresh, again, together, and from the future.

use crate::support::{Desk, options};
use pdpp_store::{Quotas as _, StoreError};
use pdpp_store_sqlite::SqliteStore;

#[test]
fn an_empty_directory_becomes_a_private_store() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("data");
    drop(SqliteStore::open(&directory, options()).unwrap());
    for file in ["store.db", "ledger.db"] {
        assert!(directory.join(file).exists(), "{file}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&directory), 0o700);
        assert_eq!(mode(&directory.join("store.db")), 0o600);
        assert_eq!(mode(&directory.join("ledger.db")), 0o600);
    }
}

#[test]
fn the_side_files_of_an_open_store_are_private_too() {
    let home = tempfile::tempdir().unwrap();
    let _store = SqliteStore::open(home.path(), options()).unwrap();
    #[cfg(unix)]
    for entry in std::fs::read_dir(home.path()).unwrap() {
        use std::os::unix::fs::PermissionsExt as _;
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.file_name());
    }
}

#[test]
fn a_store_from_the_future_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(home.path(), options()).unwrap());
    let raw = rusqlite::Connection::open(home.path().join("store.db")).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    let refused = SqliteStore::open(home.path(), options()).unwrap_err();
    assert!(matches!(refused, StoreError::TooNew { found: 99, .. }), "{refused:?}");
}

#[tokio::test]
async fn what_a_store_from_before_quotas_holds_is_counted_once() {
    let home = tempfile::tempdir().unwrap();
    let desk = Desk::filled(SqliteStore::open(home.path(), options()).unwrap()).await;
    desk.delete(0, "letters", "l001").await;
    let used = desk.store.find_usage(&desk.subject_id).await.unwrap();
    assert_eq!(used.records, 599);
    let subject_id = desk.subject_id.clone();
    drop(desk);
    let raw = rusqlite::Connection::open(home.path().join("store.db")).unwrap();
    for column in ["quota_records", "quota_bytes", "quota_requests", "used_records", "used_bytes"] {
        raw.execute(&format!("ALTER TABLE subjects DROP COLUMN {column}"), []).unwrap();
    }
    raw.pragma_update(None, "user_version", 7).unwrap();
    drop(raw);
    let store = SqliteStore::open(home.path(), options()).unwrap();
    assert_eq!(store.find_usage(&subject_id).await.unwrap(), used);
    assert!(store.find_quota(&subject_id).await.unwrap().is_none());
}

#[test]
fn many_processes_may_make_the_same_store_at_once() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        let openers: Vec<_> =
            (0..8).map(|_| scope.spawn(|| SqliteStore::open(home.path(), options()).map(drop))).collect();
        for opener in openers {
            opener.join().unwrap().unwrap();
        }
    });
}

#[test]
fn a_store_in_memory_leaves_nothing_behind() {
    drop(SqliteStore::in_memory(options()).unwrap());
}
