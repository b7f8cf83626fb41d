//! What the authorization server keeps of a request: decided once, redeemed once, rotated in line, ended whole.

use std::sync::Arc;

use pdpp_wire::{GrantId, Instant};

use super::oauth_world::{
    approval, approve, client, family_id, find_token, hash, is_alive, now, redeemed, redemption, registered,
    request, rotate, rotation, stage, token, yes,
};
use super::world::{World, subject};
use crate::{
    AgentAttached, Approval, Decided, Flow, NewRequest, Redeemed, RequestHandle, RequestState, Rotated,
    Rotation, Staged, Store,
};

pub async fn a_request_is_found_by_each_of_its_handles_and_no_other(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    stage(&world, "one", Flow::Device).await;
    stage(&world, "two", Flow::Device).await;
    for handle in [
        RequestHandle::Approval(approval("one")),
        RequestHandle::Pushed(hash("one pushed")),
        RequestHandle::Consent(hash("one consent")),
        RequestHandle::DeviceCode(hash("one device")),
        RequestHandle::UserCode(hash("one user")),
    ] {
        let found = world.store.find_request(&handle).await.expect("requests are looked for");
        assert_eq!(found.expect("the handle is known").approval_id, approval("one"), "{handle:?}");
    }
    for handle in [
        RequestHandle::Consent(hash("one pushed")),
        RequestHandle::DeviceCode(hash("one consent")),
        RequestHandle::Code(hash("one code")),
        RequestHandle::Polling(hash("one device")),
    ] {
        let found = world.store.find_request(&handle).await.expect("requests are looked for");
        assert_eq!(found, None, "{handle:?}");
    }
}

pub async fn no_more_requests_wait_than_are_allowed(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    stage(&world, "one", Flow::Code).await;
    let second = request("two", Flow::Code);
    let staged = world.store.stage_request(&second, 1).await.expect("requests are kept");
    assert_eq!(staged, Staged::TooMany);
    let later = NewRequest { created_at: now().plus_seconds(301), ..second };
    let staged = world.store.stage_request(&later, 1).await.expect("requests are kept");
    assert_eq!(staged, Staged::Kept, "what has expired does not wait");
}

pub async fn a_request_is_for_the_first_owner_it_is_addressed_to(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    for id in ["apr_1", "apr_2"] {
        stage(&world, id, Flow::Code).await;
    }
    let address = async |id: &str, owner: &str| {
        let addressed = world.store.address_request(&approval(id), &subject(owner)).await;
        addressed.expect("requests are addressed")
    };
    let waiting = async |owner: &str, at: Instant| {
        let listed = world.store.list_addressed(&subject(owner), at).await.expect("requests are listed");
        listed.iter().map(|request| request.approval_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(waiting("owner_local", now()).await, [""; 0], "nobody is named yet");
    assert!(address("apr_1", "owner_local").await);
    assert!(address("apr_1", "owner_local").await, "who is named stays named");
    assert!(!address("apr_1", "other").await);
    assert!(address("apr_2", "other").await);
    assert!(!address("apr_unknown", "other").await);
    assert_eq!(waiting("owner_local", now()).await, ["apr_1"]);
    assert_eq!(waiting("other", now()).await, ["apr_2"]);
    assert_eq!(waiting("other", now().plus_seconds(300)).await, [""; 0], "it has expired");
    let all = world.store.list_requests(now()).await.expect("requests are listed");
    assert_eq!(all.len(), 2);
    let found = world.store.find_request(&RequestHandle::Approval(approval("apr_1"))).await;
    let found = found.expect("requests are found").expect("it was staged");
    assert_eq!(found.state, RequestState::Pending, "to be named is not to decide");
    approve(&world, "apr_1", "continuous").await;
    assert_eq!(waiting("owner_local", now()).await, [""; 0], "it was decided");
    assert!(!address("apr_1", "other").await, "a decided request stays its owner's");
}

pub async fn a_request_is_decided_once(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    stage(&world, "one", Flow::Code).await;
    approve(&world, "one", "continuous").await;
    let again = yes(&world, "one", vec![world.grant_value("grt_other", "continuous")]);
    let decided = world.store.approve_request(&again).await.expect("requests are decided");
    assert_eq!(decided, Decided::Conflict);
    let denied = world.store.deny_request(&approval("one"), &world.subject, now()).await;
    assert_eq!(denied.expect("requests are decided"), Decided::Conflict);
    let id = GrantId::parse("grt_other").expect("a plain id");
    let other = world.store.find_grant(&world.subject, &id).await.expect("grants are looked for");
    assert_eq!(other, None, "a decision that does not hold leaves no grant");
    let late = Approval { at: now().plus_seconds(300), ..yes(&world, "two", Vec::new()) };
    assert_eq!(world.store.approve_request(&late).await.expect("requests are decided"), Decided::Unknown);
    stage(&world, "two", Flow::Code).await;
    assert_eq!(world.store.approve_request(&late).await.expect("requests are decided"), Decided::Expired);
}

pub async fn an_approval_allows_the_hosts_it_names_and_a_removed_client_loses_them(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    world.store.put_client(&registered("h1"), now()).await.expect("clients are kept");
    let allowed = async |host: &str| {
        let allowed = world.store.is_callback_allowed(&world.subject, &client(), host).await;
        allowed.expect("hosts are looked for")
    };
    let hosts = vec!["hooks.example.org".to_owned(), "hooks.example.org:8443".to_owned()];
    stage(&world, "one", Flow::Code).await;
    let late = Approval {
        at: now().plus_seconds(300),
        callback_hosts: hosts.clone(),
        ..yes(&world, "one", Vec::new())
    };
    assert_eq!(world.store.approve_request(&late).await.expect("requests are decided"), Decided::Expired);
    assert!(!allowed("hooks.example.org").await, "too late is no yes");
    let grant = world.grant_value("grt_one", "continuous");
    let timely = Approval { callback_hosts: hosts, ..yes(&world, "one", vec![grant]) };
    assert_eq!(world.store.approve_request(&timely).await.expect("requests are decided"), Decided::Done);
    assert!(allowed("hooks.example.org").await && allowed("hooks.example.org:8443").await);
    assert!(!allowed("example.org").await);
    let listed = world.store.list_callbacks(&world.subject).await.expect("hosts are listed");
    assert!(listed.iter().all(|one| one.client_id == client() && one.allowed_at == now()));
    world.store.remove_client(&client(), now()).await.expect("clients are removed");
    assert!(!allowed("hooks.example.org").await);
}

pub async fn an_approved_request_is_redeemed_once_and_in_time(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    stage(&world, "one", Flow::Code).await;
    let redeem = async |secret: &str, at| {
        let outcome = world.store.redeem_request(&redemption(&world, "one", secret, at)).await;
        outcome.expect("requests are redeemed")
    };
    assert_eq!(redeem("a", now()).await, Redeemed::NotRedeemable, "nobody has approved");
    approve(&world, "one", "continuous").await;
    assert_eq!(redeem("a", now().plus_seconds(60)).await, Redeemed::NotRedeemable, "too late");
    assert_eq!(redeem("a", now()).await, Redeemed::Issued);
    assert_eq!(redeem("b", now()).await, Redeemed::Already);
    assert!(is_alive(&world, "a").await);
    assert_eq!(find_token(&world, "b").await, None);
    let found = find_token(&world, "a").await.expect("the token is known");
    assert_eq!(found.resource.as_deref(), Some("https://data.test"));
    assert_eq!(found.family_id, Some(family_id("one")));
    let request = world.store.find_request(&RequestHandle::Code(hash("one code"))).await;
    let request = request.expect("requests are looked for").expect("the code is known");
    assert!(matches!(request.state, RequestState::Approved { redeemed_at: Some(_), .. }), "{request:?}");
}

pub async fn a_revoked_grant_is_not_redeemed(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    stage(&world, "one", Flow::Code).await;
    approve(&world, "one", "continuous").await;
    let id = GrantId::parse("grt_one").expect("a plain id");
    world.store.revoke_grant(&world.subject, &id, now()).await.expect("grants are revoked");
    let outcome = world.store.redeem_request(&redemption(&world, "one", "a", now())).await;
    assert_eq!(outcome.expect("requests are redeemed"), Redeemed::GrantEnded);
    assert_eq!(find_token(&world, "a").await, None);
}

pub async fn a_code_that_comes_back_ends_what_it_gave(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    redeemed(&world, "one").await;
    redeemed(&world, "two").await;
    world.store.end_redeemed(&approval("one"), now()).await.expect("tokens are ended");
    assert!(!is_alive(&world, "onea0").await);
    assert!(is_alive(&world, "twoa0").await);
    assert_eq!(rotate(&world, &rotation(&world, "one", 0)).await, Rotated::Ended);
}

pub async fn a_refresh_token_leaves_one_successor(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    redeemed(&world, "one").await;
    assert_eq!(rotate(&world, &rotation(&world, "one", 0)).await, Rotated::Done);
    let again = Rotation { token: token(&world, "one", "thief"), ..rotation(&world, "one", 0) };
    assert_eq!(rotate(&world, &again).await, Rotated::Overtaken);
    assert_eq!(find_token(&world, "thief").await, None);
    let generations = async |secret: &str| {
        let found = world.store.find_refresh(&hash(secret)).await.expect("refresh tokens are looked for");
        found.map(|found| (found.generation, found.family.generation))
    };
    assert_eq!(generations("one r0").await, Some((0, 1)), "a spent one is remembered");
    assert_eq!(generations("one r1").await, Some((1, 1)));
    assert_eq!(generations("one r2").await, None);
    let lost =
        Rotation { successor: None, token: token(&world, "one", "again"), ..rotation(&world, "one", 1) };
    assert_eq!(rotate(&world, &lost).await, Rotated::Done, "a lost answer is given again");
    assert_eq!(generations("one r1").await, Some((1, 1)));
    assert!(is_alive(&world, "again").await);
}

pub async fn a_family_ends_with_its_access_tokens(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    redeemed(&world, "one").await;
    redeemed(&world, "two").await;
    rotate(&world, &rotation(&world, "one", 0)).await;
    let revoked = world.store.revoke_family(&family_id("one"), now()).await;
    assert!(revoked.expect("families are revoked"));
    assert!(!is_alive(&world, "onea0").await && !is_alive(&world, "onea1").await);
    assert!(is_alive(&world, "twoa0").await, "another family lives on");
    assert_eq!(rotate(&world, &rotation(&world, "one", 1)).await, Rotated::Ended);
    let again = world.store.revoke_family(&family_id("one"), now()).await;
    assert!(!again.expect("families are revoked"), "it had ended");
}

pub async fn a_revoked_grant_ends_its_refresh_tokens(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    redeemed(&world, "one").await;
    let id = GrantId::parse("grt_one").expect("a plain id");
    world.store.revoke_grant(&world.subject, &id, now()).await.expect("grants are revoked");
    assert_eq!(rotate(&world, &rotation(&world, "one", 0)).await, Rotated::Ended);
    let found = world.store.find_refresh(&hash("one r0")).await.expect("refresh tokens are looked for");
    assert_eq!(found.expect("it is remembered").family.revoked_at, Some(now()));
}

pub async fn an_impatient_asker_is_slowed_down(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    stage(&world, "one", Flow::Device).await;
    let poll = async |seconds: i64| {
        let handle = RequestHandle::DeviceCode(hash("one device"));
        let polled = world.store.poll_request(&handle, now().plus_seconds(seconds)).await;
        let polled = polled.expect("requests are polled").expect("the device code is known");
        (polled.too_soon, polled.interval)
    };
    assert_eq!(poll(0).await, (false, 2));
    assert_eq!(poll(1).await, (true, 7));
    assert_eq!(poll(8).await, (false, 7));
}

pub async fn one_agent_waits_for_a_request(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    stage(&world, "one", Flow::Exchange).await;
    stage(&world, "two", Flow::Code).await;
    let attach = async |id: &str, agent: &str| {
        let attached = world.store.attach_agent(&approval(id), agent, &hash(agent), now()).await;
        attached.expect("agents are attached")
    };
    assert_eq!(attach("one", "agc_1").await, AgentAttached::Attached);
    assert_eq!(attach("one", "agc_2").await, AgentAttached::Refused);
    assert_eq!(attach("two", "agc_3").await, AgentAttached::Refused, "a redirect waits for nobody");
    let found = world.store.find_request(&RequestHandle::Polling(hash("agc_1"))).await;
    assert_eq!(found.expect("requests are looked for").expect("it waits").agent_id.as_deref(), Some("agc_1"));
}
