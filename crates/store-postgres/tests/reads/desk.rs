//! A desk with letters and their pages, under two connections.

use std::sync::Arc;

use pdpp_access::{
    AggregateRequest, Authorizer, ChangesPlan, FilterTerm, Principal, RecordRequest, RecordsPlan,
    RecordsRead, RecordsRequest, Sealer, SearchRequest, Target,
};
use pdpp_store::{Admission, OnConflict, Store, WriteTarget};
use pdpp_testkit::sample;
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, Instant, StreamName, SubjectId};
use serde_json::{Value, json};

/// Letters are ordered by one time and granted by another; pages have neither.
fn manifest() -> Manifest {
    Manifest::from_document(json!({
        "protocol_version": "0.1.0", "connector_key": "desk", "version": "1", "display_name": "Desk",
        "streams": [
            {
                "name": "letters", "semantics": "mutable_state", "primary_key": ["id"],
                "cursor_field": "sent_at", "consent_time_field": "filed_at",
                "selection": {"fields": true, "resources": true},
                "schema": {"type": "object", "required": ["id"], "properties": {
                    "id": {"type": "string"},
                    "folder": {"type": ["string", "null"]},
                    "size": {"type": "integer"},
                    "weight": {"type": "number"},
                    "read": {"type": "boolean"},
                    "body": {"type": "string"},
                    "sent_at": {"type": ["string", "null"], "format": "date-time"},
                    "filed_at": {"type": "string", "format": "date-time"}
                }},
                "relationships": [
                    {"name": "pages", "stream": "pages", "foreign_key": "letter_id", "cardinality": "has_many"}
                ],
                "query": {
                    "search": {"lexical_fields": ["body", "folder"]},
                    "range_filters": {"size": ["gte", "gt", "lte", "lt"], "sent_at": ["gte", "lt"]},
                    "expand": [{"name": "pages", "default_limit": 3, "max_limit": 10}],
                    "aggregations": {
                        "count": true, "sum": ["size", "weight"], "min": ["size", "sent_at"],
                        "max": ["size", "sent_at"], "group_by": ["folder", "read", "filed_at"],
                        "group_by_time": ["sent_at", "filed_at"], "count_distinct": ["folder"]
                    }
                }
            },
            {
                "name": "pages", "semantics": "append_only", "primary_key": ["id"],
                "selection": {"fields": true, "resources": false},
                "schema": {"type": "object", "required": ["id", "letter_id"], "properties": {
                    "id": {"type": "string"}, "letter_id": {"type": "string"}, "text": {"type": "string"}
                }},
                "query": {"aggregations": {"count": true}}
            }
        ]
    }))
    .unwrap()
}

/// A desk in a store.
pub(crate) struct Desk {
    pub(crate) store: Arc<dyn Store>,
    /// Lives as long as its store.
    pub(crate) database: Option<crate::support::Kept>,
    pub(crate) subject_id: SubjectId,
    manifest: Manifest,
    connections: Vec<ConnectionId>,
}

impl Desk {
    /// Two connections, nothing in them. The first has the lesser id.
    pub(crate) async fn empty(store: Arc<dyn Store>, database: Option<crate::support::Kept>) -> Self {
        let (subject_id, manifest) = (sample::subject(), manifest());
        store.put_manifest(&subject_id, &manifest, OnConflict::Refuse).await.unwrap();
        let mut connections = Vec::new();
        for name in ["One", "Two"] {
            let made = store.create_connection(&subject_id, manifest.key(), Some(name)).await.unwrap();
            connections.push(made.unwrap().connection_id);
        }
        connections.sort_unstable();
        Self { store, database, subject_id, manifest, connections }
    }

    /// So many letters under each connection, each with two pages.
    pub(crate) async fn with_letters(letters: u32) -> Self {
        let (store, database) = crate::support::fresh_store();
        let desk = Self::empty(store, Some(database)).await;
        for connection in 0..2 {
            desk.put(connection, "letters", (0..letters).map(letter).collect()).await;
            let pages = (0..2 * letters)
                .map(|n| json!({"id": format!("p{n:03}"), "letter_id": format!("l{:03}", n / 2)}));
            desk.put(connection, "pages", pages.collect()).await;
        }
        desk
    }

    fn target(&self, connection: usize, stream: &str) -> WriteTarget {
        WriteTarget {
            subject_id: self.subject_id.clone(),
            connection_id: self.connections[connection].clone(),
            stream: StreamName::parse(stream).unwrap(),
        }
    }

    pub(crate) async fn put(&self, connection: usize, stream: &str, records: Vec<Value>) {
        let admission = Admission::new(self.manifest.find_stream(stream).unwrap()).unwrap();
        let at = Instant::parse("2026-02-01").unwrap();
        for records in records.chunks(500) {
            let records = records.iter().cloned();
            let batch =
                records.map(|data| admission.upsert(&data["id"].clone(), data, at).unwrap()).collect();
            self.store.apply(&self.target(connection, stream), batch).await.unwrap();
        }
    }

    pub(crate) async fn delete(&self, connection: usize, stream: &str, key: &str) {
        let admission = Admission::new(self.manifest.find_stream(stream).unwrap()).unwrap();
        let gone = admission.delete(&json!(key), Instant::parse("2026-02-02").unwrap()).unwrap();
        self.store.apply(&self.target(connection, stream), vec![gone]).await.unwrap();
    }

    pub(crate) fn owner(&self) -> Principal {
        pdpp_testkit::owner(&self.subject_id)
    }

    /// `None` when it is refused.
    async fn records(&self, who: &Principal, request: RecordsRequest) -> Option<RecordsRead> {
        let catalogue = self.store.catalogue(&self.subject_id).await.unwrap();
        let sealer = Sealer::new(&self.store.sealing_key().await.unwrap());
        Authorizer::new(who, &catalogue).records(&request, &sealer).ok()
    }

    pub(crate) async fn try_page(&self, who: &Principal, request: RecordsRequest) -> Option<RecordsPlan> {
        match self.records(who, request).await? {
            RecordsRead::Page(plan) => Some(*plan),
            RecordsRead::Changes(_) => panic!("a page was asked for"),
        }
    }

    pub(crate) async fn page(&self, who: &Principal, request: RecordsRequest) -> RecordsPlan {
        self.try_page(who, request).await.unwrap()
    }

    pub(crate) async fn changes(&self, who: &Principal, request: RecordsRequest) -> ChangesPlan {
        match self.records(who, request).await.unwrap() {
            RecordsRead::Changes(plan) => *plan,
            RecordsRead::Page(_) => panic!("changes were asked for"),
        }
    }

    pub(crate) async fn record(&self, who: &Principal, request: &RecordRequest) -> pdpp_access::RecordPlan {
        let catalogue = self.store.catalogue(&self.subject_id).await.unwrap();
        Authorizer::new(who, &catalogue).record(request).unwrap()
    }

    pub(crate) async fn search(&self, who: &Principal, filter: Vec<FilterTerm>) -> pdpp_access::SearchPlan {
        let catalogue = self.store.catalogue(&self.subject_id).await.unwrap();
        let request = SearchRequest {
            q: "letter".to_owned(),
            streams: vec!["letters".to_owned()],
            filter,
            limit: 25,
            ..SearchRequest::default()
        };
        Authorizer::new(who, &catalogue).search(&request, &Sealer::new(&[7; 32])).unwrap()
    }

    /// `None` when it is refused.
    pub(crate) async fn aggregate(
        &self,
        who: &Principal,
        request: &AggregateRequest,
    ) -> Option<pdpp_access::AggregatePlan> {
        let catalogue = self.store.catalogue(&self.subject_id).await.unwrap();
        Authorizer::new(who, &catalogue).aggregate(request).ok()
    }
}

/// The n-th letter; every seventh was never sent.
fn letter(n: u32) -> Value {
    let sent_at = (!n.is_multiple_of(7)).then(|| format!("2026-01-{:02}T{:02}:00:00Z", n % 28 + 1, n % 24));
    json!({
        "id": format!("l{n:03}"), "folder": format!("folder {}", n % 5), "size": n * 10, "weight": f64::from(n) / 4.0,
        "read": n.is_multiple_of(2), "body": format!("Dear number {n}"), "sent_at": sent_at,
        "filed_at": format!("2026-02-{:02}T00:00:00Z", n % 28 + 1),
    })
}

/// A request for a stream.
pub(crate) fn of(stream: &str) -> Target {
    Target { stream: stream.to_owned(), ..Target::default() }
}
