//! What the authorization server keeps of clients and sessions, how often somebody tried, and what it lets go.

use std::sync::Arc;

use pdpp_wire::{GrantId, SessionId};

use super::oauth_world::{
    approval, approve, client, find_token, hash, is_alive, now, redeemed, registered, rotate, rotation, stage,
};
use super::world::{World, subject};
use crate::{ClientPut, Flow, OwnerSession, RegisteredClient, RequestHandle, Rotated, Store};

pub async fn a_client_is_kept_and_a_change_that_matters_ends_its_access(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let put = async |client: &RegisteredClient| {
        world.store.put_client(client, now().plus_seconds(1)).await.expect("clients are kept")
    };
    assert_eq!(put(&registered("h1")).await, ClientPut::New);
    redeemed(&world, "one").await;
    let later = RegisteredClient { first_seen: now().plus_seconds(9), ..registered("h1") };
    assert_eq!(put(&later).await, ClientPut::Known);
    assert!(is_alive(&world, "onea0").await);
    assert_eq!(put(&registered("h2")).await, ClientPut::Changed);
    assert!(!is_alive(&world, "onea0").await);
    let kept = world.store.find_client(&client()).await.expect("clients are looked for");
    assert_eq!(kept, Some(registered("h2")), "the time it was first seen stays");
    assert_eq!(world.store.list_clients().await.expect("clients are listed"), [registered("h2")]);
}

pub async fn a_removed_client_loses_everything(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.store.put_client(&registered("h1"), now()).await.expect("clients are kept");
    redeemed(&world, "one").await;
    stage(&world, "two", Flow::Code).await;
    assert!(world.store.remove_client(&client(), now()).await.expect("clients are removed"));
    assert!(!is_alive(&world, "onea0").await);
    assert_eq!(rotate(&world, &rotation(&world, "one", 0)).await, Rotated::Ended);
    let id = GrantId::parse("grt_one").expect("a plain id");
    let grant = world.store.find_grant(&world.subject, &id).await.expect("grants are looked for");
    assert_eq!(grant.expect("the grant is kept").standing.revoked_at, Some(now()));
    assert!(world.store.list_requests(now()).await.expect("requests are listed").is_empty());
    assert!(!world.store.remove_client(&client(), now()).await.expect("clients are removed"));
}

pub async fn a_session_lives_until_it_is_ended(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let session = |id: &str, owner: &str| OwnerSession {
        session_id: SessionId::parse(id).expect("a plain id"),
        subject_id: subject(owner),
        created_at: now(),
        expires_at: now().plus_seconds(100),
        last_used_at: now(),
        revoked_at: None,
    };
    for (secret, id, owner) in
        [("s1", "ses_1", "owner_local"), ("s2", "ses_2", "owner_local"), ("s3", "ses_3", "other")]
    {
        world.store.put_session(&hash(secret), &session(id, owner)).await.expect("sessions are kept");
    }
    let using = async |secret: &str, seconds| {
        world.store.use_session(&hash(secret), now().plus_seconds(seconds)).await.expect("sessions are used")
    };
    assert_eq!(using("s1", 5).await.expect("it is known").last_used_at, now().plus_seconds(5));
    assert_eq!(using("ses_1", 5).await, None, "its public name opens nothing");
    let one = SessionId::parse("ses_1").expect("a plain id");
    let ended = world.store.revoke_sessions(&world.subject, Some(&one), now().plus_seconds(6)).await;
    assert_eq!(ended.expect("sessions are ended"), 1);
    let found = using("s1", 7).await.expect("it is known");
    assert_eq!((found.last_used_at, found.revoked_at.is_some()), (now().plus_seconds(5), true));
    assert_eq!(world.store.list_sessions(&world.subject).await.expect("sessions are listed").len(), 2);
    let ended = world.store.revoke_sessions(&world.subject, None, now()).await;
    assert_eq!(ended.expect("sessions are ended"), 1);
    assert_eq!(using("s3", 7).await.expect("it is known").revoked_at, None, "another owner's stays");
}

pub async fn attempts_are_counted_in_windows(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let count = async |key: &str, seconds| {
        let counted = world.store.count_attempt(key, 60, now().plus_seconds(seconds)).await;
        counted.expect("attempts are counted").count
    };
    assert_eq!((count("a", 0).await, count("a", 1).await, count("b", 1).await), (1, 2, 1));
    assert_eq!(count("a", 60).await, 1, "a new window begins");
    world.store.clear_attempts("a").await.expect("attempts are forgotten");
    assert_eq!(count("a", 61).await, 1);
}

pub async fn what_ended_is_pruned_and_what_nobody_fetched_is_taken_back(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    redeemed(&world, "one").await;
    stage(&world, "two", Flow::Code).await;
    approve(&world, "two", "continuous").await;
    world.store.prune_oauth(now().plus_seconds(60)).await.expect("old rows are pruned");
    let revoked_at = async |id: &str| {
        let id = GrantId::parse(id).expect("a plain id");
        let grant = world.store.find_grant(&world.subject, &id).await.expect("grants are looked for");
        grant.expect("grants are kept").standing.revoked_at
    };
    assert_eq!(revoked_at("grt_one").await, None);
    assert_eq!(revoked_at("grt_two").await, Some(now().plus_seconds(60)));
    assert!(is_alive(&world, "onea0").await);
    world.store.prune_oauth(now().plus_seconds(2 * 86_400)).await.expect("old rows are pruned");
    assert_eq!(find_token(&world, "onea0").await, None);
    let found = world.store.find_request(&RequestHandle::Approval(approval("one"))).await;
    assert_eq!(found.expect("requests are looked for"), None);
}
