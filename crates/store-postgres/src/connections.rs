//! Connections and their scopes: one per stream their connector declares.

use std::collections::{HashMap, HashSet};

use pdpp_access::{Connection, ConnectionStatus, Entropy, Source, random_hex};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, Instant, SubjectId};
use tokio_postgres::Row;

use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::SubjectRow;

/// The writable connections a name means: the one of that id, else those of that label; all of them
/// without a name.
pub(crate) fn meant(source: &Source, name: Option<&str>) -> Vec<Connection> {
    let writable = || source.connections.iter().filter(|connection| connection.is_writable());
    let Some(name) = name else { return writable().cloned().collect() };
    if let Some(named) = writable().find(|connection| connection.connection_id.as_str() == name) {
        return vec![named.clone()];
    }
    writable().filter(|connection| connection.display_name.as_deref() == Some(name)).cloned().collect()
}

/// What a new connection is made from.
pub(crate) struct Draft<'d> {
    pub(crate) entropy: &'d dyn Entropy,
    pub(crate) subject_id: &'d SubjectId,
    pub(crate) now: Instant,
}

impl Draft<'_> {
    /// Makes the connection, with a scope for each stream its connector declares. The subject's row is locked, and
    /// is written back.
    pub(crate) async fn make(
        &self,
        session: &Session,
        mut subject: SubjectRow,
        source: &Source,
        display_name: Option<&str>,
    ) -> Outcome<Connection> {
        let connection_id = self.mint(session).await?;
        let made = Connection {
            connection_id,
            display_name: display_name.map(str::to_owned),
            status: ConnectionStatus::Draft,
        };
        let sql = "INSERT INTO connections
                   (subject_id, connection_id, connector_key, display_name, status, created_at, ordinal)
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let (subject_id, id) = (self.subject_id.as_str(), made.connection_id.as_str());
        let (key, status) = (source.key().as_str(), spell(made.status));
        let (at, ordinal) = (self.now.micros(), subject.count());
        session.execute(sql, &[&subject_id, &id, &key, &display_name, &status, &at, &ordinal]).await?;
        let wanted = [made.connection_id.clone()];
        ensure_scopes(session, self.entropy, self.subject_id, &mut subject, &source.manifest, &wanted)
            .await?;
        subject.generation += 1;
        subject.store(session, self.subject_id).await?;
        Ok(made)
    }

    /// An id no connection of the subject has.
    async fn mint(&self, session: &Session) -> Outcome<ConnectionId> {
        let sql = "SELECT 1 FROM connections WHERE subject_id = $1 AND connection_id = $2";
        for _ in 0..8 {
            let id = format!("cin_{}", random_hex(self.entropy, 8));
            if session.query_opt(sql, &[&self.subject_id.as_str(), &id]).await?.is_none() {
                return ConnectionId::parse(id).map_err(|fault| Fault::damaged(fault.to_string()));
            }
        }
        Err(Fault::damaged("the source of randomness repeats itself"))
    }
}

/// Makes the scopes these connections lack, one for each stream of their connector's manifest. Their numbers are
/// counted in the subject's row, which the caller writes back.
pub(crate) async fn ensure_scopes(
    session: &Session,
    entropy: &dyn Entropy,
    subject_id: &SubjectId,
    subject: &mut SubjectRow,
    manifest: &Manifest,
    connections: &[ConnectionId],
) -> Outcome<()> {
    let ids: Vec<_> = connections.iter().map(ConnectionId::as_str).collect();
    let sql = "SELECT connection_id, stream FROM scopes WHERE subject_id = $1 AND connection_id = ANY($2)";
    let there = session.query(sql, &[&subject_id.as_str(), &ids]).await?;
    let there: HashSet<(&str, &str)> = there.iter().map(|row| (row.get(0), row.get(1))).collect();
    let (mut numbers, mut whose, mut streams, mut epochs) = (vec![], vec![], vec![], vec![]);
    for id in ids {
        for stream in manifest.streams() {
            let name = stream.name().as_str();
            if !there.contains(&(id, name)) {
                numbers.push(subject.count());
                whose.push(id);
                streams.push(name);
                epochs.push(fresh_epoch(entropy));
            }
        }
    }
    let sql = "INSERT INTO scopes (subject_id, scope_id, connection_id, connector_key, stream, epoch)
               SELECT $1, u.scope_id, u.connection_id, $2, u.stream, u.epoch
               FROM unnest($3::bigint[], $4::text[], $5::text[], $6::bigint[])
                    AS u (scope_id, connection_id, stream, epoch)";
    let (id, key) = (subject_id.as_str(), manifest.key().as_str());
    session.execute(sql, &[&id, &key, &numbers, &whose, &streams, &epochs]).await?;
    Ok(())
}

/// An epoch nobody has seen.
pub(crate) fn fresh_epoch(entropy: &dyn Entropy) -> i64 {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    i64::from_le_bytes(bytes)
}

/// Every connection of a subject by its connector's key, each list oldest first.
pub(crate) async fn by_connector(
    session: &Session,
    subject_id: &SubjectId,
) -> Outcome<HashMap<String, Vec<Connection>>> {
    let sql = "SELECT connection_id, display_name, status, connector_key FROM connections
               WHERE subject_id = $1 ORDER BY connector_key, ordinal";
    let mut found: HashMap<String, Vec<Connection>> = HashMap::new();
    for row in session.query(sql, &[&subject_id.as_str()]).await? {
        found.entry(row.get(3)).or_default().push(read(&row)?);
    }
    Ok(found)
}

/// A connector's connections.
pub(crate) async fn ids_of_connector(
    session: &Session,
    subject_id: &SubjectId,
    connector_key: &str,
) -> Outcome<Vec<ConnectionId>> {
    let sql = "SELECT connection_id FROM connections WHERE subject_id = $1 AND connector_key = $2
               ORDER BY ordinal";
    let rows = session.query(sql, &[&subject_id.as_str(), &connector_key]).await?;
    rows.iter().map(read_id).collect()
}

fn read(row: &Row) -> Outcome<Connection> {
    Ok(Connection {
        connection_id: read_id(row)?,
        display_name: row.get(1),
        status: parse_status(row.get(2))?,
    })
}

fn read_id(row: &Row) -> Outcome<ConnectionId> {
    ConnectionId::parse(row.get::<_, &str>(0)).map_err(|_| Fault::damaged("a connection's id is malformed"))
}

fn spell(status: ConnectionStatus) -> &'static str {
    match status {
        ConnectionStatus::Draft => "draft",
        ConnectionStatus::Active => "active",
        ConnectionStatus::Paused => "paused",
        ConnectionStatus::Removed => "removed",
    }
}

fn parse_status(text: &str) -> Outcome<ConnectionStatus> {
    Ok(match text {
        "draft" => ConnectionStatus::Draft,
        "active" => ConnectionStatus::Active,
        "paused" => ConnectionStatus::Paused,
        "removed" => ConnectionStatus::Removed,
        _ => return Err(Fault::damaged("a connection has no known status")),
    })
}
