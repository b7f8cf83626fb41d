//! Drops what has ended long ago.
//!
//! A day stays between the end and the drop, so that a code or token that comes back shortly after is told
//! what it was. Grants that nobody fetched a token for in time are revoked: the owner's list would otherwise
//! show access that nobody has.
//!
//! This is maintenance: it walks the rows of everybody, each table once and in pieces, each piece a transaction. It
//! takes only what has ended, which nobody else writes to any more.

use pdpp_wire::{Instant, SubjectId};

use super::hash_of;
use crate::PostgresStore;
use crate::authority::grants;
use crate::directory::Handle;
use crate::fault::{Fault, Outcome};
use crate::session::{Session, Whose};
use crate::subject_row::SubjectRow;

const DAY: i64 = 86_400;
/// How long a revoked or expired family is remembered.
const FAMILY_DAYS: i64 = 30;
/// Rows of one piece.
const PIECE: i64 = 1000;

/// Where a walk stands: the subject and the key of the last row it took.
type Place = (String, Vec<u8>);

/// How a family's rows are found by the bytes of its id.
const FAMILY: &str = "family_id = convert_from(v.key, 'UTF8')";

impl PostgresStore {
    pub(super) async fn prune(&self, at: Instant) -> Outcome<u64> {
        self.take_back_unfetched(at).await?;
        let session = self.writing(Whose::Provider).await?;
        let pruned = prune_provider(&session, at).await;
        let mut pruned = session.end(pruned).await?;
        let day = at.plus_seconds(-DAY);
        pruned += self.walk(Ended::Tokens, day).await?;
        pruned += self.walk(Ended::Families, at.plus_seconds(-FAMILY_DAYS * DAY)).await?;
        pruned += self.walk(Ended::Sessions, day).await?;
        Ok(pruned)
    }

    /// Revokes the grants of requests that were approved and not redeemed in time, each request in a transaction.
    async fn take_back_unfetched(&self, at: Instant) -> Outcome<()> {
        let session = self.reading(Whose::Provider).await?;
        let sql = "SELECT approval_id FROM oauth_requests WHERE subject_id = '' AND state = 'approved'
                       AND redeemed_at IS NULL AND NOT lapsed AND redeem_until <= $1";
        let due = session.query(sql, &[&at.micros()]).await;
        for row in session.end(due).await? {
            let session = self.writing(Whose::Provider).await?;
            let taken = take_back(&session, row.get(0), at).await;
            session.end(taken).await?;
        }
        Ok(())
    }

    async fn walk(&self, what: Ended, before: Instant) -> Outcome<u64> {
        let (mut place, mut pruned): (Place, u64) = (Place::default(), 0);
        loop {
            let session = self.writing(Whose::Everybody).await?;
            let dropped = what.drop_piece(&session, &place, before).await;
            let Some((count, last)) = session.end(dropped).await? else { return Ok(pruned) };
            (place, pruned) = (last, pruned + count);
        }
    }
}

async fn take_back(session: &Session, approval_id: &str, at: Instant) -> Outcome<()> {
    let sql = "UPDATE oauth_requests SET lapsed = true
               WHERE subject_id = '' AND approval_id = $1 AND state = 'approved' AND redeemed_at IS NULL
               RETURNING decided_by, ARRAY(SELECT g.grant_id FROM oauth_request_grants g
                                           WHERE g.subject_id = '' AND g.approval_id = $1)";
    // Somebody was in time after all, or it is gone.
    let Some(row) = session.query_opt(sql, &[&approval_id]).await? else { return Ok(()) };
    let damaged = |_| Fault::damaged("the owner who decided a request");
    let subject_id = SubjectId::parse(row.get::<_, String>(0)).map_err(damaged)?;
    session.turn_to((&subject_id).into()).await?;
    SubjectRow::lock(session, &subject_id).await?;
    grants::revoke(session, &subject_id, &row.get::<_, Vec<&str>>(1), at).await
}

async fn prune_provider(session: &Session, at: Instant) -> Outcome<u64> {
    let sql = "DELETE FROM oauth_requests WHERE subject_id = '' AND expires_at <= $1 RETURNING approval_id";
    let rows = session.query(sql, &[&at.plus_seconds(-DAY).micros()]).await?;
    let gone: Vec<&str> = rows.iter().map(|row| row.get(0)).collect();
    let sql = "DELETE FROM oauth_request_grants WHERE subject_id = '' AND approval_id = ANY($1)";
    session.execute(sql, &[&gone]).await?;
    let sql = "DELETE FROM attempts WHERE subject_id = '' AND window_ends <= $1";
    Ok(gone.len() as u64 + session.execute(sql, &[&at.micros()]).await?)
}

/// What ends and is dropped.
#[derive(Clone, Copy)]
enum Ended {
    Tokens,
    Families,
    Sessions,
}

impl Ended {
    /// The next rows that have ended, in the order of their keys: subject and key as bytes.
    const fn next(self) -> &'static str {
        match self {
            Self::Tokens => {
                "SELECT subject_id, hash FROM tokens
                 WHERE (subject_id, hash) > ($1, $2) AND family_id IS NOT NULL AND expires_at <= $3
                 ORDER BY subject_id, hash LIMIT $4"
            }
            Self::Families => {
                "SELECT subject_id, convert_to(family_id, 'UTF8') FROM refresh_families
                 WHERE (subject_id, family_id) > ($1, convert_from($2, 'UTF8'))
                     AND (expires_at <= $3 OR revoked_at <= $3)
                 ORDER BY subject_id, family_id LIMIT $4"
            }
            Self::Sessions => {
                "SELECT subject_id, hash FROM owner_sessions
                 WHERE (subject_id, hash) > ($1, $2) AND (expires_at <= $3 OR revoked_at <= $3)
                 ORDER BY subject_id, hash LIMIT $4"
            }
        }
    }

    /// Drops the next rows after a place, with all that hangs on them; `None` when there are none.
    async fn drop_piece(
        self,
        session: &Session,
        after: &Place,
        before: Instant,
    ) -> Outcome<Option<(u64, Place)>> {
        let rows = session.query(self.next(), &[&after.0, &after.1, &before.micros(), &PIECE]).await?;
        let found: Vec<Place> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let Some(last) = found.last().cloned() else { return Ok(None) };
        let subjects: Vec<&str> = found.iter().map(|(subject, _)| subject.as_str()).collect();
        let keys: Vec<&[u8]> = found.iter().map(|(_, key)| key.as_slice()).collect();
        let delete = async |table: &str, key: &str| {
            let sql = format!(
                "DELETE FROM {table} t USING unnest($1::text[], $2::bytea[]) AS v (subject_id, key)
                 WHERE t.subject_id = v.subject_id AND t.{key}"
            );
            session.execute(&sql, &[&subjects, &keys]).await
        };
        let handles = match self {
            Self::Tokens => {
                delete("token_grants", "hash = v.key").await?;
                delete("tokens", "hash = v.key").await?;
                keys.iter().map(|key| Ok(Handle::of_token(&hash_of(key)?))).collect::<Outcome<Vec<_>>>()?
            }
            Self::Sessions => {
                delete("owner_sessions", "hash = v.key").await?;
                keys.iter().map(|key| Ok(Handle::of_session(&hash_of(key)?))).collect::<Outcome<Vec<_>>>()?
            }
            Self::Families => {
                let handles = family_handles(session, &subjects, &keys).await?;
                delete("refresh_tokens", FAMILY).await?;
                delete("refresh_family_grants", FAMILY).await?;
                delete("refresh_families", FAMILY).await?;
                handles
            }
        };
        Handle::remove(session, &handles).await?;
        Ok(Some((found.len() as u64, last)))
    }
}

/// The handles of families and of all their members.
async fn family_handles(session: &Session, subjects: &[&str], families: &[&[u8]]) -> Outcome<Vec<Handle>> {
    let sql = "SELECT t.hash FROM unnest($1::text[], $2::bytea[]) AS v (subject_id, key)
               JOIN refresh_tokens t ON t.subject_id = v.subject_id
                   AND t.family_id = convert_from(v.key, 'UTF8')";
    let members = session.query(sql, &[&subjects, &families]).await?;
    let members = members.iter().map(|row| Ok(Handle::of_refresh(&hash_of(row.get(0))?)));
    let families = families.iter().map(|family| {
        let text = String::from_utf8_lossy(family).into_owned();
        let family_id = pdpp_wire::FamilyId::parse(text).map_err(|_| Fault::damaged("a family's id"))?;
        Ok(Handle::of_family(&family_id))
    });
    members.chain(families).collect()
}
