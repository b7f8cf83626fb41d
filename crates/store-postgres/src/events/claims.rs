//! Taking subscriptions to work on.
//!
//! Whoever claims locks what is due and nobody else holds, and goes on without the rest. A lease is a time written in
//! the subscription's row: a node that died loses it without anybody doing anything.

use std::collections::BTreeMap;

use pdpp_store::{Claim, Lease, Saying};
use pdpp_wire::{Instant, SubjectId};
use tokio_postgres::types::ToSql;

use super::held::{Held, hold_due, settle};
use crate::fault::Outcome;
use crate::session::Session;
use crate::subject_row::signed;

/// A claim and its place in the caller's list.
pub(super) type Placed<'c> = (usize, &'c Claim);

/// The places of those of a subject's claims that were won. Of several on one subscription the first counts.
pub(super) async fn claim(
    session: &Session,
    subject_id: &SubjectId,
    claims: &[Placed<'_>],
    lease: &Lease,
    at: Instant,
) -> Outcome<Vec<usize>> {
    let mut first: BTreeMap<&str, Placed<'_>> = BTreeMap::new();
    for (place, claim) in claims {
        first.entry(claim.subscription_id.as_str()).or_insert((*place, claim));
    }
    let ids: Vec<&str> = first.keys().copied().collect();
    let held = hold_due(session, subject_id, &ids, at).await?;
    let (mut words, mut silent) = (Vec::new(), Vec::new());
    for one in held {
        let Some((place, claim)) = first.get(one.id.as_str()) else { continue };
        match &claim.saying {
            Saying::Words(event_id, body) => {
                words.push(Words {
                    place: *place,
                    row: claim.row,
                    id: one.id,
                    event_id: event_id.as_str(),
                    body,
                });
            }
            Saying::Nothing { latest } => silent.push((one, claim.row, signed(*latest)?)),
        }
    }
    drop_silent(session, subject_id, silent).await?;
    take(session, subject_id, &words, lease).await
}

/// What a claim says.
struct Words<'c> {
    place: usize,
    row: i64,
    id: String,
    event_id: &'c str,
    body: &'c str,
}

async fn take(
    session: &Session,
    subject_id: &SubjectId,
    words: &[Words<'_>],
    lease: &Lease,
) -> Outcome<Vec<usize>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    // The words are settled once. A reader who starts from them after this attempt sees whatever came before it.
    let sql = "UPDATE event_queue AS q
               SET event_id = COALESCE(q.event_id, c.event_id), body = COALESCE(q.body, c.body), again = NULL
               FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[]) AS c (id, ordinal, event_id, body)
               WHERE q.subject_id = $1 AND q.subscription_id = c.id AND q.ordinal = c.ordinal
               RETURNING q.subscription_id";
    let subject = subject_id.as_str();
    let ids: Vec<&str> = words.iter().map(|one| one.id.as_str()).collect();
    let rows: Vec<i64> = words.iter().map(|one| one.row).collect();
    let event_ids: Vec<&str> = words.iter().map(|one| one.event_id).collect();
    let bodies: Vec<&str> = words.iter().map(|one| one.body).collect();
    let values: [&(dyn ToSql + Sync); 5] = [&subject, &ids, &rows, &event_ids, &bodies];
    let rows = session.query(sql, &values).await?;
    let won: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    let sql = "UPDATE event_subscriptions SET lease = $3, next_due = $4
               WHERE subject_id = $1 AND subscription_id = ANY($2)";
    session.execute(sql, &[&subject, &won, &lease.id, &lease.until.micros()]).await?;
    Ok(words.iter().filter(|one| won.contains(&one.id.as_str())).map(|one| one.place).collect())
}

/// Drops events that would show nothing, unless a change came since that was looked at.
async fn drop_silent(
    session: &Session,
    subject_id: &SubjectId,
    silent: Vec<(Held, i64, i64)>,
) -> Outcome<()> {
    if silent.is_empty() {
        return Ok(());
    }
    let sql = "DELETE FROM event_queue AS q
               USING unnest($2::text[], $3::bigint[], $4::bigint[]) AS c (id, ordinal, latest)
               WHERE q.subject_id = $1 AND q.subscription_id = c.id AND q.ordinal = c.ordinal
                   AND q.body IS NULL AND q.latest = c.latest";
    let ids: Vec<&str> = silent.iter().map(|(one, ..)| one.id.as_str()).collect();
    let rows: Vec<i64> = silent.iter().map(|(_, row, _)| *row).collect();
    let latests: Vec<i64> = silent.iter().map(|(.., latest)| *latest).collect();
    session.execute(sql, &[&subject_id.as_str(), &ids, &rows, &latests]).await?;
    // A lease that ran out was somebody's who is gone.
    let free = |(mut one, ..): (Held, i64, i64)| {
        one.lease = None;
        one
    };
    let held: Vec<Held> = silent.into_iter().map(free).collect();
    settle(session, subject_id, &held).await
}
