//! Requests for consent while they wait.

use pdpp_access::SecretHash;
use pdpp_store::{
    AgentAttached, Flow, NewRequest, Polled, RequestHandle, RequestState, Staged, StagedRequest,
};
use pdpp_wire::{ApprovalId, ClientId, GrantId, Instant, SubjectId};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};

use crate::fault::{Fault, Outcome};

const SELECT: &str =
    "SELECT approval_id, flow, client_id, document, created_at, expires_at, review, agent_id,
                             state, subject_id, redeem_until, redeemed_at FROM oauth_requests";

/// Seconds by which an impatient asker's interval grows, as RFC 8628 says, and where it stops.
const SLOW_DOWN: u32 = 5;
const LONGEST_INTERVAL: u32 = 60;

pub(super) fn stage(connection: &Connection, request: &NewRequest, most_pending: u32) -> Outcome<Staged> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM oauth_requests
               WHERE state = 'pending' AND expires_at > ?1 LIMIT ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    let pending: u32 =
        statement.query_row(params![request.created_at.micros(), most_pending], |row| row.get(0))?;
    if pending >= most_pending {
        return Ok(Staged::TooMany);
    }
    let sql =
        "INSERT INTO oauth_requests (approval_id, flow, client_id, pushed, consent, device_code, user_code,
                   document, created_at, expires_at, poll_interval)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let bytes = |hash: &Option<SecretHash>| hash.as_ref().map(|hash| *hash.as_bytes());
    connection.prepare_cached(sql)?.execute(params![
        request.approval_id.as_str(),
        request.flow.as_str(),
        request.client_id.as_str(),
        bytes(&request.pushed),
        bytes(&request.consent),
        bytes(&request.device_code),
        bytes(&request.user_code),
        request.document,
        request.created_at.micros(),
        request.expires_at.micros(),
        request.interval,
    ])?;
    Ok(Staged::Kept)
}

pub(super) fn find(connection: &Connection, handle: &RequestHandle) -> Outcome<Option<StagedRequest>> {
    let (column, value) = key_of(handle);
    let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE {column} = ?1"))?;
    let mut rows = statement.query([value])?;
    rows.next()?.map(|row| read(connection, row)).transpose()
}

/// Those for one owner, or all.
pub(super) fn list(
    connection: &Connection,
    subject_id: Option<&SubjectId>,
    at: Instant,
) -> Outcome<Vec<StagedRequest>> {
    let sql = format!(
        "{SELECT} WHERE state = 'pending' AND expires_at > ?1 AND (?2 IS NULL OR subject_id = ?2)
         ORDER BY created_at, approval_id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![at.micros(), subject_id.map(SubjectId::as_str)])?;
    let mut requests = Vec::new();
    while let Some(row) = rows.next()? {
        requests.push(read(connection, row)?);
    }
    Ok(requests)
}

pub(super) fn address(connection: &Connection, id: &ApprovalId, subject_id: &SubjectId) -> Outcome<bool> {
    let sql = "UPDATE oauth_requests SET subject_id = ?2
               WHERE approval_id = ?1 AND (subject_id IS NULL OR subject_id = ?2)";
    Ok(connection.prepare_cached(sql)?.execute([id.as_str(), subject_id.as_str()])? > 0)
}

pub(super) fn open(
    connection: &Connection,
    id: &ApprovalId,
    consent: &SecretHash,
    at: Instant,
) -> Outcome<bool> {
    let sql = "UPDATE oauth_requests SET consent = ?2
               WHERE approval_id = ?1 AND state = 'pending' AND expires_at > ?3";
    let changed =
        connection.prepare_cached(sql)?.execute(params![id.as_str(), consent.as_bytes(), at.micros()])?;
    Ok(changed > 0)
}

pub(super) fn review(connection: &Connection, id: &ApprovalId, review: &str, at: Instant) -> Outcome<bool> {
    let sql = "UPDATE oauth_requests SET review = ?2
               WHERE approval_id = ?1 AND state = 'pending' AND expires_at > ?3";
    Ok(connection.prepare_cached(sql)?.execute(params![id.as_str(), review, at.micros()])? > 0)
}

pub(super) fn attach(
    connection: &Connection,
    id: &ApprovalId,
    (agent_id, polling): (&str, &SecretHash),
    at: Instant,
) -> Outcome<AgentAttached> {
    let sql = "UPDATE oauth_requests SET agent_id = ?2, polling = ?3
               WHERE approval_id = ?1 AND state = 'pending' AND expires_at > ?4
                   AND flow = 'exchange' AND agent_id IS NULL";
    let values = params![id.as_str(), agent_id, polling.as_bytes(), at.micros()];
    match connection.prepare_cached(sql)?.execute(values)? {
        0 => Ok(AgentAttached::Refused),
        _ => Ok(AgentAttached::Attached),
    }
}

pub(super) fn poll(connection: &Connection, handle: &RequestHandle, at: Instant) -> Outcome<Option<Polled>> {
    let Some(request) = find(connection, handle)? else {
        return Ok(None);
    };
    let id = request.approval_id.as_str();
    let sql = "SELECT poll_interval, polled_at FROM oauth_requests WHERE approval_id = ?1";
    let (interval, polled_at): (u32, Option<i64>) =
        connection.prepare_cached(sql)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let too_soon = polled_at
        .is_some_and(|last| at.micros() < Instant::from_micros(last).plus_seconds(interval.into()).micros());
    let interval = if too_soon { (interval + SLOW_DOWN).min(LONGEST_INTERVAL) } else { interval };
    let sql = "UPDATE oauth_requests SET polled_at = ?2, poll_interval = ?3 WHERE approval_id = ?1";
    connection.prepare_cached(sql)?.execute(params![id, at.micros(), interval])?;
    Ok(Some(Polled { request, too_soon, interval }))
}

fn key_of(handle: &RequestHandle) -> (&'static str, Value) {
    let blob = |hash: &SecretHash| Value::Blob(hash.as_bytes().to_vec());
    match handle {
        RequestHandle::Approval(id) => ("approval_id", Value::Text(id.to_string())),
        RequestHandle::Pushed(hash) => ("pushed", blob(hash)),
        RequestHandle::Consent(hash) => ("consent", blob(hash)),
        RequestHandle::DeviceCode(hash) => ("device_code", blob(hash)),
        RequestHandle::UserCode(hash) => ("user_code", blob(hash)),
        RequestHandle::Code(hash) => ("code", blob(hash)),
        RequestHandle::Polling(hash) => ("polling", blob(hash)),
    }
}

fn read(connection: &Connection, row: &Row<'_>) -> Outcome<StagedRequest> {
    let damaged = |_| Fault::damaged("a request's ids");
    let approval_id = ApprovalId::parse(row.get::<_, String>(0)?).map_err(damaged)?;
    let state = match row.get::<_, String>(8)?.as_str() {
        "pending" => RequestState::Pending,
        "denied" => RequestState::Denied,
        _ => RequestState::Approved {
            subject_id: SubjectId::parse(row.get::<_, String>(9)?).map_err(damaged)?,
            grant_ids: grants_of(connection, &approval_id)?,
            redeem_until: Instant::from_micros(row.get(10)?),
            redeemed_at: row.get::<_, Option<i64>>(11)?.map(Instant::from_micros),
        },
    };
    Ok(StagedRequest {
        flow: Flow::parse(&row.get::<_, String>(1)?).ok_or_else(|| Fault::damaged("a request's flow"))?,
        client_id: ClientId::parse(row.get::<_, String>(2)?).map_err(damaged)?,
        document: row.get(3)?,
        created_at: Instant::from_micros(row.get(4)?),
        expires_at: Instant::from_micros(row.get(5)?),
        review: row.get(6)?,
        agent_id: row.get(7)?,
        approval_id,
        state,
    })
}

fn grants_of(connection: &Connection, id: &ApprovalId) -> Outcome<Vec<GrantId>> {
    let sql = "SELECT grant_id FROM oauth_request_grants WHERE approval_id = ?1 ORDER BY position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id.as_str()])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(GrantId::parse(row.get::<_, String>(0)?).map_err(|_| Fault::damaged("a grant's id"))?);
    }
    Ok(ids)
}
