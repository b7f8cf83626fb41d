//! Two handles on one directory, as a server and a command have, and one after the other.

use std::sync::Arc;

use pdpp_access::{ConnectionStatus, RecordsRequest};
use pdpp_store::{Applied, Catalogues as _, ChangeLog as _, OnConflict, Records as _};
use pdpp_store_sqlite::SqliteStore;
use serde_json::json;

use crate::support::{Desk, letter, of, options, options_seeded};

#[tokio::test]
async fn what_was_acknowledged_is_there_when_the_store_is_opened_again() {
    let home = tempfile::tempdir().unwrap();
    let desk = Desk::filled(SqliteStore::open(home.path(), options()).unwrap()).await;
    let (key, subject_id) = (desk.store.sealing_key().await.unwrap(), desk.subject_id.clone());
    let head = desk.store.log_head(&subject_id).await.unwrap();
    let owner = desk.owner();
    drop(desk);

    let store = SqliteStore::open(home.path(), options_seeded(2)).unwrap();
    assert_eq!(store.sealing_key().await.unwrap(), key);
    assert_eq!(store.log_head(&subject_id).await.unwrap(), head);
    let catalogue = store.catalogue(&subject_id).await.unwrap();
    let connections = catalogue.sources[0].connections.iter().map(|c| c.connection_id.clone()).collect();
    let desk = Desk { store, subject_id, manifest: crate::support::manifest(), connections };
    let request = RecordsRequest { target: of("letters"), limit: 500, count: true, ..Default::default() };
    let page = desk.store.list_records(&desk.page(&owner, request).await).await.unwrap();
    assert_eq!((page.rows.len(), page.total, page.next), (200, Some(200), None));
}

#[tokio::test]
async fn a_change_made_through_one_handle_is_seen_by_the_other_at_once() {
    let home = tempfile::tempdir().unwrap();
    let desk = Desk::empty(SqliteStore::open(home.path(), options()).unwrap()).await;
    let other = SqliteStore::open(home.path(), options_seeded(2)).unwrap();
    let status = |catalogue: Arc<pdpp_access::Catalogue>| catalogue.sources[0].connections[0].status;
    assert_eq!(status(other.catalogue(&desk.subject_id).await.unwrap()), ConnectionStatus::Draft);

    assert_eq!(desk.put(0, "letters", vec![letter(1)]).await, [Applied::Added]);
    assert_eq!(status(other.catalogue(&desk.subject_id).await.unwrap()), ConnectionStatus::Active);
    let connection = &desk.connections[0];
    assert!(other.rename_connection(&desk.subject_id, connection, Some("Attic")).await.unwrap());
    let seen = desk.store.catalogue(&desk.subject_id).await.unwrap();
    assert_eq!(seen.sources[0].connections[0].display_name.as_deref(), Some("Attic"));
    assert_eq!(desk.store.sealing_key().await.unwrap(), other.sealing_key().await.unwrap());
}

#[tokio::test]
async fn an_unchanged_catalogue_is_not_read_again() {
    let desk = Desk::empty(SqliteStore::in_memory(options()).unwrap()).await;
    let first = desk.store.catalogue(&desk.subject_id).await.unwrap();
    let again = desk.store.catalogue(&desk.subject_id).await.unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    let unchanged =
        desk.store.put_manifest(&desk.subject_id, &desk.manifest, OnConflict::Refuse).await.unwrap();
    assert_eq!(unchanged, pdpp_store::ManifestOutcome::Unchanged);
    assert!(Arc::ptr_eq(&first, &desk.store.catalogue(&desk.subject_id).await.unwrap()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_in_two_handles_take_turns() {
    let home = tempfile::tempdir().unwrap();
    let desk = Arc::new(Desk::empty(SqliteStore::open(home.path(), options()).unwrap()).await);
    let other = SqliteStore::open(home.path(), options_seeded(2)).unwrap();
    let other = Desk {
        store: other,
        subject_id: desk.subject_id.clone(),
        manifest: crate::support::manifest(),
        connections: desk.connections.clone(),
    };
    let ours = tokio::spawn({
        let desk = Arc::clone(&desk);
        async move {
            for n in 0..40 {
                desk.put(0, "pages", vec![json!({"id": format!("a{n}"), "letter_id": "l"})]).await;
            }
        }
    });
    for n in 0..40 {
        other.put(1, "pages", vec![json!({"id": format!("b{n}"), "letter_id": "l"})]).await;
    }
    ours.await.unwrap();
    let log = desk.store.read_log(&desk.subject_id, 0, 1_000).await.unwrap();
    let numbers: Vec<_> = log.iter().map(|change| change.sequence).collect();
    assert_eq!(numbers, (1..=80).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_read_nobody_waits_for_is_given_up() {
    let desk = Desk::filled(SqliteStore::in_memory(options()).unwrap()).await;
    let request = RecordsRequest { target: of("letters"), limit: 10, ..Default::default() };
    let plan = desk.page(&desk.owner(), request).await;
    for _ in 0..50 {
        drop(tokio::time::timeout(std::time::Duration::ZERO, desk.store.list_records(&plan)).await);
    }
    // The worker is still there, and still answers.
    assert_eq!(desk.store.list_records(&plan).await.unwrap().rows.len(), 10);
}
