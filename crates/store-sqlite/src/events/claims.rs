//! Taking a subscription to work on.

use pdpp_store::{Claim, Lease, Saying};
use pdpp_wire::Instant;
use rusqlite::{Connection, params};

use super::{refresh_due, row_of};
use crate::fault::Outcome;
use crate::sequence::signed;

/// Whether the claim was won. Whoever comes second finds the subscription not due.
pub(super) fn claim(connection: &Connection, claim: &Claim, lease: &Lease, at: Instant) -> Outcome<bool> {
    let Some(row) = row_of(connection, &claim.subscription_id)? else { return Ok(false) };
    let (event_id, body) = match &claim.saying {
        Saying::Words(event_id, body) => (event_id, body),
        Saying::Nothing { latest } => {
            drop_silent(connection, row, claim.row, *latest, at)?;
            return Ok(false);
        }
    };
    let sql = "UPDATE event_subscriptions SET lease = ?2, next_due = ?3
               WHERE id = ?1 AND next_due <= ?4
                   AND EXISTS (SELECT 1 FROM event_queue WHERE id = ?5 AND subscription = ?1)";
    let taken = params![row, lease.id, lease.until.micros(), at.micros(), claim.row];
    if connection.prepare_cached(sql)?.execute(taken)? == 0 {
        return Ok(false);
    }
    // The words are settled once. A reader who starts from them after this attempt sees whatever came before it.
    let sql =
        "UPDATE event_queue SET event_id = COALESCE(event_id, ?2), body = COALESCE(body, ?3), again = NULL
               WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![claim.row, event_id.as_str(), body])?;
    Ok(true)
}

/// Drops an event that would show nothing, unless a change came since that was looked at.
fn drop_silent(connection: &Connection, row: i64, place: i64, latest: u64, at: Instant) -> Outcome<()> {
    let sql = "DELETE FROM event_queue WHERE id = ?1 AND subscription = ?2 AND body IS NULL AND latest = ?3
                   AND EXISTS (SELECT 1 FROM event_subscriptions WHERE id = ?2 AND next_due <= ?4)";
    connection.prepare_cached(sql)?.execute(params![place, row, signed(latest)?, at.micros()])?;
    // A lease that ran out was somebody's who is gone.
    let sql = "UPDATE event_subscriptions SET lease = NULL WHERE id = ? AND next_due <= ?";
    connection.prepare_cached(sql)?.execute(params![row, at.micros()])?;
    refresh_due(connection, row)
}
