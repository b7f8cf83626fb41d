//! Appends that wait at the same time are committed together.
//!
//! Each request waits for its commit: what cannot be written down is not read. A lone one is committed at once; what
//! comes while a group is on its way waits for the next, so the cost is per group. The group runs in a task of its
//! own: an asker that goes away stops nobody else's, and its own entry is kept.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use deadpool_postgres::Pool;
use pdpp_store::{Disclosure, StoreError};
use pdpp_wire::{ClientId, Code, StreamName, SubjectId};
use tokio::sync::oneshot;

use crate::fault::{Fault, Outcome};
use crate::session::Session;

/// Appends in one transaction.
const MOST: usize = 256;

/// One append and whoever waits for it.
struct Waiting {
    entries: Vec<Disclosure>,
    reply: oneshot::Sender<Result<(), StoreError>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Whether a task is at work on it.
    is_served: bool,
}

/// The appends that wait.
#[derive(Clone, Default)]
pub(crate) struct Groups(Arc<Mutex<Queue>>);

impl Groups {
    /// Returns when the entries are committed.
    pub(crate) async fn append(&self, pool: &Pool, entries: Vec<Disclosure>) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        let is_served = self.with(|queue| {
            queue.waiting.push_back(Waiting { entries, reply });
            std::mem::replace(&mut queue.is_served, true)
        });
        if !is_served {
            tokio::spawn(serve(Serving { groups: self.clone(), is_done: false }, pool.clone()));
        }
        let stopped = |_| StoreError::Unreachable("the ledger's task was stopped".into());
        answer.await.map_err(stopped)?
    }

    fn with<T>(&self, work: impl FnOnce(&mut Queue) -> T) -> T {
        // A list that somebody panicked beside is still a list.
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// At work on the queue. However the work ends, also with its runtime, nobody is left waiting for it.
struct Serving {
    groups: Groups,
    is_done: bool,
}

impl Serving {
    /// The next group; `None`, and no longer at work, when nobody waits.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        let group = self.groups.with(|queue| {
            let count = queue.waiting.len().min(MOST);
            queue.is_served = count > 0;
            (count > 0).then(|| queue.waiting.drain(..count).collect())
        });
        self.is_done = group.is_none();
        group
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Once done, the queue may be another task's already.
        if !self.is_done {
            self.groups.with(|queue| *queue = Queue::default());
        }
    }
}

async fn serve(mut serving: Serving, pool: Pool) {
    while let Some(group) = serving.next() {
        let (entries, replies): (Vec<_>, Vec<_>) =
            group.into_iter().map(|waiting| (waiting.entries, waiting.reply)).unzip();
        let outcome = commit(&pool, entries.into_iter().flatten()).await;
        let outcome = outcome.map_err(|fault| Arc::new(StoreError::from(fault)));
        for reply in replies {
            // Whoever asked may have gone.
            let _ = reply.send(outcome.clone().map_err(|error| told(&error)));
        }
    }
}

/// One failure, told to each who waited, by what they can do about it.
fn told(error: &Arc<StoreError>) -> StoreError {
    let source = Box::new(error.clone());
    match &**error {
        StoreError::Busy(_) => StoreError::Busy(source),
        StoreError::Unreachable(_) => StoreError::Unreachable(source),
        StoreError::Unwritable(_) => StoreError::Unwritable(source),
        StoreError::Damaged(what) => StoreError::Damaged(what.clone()),
        _ => StoreError::Backend(source),
    }
}

async fn commit(pool: &Pool, entries: impl Iterator<Item = Disclosure>) -> Outcome<()> {
    // In the order of subjects, so that two groups of two nodes never wait for each other in a circle.
    let mut by_subject: BTreeMap<SubjectId, Vec<Disclosure>> = BTreeMap::new();
    for entry in entries {
        by_subject.entry(entry.subject_id.clone()).or_default().push(entry);
    }
    let Some(first) = by_subject.keys().next() else { return Ok(()) };
    let session = Session::write(pool, first.into()).await?;
    let appended = append_all(&session, &by_subject).await;
    session.end(appended).await
}

/// The transaction begins as the first of them.
async fn append_all(session: &Session, by_subject: &BTreeMap<SubjectId, Vec<Disclosure>>) -> Outcome<()> {
    for (index, (subject_id, entries)) in by_subject.iter().enumerate() {
        if index > 0 {
            session.turn_to(subject_id.into()).await?;
        }
        append(session, subject_id, entries).await?;
    }
    Ok(())
}

/// Numbers the entries, keeps them, and keeps under which grants they were, in one statement.
pub(crate) async fn append(session: &Session, subject_id: &SubjectId, entries: &[Disclosure]) -> Outcome<()> {
    let sql = "WITH numbered AS (
                   INSERT INTO disclosure_counters AS c (subject_id, counter) VALUES ($1, $2)
                   ON CONFLICT (subject_id) DO UPDATE SET counter = c.counter + $2
                   RETURNING counter - $2 AS before),
               kept AS (
                   INSERT INTO disclosures (subject_id, at, id, client_id, stream, refused, entry)
                   SELECT $1, e.at, n.before + e.place, e.client_id, e.stream, e.refused, e.entry
                   FROM numbered n, unnest($3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[],
                                           $8::text[])
                       AS e (place, at, client_id, stream, refused, entry))
               INSERT INTO disclosure_grants (subject_id, grant_id, at, disclosure_id, is_use)
               SELECT $1, g.grant_id, g.at, n.before + g.place, g.is_use
               FROM numbered n, unnest($9::bigint[], $10::bigint[], $11::text[], $12::boolean[])
                   AS g (place, at, grant_id, is_use)
               ON CONFLICT DO NOTHING";
    let places: Vec<i64> = (1..).take(entries.len()).collect();
    let count = i64::try_from(entries.len()).map_err(|_| Fault::overtaken("too many entries at once"))?;
    let times: Vec<i64> = entries.iter().map(|entry| entry.at.micros()).collect();
    let clients: Vec<_> = entries.iter().map(|e| e.client_id.as_ref().map(ClientId::as_str)).collect();
    let streams: Vec<_> = entries.iter().map(|e| e.stream.as_ref().map(StreamName::as_str)).collect();
    let refusals: Vec<_> = entries.iter().map(|entry| entry.refused.map(Code::as_str)).collect();
    let documents = entries.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    let (mut grant_places, mut grant_times, mut grants) = (Vec::new(), Vec::new(), Vec::new());
    let mut uses = Vec::new();
    for (entry, place) in entries.iter().zip(1_i64..) {
        for grant_id in &entry.grant_ids {
            grant_places.push(place);
            grant_times.push(entry.at.micros());
            grants.push(grant_id.as_str());
            uses.push(entry.refused.is_none() && entry.is_read());
        }
    }
    let subject = subject_id.as_str();
    session
        .execute(
            sql,
            &[
                &subject,
                &count,
                &places,
                &times,
                &clients,
                &streams,
                &refusals,
                &documents,
                &grant_places,
                &grant_times,
                &grants,
                &uses,
            ],
        )
        .await?;
    Ok(())
}
