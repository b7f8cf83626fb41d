//! What became of attempts.

use pdpp_store::{Ending, Finished};
use pdpp_wire::{DisabledReason, Instant, SubjectId, SubscriptionStatus};
use tokio_postgres::types::ToSql;

use super::held::{Held, hold, settle};
use super::{deliveries, generation, switch};
use crate::fault::Outcome;
use crate::session::Session;

/// Writes down what became of a subject's events. Whoever worked on one writes down what happened, even if others have
/// taken over; nothing else changes then.
pub(super) async fn finish(
    session: &Session,
    subject_id: &SubjectId,
    finished: &[&Finished],
    lease: &str,
    at: Instant,
) -> Outcome<()> {
    let ids: Vec<&str> = finished.iter().map(|one| one.subscription_id.as_str()).collect();
    let mut held = hold(session, subject_id, &ids).await?;
    deliveries::log(session, subject_id, &mut held, finished).await?;
    let mut endings = Endings::default();
    for one in finished {
        let found = held.iter_mut().find(|held| held.id == one.subscription_id.as_str());
        let Some(held) = found.filter(|held| held.lease.as_deref() == Some(lease)) else { continue };
        held.lease = None;
        endings.add(held, one, at);
    }
    endings.apply(session, subject_id, &mut held, at).await?;
    settle(session, subject_id, &held).await?;
    if !endings.given_up.is_empty() {
        generation::bump(session, subject_id).await?;
    }
    Ok(())
}

/// A place in a subscription's queue.
type Place<'f> = (&'f str, i64);

/// What is to be done, by kind.
#[derive(Default)]
struct Endings<'f> {
    delivered: Vec<Place<'f>>,
    /// With when it is due again, and how many attempts that counts as.
    again: Vec<(Place<'f>, i64, i32)>,
    given_up: Vec<(&'f str, DisabledReason)>,
}

impl<'f> Endings<'f> {
    fn add(&mut self, held: &mut Held, finished: &'f Finished, at: Instant) {
        let place = (finished.subscription_id.as_str(), finished.row);
        match finished.ending {
            Ending::Delivered => self.delivered.push(place),
            Ending::Verified => {
                self.delivered.push(place);
                // It was followed before, so whoever follows need not look again.
                if held.status == SubscriptionStatus::PendingVerification {
                    (held.status, held.updated_at) = (SubscriptionStatus::Active, at.micros());
                }
            }
            Ending::Failed(due_at) => self.again.push((place, due_at.micros(), 1)),
            Ending::Deferred(due_at) => self.again.push((place, due_at.micros(), 0)),
            Ending::GaveUp(reason) => self.given_up.push((place.0, reason)),
        }
    }

    async fn apply(
        &self,
        session: &Session,
        subject_id: &SubjectId,
        held: &mut [Held],
        at: Instant,
    ) -> Outcome<()> {
        if !self.delivered.is_empty() {
            delivered(session, subject_id, held, &self.delivered, at).await?;
        }
        if !self.again.is_empty() {
            let sql = "UPDATE event_queue AS q SET attempts = q.attempts + f.counted, due_at = f.due_at
                       FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::integer[])
                           AS f (id, ordinal, due_at, counted)
                       WHERE q.subject_id = $1 AND q.subscription_id = f.id AND q.ordinal = f.ordinal";
            let ids: Vec<&str> = self.again.iter().map(|((id, _), ..)| *id).collect();
            let rows: Vec<i64> = self.again.iter().map(|((_, row), ..)| *row).collect();
            let due: Vec<i64> = self.again.iter().map(|(_, due_at, _)| *due_at).collect();
            let counted: Vec<i32> = self.again.iter().map(|(.., counted)| *counted).collect();
            session.execute(sql, &[&subject_id.as_str(), &ids, &rows, &due, &counted]).await?;
        }
        for (id, reason) in &self.given_up {
            if let Some(at_it) = held.iter().position(|one| one.id == *id) {
                give_up(session, subject_id, &mut held[at_it..=at_it], *reason, at).await?;
            }
        }
        Ok(())
    }
}

/// The event is gone, or becomes the next one when something changed while it was being sent. The next one goes to
/// the end of the queue, like any other that comes now.
async fn delivered(
    session: &Session,
    subject_id: &SubjectId,
    held: &mut [Held],
    places: &[Place<'_>],
    at: Instant,
) -> Outcome<()> {
    let subject = subject_id.as_str();
    let sql = "DELETE FROM event_queue AS q USING unnest($2::text[], $3::bigint[]) AS f (id, ordinal)
               WHERE q.subject_id = $1 AND q.subscription_id = f.id AND q.ordinal = f.ordinal
               RETURNING q.subscription_id, q.stream, q.connection_id, q.again, q.latest";
    let (ids, rows): (Vec<&str>, Vec<i64>) = places.iter().copied().unzip();
    for row in session.query(sql, &[&subject, &ids, &rows]).await? {
        let (id, again): (&str, Option<i64>) = (row.get(0), row.get(3));
        let Some((again, one)) = again.zip(held.iter_mut().find(|one| one.id == id)) else { continue };
        let sql = "INSERT INTO event_queue
                       (subject_id, subscription_id, ordinal, kind, stream, connection_id, since, latest, due_at)
                   VALUES ($1, $2, $3, 'records', $4, $5, $6, $7, $8)";
        let (stream, connection_id, latest) =
            (row.get::<_, &str>(1), row.get::<_, &str>(2), row.get::<_, i64>(4));
        let (ordinal, at) = (one.count(), at.micros());
        let values: [&(dyn ToSql + Sync); 8] =
            [&subject, &id, &ordinal, &stream, &connection_id, &again, &latest, &at];
        session.execute(sql, &values).await?;
    }
    Ok(())
}

/// Switches off what is still on; what ended with its grants only loses what waits.
async fn give_up(
    session: &Session,
    subject_id: &SubjectId,
    held: &mut [Held],
    reason: DisabledReason,
    at: Instant,
) -> Outcome<()> {
    if held.iter().all(|one| one.status == SubscriptionStatus::DisabledRevoked) {
        return super::waiting::drop_all(session, subject_id, held).await;
    }
    switch::set(session, subject_id, held, SubscriptionStatus::DisabledFailure, Some(reason), at).await
}
