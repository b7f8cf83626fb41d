//! The sample archive in a store, a desk and a worker over it, and a client with a grant.

use std::sync::Arc;
use std::time::Duration;

use pdpp_access::{
    Authorizer, ClientPrincipal, Clock as _, GrantStanding, Principal, RecordsRead, RecordsRequest, Sealer,
    Secret, Target,
};
use pdpp_egress::{
    Connector, Egress, Literals, Loopback, Resolver, Settings, SystemResolver, TcpTls, UrlPolicy,
};
use pdpp_events::{Delivering, EventDesk, EventParts, EventWorker, SecretBox, SecretKey};
use pdpp_store::{
    AdmittedRecord, Authority as _, Catalogues as _, ChangeEntry, ChangesOutcome, EventService as _,
    EventWish, Events as _, Ingest as _, NewToken, OnConflict, Records as _, TokenKind, WriteTarget,
};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::sample::{self, Loaded, SampleRecord};
use pdpp_testkit::{FixedClock, SeededEntropy, client_id};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, Grant, StreamName, SubscriptionId, SubscriptionStatus};
use serde_json::Value;
use tokio::sync::Notify;

use crate::receiver::Receiver;

pub(crate) struct World {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) loaded: Loaded,
    pub(crate) parts: EventParts,
    pub(crate) desk: EventDesk,
    pub(crate) worker: EventWorker,
}

/// How the outside world looks.
pub(crate) struct Outside {
    pub(crate) loopback: Loopback,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) connector: Arc<dyn Connector>,
}

impl Default for Outside {
    fn default() -> Self {
        Self {
            loopback: Loopback::Allowed,
            resolver: Arc::new(SystemResolver::default()),
            connector: Arc::new(TcpTls::with_native_roots()),
        }
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Outside::default()).await
    }

    pub(crate) async fn with(outside: Outside) -> Self {
        let (clock, entropy) = (Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()));
        let store = Arc::new(SqliteStore::in_memory(Options::new(clock.clone(), entropy.clone())).unwrap());
        let loaded = sample::loaded(store.as_ref()).await;
        store.put_manifest(&loaded.subject_id, &chat(), OnConflict::Replace).await.unwrap();
        let policy = UrlPolicy { loopback: outside.loopback, literals: Literals::Refused };
        let settings = Settings { policy, ..Settings::default() };
        let parts = EventParts {
            egress: Arc::new(Egress::new(settings, outside.resolver, outside.connector)),
            sealer: Sealer::new(&store.sealing_key().await.unwrap()),
            store: store.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
            secrets: SecretBox::new(&SecretKey::new([3; 32])),
            delivering: Delivering::Here(Arc::new(Notify::new())),
            response_window: Duration::from_millis(500),
        };
        let (desk, worker) = (EventDesk::new(parts.clone()), EventWorker::new(parts.clone()));
        Self { store, clock, loaded, parts, desk, worker }
    }

    /// Another worker on the same store.
    pub(crate) fn another_worker(&self) -> EventWorker {
        EventWorker::new(self.parts.clone())
    }

    /// A grant over the chat's messages at home: id and text.
    pub(crate) async fn narrow(&self) -> Grant {
        let catalogue = self.store.catalogue(&self.loaded.subject_id).await.unwrap();
        pdpp_testkit::grant(&catalogue.sources[0])
            .id("grt_chat")
            .stream("messages", &["id", "text", "sent_at"])
            .connections(&[&self.loaded.home])
            .build()
    }

    /// Keeps grants, and gives whoever reads under them.
    pub(crate) async fn admit(&self, grants: &[Grant]) -> ClientPrincipal {
        let token = NewToken {
            hash: Secret::presented(grants[0].grant_id.as_str()).hash(),
            token_id: grants[0].grant_id.as_str().parse().unwrap(),
            subject_id: self.loaded.subject_id.clone(),
            kind: TokenKind::Client {
                client_id: grants[0].client.client_id.clone(),
                grant_ids: grants.iter().map(|grant| grant.grant_id.clone()).collect(),
            },
            issued_at: self.clock.now(),
            expires_at: None,
            resource: None,
            family_id: None,
        };
        self.store.issue(grants, &token).await.unwrap();
        self.client(grants)
    }

    pub(crate) fn client(&self, grants: &[Grant]) -> ClientPrincipal {
        let active = grants.iter().map(|grant| {
            let document = serde_json::to_string(grant).unwrap();
            pdpp_access::ActiveGrant::try_new(&GrantStanding { document, revoked_at: None }, self.clock.now())
                .unwrap()
        });
        let (subject, first) = (self.loaded.subject_id.clone(), &grants[0]);
        let token = Some(first.grant_id.as_str().parse().unwrap());
        ClientPrincipal::try_new(subject, first.client.client_id.clone(), token, active.collect()).unwrap()
    }

    pub(crate) async fn allow(&self, receiver: &Receiver) {
        let (subject, now) = (&self.loaded.subject_id, self.clock.now());
        self.store.allow_callback(subject, &client_id(), &receiver.host(), now).await.unwrap();
    }

    /// A subscription to everything of the grant, whose receiver has proved itself.
    pub(crate) async fn subscribed(
        &mut self,
        client: &ClientPrincipal,
        receiver: &Receiver,
    ) -> (SubscriptionId, Secret) {
        self.allow(receiver).await;
        let wish = EventWish { callback_url: receiver.url(), ..EventWish::default() };
        let (made, secret) = self.desk.create(client, wish).await.unwrap();
        assert_eq!(self.worker.deliver_due().await.unwrap(), 1);
        assert_eq!(self.status(&made.subscription_id).await, SubscriptionStatus::Active);
        assert_eq!(receiver.kinds(), ["pdpp.subscription.verify"]);
        (made.subscription_id, secret)
    }

    pub(crate) async fn status(&self, id: &SubscriptionId) -> SubscriptionStatus {
        let found = self.store.find_subscription(&self.loaded.subject_id, id, None).await.unwrap();
        found.unwrap().status
    }

    /// Follows the log, then sends what is due; says how many attempts were made.
    pub(crate) async fn work(&mut self) -> usize {
        self.worker.follow().await.unwrap();
        self.worker.deliver_due().await.unwrap()
    }

    pub(crate) async fn put(&self, connection: &ConnectionId, stream: &'static str, data: Value) {
        let record = SampleRecord::new(stream, data, "2026-02-25T00:00:00Z");
        self.apply(connection, stream, record.admit(&chat())).await;
    }

    /// A message at home with this text.
    pub(crate) async fn say(&self, id: &str, text: &str) {
        let data = serde_json::json!({"id": id, "channel_id": "c_garden", "author": "anna", "text": text,
            "sent_at": "2026-02-25T00:00:00Z"});
        self.put(&self.loaded.home.clone(), "messages", data).await;
    }

    pub(crate) async fn apply(&self, connection: &ConnectionId, stream: &str, record: AdmittedRecord) {
        let target = WriteTarget {
            subject_id: self.loaded.subject_id.clone(),
            connection_id: connection.clone(),
            stream: StreamName::parse(stream).unwrap(),
        };
        let applied = self.store.apply(&target, vec![record]).await.unwrap();
        assert!(applied[0].is_accepted(), "{applied:?}");
    }

    /// The keys that a `changes_since` read shows; deleted ones with a minus.
    pub(crate) async fn read(&self, client: &ClientPrincipal, data: &Value) -> Vec<String> {
        let changes = self.changes(client, data).await.expect("the token is fresh");
        changes
            .shown
            .into_iter()
            .map(|(key, shown)| if shown.is_some() { key } else { format!("-{key}") })
            .collect()
    }

    /// What a `changes_since` read shows, as the REST surface would ask it; `None` when the history behind the token
    /// is gone.
    pub(crate) async fn changes(&self, client: &ClientPrincipal, data: &Value) -> Option<Changes> {
        let catalogue = self.store.catalogue(&self.loaded.subject_id).await.unwrap();
        let text = |name: &str| data[name].as_str().unwrap().to_owned();
        let request = RecordsRequest {
            target: Target {
                stream: text("stream"),
                connection_id: Some(text("connection_id")),
                connector_id: None,
            },
            limit: 100,
            changes_since: Some(text("changes_since")),
            ..RecordsRequest::default()
        };
        let principal = Principal::Client(client.clone());
        let read = Authorizer::new(&principal, &catalogue).records(&request, &self.parts.sealer).unwrap();
        let RecordsRead::Changes(plan) = read else { panic!("changes were asked for") };
        let ChangesOutcome::Page(page) = self.store.list_changes(&plan).await.unwrap() else { return None };
        let entropy = self.parts.entropy.as_ref();
        let next = self.parts.sealer.seal_changes_since(entropy, plan.binding(), &page.horizon);
        let shown = |entry: ChangeEntry| match entry {
            ChangeEntry::Live(row) => {
                (row.key.to_string(), Some(serde_json::from_str(row.data.get()).unwrap()))
            }
            ChangeEntry::Deleted { key, .. } => (key.to_string(), None),
        };
        Some(Changes { shown: page.entries.into_iter().map(shown).collect(), next })
    }

    /// Drops every record of a connection's stream.
    pub(crate) async fn empty(&self, connection: &ConnectionId, stream: &str) {
        let target = WriteTarget {
            subject_id: self.loaded.subject_id.clone(),
            connection_id: connection.clone(),
            stream: StreamName::parse(stream).unwrap(),
        };
        self.store.purge_stream(&target).await.unwrap();
    }
}

/// One read of what changed.
pub(crate) struct Changes {
    /// The records by key; those that are gone without content.
    pub(crate) shown: Vec<(String, Option<Value>)>,
    /// Where to go on.
    pub(crate) next: String,
}

impl World {
    /// Another subscription while others have events waiting.
    pub(crate) async fn subscribed_beside(
        &mut self,
        client: &ClientPrincipal,
        receiver: &Receiver,
    ) -> (SubscriptionId, Secret) {
        self.allow(receiver).await;
        let wish = EventWish { callback_url: receiver.url(), ..EventWish::default() };
        let (made, secret) = self.desk.create(client, wish).await.unwrap();
        self.worker.deliver_due().await.unwrap();
        assert_eq!(receiver.kinds(), ["pdpp.subscription.verify"]);
        (made.subscription_id, secret)
    }
}

/// The sample chat, in which messages may be edited.
pub(crate) fn chat() -> Manifest {
    let mut document = sample::chat::manifest().document().clone();
    let streams = document["streams"].as_array_mut().unwrap();
    let messages = streams.iter_mut().find(|stream| stream["name"] == "messages").unwrap();
    messages["semantics"] = "mutable_state".into();
    Manifest::from_document(document).unwrap()
}
