//! Decisions about requests, and the tokens that follow from them.

use pdpp_access::SecretHash;
use pdpp_store::{Approval, Decided, IssueOutcome, Redeemed, Redemption};
use pdpp_wire::{ApprovalId, FamilyId, Instant, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::families;
use crate::authority::{consume, grant_ids, insert_grant, insert_token, may_issue};
use crate::fault::Outcome;

pub(super) fn approve(connection: &Connection, approval: &Approval) -> Outcome<Decided> {
    let id = approval.approval_id.as_str();
    match standing(connection, id, approval.at)? {
        Decided::Done => {}
        other => return Ok(other),
    }
    let sql = "UPDATE oauth_requests SET state = 'approved', subject_id = ?2, decided_at = ?3, code = ?4,
                   redeem_until = ?5 WHERE approval_id = ?1";
    connection.prepare_cached(sql)?.execute(params![
        id,
        approval.subject_id.as_str(),
        approval.at.micros(),
        approval.code.as_ref().map(SecretHash::as_bytes),
        approval.redeem_until.micros(),
    ])?;
    let sql = "INSERT INTO oauth_request_grants (approval_id, position, subject_id, grant_id)
               VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(sql)?;
    for (position, grant) in (0_i64..).zip(&approval.grants) {
        insert_grant(connection, grant)?;
        let (subject_id, grant_id) = (grant.subject.id.as_str(), grant.grant_id.as_str());
        statement.execute(params![id, position, subject_id, grant_id])?;
    }
    let sql = "INSERT OR IGNORE INTO event_callbacks (subject_id, client_id, host, allowed_at)
               SELECT ?2, client_id, ?3, ?4 FROM oauth_requests WHERE approval_id = ?1";
    for host in &approval.callback_hosts {
        let values = params![id, approval.subject_id.as_str(), host, approval.at.micros()];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    Ok(Decided::Done)
}

pub(super) fn deny(
    connection: &Connection,
    id: &ApprovalId,
    subject_id: &SubjectId,
    at: Instant,
) -> Outcome<Decided> {
    let decided = standing(connection, id.as_str(), at)?;
    if decided == Decided::Done {
        let sql = "UPDATE oauth_requests SET state = 'denied', subject_id = ?2, decided_at = ?3
                   WHERE approval_id = ?1";
        connection.prepare_cached(sql)?.execute(params![id.as_str(), subject_id.as_str(), at.micros()])?;
    }
    Ok(decided)
}

/// Whether a request can be decided; the write transaction keeps the answer true.
fn standing(connection: &Connection, id: &str, at: Instant) -> Outcome<Decided> {
    let sql = "SELECT state = 'pending', expires_at > ?2 FROM oauth_requests WHERE approval_id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![id, at.micros()], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(match found.optional()? {
        None => Decided::Unknown,
        Some((false, _)) => Decided::Conflict,
        Some((true, false)) => Decided::Expired,
        Some((true, true)) => Decided::Done,
    })
}

pub(super) fn redeem(connection: &Connection, redemption: &Redemption) -> Outcome<Redeemed> {
    let id = redemption.approval_id.as_str();
    let sql = "SELECT redeemed_at IS NOT NULL, state = 'approved' AND redeem_until > ?2
               FROM oauth_requests WHERE approval_id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found =
        statement.query_row(params![id, redemption.at.micros()], |row| Ok((row.get(0)?, row.get(1)?)));
    match found.optional()? {
        Some((true, _)) => return Ok(Redeemed::Already),
        Some((false, true)) => {}
        _ => return Ok(Redeemed::NotRedeemable),
    }
    let token = &redemption.token;
    let grants = grant_ids(token);
    if may_issue(connection, token)? != IssueOutcome::Issued
        || (!grants.is_empty() && !families::any_grant_alive(connection, &token.subject_id, grants)?)
    {
        return Ok(Redeemed::GrantEnded);
    }
    consume(connection, token)?;
    if let Some(family) = &redemption.family {
        families::insert(connection, family)?;
    }
    insert_token(connection, token)?;
    let sql = "UPDATE oauth_requests SET redeemed_at = ?2, family_id = ?3, token = ?4 WHERE approval_id = ?1";
    connection.prepare_cached(sql)?.execute(params![
        id,
        redemption.at.micros(),
        token.family_id.as_ref().map(FamilyId::as_str),
        token.hash.as_bytes(),
    ])?;
    Ok(Redeemed::Issued)
}

pub(super) fn end_redeemed(connection: &Connection, id: &ApprovalId, at: Instant) -> Outcome<()> {
    let sql =
        "SELECT family_id, token FROM oauth_requests WHERE approval_id = ?1 AND redeemed_at IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let found: Option<(Option<String>, Option<[u8; 32]>)> =
        statement.query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((family, token)) = found else {
        return Ok(());
    };
    if let Some(family_id) = family {
        families::revoke(connection, &family_id, at)?;
    }
    if let Some(hash) = token {
        families::revoke_token(connection, &SecretHash::from_bytes(hash), at)?;
    }
    Ok(())
}
