//! Registering a manifest: its snapshot, its streams' scopes, and the tables of their fields.

use std::fmt::Write as _;

use pdpp_access::Entropy;
use pdpp_store::{ManifestOutcome, OnConflict};
use pdpp_wire::SubjectId;
use pdpp_wire::manifest::{Manifest, StreamDeclaration};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::catalogues::bump_generation;
use crate::connections;
use crate::fault::{Fault, Outcome};
use crate::layout::Layout;

/// Registers a manifest in one transaction.
pub(crate) fn put(
    connection: &Connection,
    entropy: &dyn Entropy,
    subject_id: &SubjectId,
    manifest: &Manifest,
    on_conflict: OnConflict,
) -> Outcome<ManifestOutcome> {
    let document = manifest.document().to_string();
    let version = version_of(&document);
    let current = find_current(connection, subject_id, manifest)?;
    let outcome = match current {
        None => ManifestOutcome::Added,
        Some(current) if current == version => return Ok(ManifestOutcome::Unchanged),
        Some(_) if on_conflict == OnConflict::Refuse => return Ok(ManifestOutcome::Conflict),
        Some(_) => ManifestOutcome::Replaced,
    };
    // Grants name a source by its id alone, so two connectors must not share one.
    if is_taken(connection, subject_id, manifest)? {
        return Ok(ManifestOutcome::Conflict);
    }
    connection
        .prepare_cached("INSERT OR IGNORE INTO snapshots (subject_id, version, document) VALUES (?, ?, ?)")?
        .execute(params![subject_id.as_str(), version, document])?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO connectors (subject_id, connector_key, version) VALUES (?, ?, ?)",
        )?
        .execute(params![subject_id.as_str(), manifest.key().as_str(), version])?;
    for stream in manifest.streams() {
        ensure_fields(connection, subject_id, manifest, stream, &version)?;
    }
    for made in connections::of_connector(connection, subject_id, manifest.key().as_str())? {
        for stream in manifest.streams() {
            let id = &made.connection_id;
            connections::ensure_scope(connection, entropy, subject_id, id, manifest.key(), stream.name())?;
        }
    }
    bump_generation(connection, subject_id)?;
    Ok(outcome)
}

/// Names the exact document.
fn version_of(document: &str) -> String {
    let mut version = String::from("sha256:");
    for byte in Sha256::digest(document.as_bytes()) {
        let _ = write!(version, "{byte:02x}");
    }
    version
}

fn find_current(
    connection: &Connection,
    subject_id: &SubjectId,
    manifest: &Manifest,
) -> Outcome<Option<String>> {
    let sql = "SELECT version FROM connectors WHERE subject_id = ? AND connector_key = ?";
    let names = params![subject_id.as_str(), manifest.key().as_str()];
    Ok(connection.prepare_cached(sql)?.query_row(names, |row| row.get(0)).optional()?)
}

/// Whether another connector of the subject holds the manifest's source id.
fn is_taken(connection: &Connection, subject_id: &SubjectId, manifest: &Manifest) -> Outcome<bool> {
    let sql = "SELECT s.document FROM connectors AS c
               JOIN snapshots AS s ON s.subject_id = c.subject_id AND s.version = c.version
               WHERE c.subject_id = ? AND c.connector_key <> ?";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![subject_id.as_str(), manifest.key().as_str()])?;
    while let Some(row) = rows.next()? {
        let other = Manifest::parse(&row.get::<_, String>(0)?)
            .map_err(|fault| Fault::damaged(format!("a stored manifest does not parse: {fault}")))?;
        if other.source().id == manifest.source().id {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Gives a stream the table its declaration asks for, filled from its records. A stream that is no
/// longer declared keeps what it has, out of reach until it is declared again.
fn ensure_fields(
    connection: &Connection,
    subject_id: &SubjectId,
    manifest: &Manifest,
    stream: &StreamDeclaration,
    version: &str,
) -> Outcome<()> {
    let names = params![subject_id.as_str(), manifest.key().as_str(), stream.name().as_str()];
    let sql = "SELECT id, layout FROM field_tables WHERE subject_id = ? AND connector_key = ? AND stream = ?";
    let found: Option<(i64, String)> =
        connection.prepare_cached(sql)?.query_row(names, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((id, stored)) = found else {
        let sql = "INSERT INTO field_tables (subject_id, connector_key, stream, declaration_version, layout)
                   VALUES (?, ?, ?, ?, ?)";
        connection.prepare_cached(sql)?.execute(params![
            subject_id.as_str(),
            manifest.key().as_str(),
            stream.name().as_str(),
            version,
            Layout::of(0, stream).spelling()
        ])?;
        return Ok(
            connection.execute_batch(&Layout::of(connection.last_insert_rowid(), stream).create_sql())?
        );
    };
    let layout = Layout::of(id, stream);
    if layout.spelling() != stored {
        connection.execute_batch(&format!("DROP TABLE {};", layout.table()))?;
        connection.execute_batch(&layout.create_sql())?;
        let scopes = scopes_of(connection, subject_id, manifest, stream)?;
        if !layout.has_consent_of(&stored) {
            forget_consent(connection, &scopes)?;
        }
        rebuild(connection, &scopes, &layout)?;
    }
    connection
        .prepare_cached("UPDATE field_tables SET declaration_version = ?, layout = ? WHERE id = ?")?
        .execute(params![version, layout.spelling(), id])?;
    Ok(())
}

/// Fills the columns of a stream anew from its records, under the declaration it has now.
pub(crate) fn refill(connection: &Connection, table: i64) -> Outcome<()> {
    let sql = "SELECT t.subject_id, t.stream, s.document FROM field_tables AS t
               JOIN connectors AS c ON c.subject_id = t.subject_id AND c.connector_key = t.connector_key
               JOIN snapshots AS s ON s.subject_id = c.subject_id AND s.version = c.version WHERE t.id = ?";
    let found: (String, String, String) =
        connection.query_row(sql, [table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let subject_id = SubjectId::parse(found.0).map_err(|_| Fault::damaged("a subject's id"))?;
    let manifest = Manifest::parse(&found.2)
        .map_err(|fault| Fault::damaged(format!("a stored manifest does not parse: {fault}")))?;
    // A stream that is no longer declared keeps what it has.
    let Some(stream) = manifest.find_stream(&found.1) else { return Ok(()) };
    let layout = Layout::of(table, stream);
    connection.execute_batch(&format!("DROP TABLE {};", layout.table()))?;
    connection.execute_batch(&layout.create_sql())?;
    connection
        .prepare_cached("UPDATE field_tables SET layout = ? WHERE id = ?")?
        .execute(params![layout.spelling(), table])?;
    rebuild(connection, &scopes_of(connection, &subject_id, &manifest, stream)?, &layout)
}

fn scopes_of(
    connection: &Connection,
    subject_id: &SubjectId,
    manifest: &Manifest,
    stream: &StreamDeclaration,
) -> Outcome<Vec<i64>> {
    let sql = "SELECT id FROM scopes WHERE subject_id = ? AND connector_key = ? AND stream = ?";
    let names = params![subject_id.as_str(), manifest.key().as_str(), stream.name().as_str()];
    Ok(connection.prepare_cached(sql)?.query_map(names, |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// A tombstone's time was that of the earlier consent time field; for another it cannot be known.
fn forget_consent(connection: &Connection, scopes: &[i64]) -> Outcome<()> {
    for sql in [
        "UPDATE records SET consent_at = NULL WHERE scope_id = ? AND deleted_seq IS NOT NULL",
        "UPDATE past_lives SET consent_at = NULL
         WHERE record_id IN (SELECT record_id FROM revisions WHERE scope_id = ?)",
    ] {
        let mut forget = connection.prepare(sql)?;
        for scope in scopes {
            forget.execute([scope])?;
        }
    }
    Ok(())
}

fn rebuild(connection: &Connection, scopes: &[i64], layout: &Layout) -> Outcome<()> {
    let mut live =
        connection.prepare("SELECT id, key, data FROM records WHERE scope_id = ? AND deleted_seq IS NULL")?;
    let mut insert = connection.prepare(&layout.insert_sql())?;
    let mut retime = connection.prepare("UPDATE records SET consent_at = ? WHERE id = ?")?;
    for scope in scopes {
        let mut rows = live.query([scope])?;
        while let Some(row) = rows.next()? {
            let (id, key, data): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let data: Map<String, Value> =
                serde_json::from_str(&data).map_err(|_| Fault::damaged("a stored record is not JSON"))?;
            insert.execute(params_from_iter(layout.row(id, *scope, &key, &data)))?;
            retime.execute(params![layout.consent_at(&data), id])?;
        }
    }
    Ok(())
}
