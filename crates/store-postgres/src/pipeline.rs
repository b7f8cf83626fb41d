//! One statement for many rows that must each be found by its whole key.
//!
//! Told a list of keys (`= ANY`), or to join one, the planner may believe that walking everything of a scope once is
//! cheaper than a step for each key: it knows nothing about one owner among thousands. So each row is asked for on
//! its own, and the questions are sent without waiting for one another's answer.

use futures_util::future::try_join_all;
use tokio_postgres::types::ToSql;

use crate::fault::Outcome;
use crate::session::{Session, Values};

/// Statements on their way at once.
const PIECE: usize = 1_000;

/// The values of one of them.
pub(crate) type Bound<'v, const N: usize> = [&'v (dyn ToSql + Sync); N];

/// Runs a statement once for each list of values; says how many rows each changed.
pub(crate) async fn execute_each<const N: usize>(
    session: &Session,
    sql: &str,
    each: &[Bound<'_, N>],
) -> Outcome<Vec<u64>> {
    if each.is_empty() {
        return Ok(Vec::new());
    }
    let client = session.begun().await?;
    let statement = &client.prepare_cached(sql).await?;
    let mut changed = Vec::with_capacity(each.len());
    for piece in each.chunks(PIECE) {
        changed.extend(
            try_join_all(piece.iter().map(|values| client.execute(statement, values as &Values<'_>))).await?,
        );
    }
    Ok(changed)
}
