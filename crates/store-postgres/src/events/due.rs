//! What should be sent now.

use pdpp_store::{DueEvent, DueKind};
use pdpp_wire::{
    ClientId, ConnectionId, EventId, Instant, StreamName, SubjectId, SubscriptionId, SubscriptionStatus,
};
use tokio_postgres::Row;

use super::damaged;
use super::follow::{GRANTS, grants};
use crate::fault::Outcome;
use crate::session::Session;
use crate::subject_row::unsigned;

/// Of everybody: the event that is first in the queue of each subscription that is due. When nothing is, this looks
/// at the edge of one small index in each partition.
pub(super) async fn list(
    session: &Session,
    at: Instant,
    busy_hosts: &[String],
    limit: u32,
) -> Outcome<Vec<DueEvent>> {
    let sql = format!(
        "SELECT s.subscription_id, s.subject_id, s.client_id, s.callback_url, s.callback_host, s.secret, s.status,
                granted.documents, granted.revoked,
                first.ordinal, first.kind, first.event_id, first.body, first.challenge, first.stream,
                first.connection_id, first.since, first.latest, first.attempts
         FROM (SELECT * FROM event_subscriptions
               WHERE next_due <= $1 AND callback_host <> ALL ($2)
               ORDER BY next_due, ordinal LIMIT $3) AS s
         CROSS JOIN LATERAL (
             SELECT q.* FROM event_queue AS q
             WHERE q.subject_id = s.subject_id AND q.subscription_id = s.subscription_id AND CASE s.status
                 WHEN 'pending_verification' THEN q.kind = 'verify'
                 WHEN 'disabled_revoked' THEN q.kind = 'revoked'
                 ELSE true END
             ORDER BY q.ordinal LIMIT 1) AS first
         {GRANTS}
         ORDER BY s.next_due, s.ordinal"
    );
    let rows = session.query(&sql, &[&at.micros(), &busy_hosts, &i64::from(limit)]).await?;
    rows.iter().map(read).collect()
}

fn read(row: &Row) -> Outcome<DueEvent> {
    let text = |column: usize| row.get::<_, String>(column);
    let kind = match row.get(10) {
        "verify" => DueKind::Verify { challenge: text(13) },
        "test" => DueKind::Test,
        "revoked" => DueKind::Revoked,
        "records" => DueKind::Records {
            stream: StreamName::parse(text(14)).map_err(damaged)?,
            connection_id: ConnectionId::parse(text(15)).map_err(damaged)?,
            since: unsigned(row.get(16))?,
            latest: unsigned(row.get(17))?,
        },
        _ => return Err(damaged(())),
    };
    let settled = match (row.get::<_, Option<String>>(11), row.get::<_, Option<String>>(12)) {
        (Some(id), Some(body)) => Some((EventId::parse(id).map_err(damaged)?, body)),
        _ => None,
    };
    Ok(DueEvent {
        row: row.get(9),
        subscription_id: SubscriptionId::parse(text(0)).map_err(damaged)?,
        subject_id: SubjectId::parse(text(1)).map_err(damaged)?,
        client_id: ClientId::parse(text(2)).map_err(damaged)?,
        grants: grants(row, 7),
        callback_url: text(3),
        callback_host: text(4),
        sealed_secret: row.get(5),
        status: SubscriptionStatus::parse(row.get(6)).ok_or(()).map_err(damaged)?,
        kind,
        settled,
        attempts: u32::try_from(row.get::<_, i32>(18)).map_err(damaged)?,
    })
}
