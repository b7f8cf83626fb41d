//! The owner's sessions, and counters of attempts.

use pdpp_access::SecretHash;
use pdpp_store::{Attempts, OwnerSession};
use pdpp_wire::{Instant, SessionId, SubjectId};
use rusqlite::{Connection, Row, params};

use crate::authority::instant;
use crate::fault::{Fault, Outcome};

const SELECT: &str = "SELECT session_id, subject_id, created_at, expires_at, last_used_at, revoked_at
                      FROM owner_sessions";

pub(super) fn put(connection: &Connection, hash: &SecretHash, session: &OwnerSession) -> Outcome<()> {
    let sql = "INSERT INTO owner_sessions
                   (hash, session_id, subject_id, created_at, expires_at, last_used_at, revoked_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    connection.prepare_cached(sql)?.execute(params![
        hash.as_bytes(),
        session.session_id.as_str(),
        session.subject_id.as_str(),
        session.created_at.micros(),
        session.expires_at.micros(),
        session.last_used_at.micros(),
        session.revoked_at.map(Instant::micros),
    ])?;
    Ok(())
}

pub(super) fn touch(
    connection: &Connection,
    hash: &SecretHash,
    at: Instant,
) -> Outcome<Option<OwnerSession>> {
    let sql = "UPDATE owner_sessions SET last_used_at = ?2
               WHERE hash = ?1 AND revoked_at IS NULL AND expires_at > ?2";
    connection.prepare_cached(sql)?.execute(params![hash.as_bytes(), at.micros()])?;
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE hash = ?1"))?;
    let mut rows = statement.query([hash.as_bytes()])?;
    rows.next()?.map(read).transpose()
}

pub(super) fn list(connection: &Connection, subject_id: &SubjectId) -> Outcome<Vec<OwnerSession>> {
    let sql = format!("{SELECT} WHERE subject_id = ?1 ORDER BY created_at DESC, session_id");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([subject_id.as_str()])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        sessions.push(read(row)?);
    }
    Ok(sessions)
}

pub(super) fn revoke(
    connection: &Connection,
    subject_id: &SubjectId,
    session_id: Option<&SessionId>,
    at: Instant,
) -> Outcome<u64> {
    let sql = "UPDATE owner_sessions SET revoked_at = ?3
               WHERE subject_id = ?1 AND (?2 IS NULL OR session_id = ?2) AND revoked_at IS NULL";
    let one = session_id.map(SessionId::as_str);
    Ok(connection.prepare_cached(sql)?.execute(params![subject_id.as_str(), one, at.micros()])? as u64)
}

fn read(row: &Row<'_>) -> Outcome<OwnerSession> {
    let damaged = |_| Fault::damaged("a session's ids");
    Ok(OwnerSession {
        session_id: SessionId::parse(row.get::<_, String>(0)?).map_err(damaged)?,
        subject_id: SubjectId::parse(row.get::<_, String>(1)?).map_err(damaged)?,
        created_at: Instant::from_micros(row.get(2)?),
        expires_at: Instant::from_micros(row.get(3)?),
        last_used_at: Instant::from_micros(row.get(4)?),
        revoked_at: instant(row, 5)?,
    })
}

pub(super) fn count(connection: &Connection, key: &str, window: i64, at: Instant) -> Outcome<Attempts> {
    let sql = "INSERT INTO attempts (key, window_ends, count) VALUES (?1, ?3, 1)
               ON CONFLICT (key) DO UPDATE SET
                   count = CASE WHEN window_ends > ?2 THEN count + 1 ELSE 1 END,
                   window_ends = CASE WHEN window_ends > ?2 THEN window_ends ELSE excluded.window_ends END
               RETURNING count, window_ends";
    let ends = at.plus_seconds(window).micros();
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.query_row(params![key, at.micros(), ends], |row| {
        Ok(Attempts { count: row.get(0)?, window_ends: Instant::from_micros(row.get(1)?) })
    })?)
}

pub(super) fn clear(connection: &Connection, key: &str) -> Outcome<()> {
    connection.prepare_cached("DELETE FROM attempts WHERE key = ?1")?.execute([key])?;
    Ok(())
}
