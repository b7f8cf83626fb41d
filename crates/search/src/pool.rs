//! Many owners' indexes on one machine, within a bound.
//!
//! For a node over a store that many nodes share: it keeps the index of an owner only after it was asked for that
//! owner, makes it from the change log then, and forgets what was not asked for longest when they take more of the disk
//! than they may. The disk itself says who was asked for last, so a node that starts again goes on where it was, and
//! several processes may share the directory.
//!
//! Each index lies in a directory of its own that is never used twice: whoever still works on one that was evicted fails
//! instead of writing into its successor.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use std::{fs, io};

use async_trait::async_trait;
use pdpp_access::{Entropy, random_hex};
use pdpp_store::{Ranking, Search, SearchIndex, Store, StoreError};
use pdpp_wire::SubjectId;
use tokio::sync::OnceCell;

use crate::engine::SearchEngine;
use crate::index::Place;
use crate::{SearchError, disk};

/// Indexes that are held open; one that is asked for again is opened again.
const MOST_OPEN: usize = 256;
/// How exactly it is known when an index was asked for last.
const TOUCH_EVERY: Duration = Duration::from_mins(1);
/// How often a started pool looks at what its indexes take.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How many kept indexes follow the log then without being asked for.
const TENDED_AT_ONCE: usize = 8;
/// How long one of them keeps the next from its turn. What is not done by then goes on beside it.
const TEND_PATIENCE: Duration = Duration::from_mins(1);
/// The file whose time says when an index was asked for last.
const USED: &str = "used";

/// The indexes of the owners this machine is asked for.
pub struct IndexPool {
    root: PathBuf,
    most_bytes: u64,
    store: Arc<dyn Store>,
    entropy: Arc<dyn Entropy>,
    open: Mutex<HashMap<SubjectId, Slot>>,
    /// Whose index was looked after last.
    tended: Mutex<Option<SubjectId>>,
}

/// Why an index is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Its owner was asked for.
    Asked,
    /// It is its turn.
    Tended,
}

/// One open index.
#[derive(Clone)]
struct Slot {
    engine: Arc<OnceCell<SearchEngine>>,
    /// None where it is open only because it was its turn.
    asked_at: Option<Instant>,
    touched_at: Option<Instant>,
}

impl std::fmt::Debug for IndexPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexPool").field("root", &self.root).finish_non_exhaustive()
    }
}

impl IndexPool {
    /// A pool in a directory of its own, of at most so many bytes. The index that was asked for last is kept even if it
    /// takes more than that alone.
    pub fn new(root: PathBuf, most_bytes: u64, store: Arc<dyn Store>, entropy: Arc<dyn Entropy>) -> Self {
        Self { root, most_bytes, store, entropy, open: Mutex::default(), tended: Mutex::default() }
    }

    /// Keeps within the bound from now on, for as long as the pool lives: an index grows without being asked for.
    pub fn start(self: &Arc<Self>) {
        tokio::spawn(keep_small(Arc::downgrade(self)));
        tokio::spawn(keep_tended(Arc::downgrade(self)));
    }

    /// Forgets indexes until the rest is within the bound, the one that was not asked for longest first. Says how many
    /// went.
    pub async fn evict(self: &Arc<Self>) -> Result<usize, StoreError> {
        let pool = Arc::clone(self);
        let evicted = tokio::task::spawn_blocking(move || pool.evict_now()).await;
        evicted.map_err(|stopped| StoreError::Backend(Box::new(stopped)))?.map_err(unwritable)
    }

    /// Does what a started pool does from time to time: a few of the kept indexes follow the log although nobody asked,
    /// so that what was deleted does not stay where nobody searches any more; and the open ones that were idle for a
    /// while are tidied, one after the other.
    pub async fn tend(&self) {
        let round = self.next_round().unwrap_or_default();
        for subject_id in round {
            let followed = async {
                let slot = self.engine(&subject_id, Why::Tended).await?;
                let Some(engine) = slot.get() else { return Ok(()) };
                engine.catch_up().await.map_err(StoreError::from)
            };
            // One that is made anew may take minutes.
            if let Ok(followed) = tokio::time::timeout(TEND_PATIENCE, followed).await {
                told("follow the log", followed);
            }
        }
        let engines: Vec<_> = self.lock().values().map(|slot| Arc::clone(&slot.engine)).collect();
        for engine in engines {
            if let Some(engine) = engine.get()
                && let Ok(rested) = tokio::time::timeout(TEND_PATIENCE, engine.rest()).await
            {
                told("be tidied", rested.map_err(StoreError::from));
            }
        }
    }

    /// Whose indexes are looked after next; after the last it is the first's turn again.
    fn next_round(&self) -> io::Result<Vec<SubjectId>> {
        let folders = disk::folders(&self.root)?;
        let names = folders.iter().filter_map(|folder| folder.file_name()?.to_str());
        let mut kept: Vec<_> = names.filter_map(|name| SubjectId::parse(name).ok()).collect();
        kept.sort();
        let mut tended = self.tended.lock().unwrap_or_else(PoisonError::into_inner);
        let start = tended.as_ref().map_or(0, |last| kept.partition_point(|name| name <= last));
        let start = if start < kept.len() { start } else { 0 };
        kept.rotate_left(start);
        kept.truncate(TENDED_AT_ONCE);
        *tended = kept.last().cloned();
        Ok(kept)
    }

    /// The index of one owner, opened or made.
    async fn engine(
        &self,
        subject_id: &SubjectId,
        why: Why,
    ) -> Result<Arc<OnceCell<SearchEngine>>, StoreError> {
        let (slot, touch) = self.slot(subject_id, why);
        let folder = self.root.join(subject_id.as_str());
        let open = async || {
            let (place, store, subject) = (self.root_of(&folder), self.store.clone(), subject_id.clone());
            let opened = tokio::task::spawn_blocking(move || {
                let place = Place::Directory(place.map_err(SearchError::from)?);
                SearchEngine::open_for(place, store, subject)
            });
            let opened = opened.await.map_err(|stopped| StoreError::Backend(Box::new(stopped)))?;
            opened.map_err(StoreError::from)
        };
        if let Err(error) = slot.get_or_try_init(open).await {
            self.lock().remove(subject_id);
            return Err(error);
        }
        if touch {
            disk::touch(&folder.join(USED)).map_err(unwritable)?;
        }
        Ok(slot)
    }

    /// Where the index of an owner lies: where it was, or where none ever was.
    fn root_of(&self, folder: &Path) -> io::Result<PathBuf> {
        disk::make_private(folder)?;
        let mut known = disk::folders(folder)?;
        known.sort_by_key(|path| disk::changed_at(path));
        match known.pop() {
            Some(latest) => Ok(latest),
            None => Ok(folder.join(random_hex(&*self.entropy, 8))),
        }
    }

    /// The owner's place among the open ones, and whether the disk should hear of it.
    fn slot(&self, subject_id: &SubjectId, why: Why) -> (Arc<OnceCell<SearchEngine>>, bool) {
        let now = Instant::now();
        let mut open = self.lock();
        let new = || Slot { engine: Arc::default(), asked_at: None, touched_at: None };
        let slot = open.entry(subject_id.clone()).or_insert_with(new);
        let is_asked = why == Why::Asked;
        slot.asked_at = if is_asked { Some(now) } else { slot.asked_at };
        let touch = is_asked && slot.touched_at.is_none_or(|at| now.duration_since(at) > TOUCH_EVERY);
        if touch {
            slot.touched_at = Some(now);
        }
        let engine = Arc::clone(&slot.engine);
        while open.len() > MOST_OPEN {
            let oldest = open.iter().min_by_key(|(_, slot)| slot.asked_at).map(|(id, _)| id.clone());
            oldest.and_then(|id| open.remove(&id));
        }
        (engine, touch)
    }

    fn evict_now(&self) -> io::Result<usize> {
        let mut kept = Vec::new();
        for folder in disk::folders(&self.root)? {
            kept.push((disk::changed_at(&folder.join(USED)), disk::bytes(&folder), folder));
        }
        kept.sort();
        let mut total: u64 = kept.iter().map(|(_, bytes, _)| bytes).sum();
        let mut evicted = 0;
        kept.pop();
        for (_, bytes, folder) in kept {
            if total <= self.most_bytes {
                break;
            }
            let name = folder.file_name().and_then(|name| name.to_str());
            if let Some(subject_id) = name.and_then(|name| SubjectId::parse(name).ok()) {
                self.lock().remove(&subject_id);
            }
            match fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            total -= bytes;
            evicted += 1;
        }
        Ok(evicted)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SubjectId, Slot>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SearchIndex for IndexPool {
    async fn rank(&self, search: Search<'_>) -> Result<Ranking, StoreError> {
        let slot = self.engine(search.plan.subject_id(), Why::Asked).await?;
        match slot.get() {
            Some(engine) => engine.rank(search).await,
            None => Ok(Ranking::default()),
        }
    }

    /// Of a node, not of an owner: an index that is being made says so in its own answers. Here it is asked whether one
    /// could be made at all.
    async fn is_current(&self) -> Result<bool, StoreError> {
        disk::make_private(&self.root).map(|()| true).map_err(unwritable)
    }
}

async fn keep_small(pool: Weak<IndexPool>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        match pool.evict().await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "search indexes were dropped to make room"),
            Err(error) => tracing::warn!(%error, "search indexes could not be dropped"),
        }
    }
}

async fn keep_tended(pool: Weak<IndexPool>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        pool.tend().await;
    }
}

/// One index that fails keeps the others from nothing.
fn told(what: &str, done: Result<(), StoreError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "a search index could not {what}");
    }
}

fn unwritable(error: io::Error) -> StoreError {
    StoreError::Unwritable(Box::new(error))
}
