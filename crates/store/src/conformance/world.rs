//! A small world for promises: one owner, one connector, two connections, and plans over them.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use pdpp_access::{
    ActiveGrant, AggregatePlan, AggregateRequest, Authorizer, BlobPlan, BlobRequest, Catalogue, ChangesPlan,
    ClientPrincipal, Entropy, GrantStanding, OwnerPrincipal, Principal, RecordPlan, RecordRequest,
    RecordsPlan, RecordsRead, RecordsRequest, Sealer, SearchPlan, SearchRequest, Target,
};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ClientId, ConnectionId, Grant, Instant, StreamName, SubjectId};
use serde_json::{Value, json};

use crate::{
    Admission, AdmittedRecord, Aggregate, Applied, OnConflict, RecordRow, RecordsPage, Store, WriteTarget,
};

/// One owner with two connections, `home` sorting before `work`.
#[derive(Clone)]
pub(super) struct World {
    pub(super) store: Arc<dyn Store>,
    pub(super) subject: SubjectId,
    pub(super) home: ConnectionId,
    pub(super) work: ConnectionId,
}

/// A grant's entry for a stream, in the grant's own words.
pub(super) fn entry(stream: &str, connections: &[&ConnectionId], fields: &[&str]) -> Value {
    json!({"name": stream, "instance_ids": connections, "fields": fields})
}

pub(super) fn manifest() -> Manifest {
    Manifest::parse(include_str!("manifest.json")).expect("the suite's manifest is valid")
}

pub(super) fn time(text: &str) -> Instant {
    Instant::parse(text).expect("the suite spells times correctly")
}

pub(super) fn subject(id: &str) -> SubjectId {
    SubjectId::parse(id).expect("a plain id")
}

pub(super) fn stream(name: &str) -> StreamName {
    StreamName::parse(name).expect("a plain name")
}

impl World {
    pub(super) async fn new(store: Arc<dyn Store>) -> Self {
        Self::of(store, "owner_local").await
    }

    pub(super) async fn of(store: Arc<dyn Store>, subject_id: &str) -> Self {
        let subject = subject(subject_id);
        let manifest = manifest();
        store.put_manifest(&subject, &manifest, OnConflict::Refuse).await.expect("manifests are kept");
        let mut ids = Vec::new();
        for name in ["One", "Two"] {
            let made = store.create_connection(&subject, manifest.key(), Some(name)).await;
            ids.push(made.expect("connections are kept").expect("the connector exists").connection_id);
        }
        ids.sort();
        let (work, home) = (ids.remove(1), ids.remove(0));
        Self { store, subject, home, work }
    }

    pub(super) fn target(&self, connection: &ConnectionId, name: &str) -> WriteTarget {
        WriteTarget {
            subject_id: self.subject.clone(),
            connection_id: connection.clone(),
            stream: stream(name),
        }
    }

    /// Applies records as they are.
    pub(super) async fn apply(
        &self,
        connection: &ConnectionId,
        stream: &str,
        batch: Vec<AdmittedRecord>,
    ) -> Vec<Applied> {
        self.store.apply(&self.target(connection, stream), batch).await.expect("batches are taken")
    }

    /// Puts one record, emitted on the first day of 2026.
    pub(super) async fn put(&self, connection: &ConnectionId, stream: &str, data: Value) -> Applied {
        self.put_at(connection, stream, data, "2026-01-01").await
    }

    pub(super) async fn put_at(
        &self,
        connection: &ConnectionId,
        stream: &str,
        data: Value,
        emitted_at: &str,
    ) -> Applied {
        self.apply(connection, stream, vec![upsert(stream, data, emitted_at)]).await[0]
    }

    /// Puts several records, each of which must be new.
    pub(super) async fn put_all(&self, connection: &ConnectionId, stream: &str, records: Vec<Value>) {
        let batch: Vec<_> = records.into_iter().map(|data| upsert(stream, data, "2026-01-01")).collect();
        let applied = self.apply(connection, stream, batch).await;
        assert!(applied.iter().all(|one| *one == Applied::Added), "{applied:?}");
    }

    pub(super) async fn delete(&self, connection: &ConnectionId, stream: &str, key: &str) -> Applied {
        self.apply(connection, stream, vec![deletion(stream, key, "2026-01-02")]).await[0]
    }

    pub(super) async fn catalogue(&self) -> Arc<Catalogue> {
        self.store.catalogue(&self.subject).await.expect("catalogues are answered")
    }

    pub(super) fn owner(&self) -> Principal {
        Principal::Owner(OwnerPrincipal { subject_id: self.subject.clone(), token_id: None })
    }

    /// A client with one grant per list of entries.
    pub(super) fn client(&self, grants: &[Value]) -> Principal {
        let active = grants.iter().enumerate().map(|(n, streams)| {
            let document = self.grant(&format!("grt_{n}"), streams.clone()).to_string();
            let standing = GrantStanding { document, revoked_at: None };
            ActiveGrant::try_new(&standing, time("2026-01-01")).expect("the suite's grants are active")
        });
        let client = ClientId::parse("reader").expect("a plain id");
        let principal = ClientPrincipal::try_new(self.subject.clone(), client, None, active.collect());
        Principal::Client(principal.expect("the suite's grants belong together"))
    }

    /// A grant document over the suite's source.
    pub(super) fn grant(&self, id: &str, streams: Value) -> Value {
        json!({
            "version": "0.1.0", "grant_id": id, "issued_at": "2026-01-01T00:00:00.000Z",
            "subject": {"id": self.subject}, "client": {"client_id": "reader"},
            "source": {"kind": "connector", "id": "urn:pdpp:source:desk"},
            "source_declaration": {"version": "1"},
            "purpose_code": "https://pdpp.dev/purpose/agent_context", "access_mode": "continuous",
            "streams": streams,
        })
    }

    pub(super) fn grant_value(&self, id: &str, mode: &str) -> Grant {
        let mut document = self.grant(id, json!([entry("letters", &[&self.home], &["id"])]));
        document["access_mode"] = json!(mode);
        Grant::parse(&document.to_string()).expect("the suite's grants are valid")
    }

    pub(super) async fn sealer(&self) -> Sealer {
        Sealer::new(&self.store.sealing_key().await.expect("a store has a sealing key"))
    }

    pub(super) async fn records_plan(&self, who: &Principal, request: &RecordsRequest) -> RecordsPlan {
        let catalogue = self.catalogue().await;
        let read = Authorizer::new(who, &catalogue).records(request, &self.sealer().await);
        match read.expect("the suite asks for what is allowed") {
            RecordsRead::Page(plan) => *plan,
            RecordsRead::Changes(_) => panic!("the request is for records"),
        }
    }

    pub(super) async fn changes_plan(&self, who: &Principal, request: &RecordsRequest) -> ChangesPlan {
        let catalogue = self.catalogue().await;
        let read = Authorizer::new(who, &catalogue).records(request, &self.sealer().await);
        match read.expect("the suite asks for what is allowed") {
            RecordsRead::Changes(plan) => *plan,
            RecordsRead::Page(_) => panic!("the request is for changes"),
        }
    }

    pub(super) async fn page(&self, who: &Principal, request: &RecordsRequest) -> RecordsPage {
        let plan = self.records_plan(who, request).await;
        self.store.list_records(&plan).await.expect("pages are answered")
    }

    /// Follows cursors to the end, at most `limit` records a page.
    pub(super) async fn all_pages(&self, who: &Principal, request: &RecordsRequest) -> Vec<RecordRow> {
        let (sealer, mut request, mut rows) = (self.sealer().await, request.clone(), Vec::new());
        for _ in 0..1000 {
            let plan = self.records_plan(who, &request).await;
            let page = self.store.list_records(&plan).await.expect("pages are answered");
            assert!(page.rows.len() <= request.limit as usize, "a page holds its limit at most");
            rows.extend(page.rows);
            match page.next {
                None => return rows,
                Some(next) => request.cursor = Some(sealer.seal_page(&Counting, plan.binding(), &next)),
            }
        }
        panic!("paging does not end");
    }

    pub(super) async fn record_plan(&self, who: &Principal, request: &RecordRequest) -> RecordPlan {
        let catalogue = self.catalogue().await;
        Authorizer::new(who, &catalogue).record(request).expect("the suite asks for what is allowed")
    }

    pub(super) async fn find(&self, who: &Principal, stream: &str, key: &str) -> Vec<RecordRow> {
        let request =
            RecordRequest { target: target(stream), key: key.to_owned(), ..RecordRequest::default() };
        let plan = self.record_plan(who, &request).await;
        self.store.find_record(&plan).await.expect("records are answered")
    }

    pub(super) async fn aggregate(&self, who: &Principal, request: &AggregateRequest) -> Aggregate {
        let catalogue = self.catalogue().await;
        let plan: AggregatePlan =
            Authorizer::new(who, &catalogue).aggregate(request).expect("the suite asks for what is allowed");
        self.store.aggregate(&plan).await.expect("aggregates are answered")
    }

    pub(super) async fn blob_plan(&self, who: &Principal, blob_id: &str) -> BlobPlan {
        let catalogue = self.catalogue().await;
        let request = BlobRequest { blob_id: blob_id.to_owned(), ..BlobRequest::default() };
        Authorizer::new(who, &catalogue).blob(&request).expect("the suite asks for what is allowed")
    }

    pub(super) async fn search_plan(&self, who: &Principal, request: &SearchRequest) -> SearchPlan {
        let catalogue = self.catalogue().await;
        let plan = Authorizer::new(who, &catalogue).search(request, &self.sealer().await);
        plan.expect("the suite asks for what is allowed")
    }

    /// Rows as `home:key`, in their order.
    pub(super) fn names(&self, rows: &[RecordRow], plan: &RecordsPlan) -> Vec<String> {
        rows.iter().map(|row| self.name(plan.read().parts()[row.part].connection_id(), row)).collect()
    }

    fn name(&self, connection: &ConnectionId, row: &RecordRow) -> String {
        let place = if *connection == self.home { "home" } else { "work" };
        format!("{place}:{}", row.key)
    }
}

pub(super) fn target(stream: &str) -> Target {
    Target { stream: stream.to_owned(), ..Target::default() }
}

pub(super) fn under(connection: &ConnectionId, stream: &str) -> Target {
    Target { stream: stream.to_owned(), connection_id: Some(connection.to_string()), connector_id: None }
}

/// A page of a stream, oldest first, large enough for everything.
pub(super) fn listing(stream: &str) -> RecordsRequest {
    RecordsRequest {
        target: target(stream),
        limit: 100,
        order: Some("asc".to_owned()),
        ..RecordsRequest::default()
    }
}

pub(super) fn keys(rows: &[RecordRow]) -> Vec<String> {
    rows.iter().map(|row| row.key.to_string()).collect()
}

pub(super) fn data(row: &RecordRow) -> Value {
    serde_json::from_str(row.data.get()).expect("rows hold JSON")
}

pub(super) fn upsert(stream: &str, data: Value, emitted_at: &str) -> AdmittedRecord {
    with_admission(stream, |admission, primary_key| {
        let parts: Vec<_> = primary_key.iter().map(|field| data[field].clone()).collect();
        let key = if parts.len() == 1 { parts[0].clone() } else { Value::Array(parts) };
        admission.upsert(&key, data.clone(), time(emitted_at)).expect("the suite's records are valid")
    })
}

pub(super) fn deletion(stream: &str, key: &str, emitted_at: &str) -> AdmittedRecord {
    with_admission(stream, |admission, _| {
        admission.delete(&json!(key), time(emitted_at)).expect("the suite's keys are valid")
    })
}

fn with_admission<T>(stream: &str, act: impl FnOnce(&Admission<'_>, &[String]) -> T) -> T {
    let manifest = manifest();
    let declaration = manifest.find_stream(stream).expect("the suite's streams are declared");
    let admission = Admission::new(declaration).expect("the suite's schemas compile");
    act(&admission, declaration.primary_key())
}

/// Groups as a map from the key's JSON text.
pub(super) fn groups(aggregate: &Aggregate) -> BTreeMap<String, u64> {
    let groups = aggregate.groups.iter().flatten();
    groups.map(|group| (group.key.to_string(), group.count)).collect()
}

/// Different bytes each time, which is all that sealing asks of a test.
pub(super) struct Counting;

static COUNTER: AtomicU64 = AtomicU64::new(1);

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let next = COUNTER.fetch_add(1, Ordering::Relaxed).to_le_bytes();
            chunk.copy_from_slice(&next[..chunk.len()]);
        }
    }
}

/// A promise on its way.
pub(super) type Pending<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// Waits for all of them, side by side.
pub(super) async fn all<T>(mut pending: Vec<Pending<'_, T>>) -> Vec<T> {
    let mut done = Vec::new();
    poll_fn(|context| {
        pending.retain_mut(|future| match future.as_mut().poll(context) {
            Poll::Ready(value) => {
                done.push(value);
                false
            }
            Poll::Pending => true,
        });
        if pending.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done
}
