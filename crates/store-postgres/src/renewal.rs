//! What a database that was brought back must forget: the access it once gave, and the change tokens it once handed out.

use std::collections::BTreeMap;

use pdpp_store::{Disclosure, Renewed, StoreError};
use pdpp_wire::{Instant, SubjectId, SubscriptionId};

use crate::clock::StoreClock;
use crate::config::DatabaseUrl;
use crate::connections::fresh_epoch;
use crate::directory::Handle;
use crate::fault::{Fault, Outcome};
use crate::ledger::append;
use crate::session::{Session, Whose};
use crate::{Options, PostgresStore, connect, migrate};

/// Each owner's, and only of owners who lost something.
type Ended = BTreeMap<SubjectId, Renewed>;

impl PostgresStore {
    /// Starts a new epoch in every stream of every owner, so that no change token from before is taken for one of the
    /// history that begins now. Unless they are kept, every grant, token, refresh token, session, open request and event
    /// subscription ends. Every owner's ledger gets the entry that `entry` makes of what ended there. All of it
    /// happens, or nothing. For whoever prepares the schema: it needs no place of attachments.
    pub async fn renew(
        url: &DatabaseUrl,
        options: Options,
        keep_grants: bool,
        entry: impl Fn(&SubjectId, Renewed, Instant) -> Disclosure + Send + Sync,
    ) -> Result<Renewed, StoreError> {
        let run = async || -> Outcome<Renewed> {
            let pool = connect::pool(url, &options)?;
            let clock = StoreClock::new(options.clock, options.time);
            let client = pool.get().await?;
            migrate::check(&client).await?;
            clock.set(&client).await?;
            drop(client);
            let (now, epoch) = (clock.now(), fresh_epoch(options.entropy.as_ref()));
            let session = Session::write(&pool, Whose::Everybody).await?;
            let renewed = renew(&session, keep_grants, epoch, now, &entry).await;
            session.end(renewed).await
        };
        run().await.map_err(StoreError::from)
    }
}

async fn renew(
    session: &Session,
    keep_grants: bool,
    epoch: i64,
    now: Instant,
    entry: &(impl Fn(&SubjectId, Renewed, Instant) -> Disclosure + Sync),
) -> Outcome<Renewed> {
    // It takes as long as there are owners; nobody is served meanwhile.
    session.batch("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'").await?;
    session.execute("UPDATE scopes SET epoch = $1", &[&epoch]).await?;
    let ended = if keep_grants { Ended::new() } else { end_access(session, now).await? };
    for row in session.query("SELECT subject_id FROM subjects ORDER BY subject_id", &[]).await? {
        let subject_id = subject(row.get(0))?;
        let renewed = ended.get(&subject_id).copied().unwrap_or_default();
        append(session, &subject_id, &[entry(&subject_id, renewed, now)]).await?;
    }
    let total = |sum: Renewed, one: &Renewed| Renewed {
        grants: sum.grants + one.grants,
        tokens: sum.tokens + one.tokens,
    };
    Ok(ended.values().fold(Renewed::default(), total))
}

async fn end_access(session: &Session, now: Instant) -> Outcome<Ended> {
    let mut ended = Ended::new();
    for (subject_id, grants) in revoke(session, "grants", now).await? {
        ended.entry(subject_id).or_default().grants = grants;
    }
    for (subject_id, tokens) in revoke(session, "tokens", now).await? {
        ended.entry(subject_id).or_default().tokens = tokens;
    }
    revoke(session, "refresh_families", now).await?;
    revoke(session, "owner_sessions", now).await?;
    // Codes that were not redeemed and requests that were not answered.
    session.batch("DELETE FROM oauth_request_grants; DELETE FROM oauth_requests").await?;
    // Nobody is told of changes on behalf of a grant that has ended; its receiver heard of the archive this was, not of
    // this one.
    let gone = session.query("DELETE FROM event_subscriptions RETURNING subscription_id", &[]).await?;
    let named = |row: &tokio_postgres::Row| {
        let id = SubscriptionId::parse(row.get::<_, String>(0));
        Ok(Handle::of_subscription(&id.map_err(|_| Fault::damaged("the id of a subscription"))?))
    };
    let handles = gone.iter().map(named).collect::<Outcome<Vec<_>>>()?;
    Handle::remove(session, &handles).await?;
    let rest = "DELETE FROM event_subscription_grants; DELETE FROM event_queue; DELETE FROM event_deliveries;
                UPDATE event_generation SET generation = generation + 1";
    session.batch(rest).await?;
    Ok(ended)
}

/// How many rows of a table that were in force no longer are, for each owner.
async fn revoke(session: &Session, table: &str, now: Instant) -> Outcome<Vec<(SubjectId, u64)>> {
    let sql = format!(
        "WITH ended AS (UPDATE {table} SET revoked_at = $1 WHERE revoked_at IS NULL RETURNING subject_id)
         SELECT subject_id, count(*) FROM ended GROUP BY subject_id"
    );
    let rows = session.query(&sql, &[&now.micros()]).await?;
    let read = |row: &tokio_postgres::Row| {
        let count = u64::try_from(row.get::<_, i64>(1)).unwrap_or_default();
        Ok((subject(row.get(0))?, count))
    };
    rows.iter().map(read).collect()
}

fn subject(name: String) -> Outcome<SubjectId> {
    SubjectId::parse(name).map_err(|_| Fault::damaged("the name of an owner"))
}
