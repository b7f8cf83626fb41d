//! Families of refresh tokens: every member is remembered, one is current.

use pdpp_access::{GrantStanding, SecretHash};
use pdpp_store::{Family, NewFamily, PresentedRefresh, Rotated, Rotation, TokenKind};
use pdpp_wire::{ClientId, FamilyId, GrantId, Instant, SubjectId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::authority::{insert_token, instant, standing};
use crate::fault::{Fault, Outcome};

pub(super) fn insert(connection: &Connection, family: &NewFamily) -> Outcome<()> {
    let (kind, grants): (_, &[GrantId]) = match &family.kind {
        TokenKind::Owner => ("owner", &[]),
        TokenKind::Client { grant_ids, .. } => ("client", grant_ids),
    };
    let sql = "INSERT INTO refresh_families
                   (family_id, subject_id, client_id, kind, resource, rotated_at, created_at, expires_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)";
    connection.prepare_cached(sql)?.execute(params![
        family.family_id.as_str(),
        family.subject_id.as_str(),
        family.client_id.as_str(),
        kind,
        family.resource,
        family.created_at.micros(),
        family.expires_at.micros(),
    ])?;
    let sql = "INSERT INTO refresh_family_grants (family_id, position, subject_id, grant_id)
               VALUES (?1, ?2, ?3, ?4)";
    let mut statement = connection.prepare_cached(sql)?;
    for (position, grant_id) in (0_i64..).zip(grants) {
        let (family_id, subject_id) = (family.family_id.as_str(), family.subject_id.as_str());
        statement.execute(params![family_id, position, subject_id, grant_id.as_str()])?;
    }
    insert_member(connection, &family.first, family.family_id.as_str(), 0)
}

fn insert_member(connection: &Connection, hash: &SecretHash, family: &str, generation: u64) -> Outcome<()> {
    let sql = "INSERT INTO refresh_tokens (hash, family_id, generation) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![hash.as_bytes(), family, generation.cast_signed()])?;
    Ok(())
}

pub(super) fn find_presented(
    connection: &Connection,
    hash: &SecretHash,
) -> Outcome<Option<PresentedRefresh>> {
    let sql = "SELECT f.family_id, f.subject_id, f.client_id, f.kind, f.resource, f.generation, f.rotated_at,
                      f.expires_at, f.revoked_at, t.generation
               FROM refresh_tokens t JOIN refresh_families f ON f.family_id = t.family_id WHERE t.hash = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([hash.as_bytes()])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let generation = row.get::<_, i64>(9)?.cast_unsigned();
    Ok(Some(PresentedRefresh { family: read(connection, row)?, generation }))
}

fn read(connection: &Connection, row: &Row<'_>) -> Outcome<Family> {
    let damaged = |_| Fault::damaged("a refresh family's ids");
    let family_id = FamilyId::parse(row.get::<_, String>(0)?).map_err(damaged)?;
    let client_id = ClientId::parse(row.get::<_, String>(2)?).map_err(damaged)?;
    let (grant_ids, grants) = grants_of(connection, &family_id)?;
    let kind = match row.get::<_, String>(3)?.as_str() {
        "owner" => TokenKind::Owner,
        _ => TokenKind::Client { client_id: client_id.clone(), grant_ids },
    };
    Ok(Family {
        subject_id: SubjectId::parse(row.get::<_, String>(1)?).map_err(damaged)?,
        resource: row.get(4)?,
        generation: row.get::<_, i64>(5)?.cast_unsigned(),
        rotated_at: Instant::from_micros(row.get(6)?),
        expires_at: Instant::from_micros(row.get(7)?),
        revoked_at: instant(row, 8)?,
        family_id,
        client_id,
        kind,
        grants,
    })
}

fn grants_of(connection: &Connection, family: &FamilyId) -> Outcome<(Vec<GrantId>, Vec<GrantStanding>)> {
    let sql = "SELECT g.grant_id, g.document, g.revoked_at FROM refresh_family_grants f
               JOIN grants g ON g.subject_id = f.subject_id AND g.grant_id = f.grant_id
               WHERE f.family_id = ?1 ORDER BY f.position";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([family.as_str()])?;
    let (mut ids, mut standings) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        ids.push(GrantId::parse(row.get::<_, String>(0)?).map_err(|_| Fault::damaged("a grant's id"))?);
        standings.push(standing(row, 1)?);
    }
    Ok((ids, standings))
}

pub(super) fn rotate(connection: &Connection, rotation: &Rotation) -> Outcome<Rotated> {
    let family = rotation.family_id.as_str();
    let sql = "SELECT generation, revoked_at IS NULL AND expires_at > ?2, kind = 'client'
               FROM refresh_families WHERE family_id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row(params![family, rotation.at.micros()], |row| {
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, bool>(1)?, row.get::<_, bool>(2)?))
    });
    let Some((generation, true, of_client)) = found.optional()? else {
        return Ok(Rotated::Ended);
    };
    if generation != rotation.seen_generation {
        return Ok(Rotated::Overtaken);
    }
    if of_client && !has_living_grant(connection, family)? {
        revoke(connection, family, rotation.at)?;
        return Ok(Rotated::Ended);
    }
    if let Some(successor) = &rotation.successor {
        insert_member(connection, successor, family, generation + 1)?;
        let sql =
            "UPDATE refresh_families SET generation = generation + 1, rotated_at = ?2 WHERE family_id = ?1";
        connection.prepare_cached(sql)?.execute(params![family, rotation.at.micros()])?;
    }
    insert_token(connection, &rotation.token)?;
    Ok(Rotated::Done)
}

fn has_living_grant(connection: &Connection, family: &str) -> Outcome<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM refresh_family_grants f
               JOIN grants g ON g.subject_id = f.subject_id AND g.grant_id = f.grant_id
               WHERE f.family_id = ?1 AND g.revoked_at IS NULL)";
    Ok(connection.prepare_cached(sql)?.query_row([family], |row| row.get(0))?)
}

pub(super) fn any_grant_alive(
    connection: &Connection,
    subject_id: &SubjectId,
    grants: &[GrantId],
) -> Outcome<bool> {
    let sql = "SELECT revoked_at IS NULL FROM grants WHERE subject_id = ?1 AND grant_id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for grant_id in grants {
        let alive = statement.query_row([subject_id.as_str(), grant_id.as_str()], |row| row.get(0));
        if alive.optional()? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn revoke(connection: &Connection, family: &str, at: Instant) -> Outcome<bool> {
    let sql = "UPDATE tokens SET revoked_at = ?2 WHERE family_id = ?1 AND revoked_at IS NULL";
    connection.prepare_cached(sql)?.execute(params![family, at.micros()])?;
    let sql = "UPDATE refresh_families SET revoked_at = ?2 WHERE family_id = ?1 AND revoked_at IS NULL";
    Ok(connection.prepare_cached(sql)?.execute(params![family, at.micros()])? > 0)
}

pub(super) fn revoke_token(connection: &Connection, hash: &SecretHash, at: Instant) -> Outcome<bool> {
    let sql = "UPDATE tokens SET revoked_at = ?2 WHERE hash = ?1 AND revoked_at IS NULL";
    Ok(connection.prepare_cached(sql)?.execute(params![hash.as_bytes(), at.micros()])? > 0)
}

/// Ends the families of a grant that has just been revoked, unless another grant of theirs is left.
pub(crate) fn end_families_without_grant(
    connection: &Connection,
    (subject_id, grant_id): (&SubjectId, &GrantId),
    at: Instant,
) -> Outcome<()> {
    let sql = "UPDATE refresh_families SET revoked_at = ?3
               WHERE revoked_at IS NULL
                   AND family_id IN (SELECT family_id FROM refresh_family_grants
                                     WHERE subject_id = ?1 AND grant_id = ?2)
                   AND NOT EXISTS (SELECT 1 FROM refresh_family_grants f
                       JOIN grants g ON g.subject_id = f.subject_id AND g.grant_id = f.grant_id
                       WHERE f.family_id = refresh_families.family_id AND g.revoked_at IS NULL)";
    let values = params![subject_id.as_str(), grant_id.as_str(), at.micros()];
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}
