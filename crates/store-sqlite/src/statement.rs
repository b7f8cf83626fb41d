//! Prepares the statements of reads, and lets a test look at their query plans.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{CachedStatement, Connection};

/// One executed statement and the engine's plan for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// The SQL text.
    pub sql: String,
    /// One line per step.
    pub plan: Vec<String>,
}

/// Collects statements while it is switched on.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    on: AtomicBool,
    seen: Mutex<Vec<Traced>>,
}

thread_local! {
    static TRACES: RefCell<Option<Arc<Traces>>> = const { RefCell::new(None) };
}

impl Traces {
    /// Makes the thread that calls the result report here.
    pub(crate) fn installer(self: &Arc<Self>) -> impl FnOnce() + Send + 'static {
        let traces = Arc::clone(self);
        move || TRACES.set(Some(traces))
    }

    pub(crate) fn start(&self) {
        self.on.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// What was executed since the last look.
    pub(crate) fn take(&self) -> Vec<Traced> {
        std::mem::take(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, connection: &Connection, sql: &str) -> rusqlite::Result<()> {
        let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
        let plan = explain.raw_query().mapped(|row| row.get("detail")).collect::<Result<_, _>>()?;
        let traced = Traced { sql: sql.to_owned(), plan };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(traced);
        Ok(())
    }
}

/// A statement of a read, compiled once per connection.
pub(crate) fn prepare<'c>(connection: &'c Connection, sql: &str) -> rusqlite::Result<CachedStatement<'c>> {
    TRACES.with_borrow(|traces| match traces {
        Some(traces) if traces.on.load(Ordering::Relaxed) => traces.note(connection, sql),
        _ => Ok(()),
    })?;
    connection.prepare_cached(sql)
}
