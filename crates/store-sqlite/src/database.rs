//! One database: a writer and its readers behind queues.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use pdpp_store::StoreError;
use rusqlite::{Connection, InterruptHandle};
use tokio::sync::{mpsc, oneshot};

use crate::fault::Outcome;
use crate::migrate::migrate;
use crate::pragmas::{self, Durability, Role};
use crate::statement::Traces;
use crate::worker::{self, QUEUE, Task};

/// Virtual machine steps of one statement after which a glance looks at how long it takes already. The engine counts
/// them over all runs of a kept statement, so a look says little by itself.
const STEPS_BETWEEN_LOOKS: i32 = 5_000;
/// Looks after which a glance is given up: about a millisecond.
const GLANCE_LOOKS: u32 = 10;

/// A database file, or one in memory.
pub(crate) struct Database {
    writer: Option<mpsc::Sender<Task>>,
    /// The writer's connection, which is free while the writer has nothing to do.
    writing: Arc<Mutex<Connection>>,
    /// Without readers of its own (in memory), the writer's connection reads as well.
    readers: Option<mpsc::Sender<Task>>,
    /// For reads so short that the way to another thread would cost more than they do.
    glancing: Vec<Glancing>,
    interrupts: Vec<InterruptHandle>,
    threads: Vec<JoinHandle<()>>,
    traces: Arc<Traces>,
}

/// A connection for short reads.
struct Glancing {
    connection: Mutex<Connection>,
    /// Since the present read began.
    looks: Arc<AtomicU32>,
}

impl Glancing {
    fn new(mut connection: Connection) -> Outcome<Self> {
        let looks = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&looks);
        let is_long = move || seen.fetch_add(1, Ordering::Relaxed) >= GLANCE_LOOKS;
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_long))?;
        Ok(Self { connection: Mutex::new(connection), looks })
    }

    /// The connection, if nobody else reads with it.
    fn take(&self) -> Option<MutexGuard<'_, Connection>> {
        let connection = self.connection.try_lock().ok()?;
        self.looks.store(0, Ordering::Relaxed);
        Some(connection)
    }
}

/// How a database is run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    pub(crate) name: &'static str,
    pub(crate) migrations: &'static [&'static str],
    pub(crate) durability: Durability,
    /// Most writes in one commit.
    pub(crate) group: usize,
    pub(crate) readers: usize,
    /// Connections for reads on the caller's own thread.
    pub(crate) glancing: usize,
}

impl Database {
    /// Opens a file that exists, and brings it up to date.
    pub(crate) fn open(path: &Path, running: Running) -> Outcome<Self> {
        let mut writer = pragmas::open(path, Role::Writer, running.durability)?;
        migrate(&mut writer, running.migrations)?;
        let mut database = Self::with_writer(writer, running)?;
        let (sender, receiver) = mpsc::channel(QUEUE);
        let queue = Arc::new(Mutex::new(receiver));
        for _ in 0..running.readers.max(1) {
            let connection = pragmas::open(path, Role::Reader, running.durability)?;
            database.interrupts.push(connection.get_interrupt_handle());
            let name = format!("{}-read", running.name);
            let on_start = database.traces.installer();
            let connection = Arc::new(Mutex::new(connection));
            database.threads.push(worker::start(&name, connection, Arc::clone(&queue), 1, on_start)?);
        }
        database.readers = Some(sender);
        for _ in 0..running.glancing {
            let connection = pragmas::open(path, Role::Reader, running.durability)?;
            database.glancing.push(Glancing::new(connection)?);
        }
        Ok(database)
    }

    /// Opens a database in memory: one connection serves reads and writes.
    pub(crate) fn open_in_memory(running: Running) -> Outcome<Self> {
        let mut connection = pragmas::open_in_memory()?;
        migrate(&mut connection, running.migrations)?;
        Self::with_writer(connection, running)
    }

    fn with_writer(connection: Connection, running: Running) -> Outcome<Self> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let queue = Arc::new(Mutex::new(receiver));
        let traces = Arc::new(Traces::default());
        let name = format!("{}-write", running.name);
        let connection = Arc::new(Mutex::new(connection));
        let shared = Arc::clone(&connection);
        let thread = worker::start(&name, shared, queue, running.group, traces.installer())?;
        Ok(Self {
            writer: Some(sender),
            writing: connection,
            readers: None,
            glancing: Vec::new(),
            interrupts: Vec::new(),
            threads: vec![thread],
            traces,
        })
    }

    /// Reads one state of the database. Dropping the future stops the read.
    pub(crate) async fn read<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let cancelled = Arc::new(AtomicBool::new(false));
        let _guard = CancelOnDrop(Arc::clone(&cancelled));
        let (task, answer) = worker::read(work, cancelled);
        self.ask(self.readers.as_ref().or(self.writer.as_ref()), task, answer).await
    }

    /// Reads on the caller's own thread, which saves the way to another one and back. Readers never
    /// wait for the writer, so a page by its index takes a fraction of a millisecond; a statement that
    /// turns out long is given up and the read started again on a reader's thread.
    pub(crate) async fn glance<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: Fn(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        match self.try_glance(|connection| worker::in_snapshot(connection, &work)) {
            Some(outcome) => outcome.map_err(StoreError::from),
            None => self.read(work).await,
        }
    }

    /// A glance of one statement. It sees one state by itself, so there is no transaction to begin and to end around
    /// it, which would take as long as the statement does.
    pub(crate) async fn peek<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: Fn(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        match self.try_glance(&work) {
            Some(outcome) => outcome.map_err(StoreError::from),
            None => self.read(work).await,
        }
    }

    /// `None` when no connection is free, or the read turned out long.
    fn try_glance<T>(&self, work: impl FnOnce(&Connection) -> Outcome<T>) -> Option<Outcome<T>> {
        // Statements are traced on the workers' threads only.
        if self.traces.is_on() {
            return None;
        }
        let connection = self.glancing.iter().find_map(Glancing::take)?;
        let outcome = work(&connection);
        if matches!(&outcome, Err(fault) if fault.is_interrupted()) { None } else { Some(outcome) }
    }

    /// Runs inside a write transaction. `Err` rolls back; `Ok` arrives when the commit is durable.
    pub(crate) async fn write<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let (task, answer) = worker::write(work);
        self.ask(self.writer.as_ref(), task, answer).await
    }

    /// Writes on the caller's own thread while the writer has nothing to do, which saves the way there
    /// and back; else as [`Self::write`], together with whatever else waits.
    pub(crate) async fn write_here<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: Fn(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let here = self.writing.try_lock().ok().map(|connection| worker::in_transaction(&connection, &work));
        match here {
            Some(outcome) => outcome.map_err(StoreError::from),
            None => self.write(work).await,
        }
    }

    /// Changes something with one statement, which is a transaction by itself, on the caller's own thread while the
    /// writer has nothing to do; else as [`Self::write`].
    pub(crate) async fn execute_here<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: Fn(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let here = self.writing.try_lock().ok().map(|connection| worker::by_itself(&connection, &work));
        match here {
            // Another process writes; the writer's thread asks for the lock more than once.
            Some(Err(fault)) if fault.is_busy() => self.write(work).await,
            Some(outcome) => outcome.map_err(StoreError::from),
            None => self.write(work).await,
        }
    }

    /// Has the writer's thread change something after what waits there, without waiting for it. What does not come to
    /// pass is only logged, so this is for what somebody will do again.
    pub(crate) fn write_later(&self, work: impl FnOnce(&Connection) -> Outcome<()> + Send + 'static) {
        let task = move |connection: &mut Connection| {
            if let Err(fault) = worker::in_transaction(connection, work) {
                tracing::warn!(error = %StoreError::from(fault), "the store's housekeeping is left for later");
            }
        };
        // A full queue means that there is more pressing work.
        let _ = self.writer.as_ref().map(|writer| writer.try_send(Task::Alone(Box::new(task))));
    }

    /// Uses the write connection outside any transaction.
    pub(crate) async fn write_alone<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let (task, answer) = worker::alone(work);
        self.ask(self.writer.as_ref(), task, answer).await
    }

    /// A way to write that does not keep the database open.
    pub(crate) fn writer(&self) -> Writer {
        Writer(self.writer.as_ref().map(mpsc::Sender::downgrade))
    }

    pub(crate) fn traces(&self) -> &Traces {
        &self.traces
    }

    async fn ask<T>(
        &self,
        queue: Option<&mpsc::Sender<Task>>,
        task: Task,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let queue = queue.ok_or_else(worker::gone)?;
        queue.send(task).await.map_err(|_| worker::gone())?;
        answer.await.map_err(|_| worker::gone())?
    }
}

impl Drop for Database {
    /// Lets the workers finish, so that whoever opens the directory next meets no one.
    fn drop(&mut self) {
        self.writer = None;
        self.readers = None;
        self.interrupts.iter().for_each(InterruptHandle::interrupt);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Writes as the database does, for as long as it is open.
#[derive(Debug)]
pub(crate) struct Writer(Option<mpsc::WeakSender<Task>>);

impl Writer {
    /// Runs inside a write transaction. `Err` rolls back; `Ok` arrives when the commit is durable.
    pub(crate) async fn write<F, T>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
        T: Send + 'static,
    {
        let queue = self.0.as_ref().and_then(mpsc::WeakSender::upgrade).ok_or_else(worker::gone)?;
        let (task, answer) = worker::write(work);
        queue.send(task).await.map_err(|_| worker::gone())?;
        drop(queue);
        answer.await.map_err(|_| worker::gone())?
    }
}

struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
