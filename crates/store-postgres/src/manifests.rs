//! Registering a manifest: its snapshot, its streams' layouts, and its connections' scopes.

use std::collections::HashMap;
use std::fmt::Write as _;

use pdpp_access::Entropy;
use pdpp_store::{ManifestOutcome, OnConflict};
use pdpp_wire::SubjectId;
use pdpp_wire::manifest::Manifest;
use sha2::{Digest as _, Sha256};

use crate::connections;
use crate::fault::{Fault, Outcome};
use crate::layout::Layout;
use crate::relaying;
use crate::session::Session;
use crate::subject_row::SubjectRow;

/// Registers a manifest.
pub(crate) async fn put(
    session: &Session,
    entropy: &dyn Entropy,
    subject_id: &SubjectId,
    manifest: &Manifest,
    on_conflict: OnConflict,
) -> Outcome<ManifestOutcome> {
    let document = manifest.document().to_string();
    let version = version_of(&document);
    let mut subject = SubjectRow::lock(session, subject_id).await?;
    let outcome = match find_current(session, subject_id, manifest).await? {
        None => ManifestOutcome::Added,
        Some(current) if current == version => return Ok(ManifestOutcome::Unchanged),
        Some(_) if on_conflict == OnConflict::Refuse => return Ok(ManifestOutcome::Conflict),
        Some(_) => ManifestOutcome::Replaced,
    };
    // Grants name a source by its id alone, so two connectors must not share one.
    if is_taken(session, subject_id, manifest).await? {
        return Ok(ManifestOutcome::Conflict);
    }
    let (id, key) = (subject_id.as_str(), manifest.key().as_str());
    let sql = "INSERT INTO snapshots (subject_id, version, document) VALUES ($1, $2, $3)
               ON CONFLICT (subject_id, version) DO NOTHING";
    session.execute(sql, &[&id, &version, &document]).await?;
    let sql = "INSERT INTO connectors (subject_id, connector_key, version) VALUES ($1, $2, $3)
               ON CONFLICT (subject_id, connector_key) DO UPDATE SET version = excluded.version";
    session.execute(sql, &[&id, &key, &version]).await?;
    ensure_layouts(session, subject_id, manifest, &version).await?;
    let made = connections::ids_of_connector(session, subject_id, key).await?;
    connections::ensure_scopes(session, entropy, subject_id, &mut subject, manifest, &made).await?;
    subject.generation += 1;
    subject.store(session, subject_id).await?;
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

async fn find_current(
    session: &Session,
    subject_id: &SubjectId,
    manifest: &Manifest,
) -> Outcome<Option<String>> {
    let sql = "SELECT version FROM connectors WHERE subject_id = $1 AND connector_key = $2";
    let row = session.query_opt(sql, &[&subject_id.as_str(), &manifest.key().as_str()]).await?;
    Ok(row.map(|row| row.get(0)))
}

/// Whether another connector of the subject holds the manifest's source id.
async fn is_taken(session: &Session, subject_id: &SubjectId, manifest: &Manifest) -> Outcome<bool> {
    let sql = "SELECT s.document FROM connectors AS c
               JOIN snapshots AS s ON s.subject_id = c.subject_id AND s.version = c.version
               WHERE c.subject_id = $1 AND c.connector_key <> $2";
    for row in session.query(sql, &[&subject_id.as_str(), &manifest.key().as_str()]).await? {
        let other = Manifest::parse(row.get::<_, &str>(0))
            .map_err(|fault| Fault::damaged(format!("a stored manifest does not parse: {fault}")))?;
        if other.source().id == manifest.source().id {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Gives each stream the layout its declaration asks for, and writes its records' rows anew when that is another
/// one than before. A stream that is no longer declared keeps what it has, out of reach until it is declared again.
async fn ensure_layouts(
    session: &Session,
    subject_id: &SubjectId,
    manifest: &Manifest,
    version: &str,
) -> Outcome<()> {
    let (id, key) = (subject_id.as_str(), manifest.key().as_str());
    let sql = "SELECT stream, layout FROM layouts WHERE subject_id = $1 AND connector_key = $2";
    let stored = session.query(sql, &[&id, &key]).await?;
    let stored: HashMap<&str, &str> = stored.iter().map(|row| (row.get(0), row.get(1))).collect();
    let (mut streams, mut spellings) = (Vec::new(), Vec::new());
    for stream in manifest.streams() {
        let (name, layout) = (stream.name().as_str(), Layout::of(stream));
        let spelling = layout.spelling();
        if let Some(earlier) = stored.get(name)
            && *earlier != spelling
        {
            relaying::lay_out_anew(session, subject_id, (key, name), &layout, earlier).await?;
        }
        streams.push(name);
        spellings.push(spelling);
    }
    let sql = "INSERT INTO layouts (subject_id, connector_key, stream, declaration_version, layout)
               SELECT $1, $2, u.stream, $3, u.layout FROM unnest($4::text[], $5::text[]) AS u (stream, layout)
               ON CONFLICT (subject_id, connector_key, stream) DO UPDATE
               SET declaration_version = excluded.declaration_version, layout = excluded.layout";
    session.execute(sql, &[&id, &key, &version, &streams, &spellings]).await?;
    Ok(())
}
