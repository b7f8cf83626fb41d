//! Connections and their scopes: one per stream their connector declares.

use pdpp_access::{Connection, ConnectionStatus, Entropy, Source, random_hex};
use pdpp_wire::{ConnectionId, ConnectorKey, Instant, StreamName, SubjectId};
use rusqlite::{Connection as Sqlite, OptionalExtension as _, params};

use crate::catalogues::bump_generation;
use crate::fault::{Fault, Outcome};
use crate::statement::prepare;

/// One connection's share of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) id: i64,
    pub(crate) epoch: i64,
    pub(crate) live_count: i64,
}

/// The scope of a connection's stream, if the connection exists and belongs to the connector.
pub(crate) fn find_scope(
    connection: &Sqlite,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
    connector_key: &ConnectorKey,
    stream: &StreamName,
) -> Outcome<Option<Scope>> {
    let sql = "SELECT id, epoch, live_count FROM scopes
               WHERE subject_id = ? AND connection_id = ? AND stream = ? AND connector_key = ?";
    let names = params![subject_id.as_str(), connection_id.as_str(), stream.as_str(), connector_key.as_str()];
    let scope = prepare(connection, sql)?
        .query_row(names, |row| Ok(Scope { id: row.get(0)?, epoch: row.get(1)?, live_count: row.get(2)? }));
    Ok(scope.optional()?)
}

/// Makes a connection's scope for a stream, unless it has one.
pub(crate) fn ensure_scope(
    connection: &Sqlite,
    entropy: &dyn Entropy,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
    connector_key: &ConnectorKey,
    stream: &StreamName,
) -> Outcome<()> {
    let sql = "INSERT OR IGNORE INTO scopes (subject_id, connection_id, connector_key, stream, epoch)
               VALUES (?, ?, ?, ?, ?)";
    connection.prepare_cached(sql)?.execute(params![
        subject_id.as_str(),
        connection_id.as_str(),
        connector_key.as_str(),
        stream.as_str(),
        fresh_epoch(entropy)
    ])?;
    Ok(())
}

/// An epoch nobody has seen.
pub(crate) fn fresh_epoch(entropy: &dyn Entropy) -> i64 {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    i64::from_le_bytes(bytes)
}

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
    /// Makes the connection, with a scope for each stream its connector declares.
    pub(crate) fn make(
        &self,
        connection: &Sqlite,
        source: &Source,
        display_name: Option<String>,
    ) -> Outcome<Connection> {
        let Self { entropy, subject_id, now } = *self;
        let connection_id = mint(connection, entropy, subject_id)?;
        let made = Connection { connection_id, display_name, status: ConnectionStatus::Draft };
        insert(connection, subject_id, source.key(), &made, now)?;
        for stream in source.manifest.streams() {
            let id = &made.connection_id;
            ensure_scope(connection, entropy, subject_id, id, source.key(), stream.name())?;
        }
        bump_generation(connection, subject_id)?;
        Ok(made)
    }
}

/// An id no connection of the subject has.
fn mint(connection: &Sqlite, entropy: &dyn Entropy, subject_id: &SubjectId) -> Outcome<ConnectionId> {
    let sql = "SELECT 1 FROM connections WHERE subject_id = ? AND connection_id = ?";
    let mut taken = connection.prepare_cached(sql)?;
    for _ in 0..8 {
        let id = format!("cin_{}", random_hex(entropy, 8));
        if !taken.exists(params![subject_id.as_str(), id])? {
            return ConnectionId::parse(id).map_err(|fault| Fault::damaged(fault.to_string()));
        }
    }
    Err(Fault::damaged("the source of randomness repeats itself"))
}

fn insert(
    connection: &Sqlite,
    subject_id: &SubjectId,
    connector_key: &ConnectorKey,
    made: &Connection,
    now: Instant,
) -> Outcome<()> {
    let sql =
        "INSERT INTO connections (subject_id, connection_id, connector_key, display_name, status, created_at)
               VALUES (?, ?, ?, ?, ?, ?)";
    connection.prepare_cached(sql)?.execute(params![
        subject_id.as_str(),
        made.connection_id.as_str(),
        connector_key.as_str(),
        made.display_name,
        spell(made.status),
        now.micros()
    ])?;
    Ok(())
}

/// A connector's connections, oldest first.
pub(crate) fn of_connector(
    connection: &Sqlite,
    subject_id: &SubjectId,
    connector_key: &str,
) -> Outcome<Vec<Connection>> {
    let sql = "SELECT connection_id, display_name, status FROM connections
               WHERE subject_id = ? AND connector_key = ? ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![subject_id.as_str(), connector_key])?;
    let mut connections = Vec::new();
    while let Some(row) = rows.next()? {
        let damaged = |_| Fault::damaged("a connection's id is malformed");
        connections.push(Connection {
            connection_id: ConnectionId::parse(row.get::<_, String>(0)?).map_err(damaged)?,
            display_name: row.get(1)?,
            status: parse_status(&row.get::<_, String>(2)?)?,
        });
    }
    Ok(connections)
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
