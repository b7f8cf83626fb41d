//! What the promises about events share: grants, a subscription, and the steps of whoever works on it.

use std::sync::Arc;

use pdpp_wire::{
    ClientId, DeliveryOutcome, EventId, EventScope, GrantId, Instant, SubscriptionId, SubscriptionStatus,
};

use super::world::{World, stream, time};
use crate::{
    Claim, DueEvent, DueKind, Ending, EventMatch, Finished, Lease, NewEvent, NewSubscription, NewToken,
    Saying, Store, StoredDelivery, SubscriptionMade, TokenKind,
};

pub(super) const NOON: &str = "2026-01-05T12:00:00Z";

pub(super) fn id(name: &str) -> SubscriptionId {
    SubscriptionId::parse(name).expect("a plain id")
}

pub(super) fn event(name: &str) -> EventId {
    EventId::parse(name).expect("a plain id")
}

pub(super) fn client() -> ClientId {
    ClientId::parse("reader").expect("a plain id")
}

pub(super) fn challenge(name: &str) -> NewEvent {
    NewEvent { event_id: event(name), body: "{}".into(), challenge: Some("echo".into()), due_at: time(NOON) }
}

/// A world with a token over these grants.
pub(super) async fn world(store: Arc<dyn Store>, grants: &[&str]) -> World {
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

pub(super) fn grant(name: &str) -> GrantId {
    GrantId::parse(name).expect("a plain id")
}

pub(super) fn new(world: &World, name: &str, grants: &[&str]) -> NewSubscription {
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

pub(super) async fn make(world: &World, name: &str, grants: &[&str]) {
    let made = world.store.create_subscription(&new(world, name, grants), 10).await;
    assert_eq!(made.expect("subscriptions are kept"), SubscriptionMade::Made);
}

pub(super) async fn due(world: &World, at: Instant) -> Vec<DueEvent> {
    world.store.due_events(at, &[], 100).await.expect("what is due is told")
}

/// Claims the first due event of a subscription, under a lease of a minute.
pub(super) async fn take(world: &World, lease: &str, at: Instant) -> Option<DueEvent> {
    let first = due(world, at).await.into_iter().next()?;
    let saying = Saying::Words(event(&format!("evt_of_{lease}")), format!("by {lease}"));
    let claim = Claim { row: first.row, subscription_id: first.subscription_id.clone(), saying };
    let lease = Lease { id: lease.into(), until: at.plus_seconds(60) };
    let won = world.store.claim_events(&[claim], &lease, at).await.expect("claims are decided");
    won[0].then_some(first)
}

pub(super) async fn end(world: &World, lease: &str, taken: &DueEvent, ending: Ending, at: Instant) {
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
pub(super) async fn make_active(world: &World, name: &str, grants: &[&str]) {
    make(world, name, grants).await;
    let taken = take(world, "setup", time(NOON)).await.expect("the challenge is due");
    end(world, "setup", &taken, Ending::Verified, time(NOON)).await;
    assert_eq!(status(world, name).await, SubscriptionStatus::Active);
}

pub(super) async fn status(world: &World, name: &str) -> SubscriptionStatus {
    let found = world.store.find_subscription(&world.subject, &id(name), None).await;
    found.expect("subscriptions are found").expect("it is there").status
}

/// Tells a subscription of a change to the letters at home, after this position.
pub(super) async fn tell(world: &World, name: &str, since: u64) -> bool {
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

pub(super) fn since(event: &DueEvent) -> Option<(u64, u64)> {
    match event.kind {
        DueKind::Records { since, latest, .. } => Some((since, latest)),
        _ => None,
    }
}
