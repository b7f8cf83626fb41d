//! Event subscriptions: what waits is derived once, told in order, and worked on by one.

use std::sync::Arc;

use pdpp_wire::{
    ClientId, DeliveryOutcome, DisabledReason, EventId, EventScope, EventType, GrantId, Instant,
    SubscriptionId, SubscriptionStatus,
};
use serde_json::json;

use super::world::{World, stream, time};
use crate::{
    Changed, Claim, DueEvent, DueKind, Ending, EventMatch, Finished, Holder, Lease, NewEvent,
    NewSubscription, NewToken, Saying, Store, StoredDelivery, SubscriptionChange, SubscriptionMade, Switch,
    TestQueued, TokenKind,
};

const NOON: &str = "2026-01-05T12:00:00Z";

fn id(name: &str) -> SubscriptionId {
    SubscriptionId::parse(name).expect("a plain id")
}

fn event(name: &str) -> EventId {
    EventId::parse(name).expect("a plain id")
}

fn client() -> ClientId {
    ClientId::parse("reader").expect("a plain id")
}

fn challenge(name: &str) -> NewEvent {
    NewEvent { event_id: event(name), body: "{}".into(), challenge: Some("echo".into()), due_at: time(NOON) }
}

/// A world with a token over these grants.
async fn world(store: Arc<dyn Store>, grants: &[&str]) -> World {
    let world = World::new(store).await;
    let documents: Vec<_> = grants.iter().map(|id| world.grant_value(id, "continuous")).collect();
    let token = NewToken {
        hash: pdpp_access::Secret::presented("token").hash(),
        token_id: "tok_1".parse().expect("a plain id"),
        subject_id: world.subject.clone(),
        kind: TokenKind::Client {
            client_id: client(),
            grant_ids: grants.iter().map(|id| grant(id)).collect(),
        },
        issued_at: time(NOON),
        expires_at: None,
        resource: None,
        family_id: None,
    };
    world.store.issue(&documents, &token).await.expect("grants are kept");
    world
}

fn grant(name: &str) -> GrantId {
    GrantId::parse(name).expect("a plain id")
}

fn new(world: &World, name: &str, grants: &[&str]) -> NewSubscription {
    NewSubscription {
        subscription_id: id(name),
        subject_id: world.subject.clone(),
        client_id: client(),
        grant_ids: grants.iter().map(|id| grant(id)).collect(),
        callback_url: "https://hooks.example.org/x".into(),
        callback_host: "hooks.example.org".into(),
        scope: EventScope { source: None, streams: Vec::new(), filters: None },
        streams: Vec::new(),
        connection_id: None,
        sealed_secret: b"sealed".to_vec(),
        verify: challenge(&format!("evt_verify_{name}")),
        created_at: time(NOON),
    }
}

async fn make(world: &World, name: &str, grants: &[&str]) {
    let made = world.store.create_subscription(&new(world, name, grants), 10).await;
    assert_eq!(made.expect("subscriptions are kept"), SubscriptionMade::Made);
}

async fn due(world: &World, at: Instant) -> Vec<DueEvent> {
    world.store.due_events(at, 100).await.expect("what is due is told")
}

/// Claims the first due event of a subscription, under a lease of a minute.
async fn take(world: &World, lease: &str, at: Instant) -> Option<DueEvent> {
    let first = due(world, at).await.into_iter().next()?;
    let saying = Saying::Words(event(&format!("evt_of_{lease}")), format!("by {lease}"));
    let claim = Claim { row: first.row, subscription_id: first.subscription_id.clone(), saying };
    let lease = Lease { id: lease.into(), until: at.plus_seconds(60) };
    let won = world.store.claim_events(&[claim], &lease, at).await.expect("claims are decided");
    won[0].then_some(first)
}

async fn end(world: &World, lease: &str, taken: &DueEvent, ending: Ending, at: Instant) {
    let delivery = StoredDelivery {
        event_id: event("evt_logged"),
        event_type: taken.kind.event_type(),
        attempt: taken.attempts + 1,
        at,
        outcome: DeliveryOutcome::Delivered,
        http_status: Some(200),
        reason: None,
        snippet: None,
        next_at: None,
    };
    let finished =
        Finished { row: taken.row, subscription_id: taken.subscription_id.clone(), ending, delivery };
    world.store.finish_events(&[finished], lease, at).await.expect("what became of events is kept");
}

/// A subscription whose receiver has proved itself.
async fn make_active(world: &World, name: &str, grants: &[&str]) {
    make(world, name, grants).await;
    let taken = take(world, "setup", time(NOON)).await.expect("the challenge is due");
    end(world, "setup", &taken, Ending::Verified, time(NOON)).await;
    assert_eq!(status(world, name).await, SubscriptionStatus::Active);
}

async fn status(world: &World, name: &str) -> SubscriptionStatus {
    let found = world.store.find_subscription(&world.subject, &id(name), None).await;
    found.expect("subscriptions are found").expect("it is there").status
}

/// Tells a subscription of a change to the letters at home, after this position.
async fn tell(world: &World, name: &str, since: u64) -> bool {
    let position = world.store.event_position(&world.subject).await.expect("positions are kept");
    let found = EventMatch {
        subscription_id: id(name),
        stream: stream("letters"),
        connection_id: world.home.clone(),
        since,
    };
    let step = position..position + 1;
    world.store.advance_events(&world.subject, step, &[found], time(NOON)).await.expect("the step is decided")
}

fn since(event: &DueEvent) -> Option<(u64, u64)> {
    match event.kind {
        DueKind::Records { since, latest, .. } => Some((since, latest)),
        _ => None,
    }
}

pub async fn a_subscription_is_kept_whole(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a", "grt_b"]).await;
    make(&world, "sub_1", &["grt_a", "grt_b"]).await;
    let found = world.store.find_subscription(&world.subject, &id("sub_1"), None).await;
    let found = found.expect("subscriptions are found").expect("it is there");
    assert_eq!(found.grant_ids, [grant("grt_a"), grant("grt_b")]);
    assert_eq!((found.status, found.disabled_reason), (SubscriptionStatus::PendingVerification, None));
    assert_eq!(
        (found.sealed_secret.as_slice(), found.callback_url.as_str()),
        (&b"sealed"[..], "https://hooks.example.org/x")
    );
    assert_eq!(found.created_at, time(NOON));
    let listed = world.store.list_subscriptions(&world.subject, None).await.expect("they are listed");
    assert_eq!(listed, [found]);
    assert!(world.store.delete_subscription(&world.subject, &id("sub_1")).await.expect("it is removed"));
    assert!(!world.store.delete_subscription(&world.subject, &id("sub_1")).await.expect("it is gone"));
    assert!(due(&world, time(NOON)).await.is_empty(), "what waited for it is gone too");
}

pub async fn a_client_has_no_more_subscriptions_than_it_may(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    let make = async |name: &str| world.store.create_subscription(&new(&world, name, &["grt_a"]), 2).await;
    assert_eq!(make("sub_1").await.expect("kept"), SubscriptionMade::Made);
    assert_eq!(make("sub_2").await.expect("kept"), SubscriptionMade::Made);
    assert_eq!(make("sub_3").await.expect("decided"), SubscriptionMade::TooMany);
}

pub async fn only_its_holder_sees_a_subscription(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a", "grt_b"]).await;
    make(&world, "sub_1", &["grt_a"]).await;
    let holder = |client: &str, grants: &[&str], token: Option<&str>| Holder {
        client_id: ClientId::parse(client).expect("a plain id"),
        grant_ids: grants.iter().map(|id| grant(id)).collect(),
        token_id: token.map(|token| token.parse().expect("a plain id")),
    };
    let sees = async |holder: Holder| {
        let found = world.store.find_subscription(&world.subject, &id("sub_1"), Some(&holder)).await;
        let listed = world.store.list_subscriptions(&world.subject, Some(&holder)).await.expect("listed");
        let found = found.expect("decided").is_some();
        assert_eq!(found, !listed.is_empty());
        found
    };
    assert!(sees(holder("reader", &["grt_b", "grt_a"], None)).await);
    assert!(!sees(holder("reader", &["grt_b"], None)).await, "under another grant");
    assert!(!sees(holder("other", &["grt_a"], None)).await, "another client");
    assert!(sees(holder("reader", &["grt_b"], Some("tok_1"))).await, "the token remembers its ended grants");
    assert!(!sees(holder("reader", &["grt_b"], Some("tok_2"))).await);
    let elsewhere = super::world::subject("someone_else");
    let found = world.store.find_subscription(&elsewhere, &id("sub_1"), None).await.expect("decided");
    assert_eq!(found, None, "another subject");
}

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

pub async fn a_switched_off_subscription_forgets_what_waited(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let change = async |switch: Switch| {
        let change = SubscriptionChange { switch: Some(switch), sealed_secret: None };
        world
            .store
            .change_subscription(&world.subject, &id("sub_1"), &change, time(NOON))
            .await
            .expect("decided")
    };
    assert!(matches!(change(Switch::Off(DisabledReason::ClientDisabled)).await, Changed::Done(now)
        if now.status == SubscriptionStatus::Disabled && now.disabled_reason == Some(DisabledReason::ClientDisabled)));
    assert!(due(&world, time(NOON)).await.is_empty());
    assert!(tell(&world, "sub_1", 6).await, "the log goes on");
    let refused = Changed::Refused(SubscriptionStatus::Disabled, Some(DisabledReason::ClientDisabled));
    assert_eq!(change(Switch::Off(DisabledReason::ClientDisabled)).await, refused);
    assert!(matches!(change(Switch::On(challenge("evt_again"))).await, Changed::Done(now)
        if now.status == SubscriptionStatus::PendingVerification && now.disabled_reason.is_none()));
    let waiting = due(&world, time(NOON)).await;
    assert_eq!(waiting.len(), 1, "only the new challenge waits");
    assert!(matches!(waiting[0].kind, DueKind::Verify { .. }));
    change(Switch::Off(DisabledReason::OwnerDisabled)).await;
    let refused = Changed::Refused(SubscriptionStatus::Disabled, Some(DisabledReason::OwnerDisabled));
    assert_eq!(change(Switch::On(challenge("evt_more"))).await, refused, "the owner's word stands");
}

pub async fn a_new_secret_takes_the_place_of_the_old(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let change = SubscriptionChange { switch: None, sealed_secret: Some(b"other".to_vec()) };
    let changed = world.store.change_subscription(&world.subject, &id("sub_1"), &change, time(NOON)).await;
    assert!(matches!(changed.expect("decided"), Changed::Done(now) if now.sealed_secret == b"other"));
    assert_eq!(due(&world, time(NOON)).await[0].sealed_secret, b"other");
}

pub async fn a_receiver_that_fails_for_good_switches_its_subscription_off(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let taken = take(&world, "w", time(NOON)).await.expect("it is due");
    end(&world, "w", &taken, Ending::GaveUp(DisabledReason::DeliveryFailed), time(NOON)).await;
    assert_eq!(status(&world, "sub_1").await, SubscriptionStatus::DisabledFailure);
    assert!(due(&world, time(NOON).plus_seconds(1_000_000)).await.is_empty());
}

pub async fn the_last_revoked_grant_ends_a_subscription_with_one_event(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a", "grt_b"]).await;
    make_active(&world, "sub_1", &["grt_a", "grt_b"]).await;
    make(&world, "sub_2", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    let generation = async || {
        let live = world.store.live_subscriptions(None).await.expect("they are told").expect("all of them");
        (live.generation, live.subscriptions.len())
    };
    let (before, followed) = generation().await;
    assert_eq!(followed, 2);
    let revoke = async |id: &str| {
        world.store.revoke_grant(&world.subject, &grant(id), time(NOON)).await.expect("grants are revoked")
    };
    revoke("grt_a").await;
    assert_eq!(status(&world, "sub_1").await, SubscriptionStatus::Active, "one grant is left");
    assert_eq!(status(&world, "sub_2").await, SubscriptionStatus::DisabledRevoked);
    let (after, followed) = generation().await;
    assert!(after != before && followed == 1);
    assert_eq!(due(&world, time(NOON)).await.len(), 1, "one that was never active is not told");
    revoke("grt_b").await;
    assert_eq!(status(&world, "sub_1").await, SubscriptionStatus::DisabledRevoked);
    let last = take(&world, "w", time(NOON)).await.expect("the end is told");
    assert_eq!((&last.kind, last.status), (&DueKind::Revoked, SubscriptionStatus::DisabledRevoked));
    end(&world, "w", &last, Ending::GaveUp(DisabledReason::DeliveryFailed), time(NOON)).await;
    assert_eq!(status(&world, "sub_1").await, SubscriptionStatus::DisabledRevoked);
    revoke("grt_b").await;
    assert!(due(&world, time(NOON)).await.is_empty(), "and told once");
    let on = SubscriptionChange { switch: Some(Switch::On(challenge("evt_x"))), sealed_secret: None };
    let changed = world.store.change_subscription(&world.subject, &id("sub_1"), &on, time(NOON)).await;
    assert!(matches!(changed.expect("decided"), Changed::Refused(SubscriptionStatus::DisabledRevoked, _)));
}

pub async fn an_expired_subscription_ends_without_an_event(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    make_active(&world, "sub_1", &["grt_a"]).await;
    tell(&world, "sub_1", 5).await;
    world.store.expire_subscriptions(&[id("sub_1"), id("sub_none")], time(NOON)).await.expect("they end");
    let found = world.store.find_subscription(&world.subject, &id("sub_1"), None).await;
    let found = found.expect("found").expect("it is there");
    assert_eq!(found.disabled_reason, Some(DisabledReason::GrantExpired));
    assert!(due(&world, time(NOON)).await.is_empty());
}

pub async fn callbacks_are_allowed_per_client_and_taken_back(store: Arc<dyn Store>) {
    let world = world(store, &["grt_a"]).await;
    let (subject, reader, host) = (&world.subject, client(), "hooks.example.org");
    let allowed = async |client: &ClientId, host: &str| {
        world.store.is_callback_allowed(subject, client, host).await.expect("decided")
    };
    assert!(!allowed(&reader, host).await);
    world.store.allow_callback(subject, &reader, host, time(NOON)).await.expect("kept");
    world.store.allow_callback(subject, &reader, host, time(NOON)).await.expect("kept once");
    assert!(allowed(&reader, host).await);
    assert!(!allowed(&reader, "hooks.example.org:8443").await);
    assert!(!allowed(&ClientId::parse("other").expect("a plain id"), host).await);
    assert_eq!(world.store.list_callbacks(subject).await.expect("listed").len(), 1);
    make_active(&world, "sub_1", &["grt_a"]).await;
    let forbid =
        async || world.store.forbid_callback(subject, &reader, host, time(NOON)).await.expect("decided");
    assert_eq!(forbid().await, Some(1));
    assert_eq!(forbid().await, None);
    assert_eq!(status(&world, "sub_1").await, SubscriptionStatus::Disabled);
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
