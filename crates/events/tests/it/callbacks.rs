//! Where events may be sent: addresses in every notation, hosts nobody allowed, names that change their meaning.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use pdpp_access::{ClientPrincipal, Clock as _};
use pdpp_egress::{
    BoxStream, Connector, Loopback, PinnedAddress, Resolver, RootCertStore, ServerName, TcpTls,
};
use pdpp_store::{
    ClientSource, EventFault, EventService as _, EventWish, Events as _, OAuth as _, RegisteredClient,
};
use pdpp_wire::{Code, SubscriptionStatus};

use crate::receiver::Receiver;
use crate::world::{Outside, World};

async fn try_create(
    world: &World,
    client: &ClientPrincipal,
    wish: EventWish,
) -> Result<(), (Code, Option<String>)> {
    match world.desk.create(client, wish).await {
        Ok(_) => Ok(()),
        Err(EventFault::Denied(denial)) => Err((denial.code, denial.param)),
        Err(other) => panic!("{other:?}"),
    }
}

fn to(url: &str) -> EventWish {
    EventWish { callback_url: url.to_owned(), ..EventWish::default() }
}

#[tokio::test]
async fn an_address_that_may_not_be_called_makes_nothing() {
    let world = World::with(Outside { loopback: Loopback::Refused, ..Outside::default() }).await;
    let client = world.admit(&[world.narrow().await]).await;
    let long = format!("https://hooks.example.org/{}", "a".repeat(2_049 - 26));
    assert_eq!(long.len(), 2_049);
    for url in [
        "",
        "hooks.example.org",
        "/relative",
        "http://hooks.example.org/",
        "ftp://hooks.example.org/",
        "file:///etc/passwd",
        "https://user:secret@hooks.example.org/",
        "https://user@hooks.example.org/",
        "https://hooks.example.org/#part",
        "https://hooks.example.org:0/",
        "https://hooks.example.org /",
        "https:\\\\hooks.example.org\\",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f000001/",
        "https://2130706433/",
        "https://0177.0.0.1/",
        "https://127.0.0.1./",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[0:0:0:0:0:0:0:1]/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "https://93.184.215.14/",
        "https://[2606:2800:220:1:248:1893:25c8:1946]/",
        "https://localhost/",
        "http://localhost:9000/",
        "http://127.0.0.1:9000/",
        "https://intranet/",
        "https://hooks.localhost/",
        long.as_str(),
    ] {
        let refused = try_create(&world, &client, to(url)).await;
        assert_eq!(refused, Err((Code::InvalidRequest, Some("callback_url".into()))), "{url}");
    }
    assert!(world.desk.list(&client).await.unwrap().is_empty(), "nothing was made");
}

#[tokio::test]
async fn unknown_streams_and_foreign_connections_make_nothing() {
    let world = World::new().await;
    let receiver = Receiver::start().await;
    let client = world.admit(&[world.narrow().await]).await;
    world.allow(&receiver).await;
    let wish = |streams: &[&str], connection: Option<&str>| EventWish {
        streams: streams.iter().map(|stream| (*stream).to_owned()).collect(),
        connection_id: connection.map(str::to_owned),
        ..to(&receiver.url())
    };
    let streams = || Err((Code::InvalidRequest, Some("filters.streams".to_owned())));
    assert_eq!(try_create(&world, &client, wish(&["nothing"], None)).await, streams());
    assert_eq!(try_create(&world, &client, wish(&["messages", "channels"], None)).await, streams());
    assert_eq!(try_create(&world, &client, wish(&["*"], None)).await, streams());
    let connection = Err((Code::ConnectionNotFound, Some("connection_id".to_owned())));
    let work = world.loaded.work.to_string();
    assert_eq!(try_create(&world, &client, wish(&[], Some(&work))).await, connection);
    assert_eq!(try_create(&world, &client, wish(&[], Some("cin_none"))).await, connection);
    assert!(world.desk.list(&client).await.unwrap().is_empty(), "nothing was made");
}

/// Answers lookups in turn; the last answer stays.
#[derive(Default)]
struct Names {
    answers: Mutex<Vec<&'static str>>,
    asked: Mutex<usize>,
}

#[async_trait]
impl Resolver for Names {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        *self.asked.lock().unwrap() += 1;
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
        Ok(vec![answer.parse().unwrap()])
    }
}

/// Every public address is one server on this machine.
struct Wires {
    tls: TcpTls,
    to: SocketAddr,
    dialled: Mutex<usize>,
}

#[async_trait]
impl Connector for Wires {
    async fn open(&self, _: PinnedAddress) -> io::Result<BoxStream> {
        *self.dialled.lock().unwrap() += 1;
        Ok(Box::new(tokio::net::TcpStream::connect(self.to).await?))
    }

    async fn secure(&self, stream: BoxStream, name: ServerName<'static>) -> io::Result<BoxStream> {
        self.tls.secure(stream, name).await
    }
}

const PUBLIC: &str = "93.184.215.14";

async fn abroad(
    answers: &[&'static str],
    to: SocketAddr,
) -> (World, ClientPrincipal, Arc<Names>, Arc<Wires>) {
    abroad_trusting(RootCertStore::empty(), answers, to).await
}

async fn abroad_trusting(
    roots: RootCertStore,
    answers: &[&'static str],
    to: SocketAddr,
) -> (World, ClientPrincipal, Arc<Names>, Arc<Wires>) {
    let names = Arc::new(Names { answers: Mutex::new(answers.to_vec()), ..Names::default() });
    let tls = TcpTls::with_roots(roots);
    let wires = Arc::new(Wires { tls, to, dialled: Mutex::default() });
    let outside = Outside { loopback: Loopback::Refused, resolver: names.clone(), connector: wires.clone() };
    let world = World::with(outside).await;
    let client = world.admit(&[world.narrow().await]).await;
    (world, client, names, wires)
}

#[tokio::test]
async fn a_host_nobody_allowed_is_not_even_looked_up() {
    let receiver = Receiver::start().await;
    let (world, client, names, _) = abroad(&[PUBLIC], receiver.address).await;
    let refused = Err((Code::CallbackNotAllowed, Some("callback_url".to_owned())));
    assert_eq!(try_create(&world, &client, to("https://hooks.example.org/x")).await, refused);
    assert_eq!(*names.asked.lock().unwrap(), 0, "a lookup is a message too");
    let (subject, now) = (&world.loaded.subject_id, world.clock.now());
    world.store.allow_callback(subject, client.client_id(), "hooks.example.org", now).await.unwrap();
    assert_eq!(
        try_create(&world, &client, to("https://hooks.example.org:8443/x")).await,
        refused,
        "another port"
    );
    assert_eq!(try_create(&world, &client, to("https://evil.example.org/x")).await, refused);
    assert_eq!(try_create(&world, &client, to("https://HOOKS.example.org:443/x")).await, Ok(()));
}

#[tokio::test]
async fn a_registered_host_needs_no_leave() {
    let receiver = Receiver::start().await;
    let (world, client, _, _) = abroad(&[PUBLIC], receiver.address).await;
    let registered = RegisteredClient {
        client_id: client.client_id().clone(),
        source: ClientSource::Dynamic,
        metadata: r#"{"redirect_uris":["https://app.example.org/back","http://127.0.0.1/back"]}"#.into(),
        security_hash: "x".into(),
        first_seen: world.clock.now(),
        subject_id: None,
        registration_token: None,
    };
    world.store.put_client(&registered, world.clock.now()).await.unwrap();
    assert_eq!(try_create(&world, &client, to("https://app.example.org/events")).await, Ok(()));
    let refused = Err((Code::CallbackNotAllowed, Some("callback_url".to_owned())));
    assert_eq!(try_create(&world, &client, to("https://example.org/events")).await, refused);
}

#[tokio::test]
async fn a_name_that_comes_to_mean_a_private_address_is_not_called() {
    let receiver = Receiver::start().await;
    for private in ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::1", "fd00::1"] {
        let (mut world, client, _, wires) = abroad(&[PUBLIC, private], receiver.address).await;
        let (subject, now) = (&world.loaded.subject_id, world.clock.now());
        world.store.allow_callback(subject, client.client_id(), "hooks.example.org", now).await.unwrap();
        let (made, _) = world.desk.create(&client, to("https://hooks.example.org/x")).await.unwrap();
        assert_eq!(world.worker.deliver_due().await.unwrap(), 1);
        assert_eq!(*wires.dialled.lock().unwrap(), 0, "{private}: nobody is called");
        let log = world.desk.deliveries(&client, made.subscription_id.as_str(), 1).await.unwrap();
        let reason = "No answer: the host has no address that this server may call.";
        assert_eq!(log[0].reason.as_deref(), Some(reason), "{private} is not told");
        assert_eq!(world.status(&made.subscription_id).await, SubscriptionStatus::PendingVerification);
    }
    let (world, client, _, _) = abroad(&["10.0.0.7"], receiver.address).await;
    let (subject, now) = (&world.loaded.subject_id, world.clock.now());
    world.store.allow_callback(subject, client.client_id(), "hooks.example.org", now).await.unwrap();
    let refused = Err((Code::InvalidRequest, Some("callback_url".to_owned())));
    assert_eq!(
        try_create(&world, &client, to("https://hooks.example.org/x")).await,
        refused,
        "nor at the start"
    );
}

/// Subscribes at `hooks.example.org` and sends the challenge; gives the log's entry and the status.
async fn challenged(
    (world, client): (&mut World, &ClientPrincipal),
) -> (pdpp_store::StoredDelivery, SubscriptionStatus) {
    let (subject, now) = (&world.loaded.subject_id, world.clock.now());
    world.store.allow_callback(subject, client.client_id(), "hooks.example.org", now).await.unwrap();
    let (made, _) = world.desk.create(client, to("https://hooks.example.org/x")).await.unwrap();
    assert_eq!(world.worker.deliver_due().await.unwrap(), 1);
    let log = world.desk.deliveries(client, made.subscription_id.as_str(), 1).await.unwrap();
    (log[0].clone(), world.status(&made.subscription_id).await)
}

#[tokio::test]
async fn a_receiver_that_proves_its_name_is_told_over_an_encrypted_connection() {
    let (receiver, roots) = Receiver::encrypted("hooks.example.org").await;
    let (mut world, client, names, wires) = abroad_trusting(roots, &[PUBLIC], receiver.address).await;
    let (entry, status) = challenged((&mut world, &client)).await;
    assert_eq!((entry.http_status, status), (Some(200), SubscriptionStatus::Active));
    world.say("m_new", "Fresh paint.").await;
    assert_eq!(world.work().await, 1);
    let kinds = receiver.kinds();
    assert_eq!(kinds, ["pdpp.subscription.verify", "pdpp.records.changed"]);
    assert_eq!(*wires.dialled.lock().unwrap(), 2);
    assert_eq!(*names.asked.lock().unwrap(), 3, "looked up at the start and for each message");
}

#[tokio::test]
async fn a_receiver_that_cannot_prove_its_name_gets_nothing() {
    let untrusted = "No answer: no trusted encrypted connection";
    let (right, _) = Receiver::encrypted("hooks.example.org").await;
    let (wrong, wrong_roots) = Receiver::encrypted("other.example.org").await;
    let plain = Receiver::start().await;
    for (what, receiver, roots) in [
        ("nobody vouches for it", &right, RootCertStore::empty()),
        ("somebody else is vouched for", &right, wrong_roots.clone()),
        ("a certificate for another name", &wrong, wrong_roots),
        ("no encryption at all", &plain, RootCertStore::empty()),
    ] {
        let (mut world, client, _, wires) = abroad_trusting(roots, &[PUBLIC], receiver.address).await;
        let (entry, status) = challenged((&mut world, &client)).await;
        assert_eq!(*wires.dialled.lock().unwrap(), 1, "{what}");
        let reason = entry.reason.unwrap();
        assert!(reason.starts_with(untrusted) || reason.contains("in time"), "{what}: {reason}");
        assert_eq!((entry.http_status, status), (None, SubscriptionStatus::PendingVerification), "{what}");
        assert!(receiver.take().is_empty(), "{what}: no word of the event was said");
    }
}
