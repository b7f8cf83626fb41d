//! The owner's sessions, and counters of attempts.

use pdpp_access::SecretHash;
use pdpp_store::{Attempts, OwnerSession};
use pdpp_wire::{Instant, SessionId, SubjectId};
use tokio_postgres::Row;

use crate::authority::grants::instant;
use crate::directory::Handle;
use crate::fault::{Fault, Outcome};
use crate::session::Session;

const COLUMNS: &str = "session_id, created_at, expires_at, last_used_at, revoked_at";

pub(super) async fn put(session: &Session, hash: &SecretHash, owner: &OwnerSession) -> Outcome<()> {
    let sql = "INSERT INTO owner_sessions
                   (subject_id, hash, session_id, created_at, expires_at, last_used_at, revoked_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let bytes = hash.as_bytes().as_slice();
    session
        .execute(
            sql,
            &[
                &owner.subject_id.as_str(),
                &bytes,
                &owner.session_id.as_str(),
                &owner.created_at.micros(),
                &owner.expires_at.micros(),
                &owner.last_used_at.micros(),
                &owner.revoked_at.map(Instant::micros),
            ],
        )
        .await?;
    Handle::of_session(hash).insert(session, &owner.subject_id).await
}

pub(super) async fn touch(
    session: &Session,
    hash: &SecretHash,
    at: Instant,
) -> Outcome<Option<OwnerSession>> {
    let Some(subject_id) = Handle::of_session(hash).turn_to_its_subject(session).await? else {
        return Ok(None);
    };
    let (subject, bytes) = (subject_id.as_str(), hash.as_bytes().as_slice());
    let sql = format!(
        "UPDATE owner_sessions SET last_used_at = $3
         WHERE subject_id = $1 AND hash = $2 AND revoked_at IS NULL AND expires_at > $3 RETURNING {COLUMNS}"
    );
    let mut found = session.query_opt(&sql, &[&subject, &bytes, &at.micros()]).await?;
    if found.is_none() {
        // One that has ended is told so, and stays as it was.
        let sql = format!("SELECT {COLUMNS} FROM owner_sessions WHERE subject_id = $1 AND hash = $2");
        found = session.query_opt(&sql, &[&subject, &bytes]).await?;
    }
    found.as_ref().map(|row| read(&subject_id, row)).transpose()
}

pub(super) async fn list(session: &Session, subject_id: &SubjectId) -> Outcome<Vec<OwnerSession>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM owner_sessions WHERE subject_id = $1 ORDER BY created_at DESC, session_id"
    );
    let rows = session.query(&sql, &[&subject_id.as_str()]).await?;
    rows.iter().map(|row| read(subject_id, row)).collect()
}

pub(super) async fn revoke(
    session: &Session,
    subject_id: &SubjectId,
    session_id: Option<&SessionId>,
    at: Instant,
) -> Outcome<u64> {
    let sql = "UPDATE owner_sessions SET revoked_at = $3
               WHERE subject_id = $1 AND ($2::text IS NULL OR session_id = $2) AND revoked_at IS NULL";
    let one = session_id.map(SessionId::as_str);
    session.execute(sql, &[&subject_id.as_str(), &one, &at.micros()]).await
}

fn read(subject_id: &SubjectId, row: &Row) -> Outcome<OwnerSession> {
    let damaged = |_| Fault::damaged("a session's ids");
    Ok(OwnerSession {
        session_id: SessionId::parse(row.get::<_, String>(0)).map_err(damaged)?,
        subject_id: subject_id.clone(),
        created_at: Instant::from_micros(row.get(1)),
        expires_at: Instant::from_micros(row.get(2)),
        last_used_at: Instant::from_micros(row.get(3)),
        revoked_at: instant(row, 4),
    })
}

pub(super) async fn count(session: &Session, key: &str, window: i64, at: Instant) -> Outcome<Attempts> {
    let sql = "INSERT INTO attempts AS a (subject_id, key, window_ends, count) VALUES ('', $1, $3, 1)
               ON CONFLICT (subject_id, key) DO UPDATE SET
                   count = CASE WHEN a.window_ends > $2 THEN a.count + 1 ELSE 1 END,
                   window_ends = CASE WHEN a.window_ends > $2 THEN a.window_ends ELSE excluded.window_ends END
               RETURNING count, window_ends";
    let ends = at.plus_seconds(window).micros();
    let row = session.query_one(sql, &[&key, &at.micros(), &ends]).await?;
    let count = u32::try_from(row.get::<_, i64>(0)).unwrap_or(u32::MAX);
    Ok(Attempts { count, window_ends: Instant::from_micros(row.get(1)) })
}

pub(super) async fn clear(session: &Session, key: &str) -> Outcome<()> {
    session.execute("DELETE FROM attempts WHERE subject_id = '' AND key = $1", &[&key]).await?;
    Ok(())
}
