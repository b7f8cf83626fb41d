//! Tokens as rows of their subject, found through the directory.

use pdpp_access::SecretHash;
use pdpp_store::{IssueOutcome, NewToken, StoredToken, TokenKind};
use pdpp_wire::{ClientId, FamilyId, GrantId, Instant, TokenId};

use super::grants::{instant, named};
use crate::directory::Handle;
use crate::fault::{Fault, Outcome};
use crate::session::Session;

pub(crate) fn grant_ids(token: &NewToken) -> &[GrantId] {
    match &token.kind {
        TokenKind::Owner => &[],
        TokenKind::Client { grant_ids, .. } => grant_ids,
    }
}

fn names(token: &NewToken) -> Vec<&str> {
    grant_ids(token).iter().map(GrantId::as_str).collect()
}

/// Whether every grant of the token may give one. The lock on the subject's row keeps the answer true.
pub(crate) async fn may_issue(session: &Session, token: &NewToken) -> Outcome<IssueOutcome> {
    // The first that stands in the way decides, so the order is that of the token.
    let sql = "SELECT g.access_mode = 'single_use' AND g.consumed
               FROM unnest($2::text[]) WITH ORDINALITY AS t (grant_id, position)
               LEFT JOIN grants g ON g.subject_id = $1 AND g.grant_id = t.grant_id
               ORDER BY t.position";
    for row in session.query(sql, &[&token.subject_id.as_str(), &names(token)]).await? {
        match row.get::<_, Option<bool>>(0) {
            None => return Ok(IssueOutcome::UnknownGrant),
            Some(true) => return Ok(IssueOutcome::Consumed),
            Some(false) => {}
        }
    }
    Ok(IssueOutcome::Issued)
}

pub(crate) async fn consume(session: &Session, token: &NewToken) -> Outcome<()> {
    let sql = "UPDATE grants SET consumed = true
               WHERE subject_id = $1 AND grant_id = ANY($2) AND access_mode = 'single_use' AND NOT consumed";
    session.execute(sql, &[&token.subject_id.as_str(), &names(token)]).await?;
    Ok(())
}

pub(crate) async fn insert(session: &Session, token: &NewToken) -> Outcome<()> {
    let (kind, client_id) = match &token.kind {
        TokenKind::Owner => ("owner", None),
        TokenKind::Client { client_id, .. } => ("client", Some(client_id.as_str())),
    };
    let sql = "WITH bound AS (
                   INSERT INTO token_grants (subject_id, hash, position, grant_id)
                   SELECT $1::text, $2::bytea, g.position - 1, g.grant_id
                   FROM unnest($10::text[]) WITH ORDINALITY AS g (grant_id, position))
               INSERT INTO tokens
                   (subject_id, hash, token_id, kind, client_id, issued_at, expires_at, resource, family_id)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let hash = token.hash.as_bytes().as_slice();
    session
        .execute(
            sql,
            &[
                &token.subject_id.as_str(),
                &hash,
                &token.token_id.as_str(),
                &kind,
                &client_id,
                &token.issued_at.micros(),
                &token.expires_at.map(Instant::micros),
                &token.resource,
                &token.family_id.as_ref().map(FamilyId::as_str),
                &names(token),
            ],
        )
        .await?;
    Handle::of_token(&token.hash).insert(session, &token.subject_id).await
}

pub(super) async fn find(session: &Session, hash: &SecretHash) -> Outcome<Option<StoredToken>> {
    let Some(subject_id) = Handle::of_token(hash).turn_to_its_subject(session).await? else {
        return Ok(None);
    };
    // `OFFSET 0` keeps the lookups in this order: each grant by its id, never all grants of the owner.
    let sql = "SELECT t.token_id, t.expires_at, t.revoked_at, t.kind, t.client_id, t.issued_at, t.resource,
                      t.family_id, g.grant_id, g.document, g.revoked_at
               FROM tokens t
               LEFT JOIN token_grants b ON b.subject_id = $1 AND b.hash = $2
               LEFT JOIN LATERAL (
                   SELECT s.grant_id, s.document, s.revoked_at FROM grants s
                   WHERE s.subject_id = $1 AND s.grant_id = b.grant_id OFFSET 0) AS g ON true
               WHERE t.subject_id = $1 AND t.hash = $2 ORDER BY b.position";
    let rows = session.query(sql, &[&subject_id.as_str(), &hash.as_bytes().as_slice()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let damaged = |_| Fault::damaged("a token's ids");
    let (grant_ids, grants) = named(&rows, 8)?;
    // What is neither plainly the owner's nor plainly a client's opens nothing.
    let kind = match (row.get::<_, &str>(3), row.get::<_, Option<String>>(4)) {
        ("owner", None) => TokenKind::Owner,
        ("client", Some(id)) => {
            TokenKind::Client { client_id: ClientId::parse(id).map_err(damaged)?, grant_ids }
        }
        _ => return Err(Fault::damaged("a token's kind")),
    };
    Ok(Some(StoredToken {
        token_id: TokenId::parse(row.get::<_, String>(0)).map_err(damaged)?,
        expires_at: instant(row, 1),
        revoked_at: instant(row, 2),
        issued_at: Instant::from_micros(row.get(5)),
        resource: row.get(6),
        family_id: row.get::<_, Option<String>>(7).map(FamilyId::parse).transpose().map_err(damaged)?,
        subject_id,
        kind,
        grants,
    }))
}
