//! The ledger: what waits at the same time is committed together, or fails together.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use pdpp_store::{Disclosure, DisclosureFilter, Door, Ledger as _, StoreError};
use pdpp_store_postgres::PostgresStore;
use pdpp_wire::{Instant, SubjectId};

use crate::patient;
use crate::support::{Kept, connect};

fn now() -> Instant {
    Instant::parse("2026-01-05").unwrap()
}

fn subject(id: &str) -> SubjectId {
    SubjectId::parse(id).unwrap()
}

fn disclosure(owner: &str, request_id: String) -> Disclosure {
    Disclosure {
        at: now(),
        subject_id: subject(owner),
        request_id,
        door: Door::Rest,
        client_id: None,
        grant_ids: Vec::new(),
        token_id: None,
        action: "records".to_owned(),
        refused: None,
        stream: None,
        connection_ids: Vec::new(),
        record_count: 0,
        record_keys: Vec::new(),
        fields: Vec::new(),
        char_range: None,
        query: None,
        filter_fields: Vec::new(),
        note: None,
    }
}

async fn entries(store: &PostgresStore, owner: &str) -> usize {
    let filter = DisclosureFilter { limit: 10_000, ..DisclosureFilter::default() };
    store.list_disclosures(&subject(owner), &filter).await.unwrap().len()
}

#[tokio::test]
async fn appends_that_wait_together_share_a_transaction() {
    let kept = Kept::new();
    let store = connect(&kept, patient());
    let append = |n: usize| {
        let owner = ["anna", "bela", "cora"][n % 3];
        store.append_disclosures(vec![disclosure(owner, format!("r{n}"))])
    };
    for outcome in join_all((0..600).map(append)).await {
        outcome.unwrap();
    }
    assert_eq!(entries(&store, "anna").await, 200);
    let groups = "SET pdpp.subject = '*'; SELECT count(DISTINCT xmin::text) FROM disclosures";
    let groups: usize = kept.database.ask(groups).parse().unwrap();
    assert!(groups <= 10, "600 appends took {groups} transactions");
}

#[tokio::test]
async fn entries_of_one_moment_keep_their_order_over_nodes() {
    let kept = Kept::new();
    let (here, there) = (connect(&kept, patient()), connect(&kept, patient()));
    for n in 0..10 {
        let node = if n % 2 == 0 { &here } else { &there };
        node.append_disclosures(vec![disclosure("anna", format!("r{n}"))]).await.unwrap();
    }
    let filter = DisclosureFilter { limit: 100, ..DisclosureFilter::default() };
    let listed = here.list_disclosures(&subject("anna"), &filter).await.unwrap();
    let ids: Vec<_> = listed.iter().rev().map(|entry| entry.request_id.clone()).collect();
    assert_eq!(ids, (0..10).map(|n| format!("r{n}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_failed_group_is_told_to_everyone_in_it_and_the_next_is_kept() {
    let kept = Kept::new();
    let store = connect(&kept, patient());
    kept.database.ask("REVOKE INSERT ON disclosures FROM CURRENT_USER");
    let append = |n: usize| store.append_disclosures(vec![disclosure("anna", format!("r{n}"))]);
    for outcome in join_all((0..20).map(append)).await {
        assert!(matches!(outcome, Err(StoreError::Unwritable(_))), "{outcome:?}");
    }
    kept.database.ask("GRANT INSERT ON disclosures TO CURRENT_USER");
    append(20).await.unwrap();
    assert_eq!(entries(&store, "anna").await, 1);
}

#[tokio::test]
async fn whoever_goes_away_stops_nobody_else() {
    let kept = Kept::new();
    let store = connect(&kept, patient());
    let gone = store.append_disclosures(vec![disclosure("anna", "gone".to_owned())]).now_or_never();
    assert!(gone.is_none(), "looked at once and dropped");
    let append = |n: usize| store.append_disclosures(vec![disclosure("anna", format!("r{n}"))]);
    for outcome in join_all((0..20).map(append)).await {
        outcome.unwrap();
    }
    assert_eq!(entries(&store, "anna").await, 21, "and what was handed over is kept");
}

#[tokio::test]
async fn an_append_whose_connection_breaks_fails() {
    let kept = Kept::new();
    let store = connect(&kept, patient());
    store.append_disclosures(vec![disclosure("anna", "before".to_owned())]).await.unwrap();
    // Somebody holds the row at which the entries are numbered; the append waits there when it is cut off.
    let holds = std::thread::spawn({
        let url = kept.database.url();
        move || {
            let sql = "BEGIN; SET pdpp.subject = 'anna'; SELECT * FROM disclosure_counters FOR UPDATE;
                       SELECT pg_sleep(4); COMMIT";
            std::process::Command::new("psql").args(["-X", "-q", "-c", sql, &url]).output().unwrap()
        }
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Timeout'";
    for _ in 0..100 {
        if kept.ask(waiting) != "0" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let cut = async {
        let kill = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'";
        for _ in 0..100 {
            if kept.database.ask(kill) != "0" {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("nobody waited");
    };
    let (appended, ()) =
        tokio::join!(store.append_disclosures(vec![disclosure("anna", "cut".to_owned())]), cut);
    assert!(matches!(appended, Err(StoreError::Unreachable(_))), "{appended:?}");
    holds.join().unwrap();
    store.append_disclosures(vec![disclosure("anna", "after".to_owned())]).await.unwrap();
    assert_eq!(entries(&store, "anna").await, 2);
}
