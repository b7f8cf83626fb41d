//! Grants as rows of their subject.

use pdpp_access::GrantStanding;
use pdpp_store::{StoreError, StoredGrant};
use pdpp_wire::{AccessMode, Grant, GrantId, Instant, SubjectId};
use tokio_postgres::Row;

use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::SubjectRow;

/// The last column is when a read was last served under the grant, which only the ledger knows.
const SELECT: &str = "SELECT g.grant_id, g.document, g.revoked_at, g.consumed, (
        SELECT u.at FROM disclosure_grants u
        WHERE u.subject_id = $1 AND u.grant_id = g.grant_id AND u.is_use ORDER BY u.at DESC LIMIT 1)
    FROM grants g WHERE g.subject_id = $1";

pub(super) async fn find(
    session: &Session,
    subject_id: &SubjectId,
    grant_id: &GrantId,
) -> Outcome<Option<StoredGrant>> {
    let sql = format!("{SELECT} AND g.grant_id = $2");
    let row = session.query_opt(&sql, &[&subject_id.as_str(), &grant_id.as_str()]).await?;
    row.as_ref().map(read).transpose()
}

pub(super) async fn list(session: &Session, subject_id: &SubjectId) -> Outcome<Vec<StoredGrant>> {
    let sql = format!("{SELECT} ORDER BY g.issued_at DESC, g.ordinal DESC");
    session.query(&sql, &[&subject_id.as_str()]).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Outcome<StoredGrant> {
    Ok(StoredGrant {
        grant_id: GrantId::parse(row.get::<_, String>(0)).map_err(|_| Fault::damaged("a grant's id"))?,
        standing: standing(row, 1),
        consumed: row.get(3),
        last_used_at: instant(row, 4),
    })
}

/// Document and revocation, from this column on.
fn standing(row: &Row, first: usize) -> GrantStanding {
    GrantStanding { document: row.get(first), revoked_at: instant(row, first + 1) }
}

pub(crate) fn instant(row: &Row, column: usize) -> Option<Instant> {
    row.get::<_, Option<i64>>(column).map(Instant::from_micros)
}

/// The grants that a token or a family names, from rows of id, document and revocation that begin at this column.
/// What names none has one row without any.
pub(crate) fn named(rows: &[Row], first: usize) -> Outcome<(Vec<GrantId>, Vec<GrantStanding>)> {
    let (mut ids, mut standings) = (Vec::new(), Vec::new());
    for row in rows {
        let Some(id) = row.get::<_, Option<String>>(first) else { continue };
        ids.push(GrantId::parse(id).map_err(|_| Fault::damaged("a grant's id"))?);
        standings.push(standing(row, first + 1));
    }
    Ok((ids, standings))
}

/// Keeps new grants of one subject, whose row is locked.
pub(crate) async fn insert(
    session: &Session,
    row: &mut SubjectRow,
    subject_id: &SubjectId,
    grants: &[Grant],
) -> Outcome<()> {
    if grants.is_empty() {
        return Ok(());
    }
    if grants.iter().any(|grant| grant.subject.id != *subject_id) {
        return Err(
            StoreError::Backend("a grant names another subject than the one that gives it".into()).into()
        );
    }
    let documents = grants.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<_> = grants.iter().map(|grant| grant.grant_id.as_str()).collect();
    let clients: Vec<_> = grants.iter().map(|grant| grant.client.client_id.as_str()).collect();
    let modes: Vec<_> = grants.iter().map(|grant| spell(grant.access_mode)).collect();
    let times = grants.iter().map(|grant| Instant::parse(&grant.issued_at).map_or(0, Instant::micros));
    let times: Vec<i64> = times.collect();
    let ordinals: Vec<i64> = grants.iter().map(|_| row.count()).collect();
    row.store(session, subject_id).await?;
    let sql =
        "INSERT INTO grants (subject_id, grant_id, client_id, document, access_mode, issued_at, ordinal)
         SELECT $1::text, g.* FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
             AS g (grant_id, client_id, document, access_mode, issued_at, ordinal)";
    let subject = subject_id.as_str();
    session.execute(sql, &[&subject, &ids, &clients, &documents, &modes, &times, &ordinals]).await?;
    Ok(())
}

fn spell(mode: AccessMode) -> &'static str {
    match mode {
        AccessMode::SingleUse => "single_use",
        AccessMode::Continuous => "continuous",
    }
}

/// Revokes those that are not revoked yet.
pub(crate) async fn revoke(
    session: &Session,
    subject_id: &SubjectId,
    grant_ids: &[&str],
    at: Instant,
) -> Outcome<()> {
    let sql = "UPDATE grants SET revoked_at = $3
               WHERE subject_id = $1 AND grant_id = ANY($2) AND revoked_at IS NULL";
    session.execute(sql, &[&subject_id.as_str(), &grant_ids, &at.micros()]).await?;
    Ok(())
}

/// Whether one of them is there and not revoked.
pub(crate) async fn any_alive(
    session: &Session,
    subject_id: &SubjectId,
    grant_ids: &[GrantId],
) -> Outcome<bool> {
    let ids: Vec<_> = grant_ids.iter().map(GrantId::as_str).collect();
    let sql = "SELECT EXISTS (SELECT 1 FROM grants
                   WHERE subject_id = $1 AND grant_id = ANY($2) AND revoked_at IS NULL)";
    Ok(session.query_one(sql, &[&subject_id.as_str(), &ids]).await?.get(0))
}
