//! A store on the disk with many connections, and grants and subscriptions over them.

use std::sync::Arc;

use pdpp_access::{Clock, Entropy, Sealer, Secret};
use pdpp_egress::{Egress, Loopback, Settings, SystemResolver, TcpTls, UrlPolicy};
use pdpp_events::{Delivering, EventParts, EventWorker, RESPONSE_WINDOW, SecretBox, SecretKey};
use pdpp_store::{
    Applied, Authority as _, Catalogues as _, Events as _, Ingest as _, NewEvent, NewSubscription, NewToken,
    OnConflict, TokenKind, WriteTarget,
};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::SeededEntropy;
use pdpp_testkit::sample::{self, SampleRecord, chat};
use pdpp_wire::{ConnectionId, EventId, EventScope, Instant, StreamName, SubjectId, SubscriptionId};
use serde_json::json;
use tokio::sync::Notify;

use crate::receivers::Receivers;

struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "lag is measured in real time")]
    fn now(&self) -> Instant {
        jiff::Timestamp::now().into()
    }
}

pub(crate) struct World {
    store: Arc<SqliteStore>,
    parts: EventParts,
    subject_id: SubjectId,
    pub(crate) connections: Vec<ConnectionId>,
    _home: tempfile::TempDir,
}

impl World {
    pub(crate) async fn make(connections: usize) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>) =
            (Arc::new(SystemClock), Arc::new(SeededEntropy::new(7)));
        let options = Options::new(Arc::clone(&clock), Arc::clone(&entropy));
        let store = Arc::new(SqliteStore::open(home.path(), options).unwrap());
        let (subject_id, manifest) = (sample::subject(), chat::manifest());
        store.put_manifest(&subject_id, &manifest, OnConflict::Refuse).await.unwrap();
        let mut made = Vec::new();
        for n in 0..connections {
            let label = format!("account {n}");
            let connection =
                store.create_connection(&subject_id, manifest.key(), Some(&label)).await.unwrap();
            made.push(connection.unwrap().connection_id);
        }
        let policy = UrlPolicy { loopback: Loopback::Allowed, ..UrlPolicy::default() };
        let settings = Settings { policy, max_calls: 64, ..Settings::default() };
        let wires = Arc::new(TcpTls::with_native_roots());
        let parts = EventParts {
            store: store.clone(),
            egress: Arc::new(Egress::new(settings, Arc::new(SystemResolver::default()), wires)),
            sealer: Sealer::new(&store.sealing_key().await.unwrap()),
            clock,
            entropy,
            secrets: SecretBox::new(&SecretKey::new([3; 32])),
            delivering: Delivering::Here(Arc::new(Notify::new())),
            response_window: RESPONSE_WINDOW,
        };
        Self { store, parts, subject_id, connections: made, _home: home }
    }

    pub(crate) fn worker(&self) -> EventWorker {
        EventWorker::new(self.parts.clone())
    }

    fn now(&self) -> Instant {
        self.parts.clock.now()
    }

    /// The time as an event tells it: one that is sent after a write never seems to come before it.
    pub(crate) fn now_in_millis(&self) -> Instant {
        let micros = self.now().micros();
        Instant::from_micros(micros - micros.rem_euclid(1_000))
    }

    /// Gives every connection so many subscribers, each with a grant of its own. Says how many there are.
    pub(crate) async fn subscribe(&self, receivers: &Receivers, each: usize) -> usize {
        let catalogue = self.store.catalogue(&self.subject_id).await.unwrap();
        let mut made = 0;
        for connection in &self.connections {
            let grants: Vec<_> = (0..each)
                .map(|n| {
                    pdpp_testkit::grant(&catalogue.sources[0])
                        .id(&format!("grt_{}", made + n))
                        .stream("messages", &["id", "text"])
                        .connections(&[connection])
                        .build()
                })
                .collect();
            let token = NewToken {
                hash: Secret::presented(connection.as_str()).hash(),
                token_id: connection.as_str().parse().unwrap(),
                subject_id: self.subject_id.clone(),
                kind: TokenKind::Client {
                    client_id: pdpp_testkit::client_id(),
                    grant_ids: grants.iter().map(|grant| grant.grant_id.clone()).collect(),
                },
                issued_at: self.now(),
                expires_at: None,
                resource: None,
                family_id: None,
            };
            self.store.issue(&grants, &token).await.unwrap();
            for grant in grants {
                self.subscribe_one(receivers, made, grant.grant_id).await;
                made += 1;
            }
        }
        made
    }

    async fn subscribe_one(&self, receivers: &Receivers, n: usize, grant_id: pdpp_wire::GrantId) {
        let id = SubscriptionId::parse(format!("sub_{n}")).unwrap();
        let body = json!({"data": {"subscription_id": id, "challenge": "echo"}}).to_string();
        let host = receivers.host(n);
        let new = NewSubscription {
            sealed_secret: self.parts.secrets.mint(self.parts.entropy.as_ref(), &id).1,
            subscription_id: id,
            subject_id: self.subject_id.clone(),
            client_id: pdpp_testkit::client_id(),
            grant_ids: vec![grant_id],
            callback_url: format!("http://{host}/"),
            callback_host: host,
            scope: EventScope { source: None, streams: Vec::new(), filters: None },
            streams: Vec::new(),
            connection_id: None,
            verify: NewEvent {
                event_id: EventId::parse(format!("evt_{n}")).unwrap(),
                body,
                challenge: Some("echo".to_owned()),
                due_at: self.now(),
            },
            created_at: self.now(),
        };
        self.store.create_subscription(&new, u32::MAX).await.unwrap();
    }

    /// Adds messages to one connection, in one transaction.
    pub(crate) async fn write(&self, connection: &ConnectionId, batch: usize, count: usize) {
        let manifest = chat::manifest();
        let records = (0..count).map(|n| {
            let data =
                json!({"id": format!("m_{batch}_{n}"), "channel_id": "c", "text": "Something happened."});
            SampleRecord::new("messages", data, "2026-02-25T00:00:00Z").admit(&manifest)
        });
        let target = WriteTarget {
            subject_id: self.subject_id.clone(),
            connection_id: connection.clone(),
            stream: StreamName::parse("messages").unwrap(),
        };
        let applied = self.store.apply(&target, records.collect()).await.unwrap();
        assert!(applied.into_iter().all(Applied::is_accepted));
    }
}
