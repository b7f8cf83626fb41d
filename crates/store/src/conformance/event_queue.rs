//! What waits to be sent: derived once, told in order, and worked on by one.

use std::sync::Arc;

use pdpp_wire::{DisabledReason, EventType, Instant, SubscriptionStatus};
use serde_json::json;

use super::event_world::{
    NOON, challenge, due, end, event, id, make, make_active, new, since, status, take, tell, world,
};
use super::world::{World, time};
use crate::{Claim, DueKind, Ending, Lease, NewEvent, NewSubscription, Saying, Store, TestQueued};

pub async fn nothing_but_the_challenge_is_due_before_it_is_echoed(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make(&world, "sub_1", &["grt_a"]).await;
    assert!(tell(&world, "sub_1", 3).await);
    let first = take(&world, "w", time(NOON)).await.expect("the challenge is due");
    assert_eq!(first.kind, DueKind::Verify { challenge: "echo".into() });
    assert_eq!(first.settled, Some((event("evt_verify_sub_1"), "{}".into())));
    assert!(due(&world, time(NOON)).await.is_empty(), "one works on it");
    end(&world, "w", &first, Ending::Verified, time(NOON)).await;
    assert_eq!(status(&world, "sub_1").await, SubscriptionStatus::Active);
    let next = take(&world, "w", time(NOON)).await.expect("what waited is due");
    assert_eq!(since(&next), Some((3, 3)));
}

pub async fn one_event_waits_per_place_and_keeps_the_earliest_position(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    for position in [7, 5, 9] {
        assert!(tell(&world, "sub_1", position).await);
    }
    let waiting = due(&world, time(NOON)).await;
    assert_eq!(waiting.iter().map(since).collect::<Vec<_>>(), [Some((5, 9))]);
}

pub async fn a_change_while_an_event_is_sent_is_told_afterwards(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let taken = take(&world, "w", time(NOON)).await.expect("it is due");
    tell(&world, "sub_1", 8).await;
    tell(&world, "sub_1", 9).await;
    assert!(due(&world, time(NOON)).await.is_empty(), "one works on it");
    end(&world, "w", &taken, Ending::Delivered, time(NOON)).await;
    let next = take(&world, "w2", time(NOON)).await.expect("the change is told");
    assert_eq!(since(&next), Some((8, 9)));
    assert_eq!(next.settled, None, "in words of its own");
    end(&world, "w2", &next, Ending::Delivered, time(NOON)).await;
    assert!(due(&world, time(NOON)).await.is_empty());
}

pub async fn a_retry_says_the_same_and_stands_for_what_came_before_it(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let taken = take(&world, "w", time(NOON)).await.expect("it is due");
    let later = time(NOON).plus_seconds(30);
    end(&world, "w", &taken, Ending::Failed(later), time(NOON)).await;
    tell(&world, "sub_1", 8).await;
    assert!(due(&world, time(NOON)).await.is_empty(), "not before its time");
    let again = take(&world, "w2", later).await.expect("it is due again");
    assert_eq!(again.settled, Some((event("evt_of_w"), "by w".into())));
    assert_eq!(again.attempts, 1);
    end(&world, "w2", &again, Ending::Deferred(later.plus_seconds(5)), later).await;
    let third = take(&world, "w3", later.plus_seconds(5)).await.expect("it is due again");
    assert_eq!(third.attempts, 1, "a wait that was asked for does not count");
    end(&world, "w3", &third, Ending::Delivered, later).await;
    assert!(due(&world, later.plus_seconds(60)).await.is_empty(), "a reader of the retry saw the change too");
}

pub async fn events_of_a_subscription_go_in_order(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let test = NewEvent { challenge: None, ..challenge("evt_test") };
    let queued = world.store.queue_test(&world.subject, &id("sub_1"), &test).await.expect("tests wait");
    assert_eq!(queued, TestQueued::Waiting(event("evt_test")));
    let another = NewEvent { event_id: event("evt_test_2"), ..test };
    let queued = world.store.queue_test(&world.subject, &id("sub_1"), &another).await.expect("tests wait");
    assert_eq!(queued, TestQueued::Waiting(event("evt_test")), "one test waits at a time");
    let first = take(&world, "w", time(NOON)).await.expect("it is due");
    assert_eq!(first.kind.event_type(), EventType::RecordsChanged);
    let later = time(NOON).plus_seconds(30);
    end(&world, "w", &first, Ending::Failed(later), time(NOON)).await;
    assert!(due(&world, time(NOON)).await.is_empty(), "the second waits behind the first");
    let first = take(&world, "w", later).await.expect("it is due");
    end(&world, "w", &first, Ending::Delivered, later).await;
    assert_eq!(take(&world, "w", later).await.expect("it is due").kind, DueKind::Test);
}

pub async fn of_two_workers_one_gets_the_event(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let seen = due(&world, time(NOON)).await.remove(0);
    let claim = |words: &str| Claim {
        row: seen.row,
        subscription_id: seen.subscription_id.clone(),
        saying: Saying::Words(event(words), words.to_owned()),
    };
    let lease = |name: &str, until| Lease { id: name.into(), until };
    let soon = time(NOON).plus_seconds(20);
    let won = async |words: &str, until: Instant, at: Instant| {
        world.store.claim_events(&[claim(words)], &lease(words, until), at).await.expect("decided")[0]
    };
    assert!(won("evt_one", soon, time(NOON)).await);
    assert!(!won("evt_two", soon, time(NOON)).await);
    assert!(won("evt_two", soon.plus_seconds(20), soon).await, "a lease ends by itself");
    // The first one comes back from a long pause and changes nothing.
    end(&world, "evt_one", &seen, Ending::GaveUp(DisabledReason::DeliveryFailed), soon).await;
    assert_eq!(status(&world, "sub_1").await, SubscriptionStatus::Active);
    end(&world, "evt_two", &seen, Ending::Delivered, soon).await;
    assert!(due(&world, soon.plus_seconds(100)).await.is_empty());
    let log = world.store.list_deliveries(&world.subject, &id("sub_1"), 10).await.expect("the log is read");
    assert_eq!(log.len(), 3, "every attempt is in the log");
}

pub async fn an_event_with_nothing_to_say_is_dropped_unless_news_came(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let seen = due(&world, time(NOON)).await.remove(0);
    tell(&world, "sub_1", 8).await;
    let nothing = Claim {
        row: seen.row,
        subscription_id: seen.subscription_id.clone(),
        saying: Saying::Nothing { latest: 5 },
    };
    let lease = Lease { id: "w".into(), until: time(NOON).plus_seconds(60) };
    let claim = async |claim: Claim| {
        world.store.claim_events(&[claim], &lease, time(NOON)).await.expect("decided")[0]
    };
    assert!(!claim(nothing.clone()).await);
    assert_eq!(due(&world, time(NOON)).await.len(), 1, "something came since");
    assert!(!claim(Claim { saying: Saying::Nothing { latest: 8 }, ..nothing }).await);
    assert!(due(&world, time(NOON)).await.is_empty());
}

pub async fn a_position_moves_once(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    world.put(&world.home, "letters", json!({"id": "a"})).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    let head = world.store.log_head(&world.subject).await.expect("the log has a head");
    let position = async || world.store.event_position(&world.subject).await.expect("positions are kept");
    assert_eq!(position().await, head, "what came before is nobody's news");
    let advance = async |step: std::ops::Range<u64>| {
        world.store.advance_events(&world.subject, step, &[], time(NOON)).await.expect("decided")
    };
    assert!(advance(head..head + 2).await);
    assert!(!advance(head..head + 3).await, "somebody was here before");
    assert_eq!(position().await, head + 2);
}

pub async fn what_a_reader_would_see_is_counted_as_the_feed_tells_it(store: Arc<dyn Store>) {
    use super::world::{entry, target};
    let world = World::new(store).await;
    world.put(&world.home, "folders", json!({"id": "a", "name": "one"})).await;
    let head = world.store.log_head(&world.subject).await.expect("the log has a head");
    let reader = world.client(&[json!([entry("folders", &[&world.home], &["id"])])]);
    let read = async || {
        let request = pdpp_access::RecordsRequest {
            target: target("folders"),
            limit: 10,
            changes_since: Some("beginning".into()),
            ..Default::default()
        };
        world.changes_plan(&reader, &request).await.read().clone()
    };
    let seen = async |after: u64, most: u32| {
        let questions = [(read().await, after)];
        let found = world.store.visible_changes(&questions, most).await.expect("answered");
        found[0].as_ref().map(|found| {
            assert_eq!(found.since.sequence, after);
            found.count
        })
    };
    assert_eq!(seen(0, 10).await, Some(1));
    assert_eq!(seen(head, 10).await, None);
    world.put(&world.home, "folders", json!({"id": "a", "name": "two"})).await;
    assert_eq!(seen(head, 10).await, None, "a hidden field");
    world.put(&world.work, "folders", json!({"id": "w"})).await;
    assert_eq!(seen(head, 10).await, None, "another connection");
    for id in ["b", "c", "d"] {
        world.put(&world.home, "folders", json!({"id": id})).await;
    }
    assert_eq!((seen(head, 1).await, seen(head, 2).await, seen(head, 9).await), (Some(1), Some(2), Some(3)));
    world.delete(&world.home, "folders", "a").await;
    assert_eq!(seen(head, 9).await, Some(4));
    world.delete(&world.home, "folders", "d").await;
    assert_eq!(seen(head, 9).await, Some(3), "what came and went is nothing");
}

pub async fn what_is_due_at_a_busy_host_does_not_hide_what_is_due_elsewhere(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    for name in ["sub_1", "sub_2"] {
        make(&world, name, &["grt_a"]).await;
    }
    let quick = NewSubscription {
        callback_url: "https://quick.example.org/x".into(),
        callback_host: "quick.example.org".into(),
        ..new(&world, "sub_3", &["grt_a"])
    };
    world.store.create_subscription(&quick, 10).await.expect("subscriptions are kept");
    let first = async |busy: &[&str]| {
        let busy: Vec<String> = busy.iter().map(|host| (*host).to_owned()).collect();
        let found = world.store.due_events(time(NOON), &busy, 1).await.expect("what is due is told");
        found.into_iter().next().map(|event| event.subscription_id)
    };
    assert_eq!(first(&[]).await, Some(id("sub_1")), "longest due first");
    assert_eq!(first(&["hooks.example.org"]).await, Some(id("sub_3")));
    assert_eq!(first(&["hooks.example.org", "quick.example.org"]).await, None);
}
