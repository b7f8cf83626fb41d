//! Nodes that claim and finish the same events, and owners who do not wait for each other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pdpp_store::{
    Claim, DueEvent, Ending, EventMatch, Events, Finished, Lease, NewEvent, NewSubscription, Saying,
    StoredDelivery, SubscriptionChange, SubscriptionMade,
};
use pdpp_store_postgres::{PostgresStore, Traced, traced};
use pdpp_wire::{
    ClientId, ConnectionId, DeliveryOutcome, EventId, EventScope, GrantId, Instant, StreamName, SubjectId,
    SubscriptionId,
};

use crate::support::{Kept, connect, fresh_store};
use crate::{onlooker, patient};

fn noon() -> Instant {
    Instant::parse("2026-01-05T12:00:00Z").unwrap()
}

pub(super) fn subject(number: usize) -> SubjectId {
    SubjectId::parse(format!("owner_{number}")).unwrap()
}

fn id(name: &str) -> SubscriptionId {
    SubscriptionId::parse(name).unwrap()
}

fn event(name: &str, due_at: Instant) -> NewEvent {
    NewEvent {
        event_id: EventId::parse(name).unwrap(),
        body: "{}".into(),
        challenge: Some("echo".into()),
        due_at,
    }
}

async fn subscribe(store: &dyn Events, subject_id: &SubjectId, name: &str) {
    subscribe_at(store, subject_id, name, noon()).await;
}

pub(super) async fn subscribe_at(store: &dyn Events, subject_id: &SubjectId, name: &str, at: Instant) {
    let new = NewSubscription {
        subscription_id: id(name),
        subject_id: subject_id.clone(),
        client_id: ClientId::parse("reader").unwrap(),
        grant_ids: vec![GrantId::parse("grt_a").unwrap()],
        callback_url: "https://hooks.example.org/x".into(),
        callback_host: "hooks.example.org".into(),
        scope: EventScope { source: None, streams: Vec::new(), filters: None },
        streams: Vec::new(),
        connection_id: None,
        sealed_secret: b"sealed".to_vec(),
        verify: event(&format!("evt_{name}"), at),
        created_at: at,
    };
    let made = store.create_subscription(&new, 1000).await.unwrap();
    assert_eq!(made, SubscriptionMade::Made);
}

pub(super) fn claim(due: &DueEvent, words: &str) -> Claim {
    Claim {
        row: due.row,
        subscription_id: due.subscription_id.clone(),
        saying: Saying::Words(EventId::parse(words).unwrap(), words.to_owned()),
    }
}

fn finished(due: &DueEvent, ending: Ending) -> Finished {
    let delivery = StoredDelivery {
        event_id: EventId::parse("evt_logged").unwrap(),
        event_type: due.kind.event_type(),
        attempt: due.attempts + 1,
        at: noon(),
        outcome: DeliveryOutcome::Delivered,
        http_status: Some(200),
        reason: None,
        snippet: None,
        next_at: None,
    };
    Finished { row: due.row, subscription_id: due.subscription_id.clone(), ending, delivery }
}

/// Claims what is due until nothing is; says what was won.
async fn claim_all(store: Arc<PostgresStore>, name: String) -> Vec<String> {
    let lease = Lease { id: name.clone(), until: noon().plus_seconds(60) };
    let mut won = Vec::new();
    loop {
        let due = store.due_events(noon(), &[], 7).await.unwrap();
        if due.is_empty() {
            return won;
        }
        let claims: Vec<Claim> = due.iter().map(|due| claim(due, &format!("evt_{name}"))).collect();
        let outcome = store.claim_events(&claims, &lease, noon()).await.unwrap();
        won.extend(
            due.iter().zip(outcome).filter(|(_, won)| *won).map(|(due, _)| due.subscription_id.to_string()),
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_event_is_claimed_by_one_worker_of_all_nodes() {
    let kept = Kept::new();
    let nodes = [0, 1].map(|_| Arc::new(connect(&kept, patient())));
    let mut expected = Vec::new();
    for number in 0..60 {
        let name = format!("sub_{number}");
        subscribe(nodes[0].as_ref(), &subject(number % 7), &name).await;
        expected.push(name);
    }
    let workers = (0..6)
        .map(|worker| tokio::spawn(claim_all(Arc::clone(&nodes[worker % 2]), format!("worker_{worker}"))));
    let mut claimed: BTreeMap<String, usize> = BTreeMap::new();
    for worker in workers.collect::<Vec<_>>() {
        for name in worker.await.unwrap() {
            *claimed.entry(name).or_default() += 1;
        }
    }
    expected.sort();
    assert_eq!(claimed.keys().cloned().collect::<Vec<_>>(), expected, "each is claimed");
    assert!(claimed.values().all(|times| *times == 1), "once: {claimed:?}");
    let late = noon().plus_seconds(59);
    assert!(nodes[0].due_events(late, &[], 100).await.unwrap().is_empty(), "while the leases last");
    let over = noon().plus_seconds(60);
    assert_eq!(nodes[1].due_events(over, &[], 100).await.unwrap().len(), 60, "and again when they end");
}

#[tokio::test]
async fn owners_do_not_wait_for_each_other_nor_senders_for_an_owner_who_writes() {
    let kept = Kept::new();
    let store = connect(&kept, patient());
    let (ana, ben) = (subject(0), subject(1));
    subscribe(&store, &ana, "sub_ana").await;
    subscribe(&store, &ben, "sub_ben").await;
    let ana_writes = onlooker(&kept).await;
    ana_writes
        .batch_execute(
            "BEGIN; SELECT 1 FROM subjects WHERE subject_id = 'owner_0' FOR UPDATE;
             UPDATE event_generation SET generation = generation + 1 WHERE subject_id = 'owner_0';
             UPDATE event_positions SET sequence = sequence WHERE subject_id = 'owner_0'",
        )
        .await
        .unwrap();
    let others = async {
        subscribe(&store, &ben, "sub_ben_2").await;
        assert!(store.delete_subscription(&ben, &id("sub_ben_2")).await.unwrap());
        let due = store.due_events(noon(), &[], 10).await.unwrap();
        assert_eq!(due.len(), 2);
        let lease = Lease { id: "w".into(), until: noon().plus_seconds(60) };
        let claims: Vec<Claim> = due.iter().map(|due| claim(due, "evt_w")).collect();
        assert_eq!(store.claim_events(&claims, &lease, noon()).await.unwrap(), [true, true]);
        let ended: Vec<Finished> = due.iter().map(|due| finished(due, Ending::Verified)).collect();
        store.finish_events(&ended, "w", noon()).await.unwrap();
    };
    // Longer than anybody waits for a lock, so that whoever does fails here with that.
    tokio::time::timeout(Duration::from_mins(1), others).await.unwrap();
    ana_writes.batch_execute("ROLLBACK").await.unwrap();
    let live = store.live_subscriptions(None).await.unwrap().unwrap();
    assert_eq!(live.subscriptions.len(), 2);
    assert!(
        store.live_subscriptions(Some(live.generation)).await.unwrap().is_none(),
        "nothing changed since"
    );
    store.expire_subscriptions(&[id("sub_ana"), id("sub_ben")], noon()).await.unwrap();
    let after = store.live_subscriptions(Some(live.generation)).await.unwrap().unwrap();
    assert!(after.generation > live.generation && after.subscriptions.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_waits_in_a_circle() {
    let kept = Kept::new();
    let nodes = [0, 1].map(|_| Arc::new(connect(&kept, patient())));
    let ana = subject(0);
    let names: Vec<String> = (0..6).map(|number| format!("sub_{number}")).collect();
    for name in &names {
        subscribe(nodes[0].as_ref(), &ana, name).await;
    }
    let follower = |store: Arc<PostgresStore>, names: Vec<String>, ana: SubjectId| async move {
        for round in 0..60_u64 {
            let found = |name: &String| EventMatch {
                subscription_id: id(name),
                stream: StreamName::parse("letters").unwrap(),
                connection_id: ConnectionId::parse("cin_1").unwrap(),
                since: round,
            };
            let mut matches: Vec<EventMatch> = names.iter().map(found).collect();
            matches.reverse();
            let position = store.event_position(&ana).await.unwrap();
            store.advance_events(&ana, position..position + 1, &matches, noon()).await.unwrap();
        }
    };
    let sender = |store: Arc<PostgresStore>, name: &'static str| async move {
        for round in 0..60 {
            let lease = Lease { id: name.to_owned(), until: noon().plus_seconds(1) };
            let due = store.due_events(noon().plus_seconds(round), &[], 10).await.unwrap();
            let claims: Vec<Claim> = due.iter().map(|due| claim(due, &format!("evt_{name}"))).collect();
            let won = store.claim_events(&claims, &lease, noon().plus_seconds(round)).await.unwrap();
            let ending = if round % 2 == 0 { Ending::Verified } else { Ending::Failed(noon()) };
            let mut ended: Vec<Finished> =
                due.iter().zip(won).filter(|(_, won)| *won).map(|(due, _)| finished(due, ending)).collect();
            ended.reverse();
            store.finish_events(&ended, name, noon()).await.unwrap();
        }
    };
    let owner = |store: Arc<PostgresStore>, ana: SubjectId| async move {
        for round in 0..30 {
            let name = format!("sub_new_{round}");
            subscribe(store.as_ref(), &ana, &name).await;
            let change = SubscriptionChange { switch: None, sealed_secret: Some(b"other".to_vec()) };
            store.change_subscription(&ana, &id("sub_3"), &change, noon()).await.unwrap();
            store.queue_test(&ana, &id("sub_2"), &event(&format!("evt_test_{round}"), noon())).await.unwrap();
            store.expire_subscriptions(&[id(&name)], noon()).await.unwrap();
            store.delete_subscription(&ana, &id(&name)).await.unwrap();
        }
    };
    let [one, two] = &nodes;
    let tasks = [
        tokio::spawn(follower(Arc::clone(one), names.clone(), ana.clone())),
        tokio::spawn(follower(Arc::clone(two), names.clone(), ana.clone())),
        tokio::spawn(sender(Arc::clone(one), "one")),
        tokio::spawn(sender(Arc::clone(two), "two")),
        tokio::spawn(owner(Arc::clone(one), ana.clone())),
    ];
    for task in tasks {
        task.await.unwrap();
    }
    let left = one.list_subscriptions(&ana, None).await.unwrap();
    assert_eq!(
        left.iter().map(|one| one.subscription_id.to_string()).collect::<Vec<_>>(),
        names,
        "oldest first"
    );
}

/// Whether a plan holds a step of this kind on this index.
fn walks(plan: &serde_json::Value, index: &str) -> bool {
    let here = plan["Index Name"].as_str().is_some_and(|name| name.contains(index));
    here || plan["Plans"].as_array().into_iter().flatten().any(|below| walks(below, index))
}

#[tokio::test]
async fn what_is_due_is_found_at_the_edge_of_an_index() {
    let (store, _kept) = fresh_store();
    subscribe(store.as_ref(), &subject(0), "sub_1").await;
    let (due, seen) = traced(store.due_events(noon(), &["busy.example.org".to_owned()], 10)).await;
    assert_eq!(due.unwrap().len(), 1);
    let [Traced { sql, plan }] = &seen[..] else { panic!("one statement, not {seen:?}") };
    let text = plan.to_string();
    assert!(walks(&plan[0]["Plan"], "next_due_ordinal"), "{plan:#} of {sql}");
    for forbidden in ["Seq Scan", "Hash Join", "Merge Join", "Bitmap", "\"Sort\""] {
        assert!(!text.contains(forbidden), "{forbidden} in {plan:#}");
    }
}
