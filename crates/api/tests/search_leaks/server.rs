//! The real router, store and index, all in this process.

use std::sync::Arc;
use std::sync::Mutex;

use axum::Router;
use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use pdpp_access::{Entropy, Sealer, Secret};
use pdpp_api::{ApiLimits, ApiSettings, ApiState, SearchModes, router};
use pdpp_auth::LocalAuthority;
use pdpp_search::{Place, SearchEngine};
use pdpp_store::{AdmittedRecord, NewToken, OnConflict, Operation, Store, TokenKind, WriteTarget};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::FixedClock;
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, Grant, Instant, RecordKey, SubjectId, TokenId};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use crate::world::{Entry, Step, World, manifest, mix};

const NOW: &str = "2026-03-20T12:00:00Z";

/// The same bytes in both stores, so that ids are the same.
#[derive(Debug)]
struct Dice(Mutex<u64>);

impl Entropy for Dice {
    fn fill(&self, buffer: &mut [u8]) {
        let mut state = self.0.lock().expect("nobody panics while drawing");
        for chunk in buffer.chunks_mut(8) {
            *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            chunk.copy_from_slice(&mix(*state).to_le_bytes()[..chunk.len()]);
        }
    }
}

/// One store behind its router.
pub(crate) struct Server {
    runtime: Arc<Runtime>,
    router: Router,
    secret: Secret,
}

fn owner() -> SubjectId {
    "owner_local".parse().expect("an id")
}

impl Server {
    pub(crate) fn new(runtime: &Arc<Runtime>, world: &World, steps: Vec<Step>, seed: u64) -> Self {
        let dice = Arc::new(Dice(Mutex::new(seed)));
        let clock = Arc::new(FixedClock::at_text(NOW));
        let options = Options::new(clock.clone(), dice.clone());
        let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory(options).expect("memory is there"));
        let engine = Arc::new(SearchEngine::open(Place::Memory, store.clone()).expect("an index in memory"));
        let secret = Secret::mint(dice.as_ref());
        runtime.block_on(async {
            let manifest = Manifest::from_document(manifest()).expect("a valid manifest");
            store.put_manifest(&owner(), &manifest, OnConflict::Refuse).await.expect("a store");
            let mut ids = Vec::new();
            for _ in 0..3 {
                let made = store.create_connection(&owner(), manifest.key(), None).await;
                ids.push(made.expect("a store").expect("a connector").connection_id);
            }
            issue(&*store, world, &ids, &secret).await;
            for step in steps {
                take(&*store, &engine, &ids, step).await;
            }
        });
        let authority = Arc::new(LocalAuthority::new(store.clone(), clock.clone(), dice.clone()));
        let settings = ApiSettings {
            public_url: None,
            resource_name: "Test".to_owned(),
            authorization_servers: Vec::new(),
            allowed_hosts: Vec::new(),
            limits: ApiLimits::default(),
        };
        let state = ApiState::new(store, authority, (clock, dice), Sealer::new(&[7; 32]), settings);
        let modes = SearchModes { lexical: Some(engine), ..SearchModes::default() };
        Self { runtime: runtime.clone(), router: router(Arc::new(state.with_search(modes))), secret }
    }

    /// The status and the body.
    pub(crate) fn ask(&self, path: &str) -> (u16, Value) {
        self.runtime.block_on(async {
            let request = Request::get(path)
                .header("host", "localhost")
                .header("authorization", format!("Bearer {}", self.secret.reveal()))
                .body(Body::empty())
                .expect("a request");
            let response = self.router.clone().oneshot(request).await.expect("an answer");
            let status = response.status().as_u16();
            let bytes = response.into_body().collect().await.expect("a body").to_bytes();
            (status, serde_json::from_slice(&bytes).expect("JSON"))
        })
    }
}

async fn issue(store: &dyn Store, world: &World, ids: &[ConnectionId], secret: &Secret) {
    let streams: Vec<Value> = world.grant.iter().map(|entry| granted(entry, ids)).collect();
    let document = json!({
        "version": "0.1.0", "grant_id": "grt_1", "issued_at": "2026-01-01T00:00:00.000Z",
        "subject": {"id": owner()}, "client": {"client_id": "reader"},
        "source": {"kind": "connector", "id": "urn:pdpp:source:talks"}, "source_declaration": {"version": "1"},
        "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "continuous", "streams": streams,
    });
    let grant = Grant::parse(&document.to_string()).expect("a valid grant");
    let grant_ids = vec![grant.grant_id.clone()];
    let token = NewToken {
        hash: secret.hash(),
        token_id: TokenId::parse("tok_1").expect("an id"),
        subject_id: owner(),
        kind: TokenKind::Client { client_id: "reader".parse().expect("an id"), grant_ids },
        issued_at: Instant::parse(NOW).expect("a time"),
        expires_at: None,
        resource: None,
        family_id: None,
    };
    store.issue(&[grant], &token).await.expect("issued");
}

fn granted(entry: &Entry, ids: &[ConnectionId]) -> Value {
    let connections: Vec<_> = entry.connections.iter().map(|index| &ids[*index]).collect();
    let mut granted = json!({"name": entry.stream, "instance_ids": connections, "fields": entry.fields});
    let day = |day: u32| format!("2026-01-{:02}T00:00:00Z", day + 1);
    if entry.since.is_some() || entry.until.is_some() {
        granted["time_constraint"] = json!({"field": "at"});
        if let Some(since) = entry.since {
            granted["time_constraint"]["since"] = json!(day(since));
        }
        if let Some(until) = entry.until {
            granted["time_constraint"]["until"] = json!(day(until));
        }
    }
    if let Some(resources) = &entry.resources {
        granted["resources"] = json!(resources);
    }
    granted
}

async fn take(store: &dyn Store, engine: &SearchEngine, ids: &[ConnectionId], step: Step) {
    let ((connection, stream, key), operation) = match step {
        Step::CatchUp => return engine.catch_up().await.expect("the index follows"),
        Step::Delete(place) => (place, Operation::Delete),
        Step::Put(place, data) => {
            let Value::Object(members) = data else { unreachable!("records are objects") };
            (place, Operation::Upsert(members))
        }
    };
    let target = WriteTarget {
        subject_id: owner(),
        connection_id: ids[connection].clone(),
        stream: stream.parse().expect("a name"),
    };
    let record = AdmittedRecord {
        key: RecordKey::parse(key).expect("a key"),
        emitted_at: Instant::parse("2026-02-01").expect("a time"),
        operation,
    };
    store.apply(&target, vec![record]).await.expect("applied");
}
