//! Large records: an answer holds a few of them, and the answers together hold all.

use pdpp_access::{RecordsRequest, Sealer};
use pdpp_store::{Catalogues as _, ChangeEntry, ChangesOutcome, RecordRow, Records as _};
use pdpp_store_sqlite::SqliteStore;
use pdpp_testkit::SeededEntropy;
use serde_json::json;

use crate::support::{Desk, of, options};

const MIB: usize = 1024 * 1024;

/// Letters of three MiB each, their days alternating between the two connections.
async fn heavy_desk() -> Desk {
    let desk = Desk::empty(SqliteStore::in_memory(options()).unwrap()).await;
    for n in 0..7 {
        let letter = json!({
            "id": format!("l{n}"), "body": "x".repeat(3 * MIB), "sent_at": format!("2026-01-0{}", n + 1),
            "filed_at": "2026-02-01",
        });
        desk.put(n % 2, "letters", vec![letter]).await;
    }
    desk
}

fn keys(rows: &[RecordRow]) -> Vec<&str> {
    rows.iter().map(|row| row.key.as_str()).collect()
}

fn letters() -> RecordsRequest {
    RecordsRequest { target: of("letters"), limit: 100, order: Some("asc".into()), ..Default::default() }
}

#[tokio::test]
async fn a_page_of_large_records_ends_early_and_the_pages_join() {
    let desk = heavy_desk().await;
    let sealer = Sealer::new(&desk.store.sealing_key().await.unwrap());
    let (mut request, mut pages) = (RecordsRequest { count: true, ..letters() }, Vec::new());
    loop {
        let plan = desk.page(&desk.owner(), request.clone()).await;
        let page = desk.store.list_records(&plan).await.unwrap();
        assert_eq!(page.total, Some(7));
        pages.push(keys(&page.rows).join(" "));
        let Some(next) = page.next else { break };
        request.cursor = Some(sealer.seal_page(&SeededEntropy::new(1), plan.binding(), &next));
    }
    assert_eq!(pages, ["l0 l1", "l2 l3", "l4 l5", "l6"]);
}

#[tokio::test]
async fn only_what_is_shown_counts() {
    let desk = heavy_desk().await;
    let request = RecordsRequest { fields: Some(vec!["sent_at".into()]), ..letters() };
    let page = desk.store.list_records(&desk.page(&desk.owner(), request).await).await.unwrap();
    assert_eq!((page.rows.len(), page.next), (7, None));
}

#[tokio::test]
async fn a_record_larger_than_a_page_is_a_page() {
    let desk = Desk::empty(SqliteStore::in_memory(options()).unwrap()).await;
    let letter = |id: &str, mib: usize| json!({"id": id, "body": "x".repeat(mib * MIB)});
    desk.put(0, "letters", vec![letter("a", 9), letter("b", 0)]).await;
    let page = desk.store.list_records(&desk.page(&desk.owner(), letters()).await).await.unwrap();
    assert_eq!(keys(&page.rows), ["a"]);
    assert_eq!(page.next.unwrap().key.as_str(), "a");
}

#[tokio::test]
async fn a_page_of_large_changes_ends_early_and_the_pages_join() {
    let desk = heavy_desk().await;
    let sealer = Sealer::new(&desk.store.sealing_key().await.unwrap());
    let mut request = RecordsRequest {
        target: of("letters"),
        limit: 100,
        changes_since: Some("beginning".into()),
        ..Default::default()
    };
    let mut pages = Vec::new();
    loop {
        let plan = desk.changes(&desk.owner(), request.clone()).await;
        let ChangesOutcome::Page(page) = desk.store.list_changes(&plan).await.unwrap() else {
            panic!("nothing has expired")
        };
        let told = page.entries.iter().map(|entry| match entry {
            ChangeEntry::Live(row) => row.key.as_str(),
            ChangeEntry::Deleted { key, .. } => key.as_str(),
        });
        pages.push(told.collect::<Vec<_>>().join(" "));
        let Some(next) = page.next else { break };
        request.cursor = Some(sealer.seal_changes_page(&SeededEntropy::new(1), plan.binding(), &next));
    }
    let whole = if desk.connections.is_sorted() {
        ["l0 l2", "l4 l6", "l1 l3", "l5"]
    } else {
        ["l1 l3", "l5 l0", "l2 l4", "l6"]
    };
    assert_eq!(pages, whole);
}

#[tokio::test]
async fn the_children_of_a_page_share_its_bytes() {
    let desk = Desk::empty(SqliteStore::in_memory(options()).unwrap()).await;
    for letter in ["a", "b"] {
        desk.put(0, "letters", vec![json!({"id": letter})]).await;
        let page =
            |n: u8| json!({"id": format!("{letter}{n}"), "letter_id": letter, "text": "x".repeat(3 * MIB)});
        desk.put(0, "pages", (0..2).map(page).collect()).await;
    }
    desk.put(0, "letters", vec![json!({"id": "c"})]).await;
    let request = RecordsRequest { expand: vec!["pages".into()], ..letters() };
    let page = desk.store.list_records(&desk.page(&desk.owner(), request).await).await.unwrap();
    let told: Vec<_> =
        page.rows.iter().map(|row| (keys(&row.expanded[0].rows), row.expanded[0].has_more)).collect();
    assert_eq!(told, [(vec!["a0", "a1"], false), (vec![], true), (vec![], false)]);
}
