//! What waits for a subscription: put at the end of its queue, and dropped. The subscription is held meanwhile.

use pdpp_store::NewEvent;
use pdpp_wire::{Instant, SubjectId};

use super::held::Held;
use crate::fault::Outcome;
use crate::session::Session;

/// Lets an event whose words are known wait.
pub(super) async fn queue(
    session: &Session,
    subject_id: &SubjectId,
    held: &mut Held,
    kind: &str,
    event: &NewEvent,
) -> Outcome<()> {
    let sql = "INSERT INTO event_queue
                   (subject_id, subscription_id, ordinal, kind, event_id, body, challenge, due_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let (ordinal, due_at) = (held.count(), event.due_at.micros());
    let (subject, event_id) = (subject_id.as_str(), event.event_id.as_str());
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
        [&subject, &held.id, &ordinal, &kind, &event_id, &event.body, &event.challenge, &due_at];
    session.execute(sql, &values).await?;
    Ok(())
}

/// Lets the news of the end wait.
pub(super) async fn queue_end(
    session: &Session,
    subject_id: &SubjectId,
    held: &mut Held,
    at: Instant,
) -> Outcome<()> {
    let sql = "INSERT INTO event_queue (subject_id, subscription_id, ordinal, kind, due_at)
               VALUES ($1, $2, $3, 'revoked', $4)";
    let ordinal = held.count();
    session.execute(sql, &[&subject_id.as_str(), &held.id, &ordinal, &at.micros()]).await?;
    Ok(())
}

/// Drops whatever waits for these.
pub(super) async fn drop_all(session: &Session, subject_id: &SubjectId, held: &[Held]) -> Outcome<()> {
    let ids: Vec<&str> = held.iter().map(|one| one.id.as_str()).collect();
    let sql = "DELETE FROM event_queue WHERE subject_id = $1 AND subscription_id = ANY($2)";
    session.execute(sql, &[&subject_id.as_str(), &ids]).await?;
    Ok(())
}
