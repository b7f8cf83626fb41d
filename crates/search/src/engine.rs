//! The index as one thing: open, kept up to date, asked.

mod damage;
mod rest;
mod upkeep;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use pdpp_store::Store;
use pdpp_wire::SubjectId;
use tantivy::IndexWriter;
use tokio::sync::{Notify, watch};

use self::rest::{Occasion, Rest};
use crate::SearchError;
use crate::error::caught;
use crate::index::{Follower, Held, Indexer, Opened, Owed, Place, Progress, gathering_due, let_go};
use crate::rank::Counts;

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
    /// Whether the writer is kept because of merges, although the engine is not started.
    is_merging: AtomicBool,
    resting: Mutex<Rest>,
    /// When the files were last looked through for damage.
    checked_at: Mutex<Option<Instant>>,
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
            is_merging: AtomicBool::new(false),
            resting: Mutex::new(Rest::new(Instant::now())),
            checked_at: Mutex::default(),
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
            *worker = Some(thread.spawn(move || core.keep_on(&runtime))?);
        }
        Ok(())
    }

    /// Says that the store has changed, so that the index follows without delay.
    pub fn nudge(&self) {
        self.core.nudged.notify_one();
    }

    /// Takes in everything the store holds now.
    pub async fn catch_up(&self) -> Result<(), SearchError> {
        self.apart(|core| async move { core.follow().await.map(drop) }).await
    }

    /// Begins anew and takes in everything the store holds. Searches go on and see it grow.
    pub async fn rebuild(&self) -> Result<(), SearchError> {
        self.apart(|core| async move { core.rebuild().await }).await
    }

    /// Whether the index was begun anew when it was opened, because what was there could not be read.
    pub fn was_replaced(&self) -> bool {
        self.core.opened().is_replaced
    }

    /// How many passages are indexed, for tests and reports.
    pub fn passages(&self) -> u64 {
        self.core.opened().segments().searcher.num_docs()
    }

    /// Does what a started engine does when it was idle for a while: deleted passages are merged away, and many segments
    /// into one.
    pub async fn tidy(&self) -> Result<(), SearchError> {
        self.apart(|core| async move { core.tidy(Occasion::Asked).await.map(drop) }).await
    }

    /// Takes in everything the store holds now, and writes again what has words of records that are gone. For who
    /// changes a store while no engine is started.
    pub async fn expunge(&self) -> Result<(), SearchError> {
        self.catch_up().await?;
        self.apart(|core| async move {
            let writing = core.writing.lock().await;
            if core.is_to_pay(writing.as_ref(), Owed::Replaced)? { core.pay() } else { Ok(()) }
        })
        .await
    }

    /// Tidies, if the engine was idle for a while. For who keeps many engines, none of them started.
    pub(crate) async fn rest(&self) -> Result<(), SearchError> {
        if self.core.is_merging.load(Ordering::SeqCst) {
            self.apart(|core| async move { core.let_go_of_merged().await }).await?;
        }
        if !self.core.resting().is_due(Instant::now()) {
            return Ok(());
        }
        self.apart(|core| async move {
            core.rest().await;
            Ok(())
        })
        .await
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
        // Merges that are still running keep whoever drops the engine from nothing.
        if let Ok(mut writing) = self.core.writing.try_lock()
            && let Some(writer) = writing.take()
        {
            let_go(writer, Some(Duration::ZERO));
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
        let opened = self.opened();
        if let Some(progress) = caught(|| opened.refresh())? {
            self.reached(&progress);
        }
        Ok(())
    }

    async fn catch_up(&self) -> Result<bool, SearchError> {
        if self.is_damaged.swap(false, Ordering::SeqCst) {
            self.rebuild().await?;
            self.resting().disturbed(Instant::now());
            return Ok(true);
        }
        let mut writing = self.writing.lock().await;
        let mut any = false;
        if self.is_behind().await? || self.is_undeclared().await? {
            any = match self.write(&mut writing, Some(MERGES_AT_END), |_| Ok(())).await {
                // Another process is at it, and its work is as good as ours.
                Err(error) if error.is_locked() => return self.refresh().map(|()| false),
                done => done?,
            };
            self.resting().disturbed(Instant::now());
        }
        if self.is_to_pay(writing.as_ref(), Owed::Purged)? {
            self.pay()?;
        }
        drop(writing);
        if any && self.progress.borrow().debts.open == Owed::Purged {
            self.tidy(Occasion::Purge).await?;
        }
        Ok(any)
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
        let writer = match writing.take() {
            Some(writer) => writer,
            None => opened.writer()?,
        };
        let mut writer = Held::new(writer);
        let mut caught_up = first(&mut writer);
        let mut any = false;
        if caught_up.is_ok() {
            let indexer = Indexer::new(&*self.store, &opened, &mut writer, self);
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
        let is_kept = self.is_started.load(Ordering::SeqCst) || self.is_merging.load(Ordering::SeqCst);
        if caught_up.is_ok() && is_kept {
            *writing = writer.release();
        } else {
            // Whoever asked without starting the engine wants everything done.
            writer.let_go(patience.filter(|_| caught_up.is_err()));
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
}
