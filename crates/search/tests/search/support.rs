//! A talk archive on a real store, with its index.

use std::sync::Arc;

use pdpp_access::{Authorizer, Principal, Sealer, SearchPlan, SearchRequest};
use pdpp_evidence::parse_query;
use pdpp_search::{Place, SearchEngine};
use pdpp_store::{
    Admission, Correction, OnConflict, RankedHit, Search, SearchIndex as _, Store, WriteTarget,
};
use pdpp_store_sqlite::{Options, SqliteStore};
use pdpp_testkit::{FixedClock, GrantBuilder, SeededEntropy, client, grant, owner, sample};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, Instant, RecordKey, StreamName, SubjectId};
use serde_json::{Value, json};

/// A store with a connection or two of the talk connector, and its index.
pub(crate) struct Archive {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) engine: SearchEngine,
    pub(crate) subject_id: SubjectId,
    pub(crate) manifest: Manifest,
    pub(crate) home: ConnectionId,
    pub(crate) work: ConnectionId,
}

pub(crate) fn manifest(search_fields: &[&str]) -> Manifest {
    let text = json!({ "type": "string" });
    let with_role = |role: &str| json!({ "type": "string", "x_pdpp_role": role });
    let document = json!({
        "protocol_version": "0.1.0",
        "connector_key": "talk",
        "version": "1",
        "display_name": "Talk",
        "streams": [{
            "name": "messages",
            "description": "What was said.",
            "semantics": "mutable_state",
            "primary_key": ["id"],
            "cursor_field": "sent_at",
            "consent_time_field": "sent_at",
            "selection": { "fields": true, "resources": true },
            "schema": { "type": "object", "required": ["id"], "properties": {
                "id": text, "room": with_role("thread"), "author": with_role("actor"), "text": with_role("body"),
                "caption": text, "secret": text, "meta": { "type": "object" },
                "sent_at": { "type": "string", "format": "date-time", "x_pdpp_role": "event-time" },
            }},
            "query": { "search": { "lexical_fields": search_fields } },
        }, {
            "name": "notes",
            "description": "Pages.",
            "semantics": "mutable_state",
            "primary_key": ["id"],
            "selection": { "fields": true, "resources": true },
            "schema": { "type": "object", "required": ["id"], "properties": {
                "id": text, "title": with_role("primary-title"), "body": with_role("body"),
            }},
            "query": { "search": { "lexical_fields": ["title", "body"] } },
        }],
    });
    Manifest::parse(&document.to_string()).unwrap()
}

pub(crate) const FIELDS: [&str; 5] = ["text", "author", "caption", "secret", "meta.topic"];

pub(crate) fn store() -> Arc<dyn Store> {
    let options = Options::new(Arc::new(FixedClock::default()), Arc::new(SeededEntropy::default()));
    Arc::new(SqliteStore::in_memory(options).unwrap())
}

impl Archive {
    pub(crate) async fn new() -> Self {
        Self::at(Place::Memory, store()).await
    }

    pub(crate) async fn at(place: Place, store: Arc<dyn Store>) -> Self {
        Self::of(place, store, sample::subject()).await
    }

    /// The archive of another owner of the store.
    pub(crate) async fn of(place: Place, store: Arc<dyn Store>, subject_id: SubjectId) -> Self {
        let manifest = manifest(&FIELDS);
        store.put_manifest(&subject_id, &manifest, OnConflict::Replace).await.unwrap();
        let mut made = Vec::new();
        for name in ["Home", "Work"] {
            let connection = store.create_connection(&subject_id, manifest.key(), Some(name)).await.unwrap();
            made.push(connection.unwrap().connection_id);
        }
        let engine = SearchEngine::open(place, store.clone()).unwrap();
        let work = made.pop().unwrap();
        let home = made.pop().unwrap();
        Self { store, engine, subject_id, manifest, home, work }
    }

    pub(crate) fn target(&self, connection: &ConnectionId, stream: &str) -> WriteTarget {
        WriteTarget {
            subject_id: self.subject_id.clone(),
            connection_id: connection.clone(),
            stream: StreamName::parse(stream).unwrap(),
        }
    }

    pub(crate) async fn put(&self, connection: &ConnectionId, stream: &str, records: &[Value]) {
        let admission = Admission::new(self.manifest.find_stream(stream).unwrap()).unwrap();
        let at = Instant::parse("2026-01-01").unwrap();
        for batch in records.chunks(1_000) {
            let batch = batch.iter().map(|data| admission.upsert(&data["id"], data.clone(), at).unwrap());
            let applied = self.store.apply(&self.target(connection, stream), batch.collect()).await.unwrap();
            assert!(applied.into_iter().all(pdpp_store::Applied::is_accepted));
        }
    }

    pub(crate) async fn delete(&self, connection: &ConnectionId, id: &str) {
        let admission = Admission::new(self.manifest.find_stream("messages").unwrap()).unwrap();
        let gone = admission.delete(&json!(id), Instant::parse("2026-01-02").unwrap()).unwrap();
        self.store.apply(&self.target(connection, "messages"), vec![gone]).await.unwrap();
    }

    pub(crate) async fn plan(&self, principal: &Principal, request: SearchRequest) -> SearchPlan {
        let catalogue = self.store.catalogue(&self.subject_id).await.unwrap();
        let request = SearchRequest { limit: 25, ..request };
        Authorizer::new(principal, &catalogue).search(&request, &Sealer::new(&[7; 32])).unwrap()
    }

    pub(crate) async fn rank(&self, principal: &Principal, request: SearchRequest) -> Ranked {
        let plan = self.plan(principal, request.clone()).await;
        let query = parse_query(&request.q);
        let search = Search { plan: &plan, query: &query, only: None, explain: true };
        self.run(search).await
    }

    /// Ranks, and reads every hit.
    pub(crate) async fn run(&self, search: Search<'_>) -> Ranked {
        let ranking = self.engine.rank(search).await.unwrap();
        let hits = ranking.hits.read(0..1_000).unwrap();
        // A page at a time they are the same.
        let page = |start: usize| ranking.hits.read(start..start + 7).unwrap();
        assert_eq!((0..hits.len()).step_by(7).flat_map(page).collect::<Vec<_>>(), hits);
        Ranked {
            hits,
            is_complete: ranking.is_complete,
            is_current: ranking.is_current,
            corrected: ranking.corrected,
        }
    }

    /// What the owner finds.
    pub(crate) async fn find(&self, q: &str) -> Ranked {
        self.rank(&owner(&self.subject_id), asking(q)).await
    }

    /// The keys of what the owner finds.
    pub(crate) async fn keys(&self, q: &str) -> Vec<String> {
        let ranking = self.find(q).await;
        assert!(ranking.is_current);
        keys(&ranking)
    }

    pub(crate) async fn grant(&self, change: impl FnOnce(GrantBuilder) -> GrantBuilder) -> Principal {
        let catalogue = self.store.catalogue(&self.subject_id).await.unwrap();
        client(&[change(grant(&catalogue.sources[0])).build()])
    }
}

/// A ranking with all its hits read.
#[derive(Debug, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) hits: Vec<RankedHit>,
    pub(crate) is_complete: bool,
    pub(crate) is_current: bool,
    pub(crate) corrected: Vec<Correction>,
}

pub(crate) fn asking(q: &str) -> SearchRequest {
    SearchRequest { q: q.to_owned(), ..SearchRequest::default() }
}

pub(crate) fn keys(ranking: &Ranked) -> Vec<String> {
    ranking.hits.iter().map(|hit| hit.key.as_str().to_owned()).collect()
}

pub(crate) fn key(text: &str) -> RecordKey {
    RecordKey::parse(text).unwrap()
}

/// A message on a day of January 2026.
pub(crate) fn message(id: &str, day: u32, text: &str) -> Value {
    json!({ "id": id, "room": id, "author": "anna", "text": text, "sent_at": format!("2026-01-{day:02}T10:00:00Z") })
}

/// The same with other members.
pub(crate) fn with(mut message: Value, members: Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        message[name] = value.clone();
    }
    message
}
