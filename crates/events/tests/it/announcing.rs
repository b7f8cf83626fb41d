//! What is announced, to whom, and what its token shows.

use std::str::FromStr as _;

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use pdpp_access::Clock as _;
use pdpp_events::verify;
use pdpp_store::{AdmittedRecord, Authority as _, Catalogues as _, EventService as _, EventWish, Operation};
use pdpp_wire::{RecordKey, SubscriptionStatus};
use serde_json::json;

use crate::receiver::{Receiver, Taken};
use crate::world::World;

fn headers(taken: &Taken) -> HeaderMap {
    let pairs = taken.headers.iter().filter(|(name, _)| !name.starts_with(':'));
    pairs
        .map(|(name, value)| (HeaderName::from_str(name).unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect()
}

#[tokio::test]
async fn a_change_is_announced_signed_and_read_with_its_token() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    let (id, secret) = world.subscribed(&client, &receiver).await;
    assert_eq!(world.work().await, 0, "nothing changed");
    world.say("m_new", "Fresh paint on the slip.").await;
    assert_eq!(world.work().await, 1);
    let taken = receiver.take().remove(0);
    assert_eq!(taken.header(":line"), "POST /hook?key=1 HTTP/1.1");
    assert_eq!(taken.header("content-type"), "application/cloudevents+json; charset=utf-8");
    verify(&secret, &headers(&taken), taken.raw.as_bytes(), world.clock.now()).unwrap();
    let event = &taken.event;
    assert_eq!(taken.header("webhook-id"), event["id"].as_str().unwrap());
    let members: Vec<_> = event.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["specversion", "pdppversion", "id", "type", "source", "time", "data"]);
    assert_eq!(event["source"], json!(format!("/v1/event-subscriptions/{id}")));
    let data = &event["data"];
    let members: Vec<_> = data.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(members, ["subscription_id", "stream", "connection_id", "change_count_hint", "changes_since"]);
    assert_eq!((&data["stream"], &data["change_count_hint"]), (&json!("messages"), &json!(1)));
    assert!(
        !taken.raw.contains("m_new") && !taken.raw.contains("paint"),
        "no record is pushed: {}",
        taken.raw
    );
    assert_eq!(world.read(&client, data).await, ["m_new"]);
    assert_eq!(world.work().await, 0, "said once");
}

#[tokio::test]
async fn each_connection_has_its_own_event_and_token() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let catalogue = world.store.catalogue(&world.loaded.subject_id).await.unwrap();
    let both = pdpp_testkit::grant(&catalogue.sources[0]).stream("messages", &["id", "text"]).build();
    let client = world.admit(&[both]).await;
    world.subscribed(&client, &receiver).await;
    world.say("m_new", "At home.").await;
    let work = world.loaded.work.clone();
    world.put(&work, "messages", json!({"id": "w_new", "channel_id": "c_garden", "text": "At work."})).await;
    assert_eq!(world.work().await, 2, "one event per connection");
    let mut shown = Vec::new();
    for taken in receiver.take() {
        shown.extend(world.read(&client, &taken.event["data"]).await);
    }
    shown.sort();
    assert_eq!(shown, ["m_new", "w_new"]);
}

#[tokio::test]
async fn what_a_grant_hides_is_never_announced() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    world.subscribed(&client, &receiver).await;
    // Another stream, another connection.
    let (home, work) = (world.loaded.home.clone(), world.loaded.work.clone());
    world.put(&home, "channels", json!({"id": "c_new", "name": "new"})).await;
    world.put(&work, "messages", json!({"id": "w_new", "channel_id": "c_garden", "text": "x"})).await;
    assert_eq!(world.work().await, 0);
    world.say("m_new", "x").await;
    assert_eq!(world.work().await, 1);
    receiver.take();
    // Another field of the same record.
    let hidden = json!({"id": "m_new", "channel_id": "c_garden", "author": "ben", "text": "x",
        "sent_at": "2026-02-25T00:00:00Z"});
    world.put(&home, "messages", hidden).await;
    assert_eq!(world.work().await, 0, "only an ungranted field changed");
    world.say("m_new", "y").await;
    assert_eq!(world.work().await, 1);
}

#[tokio::test]
async fn resources_and_times_bound_what_is_announced() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let catalogue = world.store.catalogue(&world.loaded.subject_id).await.unwrap();
    let chosen = pdpp_testkit::grant(&catalogue.sources[0])
        .stream("messages", &["id", "text", "sent_at"])
        .connections(&[&world.loaded.home])
        .resources(&["m_in", "m_old"])
        .since("2026-02-01")
        .build();
    let client = world.admit(&[chosen]).await;
    world.subscribed(&client, &receiver).await;
    world.say("m_out", "not chosen").await;
    let home = world.loaded.home.clone();
    let old =
        json!({"id": "m_old", "channel_id": "c_garden", "text": "x", "sent_at": "2026-01-01T00:00:00Z"});
    world.put(&home, "messages", old).await;
    assert_eq!(world.work().await, 0);
    world.say("m_in", "chosen").await;
    assert_eq!(world.work().await, 1);
    assert_eq!(world.read(&client, &receiver.take()[0].event["data"]).await, ["m_in"]);
}

#[tokio::test]
async fn a_deletion_is_announced_and_what_came_and_went_is_not() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    world.subscribed(&client, &receiver).await;
    let home = world.loaded.home.clone();
    let deletion = |key: &str, world: &World| AdmittedRecord {
        key: RecordKey::parse(key).unwrap(),
        emitted_at: world.clock.now(),
        operation: Operation::Delete,
    };
    world.say("m_brief", "here and gone").await;
    world.apply(&home, "messages", deletion("m_brief", &world)).await;
    assert_eq!(world.work().await, 0, "a reader would be shown nothing");
    world.apply(&home, "messages", deletion("m_20", &world)).await;
    assert_eq!(world.work().await, 1);
    assert_eq!(world.read(&client, &receiver.take()[0].event["data"]).await, ["-m_20"]);
    // Announced as new, deleted before it was sent: the first position shows nothing, the last one the deletion.
    world.say("m_brief", "here again").await;
    world.worker.follow().await.unwrap();
    world.apply(&home, "messages", deletion("m_brief", &world)).await;
    assert_eq!(world.work().await, 1);
    assert_eq!(world.read(&client, &receiver.take()[0].event["data"]).await, ["-m_brief"]);
}

/// No record of it is left to be told of, and the feed has no entries for it; whoever kept a token learns it there.
#[tokio::test]
async fn an_emptied_stream_is_not_announced_and_older_tokens_say_so() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    world.subscribed(&client, &receiver).await;
    let home = world.loaded.home.clone();
    let with = |token: &str| json!({"stream": "messages", "connection_id": home, "changes_since": token});
    let own = world.changes(&client, &with("beginning")).await.unwrap().next;
    world.say("m_waits", "queued, and gone before it is sent").await;
    world.worker.follow().await.unwrap();
    world.empty(&home, "messages").await;
    assert_eq!(world.work().await, 0, "nothing is left to show");
    assert!(world.changes(&client, &with(&own)).await.is_none(), "an older token says that history is gone");
    world.say("m_after", "the first after it").await;
    assert_eq!(world.work().await, 1);
    let taken = receiver.take().remove(0);
    assert_eq!(world.read(&client, &taken.event["data"]).await, ["m_after"]);
    assert!(world.changes(&client, &with(&own)).await.is_none(), "and goes on saying so");
}

#[tokio::test]
async fn a_removed_connection_is_not_announced() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    let (id, _) = world.subscribed(&client, &receiver).await;
    let (subject, home) = (world.loaded.subject_id.clone(), world.loaded.home.clone());
    let with = |token: &str| json!({"stream": "messages", "connection_id": home, "changes_since": token});
    let own = world.changes(&client, &with("beginning")).await.unwrap().next;
    world.say("m_waits", "queued, and gone before it is sent").await;
    world.worker.follow().await.unwrap();
    world.store.remove_connection(&subject, &home).await.unwrap();
    assert_eq!(world.work().await, 0, "nothing is left to show");
    assert!(world.changes(&client, &with(&own)).await.is_none(), "an older token says that history is gone");
    assert!(world.changes(&client, &with("beginning")).await.unwrap().shown.is_empty());
    assert_eq!(world.status(&id).await, SubscriptionStatus::Active, "the grant stands, and may cover more");
}

#[tokio::test]
async fn filters_narrow_to_streams_and_a_connection() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let catalogue = world.store.catalogue(&world.loaded.subject_id).await.unwrap();
    let wide = pdpp_testkit::grant(&catalogue.sources[0])
        .stream("messages", &["id", "text"])
        .stream("channels", &["id", "name"])
        .build();
    let client = world.admit(&[wide]).await;
    world.allow(&receiver).await;
    let wish = EventWish {
        callback_url: receiver.url(),
        streams: vec!["messages".into()],
        connection_id: Some(world.loaded.home.to_string()),
    };
    world.desk.create(&client, wish).await.unwrap();
    world.work().await;
    receiver.take();
    let (home, work) = (world.loaded.home.clone(), world.loaded.work.clone());
    world.put(&home, "channels", json!({"id": "c_new", "name": "new"})).await;
    world.put(&work, "messages", json!({"id": "w_new", "channel_id": "c_garden", "text": "x"})).await;
    assert_eq!(world.work().await, 0);
    world.say("m_new", "x").await;
    assert_eq!(world.work().await, 1);
}

#[tokio::test]
async fn a_revoked_grant_is_announced_once_and_nothing_after() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let grant = world.narrow().await;
    let client = world.admit(std::slice::from_ref(&grant)).await;
    let (id, _) = world.subscribed(&client, &receiver).await;
    world.say("m_new", "waiting").await;
    world.worker.follow().await.unwrap();
    world.store.revoke_grant(&world.loaded.subject_id, &grant.grant_id, world.clock.now()).await.unwrap();
    world.say("m_more", "too late").await;
    assert_eq!(world.work().await, 1);
    let taken = receiver.take();
    assert_eq!(taken[0].kind(), "pdpp.grant.revoked");
    assert_eq!(taken[0].event["data"], json!({ "subscription_id": id.as_str() }));
    assert_eq!(world.status(&id).await, SubscriptionStatus::DisabledRevoked);
    world.say("m_last", "much too late").await;
    assert_eq!(world.work().await, 0);
}

#[tokio::test]
async fn one_of_two_grants_revoked_shrinks_what_is_announced() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let catalogue = world.store.catalogue(&world.loaded.subject_id).await.unwrap();
    let notes =
        pdpp_testkit::grant(&catalogue.sources[1]).id("grt_notes").stream("notes", &["id", "title"]).build();
    let chat = world.narrow().await;
    let client = world.admit(&[chat.clone(), notes]).await;
    let (id, _) = world.subscribed(&client, &receiver).await;
    world.store.revoke_grant(&world.loaded.subject_id, &chat.grant_id, world.clock.now()).await.unwrap();
    world.say("m_new", "no longer granted").await;
    assert_eq!(world.work().await, 0);
    assert_eq!(world.status(&id).await, SubscriptionStatus::Active);
}

#[tokio::test]
async fn an_expired_grant_ends_its_subscription() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let catalogue = world.store.catalogue(&world.loaded.subject_id).await.unwrap();
    let brief = pdpp_testkit::grant(&catalogue.sources[0])
        .stream("messages", &["id", "text"])
        .expires("2026-03-01T13:00:00Z")
        .build();
    let client = world.admit(&[brief]).await;
    let (id, _) = world.subscribed(&client, &receiver).await;
    world.clock.advance_seconds(3_600);
    world.say("m_new", "after the end").await;
    assert_eq!(world.work().await, 0);
    assert_eq!(world.status(&id).await, SubscriptionStatus::DisabledRevoked);
}
