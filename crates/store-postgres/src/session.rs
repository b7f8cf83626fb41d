//! One transaction, on behalf of one subject.
//!
//! Row-level security is the second lock: the transaction says whose rows it means, and the server shows and
//! takes no others, whatever a statement forgets to say. Three names stand for more or less than one owner:
//! nobody (nothing is seen), the provider (`''`: clients and requests that belong to no owner yet), and
//! everybody (`*`: maintenance, never on the path of a request).
//!
//! Each way to the server and back counts: most statements take less time than it. So a transaction begins in the same
//! breath as its first statement, and whoever only read does not wait for its end. The server works in the order in
//! which it is told, so that nothing of this can be seen but the time.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use deadpool_postgres::{Object, Pool};
use futures_util::future::try_join;
use futures_util::{Stream, TryStreamExt as _, poll};
use pdpp_wire::SubjectId;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use crate::fault::{Fault, Outcome};
use crate::trace;

/// Whose rows a transaction means.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose<'s> {
    /// One owner's.
    Subject(&'s SubjectId),
    /// The provider's own.
    Provider,
    /// Everybody's.
    Everybody,
}

impl<'s> From<&'s SubjectId> for Whose<'s> {
    fn from(subject_id: &'s SubjectId) -> Self {
        Self::Subject(subject_id)
    }
}

impl Whose<'_> {
    /// As `subject_id` says it.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Subject(subject_id) => subject_id.as_str(),
            Self::Provider => "",
            Self::Everybody => "*",
        }
    }
}

/// Values bound to a statement.
pub(crate) type Values<'v> = [&'v (dyn ToSql + Sync)];

/// A transaction. Dropped without [`Session::commit`], it is rolled back.
pub(crate) struct Session {
    client: Option<Object>,
    /// How it begins, until it has.
    beginning: Mutex<Option<String>>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
}

impl Kind {
    /// A change is not said to write: a database that is told to be read only, or that follows another, refuses the
    /// write itself and says why.
    fn begin(self) -> &'static str {
        match self {
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Self::Write => "BEGIN ISOLATION LEVEL READ COMMITTED",
        }
    }
}

impl Session {
    /// One state of the database, for as long as it is looked at.
    pub(crate) async fn read(pool: &Pool, whose: Whose<'_>) -> Outcome<Self> {
        Self::open(pool, Kind::Read, whose).await
    }

    /// A change, made whole by [`Session::commit`].
    pub(crate) async fn write(pool: &Pool, whose: Whose<'_>) -> Outcome<Self> {
        Self::open(pool, Kind::Write, whose).await
    }

    async fn open(pool: &Pool, kind: Kind, whose: Whose<'_>) -> Outcome<Self> {
        // The grammar of subject ids has no quote.
        let whose = whose.as_str().replace('\'', "''");
        let beginning = format!("{}; SET LOCAL pdpp.subject = '{whose}'", kind.begin());
        Ok(Self { client: Some(pool.get().await?), beginning: Mutex::new(Some(beginning)), kind })
    }

    fn take_beginning(&self) -> Option<String> {
        self.beginning.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Does some work of the transaction. The beginning is sent right before it, and answered before it.
    async fn within<T>(&self, work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Outcome<T> {
        let Some(beginning) = self.take_beginning() else { return Ok(work.await?) };
        let ((), value) = try_join(self.client().batch_execute(&beginning), work).await?;
        Ok(value)
    }

    /// The driver's own client, for what only it can do; the transaction has begun.
    pub(crate) async fn begun(&self) -> Outcome<&Object> {
        if let Some(beginning) = self.take_beginning() {
            self.client().batch_execute(&beginning).await?;
        }
        Ok(self.client())
    }

    /// Means somebody else's rows from here on.
    pub(crate) async fn turn_to(&self, whose: Whose<'_>) -> Outcome<()> {
        let sql = "SELECT set_config('pdpp.subject', $1, true)";
        self.query_one(sql, &[&whose.as_str()]).await?;
        Ok(())
    }

    pub(crate) async fn query(&self, sql: &str, values: &Values<'_>) -> Outcome<Vec<Row>> {
        let statement = self.prepare(sql, values).await?;
        self.within(self.client().query(&statement, values)).await
    }

    pub(crate) async fn query_one(&self, sql: &str, values: &Values<'_>) -> Outcome<Row> {
        let statement = self.prepare(sql, values).await?;
        self.within(self.client().query_one(&statement, values)).await
    }

    pub(crate) async fn query_opt(&self, sql: &str, values: &Values<'_>) -> Outcome<Option<Row>> {
        let statement = self.prepare(sql, values).await?;
        self.within(self.client().query_opt(&statement, values)).await
    }

    /// Rows one after the other, never all of them at once. They have to be read to the last before another
    /// statement answers.
    pub(crate) async fn stream(
        &self,
        sql: &str,
        values: &Values<'_>,
    ) -> Outcome<impl Stream<Item = Outcome<Row>> + use<>> {
        let statement = self.prepare(sql, values).await?;
        let rows = self.within(self.client().query_raw(&statement, values.iter().copied())).await?;
        Ok(rows.map_err(Fault::from))
    }

    /// Says how many rows it changed.
    pub(crate) async fn execute(&self, sql: &str, values: &Values<'_>) -> Outcome<u64> {
        let statement = self.prepare(sql, values).await?;
        self.within(self.client().execute(&statement, values)).await
    }

    /// Statements are prepared once for each connection.
    async fn prepare(&self, sql: &str, values: &Values<'_>) -> Outcome<Statement> {
        let statement = self.client().prepare_cached(sql).await?;
        if trace::is_watched() {
            trace::note(self.begun().await?, sql, &statement, values).await?;
        }
        Ok(statement)
    }

    /// Several statements without values, none of them kept.
    pub(crate) async fn batch(&self, sql: &str) -> Outcome<()> {
        self.within(self.client().batch_execute(sql)).await
    }

    /// Makes everything durable. Reads end with it too, which gives their connection back at once.
    pub(crate) async fn commit(mut self) -> Outcome<()> {
        // What never began need not end.
        if self.take_beginning().is_none() {
            let mut commit = pin!(self.client().batch_execute("COMMIT"));
            match self.kind {
                Kind::Write => commit.await?,
                // Asked once it is on its way, before anything the connection is used for next.
                Kind::Read => drop(poll!(commit.as_mut())),
            }
        }
        self.client = None;
        Ok(())
    }

    /// Ends the transaction as the work ended: whole, or as if it had not begun. The connection goes back either way.
    pub(crate) async fn end<T>(mut self, outcome: Outcome<T>) -> Outcome<T> {
        match outcome {
            Ok(value) => self.commit().await.map(|()| value),
            Err(fault) => {
                if self.take_beginning().is_some() || self.client().batch_execute("ROLLBACK").await.is_ok() {
                    self.client = None;
                }
                Err(fault)
            }
        }
    }

    fn client(&self) -> &Object {
        self.client.as_ref().expect("the connection is given back only by `commit` and `drop`")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        // Whoever asked has gone, perhaps in the middle of a statement. The connection leaves the pool; closing
        // it ends the transaction, and a statement that still runs is told to stop.
        let cancel = client.cancel_token();
        let client = Object::take(client);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                drop(client);
                // Without encryption this request carries no secret but the key that stops this one statement.
                if let Err(error) = cancel.cancel_query(tokio_postgres::NoTls).await {
                    tracing::debug!(%error, "a statement goes on until its own deadline");
                }
            });
        }
    }
}
