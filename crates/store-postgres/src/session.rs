//! One transaction, on behalf of one subject.
//!
//! Row-level security is the second lock: the transaction says whose rows it means, and the server shows and
//! takes no others, whatever a statement forgets to say. Three names stand for more or less than one owner:
//! nobody (nothing is seen), the provider (`''`: clients and requests that belong to no owner yet), and
//! everybody (`*`: maintenance, never on the path of a request).

use deadpool_postgres::{Object, Pool};
use futures_util::{Stream, TryStreamExt as _};
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
}

impl Session {
    /// One state of the database, for as long as it is looked at.
    pub(crate) async fn read(pool: &Pool, whose: Whose<'_>) -> Outcome<Self> {
        Self::begin(pool, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", whose).await
    }

    /// A change, made whole by [`Session::commit`]. Not said to write: a database that is told to be read only, or that
    /// follows another, refuses the write itself and says why.
    pub(crate) async fn write(pool: &Pool, whose: Whose<'_>) -> Outcome<Self> {
        Self::begin(pool, "BEGIN ISOLATION LEVEL READ COMMITTED", whose).await
    }

    async fn begin(pool: &Pool, begin: &str, whose: Whose<'_>) -> Outcome<Self> {
        let session = Self { client: Some(pool.get().await?) };
        // One message, one answer. The grammar of subject ids has no quote.
        let begin = format!("{begin}; SET LOCAL pdpp.subject = '{}'", whose.as_str().replace('\'', "''"));
        session.client().batch_execute(&begin).await?;
        Ok(session)
    }

    /// Means somebody else's rows from here on.
    pub(crate) async fn turn_to(&self, whose: Whose<'_>) -> Outcome<()> {
        let sql = "SELECT set_config('pdpp.subject', $1, true)";
        self.query_one(sql, &[&whose.as_str()]).await?;
        Ok(())
    }

    pub(crate) async fn query(&self, sql: &str, values: &Values<'_>) -> Outcome<Vec<Row>> {
        let statement = self.prepare(sql, values).await?;
        Ok(self.client().query(&statement, values).await?)
    }

    pub(crate) async fn query_one(&self, sql: &str, values: &Values<'_>) -> Outcome<Row> {
        let statement = self.prepare(sql, values).await?;
        Ok(self.client().query_one(&statement, values).await?)
    }

    pub(crate) async fn query_opt(&self, sql: &str, values: &Values<'_>) -> Outcome<Option<Row>> {
        let statement = self.prepare(sql, values).await?;
        Ok(self.client().query_opt(&statement, values).await?)
    }

    /// Rows one after the other, never all of them at once. They have to be read to the last before another
    /// statement answers.
    pub(crate) async fn stream(
        &self,
        sql: &str,
        values: &Values<'_>,
    ) -> Outcome<impl Stream<Item = Outcome<Row>> + use<>> {
        let statement = self.prepare(sql, values).await?;
        let rows = self.client().query_raw(&statement, values.iter().copied()).await?;
        Ok(rows.map_err(Fault::from))
    }

    /// Says how many rows it changed.
    pub(crate) async fn execute(&self, sql: &str, values: &Values<'_>) -> Outcome<u64> {
        let statement = self.prepare(sql, values).await?;
        Ok(self.client().execute(&statement, values).await?)
    }

    /// Statements are prepared once for each connection.
    async fn prepare(&self, sql: &str, values: &Values<'_>) -> Outcome<Statement> {
        let statement = self.client().prepare_cached(sql).await?;
        trace::note(self.client(), sql, &statement, values).await?;
        Ok(statement)
    }

    /// Several statements without values, none of them kept.
    pub(crate) async fn batch(&self, sql: &str) -> Outcome<()> {
        Ok(self.client().batch_execute(sql).await?)
    }

    /// Makes everything durable. Reads end with it too, which gives their connection back at once.
    pub(crate) async fn commit(mut self) -> Outcome<()> {
        self.client().batch_execute("COMMIT").await?;
        self.client = None;
        Ok(())
    }

    /// Ends the transaction as the work ended: whole, or as if it had not begun. The connection goes back either way.
    pub(crate) async fn end<T>(mut self, outcome: Outcome<T>) -> Outcome<T> {
        match outcome {
            Ok(value) => self.commit().await.map(|()| value),
            Err(fault) => {
                if self.client().batch_execute("ROLLBACK").await.is_ok() {
                    self.client = None;
                }
                Err(fault)
            }
        }
    }

    /// The driver's own client, for what only it can do (copying rows in, pipelines).
    pub(crate) fn client(&self) -> &Object {
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
