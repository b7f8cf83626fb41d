//! Following the change log: for whom, from where, and what was found.

use std::collections::BTreeMap;
use std::ops::Range;

use pdpp_access::GrantStanding;
use pdpp_store::{EventMatch, LiveSubscription, LiveSubscriptions};
use pdpp_wire::{ClientId, ConnectionId, Instant, SubjectId, SubscriptionId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::held::{Held, hold, settle};
use super::{damaged, generation};
use crate::fault::Outcome;
use crate::session::Session;
use crate::subject_row::{signed, unsigned};

/// The documents of the grants of a subscription `s` and when each was revoked, in their order; to be joined.
pub(super) const GRANTS: &str = "CROSS JOIN LATERAL (
        SELECT array_agg(g.document ORDER BY e.position) AS documents,
               array_agg(g.revoked_at ORDER BY e.position) AS revoked
        FROM event_subscription_grants AS e
        JOIN grants AS g ON g.subject_id = e.subject_id AND g.grant_id = e.grant_id
        WHERE e.subject_id = s.subject_id AND e.subscription_id = s.subscription_id) AS granted";

/// Of everybody.
pub(super) async fn live(session: &Session) -> Outcome<LiveSubscriptions> {
    let sql = format!(
        "SELECT s.subscription_id, s.subject_id, s.client_id, s.streams, s.connection_id, s.from_sequence,
                granted.documents, granted.revoked
         FROM event_subscriptions AS s {GRANTS} WHERE s.status IN ('pending_verification', 'active')"
    );
    let mut subscriptions = Vec::new();
    for row in session.query(&sql, &[]).await? {
        let connection_id: Option<String> = row.get(4);
        subscriptions.push(LiveSubscription {
            subscription_id: SubscriptionId::parse(row.get::<_, String>(0)).map_err(damaged)?,
            subject_id: SubjectId::parse(row.get::<_, String>(1)).map_err(damaged)?,
            client_id: ClientId::parse(row.get::<_, String>(2)).map_err(damaged)?,
            grants: grants(&row, 6),
            streams: serde_json::from_str(row.get(3)).map_err(damaged)?,
            connection_id: connection_id.map(ConnectionId::parse).transpose().map_err(damaged)?,
            from: unsigned(row.get(5))?,
        });
    }
    Ok(LiveSubscriptions { generation: generation::total(session).await?, subscriptions })
}

/// The standing of a subscription's grants, from the columns that [`GRANTS`] joins.
pub(super) fn grants(row: &Row, first: usize) -> Vec<GrantStanding> {
    let documents: Option<Vec<String>> = row.get(first);
    let revoked: Option<Vec<Option<i64>>> = row.get(first + 1);
    let both = documents.unwrap_or_default().into_iter().zip(revoked.unwrap_or_default());
    let standing = |(document, revoked_at): (String, Option<i64>)| GrantStanding {
        document,
        revoked_at: revoked_at.map(Instant::from_micros),
    };
    both.map(standing).collect()
}

pub(super) async fn position(session: &Session, subject_id: &SubjectId) -> Outcome<u64> {
    let sql = "SELECT sequence FROM event_positions WHERE subject_id = $1";
    let found = session.query_opt(sql, &[&subject_id.as_str()]).await?;
    unsigned(found.map_or(0, |row| row.get(0)))
}

pub(super) async fn advance(
    session: &Session,
    subject_id: &SubjectId,
    step: Range<u64>,
    matches: &[EventMatch],
    at: Instant,
) -> Outcome<bool> {
    let ids: Vec<&str> = matches.iter().map(|found| found.subscription_id.as_str()).collect();
    let mut held = if ids.is_empty() { Vec::new() } else { hold(session, subject_id, &ids).await? };
    // What is missing here was switched off meanwhile.
    held.retain(|one| one.status.is_live());
    let sql = "UPDATE event_positions SET sequence = $3 WHERE subject_id = $1 AND sequence = $2";
    let moved = (signed(step.start)?, signed(step.end)?);
    if session.execute(sql, &[&subject_id.as_str(), &moved.0, &moved.1]).await? == 0 {
        return Ok(false);
    }
    if !held.is_empty() {
        note(session, subject_id, &mut held, matches, at).await?;
        settle(session, subject_id, &held).await?;
    }
    Ok(true)
}

/// Queues events, or lets those that wait stand for these changes too.
async fn note(
    session: &Session,
    subject_id: &SubjectId,
    held: &mut [Held],
    matches: &[EventMatch],
    at: Instant,
) -> Outcome<()> {
    // A statement meets each row once: what lies in one place is one event, from the earliest position on.
    let mut places: BTreeMap<(&str, &str, &str), (i64, i64)> = BTreeMap::new();
    for found in matches {
        let place = (found.subscription_id.as_str(), found.stream.as_str(), found.connection_id.as_str());
        let position = signed(found.since)?;
        let (since, latest) = places.entry(place).or_insert((position, position));
        (*since, *latest) = ((*since).min(position), (*latest).max(position));
    }
    let (mut ids, mut ordinals, mut streams) = (Vec::new(), Vec::new(), Vec::new());
    let (mut connections, mut sinces, mut latests) = (Vec::new(), Vec::new(), Vec::new());
    for ((id, stream, connection_id), (since, latest)) in places {
        let Some(one) = held.iter_mut().find(|one| one.id == id) else { continue };
        ids.push(id);
        ordinals.push(one.count());
        streams.push(stream);
        connections.push(connection_id);
        sinces.push(since);
        latests.push(latest);
    }
    // An event whose words are settled may be on its way at this moment; a reader who starts from it may have read
    // already. Whatever came meanwhile is told again afterwards.
    let sql = "INSERT INTO event_queue AS q
                   (subject_id, subscription_id, ordinal, kind, stream, connection_id, since, latest, due_at)
               SELECT $1, n.id, n.ordinal, 'records', n.stream, n.connection_id, n.since, n.latest, $8
               FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
                   AS n (id, ordinal, stream, connection_id, since, latest)
               ON CONFLICT (subject_id, subscription_id, stream, connection_id) WHERE kind = 'records'
               DO UPDATE SET
                   since = CASE WHEN q.body IS NULL THEN LEAST(q.since, excluded.since) ELSE q.since END,
                   latest = GREATEST(q.latest, excluded.latest),
                   again = CASE WHEN q.body IS NULL THEN NULL ELSE COALESCE(q.again, excluded.since) END";
    let (subject, at) = (subject_id.as_str(), at.micros());
    let values: [&(dyn ToSql + Sync); 8] =
        [&subject, &ids, &ordinals, &streams, &connections, &sinces, &latests, &at];
    session.execute(sql, &values).await?;
    Ok(())
}
