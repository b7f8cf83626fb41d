//! An answer read in pieces, so that several can be read side by side and none is ever held whole.

use std::vec::IntoIter;

use tokio_postgres::Row;

use super::statement::Bindings;
use crate::fault::Outcome;
use crate::session::Session;

/// Rows fetched at a time.
const PIECE: usize = 5_000;

/// The rows of a statement, piece by piece.
pub(super) struct Portal<'s> {
    session: &'s Session,
    fetch: String,
    piece: IntoIter<Row>,
    is_last: bool,
}

impl<'s> Portal<'s> {
    /// Opens one under a name that nothing else in the transaction has. One name always has the same columns.
    pub(super) async fn open(
        session: &'s Session,
        name: &str,
        bindings: &Bindings,
        sql: &str,
    ) -> Outcome<Self> {
        let declare = format!("DECLARE {name} NO SCROLL CURSOR FOR {sql}");
        session.execute(&declare, &bindings.values()).await?;
        let fetch = format!("FETCH FORWARD {PIECE} FROM {name}");
        Ok(Self { session, fetch, piece: Vec::new().into_iter(), is_last: false })
    }

    pub(super) async fn next(&mut self) -> Outcome<Option<Row>> {
        if self.piece.len() == 0 && !self.is_last {
            let piece = self.session.query(&self.fetch, &[]).await?;
            self.is_last = piece.len() < PIECE;
            self.piece = piece.into_iter();
        }
        Ok(self.piece.next())
    }
}
