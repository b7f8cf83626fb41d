//! Families of refresh tokens: every member is remembered, one is current.

use pdpp_access::SecretHash;
use pdpp_store::{Family, NewFamily, PresentedRefresh, Rotated, Rotation, TokenKind};
use pdpp_wire::{ClientId, FamilyId, GrantId, Instant, SubjectId};
use tokio_postgres::Row;

use crate::authority::grants::{instant, named};
use crate::authority::tokens;
use crate::directory::Handle;
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::{SubjectRow, signed, unsigned};

pub(super) async fn insert(session: &Session, family: &NewFamily) -> Outcome<()> {
    let (kind, grants): (_, &[GrantId]) = match &family.kind {
        TokenKind::Owner => ("owner", &[]),
        TokenKind::Client { grant_ids, .. } => ("client", grant_ids),
    };
    let grants: Vec<_> = grants.iter().map(GrantId::as_str).collect();
    let sql = "WITH bound AS (
                   INSERT INTO refresh_family_grants (subject_id, family_id, position, grant_id)
                   SELECT $1::text, $2::text, g.position - 1, g.grant_id
                   FROM unnest($8::text[]) WITH ORDINALITY AS g (grant_id, position))
               INSERT INTO refresh_families
                   (subject_id, family_id, client_id, kind, resource, rotated_at, created_at, expires_at)
               VALUES ($1, $2, $3, $4, $5, $6, $6, $7)";
    session
        .execute(
            sql,
            &[
                &family.subject_id.as_str(),
                &family.family_id.as_str(),
                &family.client_id.as_str(),
                &kind,
                &family.resource,
                &family.created_at.micros(),
                &family.expires_at.micros(),
                &grants,
            ],
        )
        .await?;
    Handle::of_family(&family.family_id).insert(session, &family.subject_id).await?;
    insert_member(session, &family.subject_id, &family.family_id, &family.first, 0).await
}

async fn insert_member(
    session: &Session,
    subject_id: &SubjectId,
    family_id: &FamilyId,
    hash: &SecretHash,
    generation: i64,
) -> Outcome<()> {
    let sql = "INSERT INTO refresh_tokens (subject_id, hash, family_id, generation) VALUES ($1, $2, $3, $4)";
    let bytes = hash.as_bytes().as_slice();
    session.execute(sql, &[&subject_id.as_str(), &bytes, &family_id.as_str(), &generation]).await?;
    Handle::of_refresh(hash).insert(session, subject_id).await
}

pub(super) async fn find_presented(
    session: &Session,
    hash: &SecretHash,
) -> Outcome<Option<PresentedRefresh>> {
    let Some(subject_id) = Handle::of_refresh(hash).turn_to_its_subject(session).await? else {
        return Ok(None);
    };
    let sql = "SELECT f.family_id, f.client_id, f.kind, f.resource, f.generation, f.rotated_at, f.expires_at,
                      f.revoked_at, t.generation, g.grant_id, g.document, g.revoked_at
               FROM refresh_tokens t
               CROSS JOIN LATERAL (
                   SELECT * FROM refresh_families s
                   WHERE s.subject_id = $1 AND s.family_id = t.family_id OFFSET 0) AS f
               LEFT JOIN LATERAL (
                   SELECT s.grant_id, s.position FROM refresh_family_grants s
                   WHERE s.subject_id = $1 AND s.family_id = t.family_id OFFSET 0) AS b ON true
               LEFT JOIN LATERAL (
                   SELECT s.grant_id, s.document, s.revoked_at FROM grants s
                   WHERE s.subject_id = $1 AND s.grant_id = b.grant_id OFFSET 0) AS g ON true
               WHERE t.subject_id = $1 AND t.hash = $2 ORDER BY b.position";
    let rows = session.query(sql, &[&subject_id.as_str(), &hash.as_bytes().as_slice()]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let generation = unsigned(row.get(8))?;
    Ok(Some(PresentedRefresh { family: read(subject_id, row, &rows)?, generation }))
}

fn read(subject_id: SubjectId, row: &Row, rows: &[Row]) -> Outcome<Family> {
    let damaged = |_| Fault::damaged("a refresh family's ids");
    let client_id = ClientId::parse(row.get::<_, String>(1)).map_err(damaged)?;
    let (grant_ids, grants) = named(rows, 9)?;
    let kind = match row.get::<_, &str>(2) {
        "owner" => TokenKind::Owner,
        _ => TokenKind::Client { client_id: client_id.clone(), grant_ids },
    };
    Ok(Family {
        family_id: FamilyId::parse(row.get::<_, String>(0)).map_err(damaged)?,
        resource: row.get(3),
        generation: unsigned(row.get(4))?,
        rotated_at: Instant::from_micros(row.get(5)),
        expires_at: Instant::from_micros(row.get(6)),
        revoked_at: instant(row, 7),
        subject_id,
        client_id,
        kind,
        grants,
    })
}

pub(super) async fn rotate(session: &Session, rotation: &Rotation) -> Outcome<Rotated> {
    let (subject_id, family_id) = (&rotation.token.subject_id, &rotation.family_id);
    SubjectRow::lock(session, subject_id).await?;
    let sql = "SELECT f.generation, f.revoked_at IS NULL AND f.expires_at > $3,
                      f.kind = 'owner' OR EXISTS (
                          SELECT 1 FROM refresh_family_grants b
                          JOIN grants g ON g.subject_id = $1 AND g.grant_id = b.grant_id
                          WHERE b.subject_id = $1 AND b.family_id = $2 AND g.revoked_at IS NULL)
               FROM refresh_families f WHERE f.subject_id = $1 AND f.family_id = $2";
    let (subject, family, at) = (subject_id.as_str(), family_id.as_str(), rotation.at.micros());
    let found = session.query_opt(sql, &[&subject, &family, &at]).await?;
    let Some(found) = found.filter(|row| row.get(1)) else {
        return Ok(Rotated::Ended);
    };
    let generation: i64 = found.get(0);
    if generation != signed(rotation.seen_generation)? {
        return Ok(Rotated::Overtaken);
    }
    if !found.get::<_, bool>(2) {
        revoke(session, subject_id, family_id, rotation.at).await?;
        return Ok(Rotated::Ended);
    }
    if let Some(successor) = &rotation.successor {
        insert_member(session, subject_id, family_id, successor, generation + 1).await?;
        let sql = "UPDATE refresh_families SET generation = generation + 1, rotated_at = $3
                   WHERE subject_id = $1 AND family_id = $2";
        session.execute(sql, &[&subject, &family, &at]).await?;
    }
    tokens::insert(session, &rotation.token).await?;
    Ok(Rotated::Done)
}

/// Ends a family of a subject whose row is locked, and its access tokens; says whether it was alive.
pub(super) async fn revoke(
    session: &Session,
    subject_id: &SubjectId,
    family_id: &FamilyId,
    at: Instant,
) -> Outcome<bool> {
    let (subject, family, at) = (subject_id.as_str(), family_id.as_str(), at.micros());
    let sql = "UPDATE tokens SET revoked_at = $3
               WHERE subject_id = $1 AND family_id = $2 AND revoked_at IS NULL";
    session.execute(sql, &[&subject, &family, &at]).await?;
    let sql = "UPDATE refresh_families SET revoked_at = $3
               WHERE subject_id = $1 AND family_id = $2 AND revoked_at IS NULL";
    Ok(session.execute(sql, &[&subject, &family, &at]).await? > 0)
}

/// The same, for whoever has only the family's name.
pub(super) async fn find_and_revoke(session: &Session, family_id: &FamilyId, at: Instant) -> Outcome<bool> {
    let Some(subject_id) = Handle::of_family(family_id).turn_to_its_subject(session).await? else {
        return Ok(false);
    };
    SubjectRow::lock(session, &subject_id).await?;
    revoke(session, &subject_id, family_id, at).await
}

/// Ends one access token; says whether it was alive.
pub(super) async fn revoke_token(session: &Session, hash: &SecretHash, at: Instant) -> Outcome<bool> {
    let Some(subject_id) = Handle::of_token(hash).turn_to_its_subject(session).await? else {
        return Ok(false);
    };
    let sql = "UPDATE tokens SET revoked_at = $3 WHERE subject_id = $1 AND hash = $2 AND revoked_at IS NULL";
    let values = (subject_id.as_str(), hash.as_bytes().as_slice(), at.micros());
    Ok(session.execute(sql, &[&values.0, &values.1, &values.2]).await? > 0)
}

/// Ends the families of a grant that has just been revoked, unless another grant of theirs is left.
pub(crate) async fn end_families_without_grant(
    session: &Session,
    subject_id: &SubjectId,
    grant_id: &GrantId,
    at: Instant,
) -> Outcome<()> {
    let sql = "UPDATE refresh_families f SET revoked_at = $3
               WHERE f.subject_id = $1 AND f.revoked_at IS NULL
                   AND f.family_id = ANY (ARRAY(
                       SELECT family_id FROM refresh_family_grants WHERE subject_id = $1 AND grant_id = $2))
                   AND NOT EXISTS (SELECT 1 FROM refresh_family_grants b
                       JOIN grants g ON g.subject_id = $1 AND g.grant_id = b.grant_id
                       WHERE b.subject_id = $1 AND b.family_id = f.family_id AND g.revoked_at IS NULL)";
    session.execute(sql, &[&subject_id.as_str(), &grant_id.as_str(), &at.micros()]).await?;
    Ok(())
}
