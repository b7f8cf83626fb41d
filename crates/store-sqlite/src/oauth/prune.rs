//! Drops what has ended long ago.
//!
//! A day stays between the end and the drop, so that a code or token that comes back shortly after is told
//! what it was. Grants that nobody fetched a token for in time are revoked: the owner's list would otherwise
//! show access that nobody has.

use pdpp_wire::Instant;
use rusqlite::Connection;

use crate::fault::Outcome;

const DAY: i64 = 86_400;
/// How long a revoked or expired family is remembered.
const FAMILY_DAYS: i64 = 30;

pub(super) fn prune(connection: &Connection, at: Instant) -> Outcome<u64> {
    let sql = "UPDATE grants SET revoked_at = ?1 WHERE revoked_at IS NULL AND EXISTS (
                   SELECT 1 FROM oauth_request_grants g JOIN oauth_requests r ON r.approval_id = g.approval_id
                   WHERE g.subject_id = grants.subject_id AND g.grant_id = grants.grant_id
                       AND r.state = 'approved' AND r.redeemed_at IS NULL AND r.redeem_until <= ?1)";
    connection.prepare_cached(sql)?.execute([at.micros()])?;
    let mut pruned = 0;
    for (sql, before) in [
        ("DELETE FROM oauth_requests WHERE expires_at <= ?1", at.plus_seconds(-DAY)),
        ("DELETE FROM tokens WHERE family_id IS NOT NULL AND expires_at <= ?1", at.plus_seconds(-DAY)),
        (
            "DELETE FROM refresh_families WHERE expires_at <= ?1 OR revoked_at <= ?1",
            at.plus_seconds(-FAMILY_DAYS * DAY),
        ),
        ("DELETE FROM owner_sessions WHERE expires_at <= ?1 OR revoked_at <= ?1", at.plus_seconds(-DAY)),
        ("DELETE FROM attempts WHERE window_ends <= ?1", at),
    ] {
        pruned += connection.prepare_cached(sql)?.execute([before.micros()])? as u64;
    }
    Ok(pruned)
}
