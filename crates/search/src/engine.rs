//! The index as one thing: open, kept up to date, asked.

mod upkeep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use pdpp_store::Store;
use pdpp_wire::SubjectId;
use tantivy::IndexWriter;
use tokio::sync::{Notify, watch};

use crate::SearchError;
use crate::index::{Follower, Indexer, Opened, Place, Progress, gathering_due, let_go};
use crate::rank::Counts;

/// How often a catch-up begins again when a merge took a file away under it.
const RETRIES: usize = 3;
/// How long an engine that ends, or failed, waits for its merges. Whoever writes next is kept out until they end.
const MERGES_AT_END: Duration = Duration::from_secs(5);

/// The passage index of a store.
pub struct SearchEngine {
    pub(crate) core: Arc<Core>,
    worker: Mutex<Option<std::thread::JoinHandle<()>>>,
}

pub(crate) struct Core {
    pub(crate) store: Arc<dyn Store>,
    /// Whose records are indexed; everybody's where nobody is named.
    subject_id: Option<SubjectId>,
    place: Place,
    opened: RwLock<Arc<Opened>>,
    /// Held while writing; the writer stays in it while the engine is started.
    writing: tokio::sync::Mutex<Option<IndexWriter>>,
    progress: watch::Sender<Arc<Progress>>,
    nudged: Notify,
    is_started: AtomicBool,
    is_stopping: AtomicBool,
    is_helping: AtomicBool,
    is_damaged: AtomicBool,
    /// Whether purged passages are still in the files.
    has_purged: AtomicBool,
    pub(crate) counts: Arc<Counts>,
}

impl std::fmt::Debug for SearchEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchEngine").field("place", &self.core.place).finish_non_exhaustive()
    }
}

impl SearchEngine {
    /// Opens the index of a store. It is not brought up to date before something asks for it.
    pub fn open(place: Place, store: Arc<dyn Store>) -> Result<Self, SearchError> {
        Self::open_of(place, store, None)
    }

    /// Opens an index of what one owner of a store has.
    pub(crate) fn open_for(
        place: Place,
        store: Arc<dyn Store>,
        subject_id: SubjectId,
    ) -> Result<Self, SearchError> {
        Self::open_of(place, store, Some(subject_id))
    }

    fn open_of(
        place: Place,
        store: Arc<dyn Store>,
        subject_id: Option<SubjectId>,
    ) -> Result<Self, SearchError> {
        let (opened, progress) = Opened::open(&place)?;
        let core = Core {
            store,
            subject_id,
            place,
            opened: RwLock::new(Arc::new(opened)),
            writing: tokio::sync::Mutex::new(None),
            progress: watch::Sender::new(Arc::new(progress)),
            nudged: Notify::new(),
            is_started: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            is_helping: AtomicBool::new(false),
            is_damaged: AtomicBool::new(false),
            has_purged: AtomicBool::new(false),
            counts: Arc::default(),
        };
        Ok(Self { core: Arc::new(core), worker: Mutex::new(None) })
    }

    /// Keeps the index up to date from now on, in a thread of its own that ends with the engine.
    pub fn start(&self) -> Result<(), SearchError> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.is_none() {
            let core = self.core.clone();
            let runtime = runtime()?;
            core.is_started.store(true, Ordering::SeqCst);
            let thread = std::thread::Builder::new().name("search-indexer".to_owned());
            *worker = Some(thread.spawn(move || runtime.block_on(core.keep_up()))?);
        }
        Ok(())
    }

    /// Says that the store has changed, so that the index follows without delay.
    pub fn nudge(&self) {
        self.core.nudged.notify_one();
    }

    /// Takes in everything the store holds now.
    pub async fn catch_up(&self) -> Result<(), SearchError> {
        for _ in 0..RETRIES {
            let done = self.apart(|core| async move { core.catch_up().await.map(drop) }).await;
            if !done.as_ref().is_err_and(SearchError::is_vanished_file) {
                return done;
            }
        }
        self.apart(|core| async move { core.catch_up().await.map(drop) }).await
    }

    /// Begins anew and takes in everything the store holds. Searches go on and see it grow.
    pub async fn rebuild(&self) -> Result<(), SearchError> {
        self.apart(|core| async move { core.rebuild().await }).await
    }

    /// How many passages are indexed, for tests and reports.
    pub fn passages(&self) -> u64 {
        self.core.opened().segments().searcher.num_docs()
    }

    /// Does what a started engine does when it was idle for a while: deleted passages are merged away, and many segments
    /// into one.
    pub async fn tidy(&self) -> Result<(), SearchError> {
        self.apart(|core| async move { core.tidy().await.map(drop) }).await
    }

    /// Whether there is nothing an idle engine would merge, for benchmarks and tests.
    #[doc(hidden)]
    pub fn is_tidy(&self) -> Result<bool, SearchError> {
        Ok(gathering_due(&self.core.opened().index.load_metas()?.segments).is_empty())
    }

    /// Runs work that blocks where it keeps nobody waiting.
    async fn apart<F>(&self, work: impl FnOnce(Arc<Core>) -> F + Send + 'static) -> Result<(), SearchError>
    where
        F: Future<Output = Result<(), SearchError>>,
    {
        let core = self.core.clone();
        let runtime = runtime()?;
        let done = tokio::task::spawn_blocking(move || runtime.block_on(work(core))).await;
        done.unwrap_or_else(|stopped| Err(std::io::Error::other(stopped).into()))
    }
}

impl Drop for SearchEngine {
    fn drop(&mut self) {
        self.core.is_stopping.store(true, Ordering::SeqCst);
        self.core.nudged.notify_one();
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker
            && worker.join().is_err()
        {
            tracing::error!("the search indexer panicked");
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, SearchError> {
    // A store may be across a network.
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

impl Core {
    pub(crate) fn opened(&self) -> Arc<Opened> {
        self.opened.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn progress(&self) -> watch::Receiver<Arc<Progress>> {
        self.progress.subscribe()
    }

    /// Takes note of what another process may have committed.
    pub(crate) fn refresh(&self) -> Result<(), SearchError> {
        if let Some(progress) = self.opened().refresh()? {
            self.reached(&progress);
        }
        Ok(())
    }

    /// Gets the index to follow the log, without waiting for it.
    pub(crate) fn call_indexer(self: &Arc<Self>) {
        if self.is_started.load(Ordering::SeqCst) {
            self.nudged.notify_one();
        } else if !self.is_helping.swap(true, Ordering::SeqCst) {
            let core = self.clone();
            let help = move || {
                let caught_up = runtime().and_then(|runtime| runtime.block_on(core.catch_up()));
                core.is_helping.store(false, Ordering::SeqCst);
                if let Err(error) = caught_up {
                    tracing::warn!(%error, "the search index could not follow the log");
                }
            };
            let spawned = std::thread::Builder::new().name("search-helper".to_owned()).spawn(help);
            if spawned.is_err() {
                self.is_helping.store(false, Ordering::SeqCst);
            }
        }
    }

    /// Gets the index to be made anew, without waiting for it.
    pub(crate) fn call_for_rebuild(self: &Arc<Self>) {
        self.is_damaged.store(true, Ordering::SeqCst);
        self.call_indexer();
    }

    async fn catch_up(&self) -> Result<bool, SearchError> {
        if self.is_damaged.swap(false, Ordering::SeqCst) {
            return self.rebuild().await.map(|()| true);
        }
        let mut writing = self.writing.lock().await;
        if !self.is_behind().await? && !self.is_undeclared().await? {
            return Ok(false);
        }
        match self.write(&mut writing, Some(MERGES_AT_END), |_| Ok(())).await {
            // Another process is at it, and its work is as good as ours.
            Err(error) if error.is_locked() => self.refresh().map(|()| false),
            done => done,
        }
    }

    async fn rebuild(&self) -> Result<(), SearchError> {
        let mut writing = self.writing.lock().await;
        // Nothing of a writer that failed may write into what is begun anew.
        let emptied = self.write(&mut writing, None, |writer| {
            writer.delete_all_documents()?;
            let mut prepared = writer.prepare_commit()?;
            prepared.set_payload(&Progress::default().write());
            prepared.commit()?;
            Ok(())
        });
        match emptied.await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_locked() => return Err(error),
            Err(error) => tracing::warn!(%error, "the search index is begun anew"),
        }
        let (opened, progress) = Opened::anew(&self.place)?;
        *self.opened.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened);
        self.reached(&progress);
        self.write(&mut writing, Some(MERGES_AT_END), |_| Ok(())).await.map(drop)
    }

    /// Does something with the writer and then follows the log. The merges of a writer that failed are waited for as
    /// long as `patience` lasts.
    async fn write(
        &self,
        writing: &mut Option<IndexWriter>,
        patience: Option<Duration>,
        first: impl FnOnce(&mut IndexWriter) -> Result<(), SearchError>,
    ) -> Result<bool, SearchError> {
        let opened = self.opened();
        if writing.is_none() {
            *writing = Some(opened.writer()?);
        }
        let Some(writer) = writing.as_mut() else { return Ok(false) };
        let mut caught_up = first(writer);
        let mut any = false;
        if caught_up.is_ok() {
            let indexer = Indexer::new(&*self.store, &opened, writer, self);
            match indexer {
                Ok(indexer) => {
                    caught_up = match self.subjects().await {
                        Ok(subjects) => indexer.catch_up(subjects).await.map(|some| any = some),
                        Err(error) => Err(error),
                    };
                }
                Err(error) => caught_up = Err(error),
            }
        }
        // A writer that failed may be dead; and one that is not needed keeps others from writing.
        if (caught_up.is_err() || !self.is_started.load(Ordering::SeqCst))
            && let Some(writer) = writing.take()
        {
            // Whoever asked without starting the engine wants everything done.
            let_go(writer, patience.filter(|_| caught_up.is_err()));
        }
        caught_up.map(|()| any)
    }

    /// Whether some subject's log goes further than the index.
    pub(crate) async fn is_behind(&self) -> Result<bool, SearchError> {
        self.refresh()?;
        for subject_id in self.subjects().await? {
            let head = self.store.log_head(&subject_id).await?;
            if self.progress.borrow().position(&subject_id) < head {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whose logs are followed.
    async fn subjects(&self) -> Result<Vec<SubjectId>, SearchError> {
        match &self.subject_id {
            Some(only) => Ok(vec![only.clone()]),
            None => Ok(self.store.subjects().await?),
        }
    }

    /// Whether some stream is declared otherwise than when it was indexed.
    async fn is_undeclared(&self) -> Result<bool, SearchError> {
        for subject_id in self.subjects().await? {
            let catalogue = self.store.catalogue(&subject_id).await?;
            if !self.progress.borrow().knows(&catalogue) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Follower for Core {
    fn reached(&self, progress: &Progress) {
        self.progress.send_if_modified(|known| {
            let is_new = **known != *progress;
            if is_new {
                *known = Arc::new(progress.clone());
            }
            is_new
        });
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    fn left_purged(&self) {
        self.has_purged.store(true, Ordering::SeqCst);
    }
}
