//! A statement under construction: its text, and the values bound to it.
//!
//! Texts say the shape of a question and never its contents, so that there are few of them and each is planned once.

use futures_util::Stream;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::fault::Outcome;
use crate::session::Session;

/// Values of a statement; its text is given when it is run.
#[derive(Debug, Default)]
pub(crate) struct Bindings(Vec<Box<dyn ToSql + Sync + Send>>);

impl Bindings {
    /// Binds a value, and says how the text names it.
    pub(crate) fn bind(&mut self, value: impl ToSql + Sync + Send + 'static) -> String {
        self.0.push(Box::new(value));
        format!("${}", self.0.len())
    }

    /// Runs a statement over them.
    pub(crate) async fn query(&self, session: &Session, sql: &str) -> Outcome<Vec<Row>> {
        session.query(sql, &self.values()).await
    }

    /// Runs a statement that answers with one row.
    pub(crate) async fn query_one(&self, session: &Session, sql: &str) -> Outcome<Row> {
        session.query_one(sql, &self.values()).await
    }

    /// Runs a statement whose rows are read one after the other, to the last.
    pub(crate) async fn stream(
        &self,
        session: &Session,
        sql: &str,
    ) -> Outcome<impl Stream<Item = Outcome<Row>> + use<>> {
        session.stream(sql, &self.values()).await
    }

    /// The values, as the driver takes them.
    pub(crate) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.0.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }
}
