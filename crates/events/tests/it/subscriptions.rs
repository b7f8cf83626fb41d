//! Making and changing subscriptions through the desk.

use pdpp_access::{ClientPrincipal, Clock as _};
use pdpp_events::{Delivering, EventDesk};
use pdpp_store::{Authority as _, EventFault, EventService as _, EventWish, Events as _};
use pdpp_wire::{Code, SubscriptionStatus};

use crate::receiver::{Act, Receiver};
use crate::world::World;

fn code(fault: EventFault) -> (Code, bool) {
    match fault {
        EventFault::Denied(denial) => (denial.code, false),
        EventFault::Ended(denial) => (denial.code, true),
        EventFault::Store(error) => panic!("{error}"),
    }
}

async fn update(
    world: &World,
    client: &ClientPrincipal,
    id: &str,
    enabled: Option<bool>,
    rotate: bool,
) -> Result<SubscriptionStatus, (Code, bool)> {
    world.desk.update(client, id, enabled, rotate).await.map(|(now, _)| now.status).map_err(code)
}

#[tokio::test]
async fn switching_on_verifies_again_and_wrong_changes_are_refused() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    let (id, _) = world.subscribed(&client, &receiver).await;
    let id = id.as_str();
    let conflict = Err((Code::InvalidState, false));
    assert_eq!(update(&world, &client, id, Some(true), false).await, conflict, "it is on");
    assert_eq!(update(&world, &client, id, Some(false), false).await, Ok(SubscriptionStatus::Disabled));
    assert_eq!(update(&world, &client, id, Some(false), false).await, conflict, "it is off");
    assert_eq!(world.desk.test(&client, id).await.map_err(code), Err((Code::InvalidState, false)));
    world.say("m_off", "nobody listens").await;
    assert_eq!(world.work().await, 0);
    assert_eq!(
        update(&world, &client, id, Some(true), false).await,
        Ok(SubscriptionStatus::PendingVerification)
    );
    receiver.then([Act::Say("not the challenge")]);
    world.say("m_wait", "waits for the challenge").await;
    assert_eq!(world.work().await, 1);
    assert_eq!(receiver.kinds(), ["pdpp.subscription.verify"]);
    world.clock.advance_seconds(60);
    assert_eq!(world.work().await, 2);
    let taken = receiver.take();
    assert_eq!(taken[1].kind(), "pdpp.records.changed");
    let shown = world.read(&client, &taken[1].event["data"]).await;
    assert_eq!(shown, ["m_wait"], "what changed while it was off is read with the client's own token");
}

#[tokio::test]
async fn a_new_secret_signs_from_now_on() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    let (id, old) = world.subscribed(&client, &receiver).await;
    let (_, new) = world.desk.update(&client, id.as_str(), None, true).await.unwrap();
    let new = new.unwrap();
    assert_ne!(new, old);
    world.desk.test(&client, id.as_str()).await.unwrap();
    world.work().await;
    let taken = receiver.take().remove(0);
    let headers: http::HeaderMap = ["webhook-id", "webhook-timestamp", "webhook-signature"]
        .map(|name| (http::HeaderName::from_static(name), taken.header(name).parse().unwrap()))
        .into_iter()
        .collect();
    let check = |secret| pdpp_events::verify(secret, &headers, taken.raw.as_bytes(), world.clock.now());
    assert!(check(&new).is_ok() && check(&old).is_err());
}

#[tokio::test]
async fn what_the_owner_switched_off_stays_off() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    let (id, _) = world.subscribed(&client, &receiver).await;
    let now = world.clock.now();
    let ended = world
        .store
        .forbid_callback(&world.loaded.subject_id, client.client_id(), &receiver.host(), now)
        .await
        .unwrap();
    assert_eq!(ended, Some(1));
    let refused = update(&world, &client, id.as_str(), Some(true), false).await;
    assert_eq!(refused, Err((Code::CallbackNotAllowed, false)));
    world.allow(&receiver).await;
    let refused = update(&world, &client, id.as_str(), Some(true), false).await;
    assert_eq!(refused, Err((Code::InvalidState, false)));
}

#[tokio::test]
async fn a_subscription_that_ended_with_its_grant_cannot_come_back() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let catalogue =
        pdpp_store::Catalogues::catalogue(world.store.as_ref(), &world.loaded.subject_id).await.unwrap();
    let notes = pdpp_testkit::grant(&catalogue.sources[1]).id("grt_notes").stream("notes", &["id"]).build();
    let chat = world.narrow().await;
    // The token covers both; the subscription stands on one.
    world.admit(&[chat.clone(), notes.clone()]).await;
    let client = world.client(std::slice::from_ref(&chat));
    let (id, _) = world.subscribed(&client, &receiver).await;
    world.store.revoke_grant(&world.loaded.subject_id, &chat.grant_id, world.clock.now()).await.unwrap();
    let rest = world.client(&[notes]);
    assert_eq!(
        world.desk.find(&rest, id.as_str()).await.map_err(code).map(|_| ()),
        Err((Code::NotFound, false))
    );
    let token = ClientPrincipal::try_new(
        world.loaded.subject_id.clone(),
        rest.client_id().clone(),
        Some("grt_chat".parse().unwrap()),
        rest.grants().to_vec(),
    )
    .unwrap();
    assert_eq!(update(&world, &token, id.as_str(), Some(true), false).await, Err((Code::GrantRevoked, true)));
    assert_eq!(world.desk.delete(&token, id.as_str()).await.map_err(code), Ok(()));
    assert_eq!(world.desk.delete(&token, id.as_str()).await.map_err(code), Err((Code::NotFound, false)));
}

#[tokio::test]
async fn another_client_or_grant_has_no_say() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    let (id, _) = world.subscribed(&client, &receiver).await;
    let mut foreign = world.narrow().await;
    foreign.client.client_id = "somebody".parse().unwrap();
    foreign.grant_id = "grt_foreign".parse().unwrap();
    let mut other = world.narrow().await;
    other.grant_id = "grt_other".parse().unwrap();
    for grant in [foreign, other] {
        let stranger = world.admit(&[grant]).await;
        assert!(world.desk.list(&stranger).await.unwrap().is_empty());
        for outcome in [
            world.desk.find(&stranger, id.as_str()).await.map(|_| ()),
            world.desk.update(&stranger, id.as_str(), Some(false), true).await.map(|_| ()),
            world.desk.delete(&stranger, id.as_str()).await,
            world.desk.test(&stranger, id.as_str()).await.map(|_| ()),
            world.desk.deliveries(&stranger, id.as_str(), 1).await.map(|_| ()),
            world.desk.find(&stranger, "../../etc").await.map(|_| ()),
        ] {
            assert_eq!(outcome.map_err(code), Err((Code::NotFound, false)));
        }
    }
    assert_eq!(world.status(&id).await, SubscriptionStatus::Active);
}

#[tokio::test]
async fn without_a_server_nothing_is_made_or_changed() {
    let world = World::new().await;
    let client = world.admit(&[world.narrow().await]).await;
    let parts = pdpp_events::EventParts {
        delivering: Delivering::Elsewhere(std::sync::Arc::new(|| false)),
        ..world.parts.clone()
    };
    let desk = EventDesk::new(parts);
    assert_eq!(desk.capability(), None);
    let wish = EventWish { callback_url: "https://hooks.example.org/".into(), ..EventWish::default() };
    let made = desk.create(&client, wish).await.map(|_| ()).map_err(code);
    assert_eq!(made, Err((Code::EventsUnavailable, false)));
    assert!(desk.list(&client).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_advertised_block_says_what_is_done() {
    let world = World::new().await;
    let capability = world.desk.capability().unwrap();
    assert_eq!(
        capability["delivery"]["retry_schedule_seconds"],
        serde_json::json!([30, 120, 600, 3600, 21600])
    );
    assert_eq!(capability["delivery"]["max_attempts"], 6);
    assert_eq!(capability["delivery"]["coalescing"], true);
    assert_eq!(capability["authority_kinds_supported"], serde_json::json!(["client_grant"]));
    assert_eq!(capability["callback_url"]["localhost_exception"], true);
}
