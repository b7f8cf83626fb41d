//! A manifest that takes another's place: columns follow it, records stay.

use pdpp_access::{FilterTerm, RecordsRequest};
use pdpp_store::{Catalogues as _, ManifestOutcome, OnConflict, Records as _, StoreError};
use pdpp_store_sqlite::SqliteStore;
use pdpp_wire::manifest::Manifest;
use serde_json::{Value, json};

use crate::support::{Desk, manifest, of, options};

/// The desk's manifest with some of its letters' declaration replaced.
fn altered(alter: impl FnOnce(&mut Value)) -> Manifest {
    let mut document = manifest().document().clone();
    alter(&mut document["streams"][0]);
    Manifest::from_document(document).unwrap()
}

async fn replace(desk: &Desk, manifest: &Manifest) {
    let outcome = desk.store.put_manifest(&desk.subject_id, manifest, OnConflict::Refuse).await.unwrap();
    assert_eq!(outcome, ManifestOutcome::Conflict);
    let outcome = desk.store.put_manifest(&desk.subject_id, manifest, OnConflict::Replace).await.unwrap();
    assert_eq!(outcome, ManifestOutcome::Replaced);
}

async fn keys(desk: &Desk, request: RecordsRequest) -> Vec<String> {
    let request = RecordsRequest { target: of("letters"), limit: 100, ..request };
    let page = desk.store.list_records(&desk.page(&desk.owner(), request).await).await.unwrap();
    page.rows.into_iter().map(|row| row.key.to_string()).collect()
}

async fn three_letters() -> Desk {
    let desk = Desk::empty(SqliteStore::in_memory(options()).unwrap()).await;
    let letter = |id: &str, size: u32, sent: &str, filed: &str| json!({"id": id, "size": size, "sent_at": sent, "filed_at": filed, "mood": format!("mood {id}")});
    let letters = vec![
        letter("a", 1, "2026-01-03", "2026-02-01"),
        letter("b", 2, "2026-01-02", "2026-02-02"),
        letter("c", 3, "2026-01-01", "2026-02-03"),
    ];
    desk.put(0, "letters", letters).await;
    desk
}

#[tokio::test]
async fn a_newly_declared_field_can_be_filtered_at_once() {
    let desk = three_letters().await;
    let declared = altered(|letters| letters["schema"]["properties"]["mood"] = json!({"type": "string"}));
    replace(&desk, &declared).await;
    let term = FilterTerm { field: "mood".into(), operator: None, operand: "mood b".into() };
    assert_eq!(keys(&desk, RecordsRequest { filter: vec![term], ..Default::default() }).await, ["b"]);
}

#[tokio::test]
async fn another_cursor_field_orders_what_is_already_there() {
    let desk = three_letters().await;
    assert_eq!(keys(&desk, RecordsRequest::default()).await, ["a", "b", "c"]);
    replace(&desk, &altered(|letters| letters["cursor_field"] = json!("filed_at"))).await;
    assert_eq!(keys(&desk, RecordsRequest::default()).await, ["c", "b", "a"]);
}

#[tokio::test]
async fn a_plan_made_before_the_replacement_is_asked_to_come_again() {
    let desk = three_letters().await;
    let request = RecordsRequest { target: of("letters"), limit: 10, ..Default::default() };
    let old = desk.page(&desk.owner(), request).await;
    replace(&desk, &altered(|letters| letters["cursor_field"] = json!("filed_at"))).await;
    let refused = desk.store.list_records(&old).await.unwrap_err();
    assert!(matches!(refused, StoreError::Busy(_)), "{refused:?}");
}

#[tokio::test]
async fn a_stream_declared_again_has_its_records_again() {
    let desk = three_letters().await;
    let mut without = manifest().document().clone();
    without["streams"].as_array_mut().unwrap().remove(0);
    replace(&desk, &Manifest::from_document(without).unwrap()).await;
    let made =
        desk.store.create_connection(&desk.subject_id, desk.manifest.key(), None).await.unwrap().unwrap();
    replace(&desk, &manifest()).await;
    assert_eq!(keys(&desk, RecordsRequest::default()).await, ["a", "b", "c"]);
    // A connection made in between can take them, too.
    let desk = Desk { connections: vec![made.connection_id], ..desk };
    desk.put(0, "letters", vec![json!({"id": "d", "sent_at": "2026-01-09"})]).await;
    assert_eq!(keys(&desk, RecordsRequest::default()).await, ["d", "a", "b", "c"]);
}

#[tokio::test]
async fn every_replaced_document_stays_readable() {
    let desk = three_letters().await;
    let version = |catalogue: &pdpp_access::Catalogue| catalogue.sources[0].declaration_version.clone();
    let before = version(&desk.store.catalogue(&desk.subject_id).await.unwrap());
    replace(&desk, &altered(|letters| letters["cursor_field"] = json!("filed_at"))).await;
    let kept = desk.store.find_snapshot(&desk.subject_id, &before).await.unwrap().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), *manifest().document());
    assert_eq!(desk.store.find_snapshot(&desk.subject_id, "sha256:0").await.unwrap(), None);
}
