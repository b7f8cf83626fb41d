//! The one writer: reads the change log in batches and makes the passages of what changed.
//!
//! A batch names records; what is fed is the record as it is now, which may be newer than the batch. So
//! feeding twice does no harm, and a crash between two commits costs only the work since the first.

use std::collections::{BTreeMap, BTreeSet};

use pdpp_store::{Change, ChangeKind, FedRecord, Store};
use pdpp_wire::{RecordKey, SubjectId};
use tantivy::indexer::UserOperation;
use tantivy::{IndexWriter, Term};

use super::declared::{Declared, declared_streams};
use super::documents::Documents;
use super::files::Opened;
use super::links::Links;
use super::owed::Owed;
use super::progress::{Progress, StreamProgress};
use crate::SearchError;
use crate::layout::Layout;
use crate::place::{StreamPlace, connection_term};

/// Changes read at a time.
const BATCH: u32 = 2_000;
/// Records asked of the store at a time; each may hold megabytes of text.
const FEED: usize = 64;
/// Records fed before a long catch-up commits what it has, so that searches see it grow.
const COMMIT_AFTER: usize = 100_000;

/// Brings an index up to date.
pub(crate) struct Indexer<'a> {
    store: &'a dyn Store,
    opened: &'a Opened,
    layout: Layout,
    writer: &'a mut IndexWriter,
    progress: Progress,
    follower: &'a dyn Follower,
    links: Links,
    streams: BTreeMap<StreamPlace, Declared>,
    is_dirty: bool,
}

/// Whoever the indexer works for.
pub(crate) trait Follower: Sync {
    /// Readers can see this much now.
    fn reached(&self, progress: &Progress);
    /// Whether to leave the rest for another time.
    fn is_stopping(&self) -> bool;
}

type Pending = BTreeMap<StreamPlace, BTreeSet<RecordKey>>;

impl<'a> Indexer<'a> {
    pub(crate) fn new(
        store: &'a dyn Store,
        opened: &'a Opened,
        writer: &'a mut IndexWriter,
        follower: &'a dyn Follower,
    ) -> Result<Self, SearchError> {
        let (_, layout) = Layout::new();
        let progress = opened.refresh()?.unwrap_or_default();
        follower.reached(&progress);
        let links = Links::of(opened.segments());
        let (streams, is_dirty) = (BTreeMap::new(), false);
        Ok(Self { store, opened, layout, writer, progress, follower, links, streams, is_dirty })
    }

    /// Takes in everything these subjects' logs hold. Says whether there was anything.
    pub(crate) async fn catch_up(mut self, subjects: Vec<SubjectId>) -> Result<bool, SearchError> {
        let mut any = false;
        for subject_id in subjects {
            self.load_streams(&subject_id).await?;
            any |= self.follow_declarations(&subject_id).await?;
            any |= self.follow_log(&subject_id).await?;
        }
        if self.is_dirty {
            self.commit()?;
        }
        self.follower.reached(&self.progress);
        Ok(any)
    }

    async fn load_streams(&mut self, subject_id: &SubjectId) -> Result<(), SearchError> {
        self.streams = declared_streams(&*self.store.catalogue(subject_id).await?);
        Ok(())
    }

    /// Makes passages again where a stream is searched otherwise than when they were made.
    async fn follow_declarations(&mut self, subject_id: &SubjectId) -> Result<bool, SearchError> {
        let known = self.progress.subjects.entry(subject_id.clone()).or_default();
        let position = known.position;
        let connections: BTreeSet<_> = known.streams.values().map(|one| one.connection.clone()).collect();
        let (mut stale, mut current) = (BTreeSet::new(), BTreeMap::new());
        let mut refed = BTreeSet::new();
        for (place, declared) in &self.streams {
            let connection = connection_term(&place.subject_id, &place.connection_id);
            let term = place.stream_term();
            let is_stale = match known.streams.get(&term) {
                Some(before) => before.digest != declared.digest,
                // Whatever a new connection brought comes later in the log.
                None => connections.contains(&connection),
            };
            if is_stale {
                stale.insert(term.clone());
                refed.insert(place.clone());
            }
            current.insert(term, StreamProgress { connection, digest: declared.digest.clone() });
        }
        stale.extend(known.streams.keys().filter(|term| !current.contains_key(*term)).cloned());
        if stale.is_empty() {
            known.streams = current;
            return Ok(false);
        }
        let was_indexed = stale.iter().any(|term| known.streams.contains_key(term));
        // Should this be interrupted, no digest says that it was done.
        let undone = |(term, mut one): (String, StreamProgress)| {
            if stale.contains(&term) {
                one.digest.clear();
            }
            (term, one)
        };
        known.streams = current.clone().into_iter().map(undone).collect();
        for term in &stale {
            self.writer.delete_term(Term::from_field_text(self.layout.stream, term));
        }
        if was_indexed {
            self.progress.debts.owe(Owed::Purged);
        }
        self.commit()?;
        if !self.feed_again(subject_id, position, &refed).await? {
            return Ok(true);
        }
        self.progress.subjects.entry(subject_id.clone()).or_default().streams = current;
        self.is_dirty = true;
        Ok(true)
    }

    /// Feeds what the log up to a position says of some streams. Says whether it came to the end.
    async fn feed_again(
        &mut self,
        subject_id: &SubjectId,
        position: u64,
        refed: &BTreeSet<StreamPlace>,
    ) -> Result<bool, SearchError> {
        let mut after = 0;
        while after < position {
            if self.follower.is_stopping() {
                return Ok(false);
            }
            let mut changes = self.store.read_log(subject_id, after, BATCH).await?;
            let Some(last) = changes.last() else { break };
            after = last.sequence;
            changes.retain(|change| place(subject_id, change).is_some_and(|place| refed.contains(&place)));
            self.take(subject_id, &changes).await?;
        }
        Ok(true)
    }

    async fn follow_log(&mut self, subject_id: &SubjectId) -> Result<bool, SearchError> {
        let mut any = false;
        while !self.follower.is_stopping() {
            let after = self.progress.position(subject_id);
            let changes = self.store.read_log(subject_id, after, BATCH).await?;
            let Some(last) = changes.last() else { return Ok(any) };
            any = true;
            let unknown =
                |change: &Change| place(subject_id, change).is_some_and(|at| !self.streams.contains_key(&at));
            if changes.iter().any(unknown) {
                self.load_streams(subject_id).await?;
                self.follow_declarations(subject_id).await?;
            }
            self.take(subject_id, &changes).await?;
            self.progress.subjects.entry(subject_id.clone()).or_default().position = last.sequence;
            self.is_dirty = true;
            if self.links.fed() >= COMMIT_AFTER {
                self.commit()?;
            }
        }
        Ok(any)
    }

    async fn take(&mut self, subject_id: &SubjectId, changes: &[Change]) -> Result<(), SearchError> {
        let mut pending = Pending::new();
        for change in changes {
            match (&change.kind, place(subject_id, change)) {
                (ChangeKind::Upsert(key) | ChangeKind::Delete(key), Some(place)) => {
                    pending.entry(place).or_default().insert(key.clone());
                }
                (ChangeKind::PurgeStream, Some(place)) => {
                    pending.remove(&place);
                    self.purge(Term::from_field_text(self.layout.stream, &place.stream_term()))?;
                }
                _ => {
                    pending.retain(|place, _| place.connection_id != change.connection_id);
                    let connection = connection_term(subject_id, &change.connection_id);
                    self.purge(Term::from_field_text(self.layout.connection, &connection))?;
                }
            }
        }
        let mut seen = BTreeSet::new();
        let mut named_at: Option<StreamPlace> = None;
        while let Some((place, keys)) = pending.pop_first() {
            // Neighbours are of the same place, so whatever comes for it again was not named by the log.
            let is_named = named_at.as_ref() != Some(&place);
            named_at = Some(place.clone());
            let keys: Vec<_> =
                keys.into_iter().filter(|key| seen.insert((place.clone(), key.clone()))).collect();
            let wrong = self.feed(&place, &keys, is_named).await?;
            let wrong: BTreeSet<_> =
                wrong.into_iter().filter(|key| !seen.contains(&(place.clone(), key.clone()))).collect();
            if !wrong.is_empty() {
                pending.entry(place).or_default().extend(wrong);
            }
        }
        Ok(())
    }

    /// Committed at once, because links are looked up in what is committed.
    fn purge(&mut self, term: Term) -> Result<(), SearchError> {
        self.writer.delete_term(term);
        self.progress.debts.owe(Owed::Purged);
        self.commit()
    }

    /// Makes the passages of these records, and names their neighbours whose links are now wrong.
    async fn feed(
        &mut self,
        place: &StreamPlace,
        keys: &[RecordKey],
        is_named: bool,
    ) -> Result<Vec<RecordKey>, SearchError> {
        let declared = self.streams.get(place).filter(|declared| !declared.fields.is_empty()).cloned();
        let Some(declared) = declared else { return Ok(Vec::new()) };
        let documents = Documents::new(self.layout, place, &declared);
        let StreamPlace { subject_id, connection_id, stream } = place;
        let mut wrong = Vec::new();
        for keys in keys.chunks(FEED) {
            for fed in self.store.feed_records(subject_id, connection_id, stream, keys).await? {
                wrong.extend(self.feed_record(place, &documents, &fed, is_named)?);
            }
        }
        wrong.retain(|key| declared.is_threaded && !keys.contains(key));
        Ok(wrong)
    }

    fn feed_record(
        &mut self,
        place: &StreamPlace,
        documents: &Documents<'_>,
        fed: &FedRecord,
        is_named: bool,
    ) -> Result<Vec<RecordKey>, SearchError> {
        let record = place.record(&fed.key);
        let before = self.links.find(record)?;
        let added = documents.of(fed);
        self.progress.debts.owe(match (&before, added.is_empty()) {
            (Some(_), true) => Owed::Deleted,
            (Some(_), false) if is_named => Owed::Replaced,
            _ => Owed::Nothing,
        });
        // A deletion looks into every segment, so a record that is new asks for none.
        let delete =
            before.is_some().then(|| UserOperation::Delete(Term::from_field_u64(self.layout.record, record)));
        let operations: Vec<_> =
            delete.into_iter().chain(added.into_iter().map(UserOperation::Add)).collect();
        if !operations.is_empty() {
            self.is_dirty = true;
            // One group of operations stays together in one segment.
            self.writer.run(operations)?;
        }
        self.links.take(place, fed, before)
    }

    fn commit(&mut self) -> Result<(), SearchError> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&self.progress.write());
        prepared.commit()?;
        self.opened.refresh()?;
        self.links = Links::of(self.opened.segments());
        self.is_dirty = false;
        self.follower.reached(&self.progress);
        Ok(())
    }
}

fn place(subject_id: &SubjectId, change: &Change) -> Option<StreamPlace> {
    Some(StreamPlace {
        subject_id: subject_id.clone(),
        connection_id: change.connection_id.clone(),
        stream: change.stream.clone()?,
    })
}
