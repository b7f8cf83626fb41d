//! The disclosure ledger: committed, listed newest first, filtered, pruned.

use std::sync::Arc;

use pdpp_wire::{ClientId, Code, GrantId, SubjectId};

use super::world::{Pending, World, all, stream, subject, time};
use crate::{Disclosure, DisclosureFilter, Door, Store, StoreError};

pub(super) fn disclosure(subject_id: &SubjectId, door: Door, grants: &[&str]) -> Disclosure {
    Disclosure {
        at: time("2026-01-01"),
        subject_id: subject_id.clone(),
        request_id: "req_1".to_owned(),
        door,
        client_id: Some(client("reader")),
        grant_ids: grants.iter().map(|id| grant(id)).collect(),
        token_id: None,
        action: "records".to_owned(),
        refused: None,
        stream: Some(stream("letters")),
        connection_ids: Vec::new(),
        record_count: 1,
        record_keys: vec!["a".to_owned()],
        fields: vec!["id".to_owned()],
        char_range: Some((0, 10)),
        query: Some("harbour".to_owned()),
        filter_fields: vec!["sender".to_owned()],
        note: Some("a note".to_owned()),
    }
}

fn grant(id: &str) -> GrantId {
    GrantId::parse(id).expect("a plain id")
}

fn client(id: &str) -> ClientId {
    ClientId::parse(id).expect("a plain id")
}

fn any() -> DisclosureFilter {
    DisclosureFilter { limit: 1000, ..DisclosureFilter::default() }
}

/// Five reads, named by their request, on the first five days of the year.
async fn five_reads(store: Arc<dyn Store>) -> World {
    let world = World::new(store).await;
    let base = |day: u8, grants: &[&str]| Disclosure {
        at: time(&format!("2026-01-{day:02}")),
        request_id: format!("r{day}"),
        ..disclosure(&world.subject, Door::Rest, grants)
    };
    let entries = vec![
        base(2, &["grt_1", "grt_2"]),
        base(1, &["grt_1"]),
        Disclosure { client_id: None, grant_ids: Vec::new(), ..base(5, &[]) },
        Disclosure { client_id: Some(client("other")), ..base(3, &["grt_3"]) },
        Disclosure {
            refused: Some(Code::FieldNotGranted),
            stream: Some(stream("folders")),
            ..base(4, &["grt_2"])
        },
    ];
    for entry in entries {
        world.store.append_disclosures(vec![entry]).await.expect("disclosures are kept");
    }
    world
}

async fn listed(world: &World, filter: &DisclosureFilter) -> Vec<String> {
    let entries = world.store.list_disclosures(&world.subject, filter).await;
    entries.expect("disclosures are listed").into_iter().map(|entry| entry.request_id).collect()
}

pub async fn an_entry_comes_back_whole(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for door in [Door::Rest, Door::Mcp, Door::McpLocal, Door::Cli, Door::OAuth] {
        let entry = disclosure(&world.subject, door, &["grt_1"]);
        world.store.append_disclosures(vec![entry.clone()]).await.expect("disclosures are kept");
        let found = world.store.list_disclosures(&world.subject, &any()).await;
        assert_eq!(found.expect("disclosures are listed")[0], entry);
    }
}

pub async fn entries_are_listed_newest_first_up_to_the_limit(store: Arc<dyn Store>) {
    let world = five_reads(store).await;
    assert_eq!(listed(&world, &any()).await, ["r5", "r4", "r3", "r2", "r1"]);
    assert_eq!(listed(&world, &DisclosureFilter { limit: 2, ..any() }).await, ["r5", "r4"]);
}

pub async fn every_filter_narrows(store: Arc<dyn Store>) {
    let world = five_reads(store).await;
    let client_id = Some(client("reader"));
    assert_eq!(listed(&world, &DisclosureFilter { client_id, ..any() }).await, ["r4", "r2", "r1"]);
    let grant_id = Some(grant("grt_2"));
    assert_eq!(listed(&world, &DisclosureFilter { grant_id, ..any() }).await, ["r4", "r2"]);
    let folders = Some(stream("folders"));
    assert_eq!(listed(&world, &DisclosureFilter { stream: folders, ..any() }).await, ["r4"]);
    assert_eq!(listed(&world, &DisclosureFilter { refused_only: true, ..any() }).await, ["r4"]);
    let (since, until) = (Some(time("2026-01-02")), Some(time("2026-01-04")));
    assert_eq!(listed(&world, &DisclosureFilter { since, until, ..any() }).await, ["r3", "r2"]);
    let both = DisclosureFilter { grant_id: Some(grant("grt_1")), since, ..any() };
    assert_eq!(listed(&world, &both).await, ["r2"]);
}

pub async fn entries_are_counted_by_day(store: Arc<dyn Store>) {
    let world = five_reads(store).await;
    let counted = async |filter: DisclosureFilter| -> Vec<(i64, u64, u64)> {
        let days = world.store.count_by_day(&world.subject, &filter).await.expect("disclosures are counted");
        days.into_iter().map(|day| (day.day - 20_454, day.served, day.refused)).collect()
    };
    // 20,454 days lie between the first day of 1970 and that of 2026; the limit of a filter does not count.
    let all = counted(DisclosureFilter { limit: 1, ..any() }).await;
    assert_eq!(all, [(0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 0, 1), (4, 1, 0)]);
    let granted = counted(DisclosureFilter { grant_id: Some(grant("grt_2")), ..any() }).await;
    assert_eq!(granted, [(1, 1, 0), (3, 0, 1)]);
    let refused = counted(DisclosureFilter { refused_only: true, ..any() }).await;
    assert_eq!(refused, [(3, 0, 1)]);
}

pub async fn old_entries_can_be_pruned(store: Arc<dyn Store>) {
    let world = five_reads(store).await;
    let stranger = world.store.prune_disclosures(&subject("someone_else"), time("2027-01-01")).await;
    assert_eq!(stranger.expect("disclosures are pruned"), 0);
    let pruned = world.store.prune_disclosures(&world.subject, time("2026-01-03")).await;
    assert_eq!(pruned.expect("disclosures are pruned"), 2);
    assert_eq!(listed(&world, &any()).await, ["r5", "r4", "r3"]);
    let by_grant = DisclosureFilter { grant_id: Some(grant("grt_1")), ..any() };
    assert!(listed(&world, &by_grant).await.is_empty());
}

pub async fn many_appends_at_once_are_all_kept(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let append = |n: u32| {
        let request_id = format!("r{n}");
        let entry = Disclosure { request_id, ..disclosure(&world.subject, Door::Mcp, &["grt_1"]) };
        world.store.append_disclosures(vec![entry])
    };
    all((0..500).map(|n| Box::pin(append(n)) as Pending<'_, Result<(), StoreError>>).collect())
        .await
        .into_iter()
        .for_each(|outcome| outcome.expect("disclosures are kept"));
    assert_eq!(listed(&world, &any()).await.len(), 500);
}

pub async fn another_subjects_entries_are_not_listed(store: Arc<dyn Store>) {
    let world = five_reads(store).await;
    let others = world.store.list_disclosures(&subject("someone_else"), &any()).await;
    assert!(others.expect("disclosures are listed").is_empty());
}
