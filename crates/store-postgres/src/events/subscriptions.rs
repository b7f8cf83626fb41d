//! Subscriptions: made, found, listed, removed.

use pdpp_store::{Holder, NewSubscription, StoredSubscription, SubscriptionMade};
use pdpp_wire::{
    ClientId, ConnectionId, DisabledReason, GrantId, Instant, SubjectId, SubscriptionId, SubscriptionStatus,
    TokenId,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::held::{hold, settle};
use super::{damaged, generation, waiting};
use crate::directory::Handle;
use crate::fault::Outcome;
use crate::session::Session;
use crate::subject_row::SubjectRow;

const SELECT: &str = "SELECT s.subscription_id, s.subject_id, s.client_id, s.callback_url, s.scope, s.status,
        s.disabled_reason, s.secret, s.created_at, s.updated_at, ARRAY(
            SELECT e.grant_id FROM event_subscription_grants AS e
            WHERE e.subject_id = $1 AND e.subscription_id = s.subscription_id ORDER BY e.position)
    FROM event_subscriptions AS s WHERE s.subject_id = $1";

/// What a holder's subscriptions satisfy: its client is $2, its grants are $3, its token is $4.
const HELD: &str = "AND s.client_id = $2 AND EXISTS (
        SELECT 1 FROM event_subscription_grants AS e
        WHERE e.subject_id = $1 AND e.subscription_id = s.subscription_id AND (
            e.grant_id = ANY($3) OR EXISTS (
                SELECT 1 FROM tokens AS k JOIN token_grants AS t
                    ON t.subject_id = $1 AND t.hash = k.hash AND t.grant_id = e.grant_id
                WHERE k.subject_id = $1 AND k.token_id = $4)))";

pub(super) async fn create(session: &Session, new: &NewSubscription, most: u32) -> Outcome<SubscriptionMade> {
    let mut subject = SubjectRow::lock(session, &new.subject_id).await?;
    let sql = "SELECT COUNT(*) FROM event_subscriptions WHERE subject_id = $1 AND client_id = $2";
    let names = (new.subject_id.as_str(), new.client_id.as_str());
    let count: i64 = session.query_one(sql, &[&names.0, &names.1]).await?.get(0);
    if count >= i64::from(most) {
        return Ok(SubscriptionMade::TooMany);
    }
    start_following(session, &new.subject_id, subject.sequence).await?;
    let ordinal = subject.count();
    subject.store(session, &new.subject_id).await?;
    Handle::of_subscription(&new.subscription_id).insert(session, &new.subject_id).await?;
    insert(session, new, ordinal, subject.sequence).await?;
    let sql = "INSERT INTO event_subscription_grants (subject_id, subscription_id, position, grant_id)
               SELECT $1, $2, g.position::integer, g.grant_id
               FROM unnest($3::text[]) WITH ORDINALITY AS g (grant_id, position)";
    let grants: Vec<&str> = new.grant_ids.iter().map(GrantId::as_str).collect();
    session.execute(sql, &[&names.0, &new.subscription_id.as_str(), &grants]).await?;
    let mut held = hold(session, &new.subject_id, &[new.subscription_id.as_str()]).await?;
    for one in &mut held {
        waiting::queue(session, &new.subject_id, one, "verify", &new.verify).await?;
    }
    settle(session, &new.subject_id, &held).await?;
    generation::begin(session, &new.subject_id).await?;
    Ok(SubscriptionMade::Made)
}

/// While nobody listens the log is not followed; what was written in the meantime is nobody's news. Nobody else of the
/// subject may begin to listen meanwhile: the subject's row is locked.
pub(super) async fn start_following(session: &Session, subject_id: &SubjectId, head: i64) -> Outcome<()> {
    let sql = "INSERT INTO event_positions (subject_id, sequence) VALUES ($1, $2)
               ON CONFLICT (subject_id) DO UPDATE SET sequence = excluded.sequence WHERE NOT EXISTS (
                   SELECT 1 FROM event_subscriptions
                   WHERE subject_id = $1 AND status IN ('pending_verification', 'active'))";
    session.execute(sql, &[&subject_id.as_str(), &head]).await?;
    Ok(())
}

async fn insert(session: &Session, new: &NewSubscription, ordinal: i64, head: i64) -> Outcome<()> {
    let scope = serde_json::to_string(&new.scope)?;
    let streams = serde_json::to_string(&new.streams)?;
    let sql =
        "INSERT INTO event_subscriptions (subject_id, subscription_id, ordinal, client_id, callback_url,
                   callback_host, scope, streams, connection_id, status, secret, from_sequence, created_at,
                   updated_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending_verification', $10, $11, $12, $12)";
    let created_at = new.created_at.micros();
    let values: [&(dyn ToSql + Sync); 12] = [
        &new.subject_id.as_str(),
        &new.subscription_id.as_str(),
        &ordinal,
        &new.client_id.as_str(),
        &new.callback_url,
        &new.callback_host,
        &scope,
        &streams,
        &new.connection_id.as_ref().map(ConnectionId::as_str),
        &new.sealed_secret,
        &head,
        &created_at,
    ];
    session.execute(sql, &values).await?;
    Ok(())
}

pub(super) async fn find(
    session: &Session,
    subject_id: &SubjectId,
    id: &SubscriptionId,
    holder: Option<&Holder>,
) -> Outcome<Option<StoredSubscription>> {
    let (subject, id) = (subject_id.as_str(), id.as_str());
    let found = if let Some(holder) = holder {
        let Named { client, grants, token } = Named::of(holder);
        let sql = format!("{SELECT} {HELD} AND s.subscription_id = $5");
        session.query_opt(&sql, &[&subject, &client, &grants, &token, &id]).await?
    } else {
        session.query_opt(&format!("{SELECT} AND s.subscription_id = $2"), &[&subject, &id]).await?
    };
    found.as_ref().map(read).transpose()
}

pub(super) async fn list(
    session: &Session,
    subject_id: &SubjectId,
    holder: Option<&Holder>,
) -> Outcome<Vec<StoredSubscription>> {
    let subject = subject_id.as_str();
    let rows = if let Some(holder) = holder {
        let Named { client, grants, token } = Named::of(holder);
        let sql = format!("{SELECT} {HELD} ORDER BY s.ordinal");
        session.query(&sql, &[&subject, &client, &grants, &token]).await?
    } else {
        session.query(&format!("{SELECT} ORDER BY s.ordinal"), &[&subject]).await?
    };
    rows.iter().map(read).collect()
}

/// A holder as statements take it.
struct Named<'h> {
    client: &'h str,
    grants: Vec<&'h str>,
    token: &'h str,
}

impl<'h> Named<'h> {
    fn of(holder: &'h Holder) -> Self {
        Self {
            client: holder.client_id.as_str(),
            grants: holder.grant_ids.iter().map(GrantId::as_str).collect(),
            token: holder.token_id.as_ref().map(TokenId::as_str).unwrap_or_default(),
        }
    }
}

pub(super) async fn delete(session: &Session, subject_id: &SubjectId, id: &SubscriptionId) -> Outcome<bool> {
    let names = (subject_id.as_str(), id.as_str());
    if hold(session, subject_id, &[names.1]).await?.is_empty() {
        return Ok(false);
    }
    for sql in [
        "DELETE FROM event_queue WHERE subject_id = $1 AND subscription_id = $2",
        "DELETE FROM event_deliveries WHERE subject_id = $1 AND subscription_id = $2",
        "DELETE FROM event_subscription_grants WHERE subject_id = $1 AND subscription_id = $2",
        "DELETE FROM event_subscriptions WHERE subject_id = $1 AND subscription_id = $2",
    ] {
        session.execute(sql, &[&names.0, &names.1]).await?;
    }
    Handle::remove(session, &[Handle::of_subscription(id)]).await?;
    generation::bump(session, subject_id).await?;
    Ok(true)
}

fn read(row: &Row) -> Outcome<StoredSubscription> {
    let reason: Option<&str> = row.get(6);
    let grants: Vec<String> = row.get(10);
    Ok(StoredSubscription {
        subscription_id: SubscriptionId::parse(row.get::<_, String>(0)).map_err(damaged)?,
        subject_id: SubjectId::parse(row.get::<_, String>(1)).map_err(damaged)?,
        client_id: ClientId::parse(row.get::<_, String>(2)).map_err(damaged)?,
        grant_ids: grants
            .into_iter()
            .map(|id| GrantId::parse(id).map_err(damaged))
            .collect::<Outcome<_>>()?,
        callback_url: row.get(3),
        scope: serde_json::from_str(row.get(4)).map_err(damaged)?,
        status: SubscriptionStatus::parse(row.get(5)).ok_or(()).map_err(damaged)?,
        disabled_reason: reason
            .map(|word| DisabledReason::parse(word).ok_or(()).map_err(damaged))
            .transpose()?,
        sealed_secret: row.get(7),
        created_at: Instant::from_micros(row.get(8)),
        updated_at: Instant::from_micros(row.get(9)),
    })
}
