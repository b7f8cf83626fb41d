//! The log of the last attempts.

use pdpp_store::{Finished, StoredDelivery};
use pdpp_wire::{DeliveryOutcome, EventId, EventType, Instant, SubjectId, SubscriptionId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::damaged;
use super::held::Held;
use crate::fault::Outcome;
use crate::session::Session;

/// Attempts kept per subscription.
const KEPT: i64 = 100;

/// Writes attempts down, and forgets the oldest.
pub(super) async fn log(
    session: &Session,
    subject_id: &SubjectId,
    held: &mut [Held],
    finished: &[&Finished],
) -> Outcome<()> {
    let subject = subject_id.as_str();
    let mut logged: Vec<&str> = Vec::new();
    for one in finished {
        let id = one.subscription_id.as_str();
        let Some(held) = held.iter_mut().find(|held| held.id == id) else { continue };
        insert(session, subject, held, &one.delivery).await?;
        logged.push(id);
    }
    logged.sort_unstable();
    logged.dedup();
    let sql = "DELETE FROM event_deliveries AS d USING (
                   SELECT l.id, (SELECT o.ordinal FROM event_deliveries AS o
                                 WHERE o.subject_id = $1 AND o.subscription_id = l.id
                                 ORDER BY o.ordinal DESC LIMIT 1 OFFSET $3) AS ordinal
                   FROM unnest($2::text[]) AS l (id)) AS last
               WHERE d.subject_id = $1 AND d.subscription_id = last.id AND d.ordinal <= last.ordinal";
    session.execute(sql, &[&subject, &logged, &KEPT]).await?;
    Ok(())
}

async fn insert(session: &Session, subject: &str, held: &mut Held, delivery: &StoredDelivery) -> Outcome<()> {
    let sql =
        "INSERT INTO event_deliveries (subject_id, subscription_id, ordinal, event_id, event_type, attempt,
                   at, outcome, http_status, reason, snippet, next_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let ordinal = held.count();
    let attempt = i32::try_from(delivery.attempt).unwrap_or(i32::MAX);
    let values: [&(dyn ToSql + Sync); 12] = [
        &subject,
        &held.id,
        &ordinal,
        &delivery.event_id.as_str(),
        &delivery.event_type.as_str(),
        &attempt,
        &delivery.at.micros(),
        &delivery.outcome.as_str(),
        &delivery.http_status.map(i32::from),
        &delivery.reason,
        &delivery.snippet,
        &delivery.next_at.map(Instant::micros),
    ];
    session.execute(sql, &values).await?;
    Ok(())
}

/// Newest first.
pub(super) async fn list(
    session: &Session,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    limit: u32,
) -> Outcome<Vec<StoredDelivery>> {
    let sql = "SELECT event_id, event_type, attempt, at, outcome, http_status, reason, snippet, next_at
               FROM event_deliveries WHERE subject_id = $1 AND subscription_id = $2
               ORDER BY ordinal DESC LIMIT $3";
    let names = (subject_id.as_str(), id.as_str());
    let rows = session.query(sql, &[&names.0, &names.1, &i64::from(limit)]).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Outcome<StoredDelivery> {
    let event_type: &str = row.get(1);
    let known = EventType::ALL.into_iter().find(|kind| kind.as_str() == event_type);
    let status: Option<i32> = row.get(5);
    Ok(StoredDelivery {
        event_id: EventId::parse(row.get::<_, String>(0)).map_err(damaged)?,
        event_type: known.ok_or(()).map_err(damaged)?,
        attempt: u32::try_from(row.get::<_, i32>(2)).map_err(damaged)?,
        at: Instant::from_micros(row.get(3)),
        outcome: DeliveryOutcome::parse(row.get(4)).ok_or(()).map_err(damaged)?,
        http_status: status.map(u16::try_from).transpose().map_err(damaged)?,
        reason: row.get(6),
        snippet: row.get(7),
        next_at: row.get::<_, Option<i64>>(8).map(Instant::from_micros),
    })
}
