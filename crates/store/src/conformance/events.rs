//! Event subscriptions: who sees them, how they are switched, and how they end.

use std::sync::Arc;

use pdpp_wire::{ClientId, DisabledReason, SubscriptionStatus};

use super::event_world::{
    NOON, challenge, client, due, end, grant, id, make, make_active, new, status, take, tell, world,
};
use super::world::time;
use crate::{Changed, DueKind, Ending, Holder, Store, SubscriptionChange, SubscriptionMade, Switch};

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
