//! Receivers that misbehave, and what becomes of their subscriptions.

use pdpp_access::Clock as _;
use pdpp_store::{EventService as _, Events as _, NewEvent, NewSubscription, StoredDelivery};
use pdpp_wire::{DeliveryOutcome, EventId, EventScope, SubscriptionId, SubscriptionStatus};

use crate::receiver::{Act, Receiver};
use crate::world::World;

const BROKEN: Act = Act::Answer("500 Internal Server Error", "");

struct Told {
    world: World,
    receiver: Receiver,
    id: SubscriptionId,
    client: pdpp_access::ClientPrincipal,
}

/// A subscription with one event about to be sent.
async fn told() -> Told {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    let (id, _) = world.subscribed(&client, &receiver).await;
    world.say("m_new", "Fresh paint.").await;
    world.worker.follow().await.unwrap();
    Told { world, receiver, id, client }
}

impl Told {
    async fn attempt(&mut self, act: Act) -> StoredDelivery {
        self.receiver.then([act]);
        assert_eq!(self.world.worker.deliver_due().await.unwrap(), 1);
        self.last().await
    }

    async fn last(&self) -> StoredDelivery {
        let subject = &self.world.loaded.subject_id;
        self.world.store.list_deliveries(subject, &self.id, 1).await.unwrap().remove(0)
    }

    /// Seconds until the next attempt.
    fn wait(&self, delivery: &StoredDelivery) -> i64 {
        (delivery.next_at.unwrap().micros() - self.world.clock.now().micros()) / 1_000_000
    }
}

#[tokio::test]
async fn six_attempts_with_the_advertised_waits_then_it_is_switched_off() {
    let mut told = told().await;
    let mut bodies = Vec::new();
    for (attempt, wait) in (1..).zip([30, 120, 600, 3_600, 21_600]) {
        let failed = told.attempt(BROKEN).await;
        assert_eq!(
            (failed.outcome, failed.attempt, failed.http_status),
            (DeliveryOutcome::Failed, attempt, Some(500))
        );
        assert_eq!(failed.reason.as_deref(), Some("The receiver answered 500."));
        assert_eq!(failed.snippet.as_deref(), Some("no"));
        let waits = told.wait(&failed);
        assert!((wait * 8 / 10..=wait * 12 / 10).contains(&waits), "{wait}: {waits}");
        told.world.clock.advance_seconds(waits - 1);
        assert_eq!(told.world.worker.deliver_due().await.unwrap(), 0, "not a second earlier");
        told.world.clock.advance_seconds(2);
        bodies.extend(told.receiver.take());
    }
    let last = told.attempt(BROKEN).await;
    assert_eq!((last.outcome, last.attempt, last.next_at), (DeliveryOutcome::GaveUp, 6, None));
    assert_eq!(told.world.status(&told.id).await, SubscriptionStatus::DisabledFailure);
    bodies.extend(told.receiver.take());
    assert_eq!(bodies.len(), 6);
    assert!(bodies.iter().all(|taken| taken.raw == bodies[0].raw), "the same words each time");
    assert!(bodies.iter().all(|taken| taken.header("webhook-id") == bodies[0].header("webhook-id")));
    let times: std::collections::BTreeSet<_> =
        bodies.iter().map(|taken| taken.header("webhook-timestamp").to_owned()).collect();
    assert_eq!(times.len(), 6, "each attempt is signed at its own time");
    told.world.say("m_more", "unheard").await;
    told.world.clock.advance_seconds(1_000_000);
    assert_eq!(told.world.work().await, 0);
}

#[tokio::test]
async fn whatever_else_goes_wrong_is_a_failed_attempt() {
    for (act, reason) in [
        (Act::Hang, "No answer: the host did not answer in time (head)."),
        (Act::Trickle, "No answer: the host did not answer in time (body)."),
        (Act::Drop, "No answer: the host did not give a complete HTTP answer."),
        (
            Act::Answer("302 Found", "location: http://127.0.0.1:1/elsewhere\r\n"),
            "A redirect is not followed.",
        ),
        (Act::Answer("400 Bad Request", ""), "The receiver answered 400."),
        (Act::Answer("503 Service Unavailable", "retry-after: 5\r\n"), "The receiver answered 503."),
    ] {
        let mut told = told().await;
        let failed = told.attempt(act.clone()).await;
        assert_eq!(failed.outcome, DeliveryOutcome::Failed, "{act:?}");
        assert_eq!(failed.reason.as_deref(), Some(reason), "{act:?}");
        assert!((24..=36).contains(&told.wait(&failed)), "{act:?}");
        told.world.clock.advance_seconds(60);
        told.receiver.take();
        assert_eq!(told.world.worker.deliver_due().await.unwrap(), 1, "{act:?}");
        assert_eq!(told.receiver.kinds(), ["pdpp.records.changed"], "{act:?}: it recovers");
        assert_eq!(told.world.status(&told.id).await, SubscriptionStatus::Active);
    }
}

#[tokio::test]
async fn a_redirect_leads_nowhere() {
    let mut told = told().await;
    let elsewhere = Receiver::start().await;
    told.world.allow(&elsewhere).await;
    let failed = told.attempt(Act::Redirect(elsewhere.url())).await;
    assert_eq!(failed.reason.as_deref(), Some("A redirect is not followed."));
    assert!(elsewhere.take().is_empty(), "not even to a host that is allowed");
}

#[tokio::test]
async fn a_receiver_that_is_not_there_is_a_failed_attempt() {
    let mut told = told().await;
    let receiver = Receiver::nowhere();
    told.world.allow(&receiver).await;
    let wish = pdpp_store::EventWish { callback_url: receiver.url(), ..Default::default() };
    let (made, _) = told.world.desk.create(&told.client, wish).await.unwrap();
    told.world.worker.deliver_due().await.unwrap();
    let log = told.world.desk.deliveries(&told.client, made.subscription_id.as_str(), 10).await.unwrap();
    assert_eq!(log[0].reason.as_deref(), Some("No answer: the host does not take connections."));
    assert_eq!(told.world.status(&made.subscription_id).await, SubscriptionStatus::PendingVerification);
}

#[tokio::test]
async fn a_receiver_that_asks_to_wait_is_left_alone_without_counting() {
    let mut told = told().await;
    for (act, wait) in [
        (Act::Answer("429 Too Many Requests", "retry-after: 7\r\n"), 7),
        (Act::Answer("429 Too Many Requests", "retry-after: 0\r\n"), 1),
        (Act::Answer("502 Bad Gateway", ""), 60),
        (Act::Answer("504 Gateway Timeout", "retry-after: Sun, 01 Mar 2026 12:30:00 GMT\r\n"), 0),
        (Act::Answer("429 Too Many Requests", "retry-after: 99999999\r\n"), 86_400),
    ] {
        let deferred = told.attempt(act.clone()).await;
        assert_eq!((deferred.outcome, deferred.attempt), (DeliveryOutcome::Deferred, 1), "{act:?}");
        let waits = told.wait(&deferred);
        if wait > 0 {
            assert_eq!(waits, wait, "{act:?}");
        } else {
            assert!(waits > 1_000 && waits <= 1_800, "a date is understood: {waits}");
        }
        told.world.clock.advance_seconds(waits);
    }
    let taken = told.attempt(Act::Answer("200 OK", "")).await;
    assert_eq!((taken.outcome, taken.attempt), (DeliveryOutcome::Delivered, 1));
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_believed_at_once() {
    let mut told = told().await;
    let gone = told.attempt(Act::Answer("410 Gone", "")).await;
    assert_eq!((gone.outcome, gone.attempt), (DeliveryOutcome::GaveUp, 1));
    assert_eq!(told.world.status(&told.id).await, SubscriptionStatus::DisabledFailure);
}

#[tokio::test]
async fn a_huge_answer_is_cut_and_counts_as_taken() {
    let mut told = told().await;
    let taken = told.attempt(Act::Flood).await;
    assert_eq!(taken.outcome, DeliveryOutcome::Delivered);
    assert_eq!(taken.snippet.unwrap().len(), 512);
}

#[tokio::test]
async fn a_challenge_must_be_echoed_exactly() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    world.allow(&receiver).await;
    let wish = pdpp_store::EventWish { callback_url: receiver.url(), ..Default::default() };
    let (made, _) = world.desk.create(&client, wish).await.unwrap();
    world.say("m_new", "waits").await;
    receiver.then([Act::Say("ok"), Act::Say(r#"{"challenge":"guess"}"#), Act::Say("{}")]);
    for _ in 0..3 {
        assert_eq!(world.work().await, 1);
        assert_eq!(world.status(&made.subscription_id).await, SubscriptionStatus::PendingVerification);
        assert_eq!(receiver.kinds(), ["pdpp.subscription.verify"], "nothing else is sent");
        world.clock.advance_seconds(800);
    }
    assert_eq!(world.work().await, 2, "echoed, and what waited is sent");
    assert_eq!(receiver.kinds(), ["pdpp.subscription.verify", "pdpp.records.changed"]);
    assert_eq!(world.status(&made.subscription_id).await, SubscriptionStatus::Active);
}

#[tokio::test]
async fn a_slow_receiver_does_not_keep_others_waiting_and_its_own_events_stay_in_order() {
    let mut told = told().await;
    let quick = Receiver::start().await;
    let (other, _) = told.world.subscribed_beside(&told.client, &quick).await;
    told.receiver.take();
    told.receiver.then([Act::Hang]);
    told.world.say("m_two", "for both").await;
    told.world.work().await;
    assert_eq!(quick.kinds(), ["pdpp.records.changed"]);
    assert_eq!(told.world.status(&other).await, SubscriptionStatus::Active);
    // A test event waits behind the one that failed.
    told.world.desk.test(&told.client, told.id.as_str()).await.unwrap();
    told.receiver.take();
    assert_eq!(told.world.worker.deliver_due().await.unwrap(), 0);
    told.world.clock.advance_seconds(60);
    assert_eq!(told.world.worker.deliver_due().await.unwrap(), 2);
    assert_eq!(told.receiver.kinds(), ["pdpp.records.changed", "pdpp.subscription.test"]);
}

#[tokio::test]
async fn many_changes_are_one_event_that_shows_them_all() {
    let mut world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    world.subscribed(&client, &receiver).await;
    for n in 0..30 {
        world.say(&format!("m_new_{n:02}"), "one of many").await;
        if n % 7 == 0 {
            world.worker.follow().await.unwrap();
        }
    }
    assert_eq!(world.work().await, 1);
    let taken = receiver.take().remove(0);
    assert_eq!(taken.event["data"]["change_count_hint"], 30);
    assert_eq!(world.read(&client, &taken.event["data"]).await.len(), 30);
}

#[tokio::test]
async fn two_workers_on_one_store_send_each_event_once() {
    let mut told = told().await;
    let mut other = told.world.another_worker();
    for n in 0..20 {
        told.world.say(&format!("m_{n}"), "for one of two").await;
        let (one, two) = (async { told.world.worker.follow().await }, async { other.follow().await });
        let (one, two) = tokio::join!(one, two);
        one.unwrap();
        two.unwrap();
        let (one, two) = tokio::join!(told.world.worker.deliver_due(), other.deliver_due());
        assert_eq!(one.unwrap() + two.unwrap(), 1, "round {n}");
    }
    assert_eq!(told.receiver.take().len(), 20);
}

/// More than is looked at when something is due.
const MANY: usize = 200;
/// Attempts under way to one host.
const MAX_PER_HOST: usize = 8;

#[tokio::test]
async fn however_much_waits_for_one_slow_host_the_others_are_told() {
    let world = World::new().await;
    let (slow, quick) = (Receiver::start().await, Receiver::start().await);
    let grant = world.narrow().await;
    world.admit(std::slice::from_ref(&grant)).await;
    slow.then(std::iter::repeat_n(Act::Hang, MANY));
    let subscribe = async |n: usize, receiver: &Receiver| {
        let id = SubscriptionId::parse(format!("sub_{n}")).unwrap();
        let new = NewSubscription {
            sealed_secret: world.parts.secrets.mint(world.parts.entropy.as_ref(), &id).1,
            subscription_id: id,
            subject_id: world.loaded.subject_id.clone(),
            client_id: pdpp_testkit::client_id(),
            grant_ids: vec![grant.grant_id.clone()],
            callback_url: receiver.url(),
            callback_host: receiver.host(),
            scope: EventScope { source: None, streams: Vec::new(), filters: None },
            streams: Vec::new(),
            connection_id: None,
            verify: NewEvent {
                event_id: EventId::parse(format!("evt_{n}")).unwrap(),
                body: r#"{"type":"pdpp.subscription.verify","data":{"challenge":"echo"}}"#.to_owned(),
                challenge: Some("echo".to_owned()),
                due_at: world.clock.now(),
            },
            created_at: world.clock.now(),
        };
        world.store.create_subscription(&new, u32::MAX).await.unwrap();
    };
    for n in 0..MANY {
        subscribe(n, &slow).await;
    }
    subscribe(MANY, &quick).await;
    let worker = tokio::spawn(world.another_worker().run());
    while quick.take().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    worker.abort();
    assert!(slow.take().len() <= 2 * MAX_PER_HOST, "the others did not wait until it was through");
}
