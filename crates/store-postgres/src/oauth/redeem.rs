//! Decisions about requests, and the tokens that follow from them.
//!
//! Each locks the request's row first and the owner's after it, so of two who decide or redeem at once the second
//! finds it done, and nobody waits in a circle.

use pdpp_access::SecretHash;
use pdpp_store::{Approval, Decided, IssueOutcome, Redeemed, Redemption};
use pdpp_wire::{ApprovalId, ClientId, FamilyId, Instant, SubjectId};

use super::access::note_clients;
use super::{families, hash_of};
use crate::authority::{grants, tokens};
use crate::fault::{Fault, Outcome};
use crate::session::{Session, Whose};
use crate::subject_row::SubjectRow;

pub(super) async fn approve(session: &Session, approval: &Approval) -> Outcome<Decided> {
    let (id, subject_id) = (approval.approval_id.as_str(), &approval.subject_id);
    let client_id = match standing(session, id, approval.at).await? {
        (Decided::Done, Some(client_id)) => client_id,
        (other, _) => return Ok(other),
    };
    let sql = "UPDATE oauth_requests SET state = 'approved', decided_by = $2, decided_at = $3, code = $4,
                   redeem_until = $5 WHERE subject_id = '' AND approval_id = $1";
    let code = approval.code.as_ref().map(|hash| hash.as_bytes().as_slice());
    let times = (approval.at.micros(), approval.redeem_until.micros());
    session.execute(sql, &[&id, &subject_id.as_str(), &times.0, &code, &times.1]).await?;
    let named: Vec<_> = approval.grants.iter().map(|grant| grant.grant_id.as_str()).collect();
    let sql = "INSERT INTO oauth_request_grants (subject_id, approval_id, position, grant_id)
               SELECT '', $1::text, g.position - 1, g.grant_id
               FROM unnest($2::text[]) WITH ORDINALITY AS g (grant_id, position)";
    session.execute(sql, &[&id, &named]).await?;
    session.turn_to(subject_id.into()).await?;
    let mut row = SubjectRow::lock(session, subject_id).await?;
    grants::insert(session, &mut row, subject_id, &approval.grants).await?;
    if !approval.callback_hosts.is_empty() {
        let sql = "INSERT INTO event_callbacks (subject_id, client_id, host, allowed_at)
                   SELECT DISTINCT $1::text, $2::text, host, $4::bigint FROM unnest($3::text[]) AS h (host)
                   ON CONFLICT (subject_id, client_id, host) DO NOTHING";
        let (subject, client) = (subject_id.as_str(), client_id.as_str());
        session.execute(sql, &[&subject, &client, &approval.callback_hosts, &times.0]).await?;
    }
    let mut clients: Vec<_> = approval.grants.iter().map(|grant| &grant.client.client_id).collect();
    clients.push(&client_id);
    note_clients(session, subject_id, &clients).await?;
    Ok(Decided::Done)
}

pub(super) async fn deny(
    session: &Session,
    id: &ApprovalId,
    subject_id: &SubjectId,
    at: Instant,
) -> Outcome<Decided> {
    let (decided, _) = standing(session, id.as_str(), at).await?;
    if decided == Decided::Done {
        let sql = "UPDATE oauth_requests SET state = 'denied', decided_by = $2, decided_at = $3
                   WHERE subject_id = '' AND approval_id = $1";
        session.execute(sql, &[&id.as_str(), &subject_id.as_str(), &at.micros()]).await?;
    }
    Ok(decided)
}

/// Whether a request can be decided, and whose it is; the lock on its row keeps the answer true.
async fn standing(session: &Session, id: &str, at: Instant) -> Outcome<(Decided, Option<ClientId>)> {
    let sql = "SELECT state = 'pending', expires_at > $2, client_id FROM oauth_requests
               WHERE subject_id = '' AND approval_id = $1 FOR UPDATE";
    let Some(row) = session.query_opt(sql, &[&id, &at.micros()]).await? else {
        return Ok((Decided::Unknown, None));
    };
    let decided = match (row.get(0), row.get(1)) {
        (false, _) => Decided::Conflict,
        (true, false) => Decided::Expired,
        (true, true) => Decided::Done,
    };
    let client_id = ClientId::parse(row.get::<_, String>(2));
    Ok((decided, Some(client_id.map_err(|_| Fault::damaged("a request's ids"))?)))
}

pub(super) async fn redeem(session: &Session, redemption: &Redemption) -> Outcome<Redeemed> {
    let id = redemption.approval_id.as_str();
    let sql = "SELECT redeemed_at IS NOT NULL, COALESCE(state = 'approved' AND redeem_until > $2, false)
               FROM oauth_requests WHERE subject_id = '' AND approval_id = $1 FOR UPDATE";
    let found = session.query_opt(sql, &[&id, &redemption.at.micros()]).await?;
    match found.map(|row| (row.get(0), row.get(1))) {
        Some((true, _)) => return Ok(Redeemed::Already),
        Some((false, true)) => {}
        _ => return Ok(Redeemed::NotRedeemable),
    }
    let token = &redemption.token;
    let granted = tokens::grant_ids(token);
    session.turn_to((&token.subject_id).into()).await?;
    SubjectRow::lock(session, &token.subject_id).await?;
    if tokens::may_issue(session, token).await? != IssueOutcome::Issued
        || (!granted.is_empty() && !grants::any_alive(session, &token.subject_id, granted).await?)
    {
        return Ok(Redeemed::GrantEnded);
    }
    tokens::consume(session, token).await?;
    tokens::insert(session, token).await?;
    match &redemption.family {
        Some(family) => {
            families::insert(session, family).await?;
            note_clients(session, &family.subject_id, &[&family.client_id]).await?;
        }
        None => session.turn_to(Whose::Provider).await?,
    }
    let sql = "UPDATE oauth_requests SET redeemed_at = $2, family_id = $3, token = $4
               WHERE subject_id = '' AND approval_id = $1";
    let family = token.family_id.as_ref().map(FamilyId::as_str);
    let hash = token.hash.as_bytes().as_slice();
    session.execute(sql, &[&id, &redemption.at.micros(), &family, &hash]).await?;
    Ok(Redeemed::Issued)
}

pub(super) async fn end_redeemed(session: &Session, id: &ApprovalId, at: Instant) -> Outcome<()> {
    let sql = "SELECT family_id, token FROM oauth_requests
               WHERE subject_id = '' AND approval_id = $1 AND redeemed_at IS NOT NULL";
    let Some(row) = session.query_opt(sql, &[&id.as_str()]).await? else {
        return Ok(());
    };
    if let Some(family_id) = row.get::<_, Option<String>>(0) {
        let family_id = FamilyId::parse(family_id).map_err(|_| Fault::damaged("a request's family"))?;
        families::find_and_revoke(session, &family_id, at).await?;
    }
    let token: Option<SecretHash> = row.get::<_, Option<&[u8]>>(1).map(hash_of).transpose()?;
    if let Some(hash) = token {
        families::revoke_token(session, &hash, at).await?;
    }
    Ok(())
}
