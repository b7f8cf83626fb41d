//! The real router over the real store, both in this process.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use pdpp_access::{Sealer, Secret};
use pdpp_api::{ApiLimits, ApiSettings, ApiState, router};
use pdpp_auth::LocalAuthority;
use pdpp_store::{
    AdmittedRecord, Applied, BlobBinding, ManifestOutcome, NewToken, OnConflict, Operation, Store, TokenKind,
    WriteTarget,
};
use pdpp_testkit::FixedClock;
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, Grant, Instant, RecordKey, SubjectId, TokenId};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use crate::archive::Became;
use crate::blobs;
use crate::compare::Reply;
use crate::question::Question;
use crate::rng::mix;
use crate::stores::{Dice, Opened, Stores};
use crate::twin::{Step, Write};
use crate::world::{Client, Place, World, canonical};

pub(crate) const NOW: &str = "2026-03-20T12:00:00Z";

pub(crate) struct Server {
    runtime: Arc<Runtime>,
    store: Arc<dyn Store>,
    router: Router,
    dice: Arc<Dice>,
    clock: Arc<FixedClock>,
    /// The owner under test, and another.
    owners: [SubjectId; 2],
    /// One per client, then the owner's.
    secrets: Vec<Secret>,
}

impl Server {
    /// An empty store with the world's sources, connections and grants. Connection ids are noted in
    /// the world, and are the same in both stores.
    pub(crate) fn new(
        runtime: &Arc<Runtime>,
        stores: &Stores,
        world: &mut World,
        place: Place,
        seed: u64,
    ) -> Self {
        let Opened { store, clock, dice, owners } = stores.open(place, seed);
        dice.set(seed);
        let authority = Arc::new(LocalAuthority::new(store.clone(), clock.clone(), dice.clone()));
        let settings = ApiSettings {
            public_url: None,
            resource_name: "Test".to_owned(),
            authorization_servers: Vec::new(),
            allowed_hosts: Vec::new(),
            limits: ApiLimits::default(),
        };
        let sealer = Sealer::new(&[7; 32]);
        let state = ApiState::new(store.clone(), authority, (clock.clone(), dice.clone()), sealer, settings);
        let router = router(Arc::new(state));
        let (runtime, secrets) = (runtime.clone(), Vec::new());
        let mut server = Self { runtime, store, router, dice, clock, owners, secrets };
        server.populate(world, place, seed);
        server
    }

    fn populate(&mut self, world: &mut World, place: Place, seed: u64) {
        let runtime = self.runtime.clone();
        runtime.block_on(async {
            let here = |thing: Place| thing == Place::Both || place == Place::TwinOnly;
            for source in world.sources.iter().filter(|source| here(source.place)) {
                self.register(source.manifest(), OnConflict::Refuse).await;
            }
            for (index, connection) in world.connections.iter_mut().enumerate().filter(|(_, c)| here(c.place))
            {
                self.dice.set(mix(seed ^ (index as u64 + 1)));
                let source = &world.sources[connection.source];
                let (owner, key) = (&self.owners[connection.subject], source.key.parse().expect("a key"));
                let made = self.store.create_connection(owner, &key, connection.label.as_deref());
                let id = made.await.expect("a store").expect("a connector").connection_id.to_string();
                assert!(
                    connection.id.is_empty() || connection.id == id,
                    "both stores name a connection alike"
                );
                connection.id = id;
            }
            self.dice.set(mix(seed ^ 0x00C0_FFEE ^ u64::from(place == Place::TwinOnly)));
            let world = &*world;
            for client in &world.clients {
                self.issue(world, Some(client)).await;
            }
            self.issue(world, None).await;
        });
    }

    /// Registers a manifest for both owners.
    async fn register(&self, document: Value, on_conflict: OnConflict) {
        let manifest = Manifest::from_document(document).expect("a valid manifest");
        for owner in &self.owners {
            let put = self.store.put_manifest(owner, &manifest, on_conflict);
            assert_ne!(put.await.expect("a store"), ManifestOutcome::Conflict);
        }
    }

    /// Puts a manifest in the place of the one with its key.
    pub(crate) fn replace(&self, document: Value) {
        self.runtime.block_on(self.register(document, OnConflict::Replace));
    }

    /// Lets time pass.
    pub(crate) fn wait(&self, seconds: i64) {
        self.clock.advance_seconds(seconds);
    }

    async fn issue(&mut self, world: &World, client: Option<&Client>) {
        let secret = Secret::mint(self.dice.as_ref());
        let grants: Vec<Grant> = client.map_or(Vec::new(), |client| grants(world, client, &self.owners[0]));
        let kind = match client {
            None => TokenKind::Owner,
            Some(client) => TokenKind::Client {
                client_id: client.id.parse().expect("an id"),
                grant_ids: grants.iter().map(|grant| grant.grant_id.clone()).collect(),
            },
        };
        let token = NewToken {
            hash: secret.hash(),
            token_id: TokenId::parse(format!("tok_{}", self.secrets.len())).expect("an id"),
            subject_id: self.owners[0].clone(),
            kind,
            issued_at: Instant::parse(NOW).expect("a time"),
            expires_at: None,
            resource: None,
            family_id: None,
        };
        self.store.issue(&grants, &token).await.expect("issued");
        self.secrets.push(secret);
    }

    /// Uploads the bytes a record refers to, as its producer does before it writes the record.
    async fn upload(&self, world: &World, write: &Write) {
        let reference = write.data.as_ref().and_then(|data| data.get("blob_ref")?["blob_id"].as_str());
        let (true, Some(blob_id)) = (world.uploads, reference) else { return };
        let Some(content) = blobs::content(blob_id) else { return };
        let key = canonical(&write.key);
        if !blobs::is_uploaded(write.connection, &write.stream, &key, blob_id) {
            return;
        }
        let connection = &world.connections[write.connection];
        let mut writer = self.store.write_blob().await.expect("a writer");
        writer.write(Bytes::from_static(content.as_bytes())).await.expect("written");
        let inside = world.cover(0, write.connection, &write.stream).is_some();
        let binding = BlobBinding {
            subject_id: self.owners[connection.subject].clone(),
            connection_id: connection.id.parse().expect("an id"),
            stream: write.stream.parse().expect("a name"),
            record_key: RecordKey::parse(key).expect("a key"),
            // A place of its own, so that what a refused write brought does not take another's.
            json_path: format!("/{blob_id}"),
            // The same bytes under another type, where the grant does not reach.
            mime_type: if inside { "text/plain" } else { "text/html" }.to_owned(),
        };
        writer.finish(binding).await.expect("stored");
    }

    pub(crate) fn revoke(&self, grant_id: &str) {
        let (owner, id) = (&self.owners[0], grant_id.parse().expect("an id"));
        let revoked = self.store.revoke_grant(owner, &id, Instant::parse(NOW).expect("a time"));
        self.runtime.block_on(revoked).expect("a store").expect("a grant");
    }

    /// Does a step; says what became of a write.
    pub(crate) fn apply(&self, world: &World, step: &Step) -> Option<Became> {
        let at = |connection: usize| {
            let connection = &world.connections[connection];
            (self.owners[connection.subject].clone(), connection.id.parse::<ConnectionId>().expect("an id"))
        };
        match step {
            Step::Write(write) => {
                self.runtime.block_on(self.upload(world, write));
                Some(self.write(at(write.connection), write))
            }
            Step::Purge { connection, stream } => {
                let (subject_id, connection_id) = at(*connection);
                let target =
                    WriteTarget { subject_id, connection_id, stream: stream.parse().expect("a name") };
                self.runtime.block_on(self.store.purge_stream(&target)).expect("purged");
                None
            }
            Step::Rename { connection, label } => {
                let (subject_id, connection_id) = at(*connection);
                let rename = self.store.rename_connection(&subject_id, &connection_id, Some(label));
                assert!(self.runtime.block_on(rename).expect("a store"));
                None
            }
        }
    }

    fn write(&self, (subject_id, connection_id): (SubjectId, ConnectionId), write: &Write) -> Became {
        let target = WriteTarget { subject_id, connection_id, stream: write.stream.parse().expect("a name") };
        let record = AdmittedRecord {
            key: RecordKey::parse(canonical(&write.key)).expect("a key"),
            emitted_at: Instant::from_micros(write.emitted_at),
            operation: write.data.clone().map_or(Operation::Delete, Operation::Upsert),
        };
        let applied = self.runtime.block_on(self.store.apply(&target, vec![record])).expect("applied");
        match applied[0] {
            Applied::Added => Became::Added,
            Applied::Updated => Became::Updated,
            Applied::Unchanged => Became::Unchanged,
            Applied::Deleted => Became::Deleted,
            Applied::Rejected(_) | Applied::OverQuota(_) => Became::Conflict,
        }
    }

    pub(crate) fn ask(&self, question: &Question, token: impl Fn(usize) -> String) -> Reply {
        let mut request = Request::builder()
            .method(if question.head { "HEAD" } else { "GET" })
            .uri(question.uri(token))
            .header("authorization", format!("Bearer {}", self.secrets[question.who].reveal()));
        if let Some(range) = question.range {
            request = request.header("range", range);
        }
        let request = request.body(Body::empty()).expect("a request");
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.expect("infallible");
            let (parts, body) = response.into_parts();
            let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            Reply {
                status: parts.status.as_u16(),
                headers: parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
                body: body.collect().await.expect("a whole body").to_bytes().to_vec(),
            }
        })
    }
}

fn grants(world: &World, client: &Client, owner: &SubjectId) -> Vec<Grant> {
    let documents = client.grants.iter().map(|grant| {
        let streams = grant.streams.iter().map(|entry| {
            let ids: Vec<&str> =
                entry.connections.iter().map(|index| world.connections[*index].id.as_str()).collect();
            let mut stream = json!({"name": entry.name, "instance_ids": ids, "fields": entry.fields});
            if let Some(limit) = &entry.time {
                stream["time_constraint"] = json!({"field": limit.field});
                for (member, bound) in [("since", limit.since), ("until", limit.until)] {
                    if let Some(bound) = bound {
                        stream["time_constraint"][member] = json!(bound);
                    }
                }
            }
            if let Some(keys) = &entry.resources {
                stream["resources"] = json!(keys);
            }
            stream
        });
        let mut document = json!({
            "version": "0.1.0", "grant_id": grant.id, "issued_at": NOW, "subject": {"id": owner},
            "client": {"client_id": client.id},
            "source": {"kind": "connector", "id": world.sources[grant.source].uri},
            "source_declaration": {"version": "1"}, "purpose_code": "https://pdpp.dev/purpose/agent_context",
            "access_mode": "continuous", "streams": streams.collect::<Vec<_>>(),
        });
        if let Some(at) = grant.expires_at {
            document["expires_at"] = json!(at);
        }
        Grant::parse(&document.to_string()).expect("a valid grant")
    });
    documents.collect()
}
