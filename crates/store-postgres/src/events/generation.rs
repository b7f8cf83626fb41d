//! Tells whoever follows that something that matters changed.
//!
//! Every subject counts for itself, and the sum over all of them is the number that is compared: it grows with each
//! count and never comes back to what it was, and no owner waits for another.

use pdpp_wire::SubjectId;

use crate::fault::Outcome;
use crate::session::Session;
use crate::subject_row::unsigned;

/// Counts a subject's first subscription, or another one.
pub(crate) async fn begin(session: &Session, subject_id: &SubjectId) -> Outcome<()> {
    let sql = "INSERT INTO event_generation AS g (subject_id, generation) VALUES ($1, 1)
               ON CONFLICT (subject_id) DO UPDATE SET generation = g.generation + 1";
    session.execute(sql, &[&subject_id.as_str()]).await?;
    Ok(())
}

/// Counts a change. A subject that never had a subscription has nothing to tell. The last thing a transaction locks.
pub(super) async fn bump(session: &Session, subject_id: &SubjectId) -> Outcome<()> {
    let sql = "UPDATE event_generation SET generation = generation + 1 WHERE subject_id = $1";
    session.execute(sql, &[&subject_id.as_str()]).await?;
    Ok(())
}

/// The sum over everybody.
pub(super) async fn total(session: &Session) -> Outcome<u64> {
    let sql = "SELECT COALESCE(sum(generation), 0)::bigint FROM event_generation";
    unsigned(session.query_one(sql, &[]).await?.get(0))
}
