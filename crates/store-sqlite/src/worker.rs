//! Threads that own a connection each and take work from a queue.
//!
//! The engine blocks, and its connections do not travel between threads; so requests travel to
//! them. A request whose asker has gone is not started, and a read is stopped in the middle.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use pdpp_store::StoreError;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::fault::{Fault, Outcome};

/// Requests that wait before askers are made to wait.
pub(crate) const QUEUE: usize = 256;
/// How often a write asks for the lock; each time it waits as long as the connection's timeout.
const LOCK_ATTEMPTS: usize = 3;
/// Virtual machine steps between two looks at whether the asker has gone.
const STEPS_BETWEEN_LOOKS: i32 = 20_000;

/// Work that has the connection to itself.
type Alone = Box<dyn FnOnce(&mut Connection) + Send>;

/// One request.
pub(crate) enum Task {
    /// Has the connection to itself, outside any transaction.
    Alone(Alone),
    /// Runs inside a write transaction, perhaps with others.
    Write(Box<dyn Write>),
}

/// A write on its way: run, then told whether the transaction was committed.
pub(crate) trait Write: Send {
    fn is_wanted(&self) -> bool;
    /// Says whether its changes are to be kept.
    fn run(&mut self, connection: &Connection) -> bool;
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct PendingWrite<F, T> {
    work: Option<F>,
    outcome: Option<Outcome<T>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Write for PendingWrite<F, T>
where
    F: FnOnce(&Connection) -> Outcome<T> + Send,
    T: Send,
{
    fn is_wanted(&self) -> bool {
        !self.reply.is_closed()
    }

    fn run(&mut self, connection: &Connection) -> bool {
        self.outcome = self.work.take().map(|work| work(connection));
        matches!(self.outcome, Some(Ok(_)))
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (self.outcome, committed) {
            (Some(Ok(value)), Ok(())) => Ok(value),
            (Some(Err(fault)), _) => Err(fault.into()),
            (_, Err(error)) => Err(error),
            (None, Ok(())) => Err(gone()),
        };
        // The asker may have gone meanwhile.
        let _ = self.reply.send(answer);
    }
}

/// A write and where its answer arrives.
pub(crate) fn write<F, T>(work: F) -> (Task, oneshot::Receiver<Result<T, StoreError>>)
where
    F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    T: Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (Task::Write(Box::new(PendingWrite { work: Some(work), outcome: None, reply })), answer)
}

/// Work that has the connection to itself, and where its answer arrives.
pub(crate) fn alone<F, T>(work: F) -> (Task, oneshot::Receiver<Result<T, StoreError>>)
where
    F: FnOnce(&mut Connection) -> Outcome<T> + Send + 'static,
    T: Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    let task = move |connection: &mut Connection| {
        if !reply.is_closed() {
            let _ = reply.send(work(connection).map_err(StoreError::from));
        }
    };
    (Task::Alone(Box::new(task)), answer)
}

/// A read in a transaction of its own, so that its queries see one state; stopped when `cancelled`.
pub(crate) fn read<F, T>(
    work: F,
    cancelled: Arc<AtomicBool>,
) -> (Task, oneshot::Receiver<Result<T, StoreError>>)
where
    F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    T: Send + 'static,
{
    alone(move |connection| {
        let watch = move || cancelled.load(Ordering::Relaxed);
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(watch))?;
        let outcome = in_snapshot(connection, work);
        connection.progress_handler(0, None::<fn() -> bool>)?;
        outcome
    })
}

pub(crate) fn in_snapshot<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Outcome<T>,
) -> Outcome<T> {
    let begun = connection.prepare_cached("BEGIN").and_then(|mut begin| begin.execute([]));
    let outcome = begun.map_err(Fault::from).and_then(|_| work(connection));
    finish(connection, "ROLLBACK")?;
    outcome
}

fn finish(connection: &Connection, how: &str) -> rusqlite::Result<()> {
    // An error may have ended the transaction already.
    if connection.is_autocommit() {
        return Ok(());
    }
    match connection.prepare_cached(how)?.execute([]) {
        // Given up when it was done: what a statement is to do for a transaction comes before it is asked to stop.
        Err(_) if connection.is_autocommit() => Ok(()),
        ended => ended.map(drop),
    }
}

/// The answer when a worker died with the request.
pub(crate) fn gone() -> StoreError {
    StoreError::Backend("the store's worker did not answer".into())
}

/// A queue several threads may take from.
pub(crate) type Queue = Arc<Mutex<mpsc::Receiver<Task>>>;

/// Starts a thread that serves a queue until its senders are gone. Writes that wait together are
/// committed together, up to `group` of them.
pub(crate) fn start(
    name: &str,
    connection: Arc<Mutex<Connection>>,
    queue: Queue,
    group: usize,
    on_start: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, StoreError> {
    let serve = move || {
        on_start();
        while let Some(task) = next(&queue) {
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            match task {
                Task::Alone(work) => guarded(&mut connection, work),
                Task::Write(first) => {
                    if let Some(work) = commit_together(&mut connection, first, &queue, group) {
                        guarded(&mut connection, work);
                    }
                }
            }
        }
    };
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(serve)
        .map_err(|error| StoreError::Backend(error.into()))
}

fn next(queue: &Queue) -> Option<Task> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

fn next_waiting(queue: &Queue) -> Option<Task> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
}

/// A panic costs one request, not the worker.
fn guarded(connection: &mut Connection, work: Alone) {
    if catch_unwind(AssertUnwindSafe(|| work(connection))).is_err() {
        tracing::error!("a request panicked inside the store");
        let _ = finish(connection, "ROLLBACK");
    }
}

/// Commits a write with those waiting behind it. Gives back the first task that is no write.
fn commit_together(
    connection: &mut Connection,
    first: Box<dyn Write>,
    queue: &Queue,
    group: usize,
) -> Option<Alone> {
    if !first.is_wanted() {
        return None;
    }
    if let Err(fault) = begin(connection) {
        first.answer(Err(fault.into()));
        return None;
    }
    if group == 1 {
        commit_alone(connection, first);
        return None;
    }
    let mut served = vec![run_in_savepoint(connection, first)];
    let mut other = None;
    while served.len() < group {
        match next_waiting(queue) {
            Some(Task::Write(write)) if write.is_wanted() => served.push(run_in_savepoint(connection, write)),
            Some(Task::Write(_)) => {}
            Some(Task::Alone(work)) => {
                other = Some(work);
                break;
            }
            None => break,
        }
    }
    let committed = commit(connection);
    for write in served {
        // The error is one, the askers are many: each gets its own copy by way of the engine's code.
        write.answer(match &committed {
            Ok(()) => Ok(()),
            Err(error) => Err(Fault::Sqlite(copied(error)).into()),
        });
    }
    other
}

/// Without a savepoint: one that stays open makes every statement of a long write slower than the
/// one before it.
fn commit_alone(connection: &Connection, mut write: Box<dyn Write>) {
    let committed = if run_guarded(connection, write.as_mut()) {
        commit(connection).map_err(|error| Fault::Sqlite(error).into())
    } else {
        finish(connection, "ROLLBACK").map_err(|error| Fault::Sqlite(error).into())
    };
    write.answer(committed);
}

fn run_guarded(connection: &Connection, write: &mut dyn Write) -> bool {
    catch_unwind(AssertUnwindSafe(|| write.run(connection))).unwrap_or_else(|_| {
        tracing::error!("a write panicked inside the store");
        false
    })
}

/// One write in a transaction of its own, on the caller's thread.
pub(crate) fn in_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Outcome<T>,
) -> Outcome<T> {
    // A write that panicked here may have left its transaction open.
    finish(connection, "ROLLBACK")?;
    begin(connection)?;
    match work(connection) {
        Ok(value) => commit(connection).map(|()| value).map_err(Fault::from),
        Err(fault) => {
            finish(connection, "ROLLBACK")?;
            Err(fault)
        }
    }
}

/// One statement that is a transaction by itself, on the caller's thread.
pub(crate) fn by_itself<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Outcome<T>,
) -> Outcome<T> {
    // A write that panicked here may have left its transaction open.
    finish(connection, "ROLLBACK")?;
    work(connection)
}

fn begin(connection: &Connection) -> Outcome<()> {
    let mut attempt = 1;
    loop {
        match connection
            .prepare_cached("BEGIN IMMEDIATE")
            .and_then(|mut begin| begin.execute([]))
            .map_err(Fault::from)
        {
            Err(fault) if fault.is_busy() && attempt < LOCK_ATTEMPTS => attempt += 1,
            other => return other.map(drop),
        }
    }
}

fn run_in_savepoint(connection: &Connection, mut write: Box<dyn Write>) -> Box<dyn Write> {
    let step = |sql: &str| connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
    let kept = step("SAVEPOINT request").is_ok() && run_guarded(connection, write.as_mut());
    if !kept {
        let _ = step("ROLLBACK TO request");
    }
    let _ = step("RELEASE request");
    write
}

fn commit(connection: &Connection) -> rusqlite::Result<()> {
    if connection.is_autocommit() {
        // The engine gave the whole transaction up, for want of room or memory.
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL),
            None,
        ));
    }
    let committed = connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([])).map(drop);
    if committed.is_err() {
        let _ = finish(connection, "ROLLBACK");
    }
    committed
}

fn copied(error: &rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqliteFailure(code, text) => rusqlite::Error::SqliteFailure(*code, text.clone()),
        other => rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR),
            Some(other.to_string()),
        ),
    }
}
