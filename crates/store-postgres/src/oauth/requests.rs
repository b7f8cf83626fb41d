//! Requests for consent while they wait. They are the provider's until an owner decides.

use pdpp_access::SecretHash;
use pdpp_store::{
    AgentAttached, Flow, NewRequest, Polled, RequestHandle, RequestState, Staged, StagedRequest,
};
use pdpp_wire::{ApprovalId, ClientId, GrantId, Instant, SubjectId};
use tokio_postgres::Row;

use crate::fault::{Fault, Outcome};
use crate::session::Session;

const SELECT: &str =
    "SELECT r.approval_id, r.flow, r.client_id, r.document, r.created_at, r.expires_at, r.review,
        r.agent_id, r.state, r.decided_by, r.redeem_until, r.redeemed_at,
        ARRAY(SELECT g.grant_id FROM oauth_request_grants g
              WHERE g.subject_id = '' AND g.approval_id = r.approval_id ORDER BY g.position),
        r.poll_interval, r.polled_at
    FROM oauth_requests r WHERE r.subject_id = ''";

/// Seconds by which an impatient asker's interval grows, as RFC 8628 says, and where it stops.
const SLOW_DOWN: i64 = 5;
const LONGEST_INTERVAL: i64 = 60;

pub(super) async fn stage(session: &Session, request: &NewRequest, most_pending: u32) -> Outcome<Staged> {
    // Whoever stages waits for whoever stages, so that the bound is exact. So few may wait that this costs nobody much.
    let sql = "INSERT INTO oauth_request_turns AS t (subject_id, turn) VALUES ('', 1)
               ON CONFLICT (subject_id) DO UPDATE SET turn = t.turn + 1";
    session.execute(sql, &[]).await?;
    let sql = "SELECT count(*) FROM (SELECT 1 FROM oauth_requests
               WHERE subject_id = '' AND state = 'pending' AND expires_at > $1 LIMIT $2) AS waiting";
    let most = i64::from(most_pending);
    let pending: i64 = session.query_one(sql, &[&request.created_at.micros(), &most]).await?.get(0);
    if pending >= most {
        return Ok(Staged::TooMany);
    }
    let sql =
        "INSERT INTO oauth_requests (subject_id, approval_id, flow, client_id, pushed, consent, device_code,
                   user_code, document, created_at, expires_at, poll_interval)
               VALUES ('', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let bytes = |hash: &Option<SecretHash>| hash.as_ref().map(|hash| hash.as_bytes().to_vec());
    session
        .execute(
            sql,
            &[
                &request.approval_id.as_str(),
                &request.flow.as_str(),
                &request.client_id.as_str(),
                &bytes(&request.pushed),
                &bytes(&request.consent),
                &bytes(&request.device_code),
                &bytes(&request.user_code),
                &request.document,
                &request.created_at.micros(),
                &request.expires_at.micros(),
                &i64::from(request.interval),
            ],
        )
        .await?;
    Ok(Staged::Kept)
}

pub(super) async fn find(session: &Session, handle: &RequestHandle) -> Outcome<Option<StagedRequest>> {
    find_row(session, handle, "").await?.as_ref().map(read).transpose()
}

async fn find_row(session: &Session, handle: &RequestHandle, lock: &str) -> Outcome<Option<Row>> {
    let of_hash = async |column: &str, hash: &SecretHash| {
        let sql = format!("{SELECT} AND r.{column} = $1 {lock}");
        session.query_opt(&sql, &[&hash.as_bytes().as_slice()]).await
    };
    match handle {
        RequestHandle::Approval(id) => {
            let sql = format!("{SELECT} AND r.approval_id = $1 {lock}");
            session.query_opt(&sql, &[&id.as_str()]).await
        }
        RequestHandle::Pushed(hash) => of_hash("pushed", hash).await,
        RequestHandle::Consent(hash) => of_hash("consent", hash).await,
        RequestHandle::DeviceCode(hash) => of_hash("device_code", hash).await,
        RequestHandle::UserCode(hash) => of_hash("user_code", hash).await,
        RequestHandle::Code(hash) => of_hash("code", hash).await,
        RequestHandle::Polling(hash) => of_hash("polling", hash).await,
    }
}

/// Those for one owner, or all.
pub(super) async fn list(
    session: &Session,
    subject_id: Option<&SubjectId>,
    at: Instant,
) -> Outcome<Vec<StagedRequest>> {
    let sql = format!(
        "{SELECT} AND r.state = 'pending' AND r.expires_at > $1 AND ($2::text IS NULL OR r.addressed_to = $2)
         ORDER BY r.created_at, r.approval_id"
    );
    let rows = session.query(&sql, &[&at.micros(), &subject_id.map(SubjectId::as_str)]).await?;
    rows.iter().map(read).collect()
}

pub(super) async fn address(session: &Session, id: &ApprovalId, subject_id: &SubjectId) -> Outcome<bool> {
    let sql = "UPDATE oauth_requests SET addressed_to = $2 WHERE subject_id = '' AND approval_id = $1
                   AND COALESCE(decided_by, addressed_to, $2) = $2";
    Ok(session.execute(sql, &[&id.as_str(), &subject_id.as_str()]).await? > 0)
}

pub(super) async fn open(
    session: &Session,
    id: &ApprovalId,
    consent: &SecretHash,
    at: Instant,
) -> Outcome<bool> {
    let sql = "UPDATE oauth_requests SET consent = $2
               WHERE subject_id = '' AND approval_id = $1 AND state = 'pending' AND expires_at > $3";
    let values = (id.as_str(), consent.as_bytes().as_slice(), at.micros());
    Ok(session.execute(sql, &[&values.0, &values.1, &values.2]).await? > 0)
}

pub(super) async fn review(session: &Session, id: &ApprovalId, review: &str, at: Instant) -> Outcome<bool> {
    let sql = "UPDATE oauth_requests SET review = $2
               WHERE subject_id = '' AND approval_id = $1 AND state = 'pending' AND expires_at > $3";
    Ok(session.execute(sql, &[&id.as_str(), &review, &at.micros()]).await? > 0)
}

pub(super) async fn attach(
    session: &Session,
    id: &ApprovalId,
    (agent_id, polling): (&str, &SecretHash),
    at: Instant,
) -> Outcome<AgentAttached> {
    let sql = "UPDATE oauth_requests SET agent_id = $2, polling = $3
               WHERE subject_id = '' AND approval_id = $1 AND state = 'pending' AND expires_at > $4
                   AND flow = 'exchange' AND agent_id IS NULL";
    let values = (id.as_str(), polling.as_bytes().as_slice(), at.micros());
    match session.execute(sql, &[&values.0, &agent_id, &values.1, &values.2]).await? {
        0 => Ok(AgentAttached::Refused),
        _ => Ok(AgentAttached::Attached),
    }
}

pub(super) async fn poll(session: &Session, handle: &RequestHandle, at: Instant) -> Outcome<Option<Polled>> {
    let Some(row) = find_row(session, handle, "FOR UPDATE OF r").await? else {
        return Ok(None);
    };
    let (request, interval) = (read(&row)?, row.get::<_, i64>(13));
    let too_soon = row
        .get::<_, Option<i64>>(14)
        .is_some_and(|last| at < Instant::from_micros(last).plus_seconds(interval));
    let interval = if too_soon { (interval + SLOW_DOWN).min(LONGEST_INTERVAL) } else { interval };
    let sql = "UPDATE oauth_requests SET polled_at = $2, poll_interval = $3
               WHERE subject_id = '' AND approval_id = $1";
    session.execute(sql, &[&request.approval_id.as_str(), &at.micros(), &interval]).await?;
    let interval = u32::try_from(interval).map_err(|_| Fault::damaged("a request's interval"))?;
    Ok(Some(Polled { request, too_soon, interval }))
}

fn read(row: &Row) -> Outcome<StagedRequest> {
    let damaged = |_| Fault::damaged("a request's ids");
    let state = match row.get::<_, &str>(8) {
        "pending" => RequestState::Pending,
        "denied" => RequestState::Denied,
        _ => RequestState::Approved {
            subject_id: SubjectId::parse(row.get::<_, String>(9)).map_err(damaged)?,
            grant_ids: row
                .get::<_, Vec<String>>(12)
                .into_iter()
                .map(GrantId::parse)
                .collect::<Result<_, _>>()
                .map_err(damaged)?,
            redeem_until: Instant::from_micros(row.get(10)),
            redeemed_at: row.get::<_, Option<i64>>(11).map(Instant::from_micros),
        },
    };
    Ok(StagedRequest {
        approval_id: ApprovalId::parse(row.get::<_, String>(0)).map_err(damaged)?,
        flow: Flow::parse(row.get(1)).ok_or_else(|| Fault::damaged("a request's flow"))?,
        client_id: ClientId::parse(row.get::<_, String>(2)).map_err(damaged)?,
        document: row.get(3),
        created_at: Instant::from_micros(row.get(4)),
        expires_at: Instant::from_micros(row.get(5)),
        review: row.get(6),
        agent_id: row.get(7),
        state,
    })
}
