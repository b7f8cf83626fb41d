//! Hosts the owner allowed.

use pdpp_store::AllowedCallback;
use pdpp_wire::{ClientId, DisabledReason, Instant, SubjectId, SubscriptionStatus};
use rusqlite::{Connection, params};

use super::{damaged, switch};
use crate::fault::Outcome;

pub(super) fn allow(
    connection: &Connection,
    subject_id: &SubjectId,
    client_id: &ClientId,
    host: &str,
    at: Instant,
) -> Outcome<()> {
    let sql = "INSERT OR IGNORE INTO event_callbacks VALUES (?, ?, ?, ?)";
    let values = params![subject_id.as_str(), client_id.as_str(), host, at.micros()];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

pub(super) fn forbid(
    connection: &Connection,
    subject_id: &SubjectId,
    client_id: &ClientId,
    host: &str,
    at: Instant,
) -> Outcome<Option<u64>> {
    let names = params![subject_id.as_str(), client_id.as_str(), host];
    let sql = "DELETE FROM event_callbacks WHERE subject_id = ? AND client_id = ? AND host = ?";
    if connection.prepare_cached(sql)?.execute(names)? == 0 {
        return Ok(None);
    }
    let sql = "SELECT id FROM event_subscriptions
               WHERE subject_id = ? AND client_id = ? AND callback_host = ?
                   AND status IN ('pending_verification', 'active')";
    let mut statement = connection.prepare_cached(sql)?;
    let rows: Vec<i64> = statement.query_map(names, |row| row.get(0))?.collect::<Result<_, _>>()?;
    for row in &rows {
        let reason = Some(DisabledReason::OwnerDisabled);
        switch::set(connection, *row, SubscriptionStatus::Disabled, reason, at)?;
    }
    Ok(Some(rows.len() as u64))
}

pub(super) fn is_allowed(
    connection: &Connection,
    subject_id: &SubjectId,
    client_id: &ClientId,
    host: &str,
) -> Outcome<bool> {
    let sql = "SELECT 1 FROM event_callbacks WHERE subject_id = ? AND client_id = ? AND host = ?";
    Ok(connection.prepare_cached(sql)?.exists([subject_id.as_str(), client_id.as_str(), host])?)
}

pub(super) fn list(connection: &Connection, subject_id: &SubjectId) -> Outcome<Vec<AllowedCallback>> {
    let sql = "SELECT client_id, host, allowed_at FROM event_callbacks WHERE subject_id = ?
               ORDER BY client_id, host";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([subject_id.as_str()])?;
    let mut allowed = Vec::new();
    while let Some(row) = rows.next()? {
        allowed.push(AllowedCallback {
            client_id: ClientId::parse(row.get::<_, String>(0)?).map_err(damaged)?,
            host: row.get(1)?,
            allowed_at: Instant::from_micros(row.get(2)?),
        });
    }
    Ok(allowed)
}
