//! Where connectors left off: one JSON value per stream and scope.

use async_trait::async_trait;
use pdpp_store::{StateScope, StoreError, SyncState, SyncStates};
use pdpp_wire::Instant;
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use crate::SqliteStore;
use crate::fault::{Fault, Outcome};

#[async_trait]
impl SyncStates for SqliteStore {
    async fn get_state(&self, scope: &StateScope) -> Result<SyncState, StoreError> {
        let scope = scope.clone();
        self.read(move |connection| get(connection, &scope)).await
    }

    async fn put_state(
        &self,
        scope: &StateScope,
        streams: &Map<String, Value>,
    ) -> Result<SyncState, StoreError> {
        let (scope, streams, now) = (scope.clone(), streams.clone(), self.clock.now());
        let put = move |connection: &Connection| {
            for (stream, value) in &streams {
                put_one(connection, &scope, stream, value, now)?;
            }
            get(connection, &scope)
        };
        self.write(put).await
    }
}

fn get(connection: &Connection, scope: &StateScope) -> Outcome<SyncState> {
    let sql = "SELECT stream, value, updated_at FROM sync_state
               WHERE subject_id = ?1 AND connector_key = ?2 AND connection_id = ?3 AND grant_id = ?4
               ORDER BY stream";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(key(scope))?;
    let mut state = SyncState::default();
    while let Some(row) = rows.next()? {
        let value = serde_json::from_str(row.get_ref(1)?.as_str().map_err(damaged)?).map_err(damaged)?;
        state.streams.insert(row.get(0)?, value);
        state.updated_at = state.updated_at.max(Some(Instant::from_micros(row.get(2)?)));
    }
    Ok(state)
}

fn put_one(
    connection: &Connection,
    scope: &StateScope,
    stream: &str,
    value: &Value,
    now: Instant,
) -> Outcome<()> {
    let sql = "INSERT INTO sync_state
                   (subject_id, connector_key, connection_id, grant_id, stream, value, updated_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT (subject_id, connector_key, connection_id, grant_id, stream)
               DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
    let [subject_id, connector_key, connection_id, grant_id] = key(scope);
    let value = value.to_string();
    connection.prepare_cached(sql)?.execute(params![
        subject_id,
        connector_key,
        connection_id,
        grant_id,
        stream,
        value,
        now.micros()
    ])?;
    Ok(())
}

/// The scope's part of the primary key; what is absent is the empty text.
fn key(scope: &StateScope) -> [&str; 4] {
    [
        scope.subject_id.as_str(),
        scope.connector_key.as_str(),
        scope.connection_id.as_ref().map_or("", AsRef::as_ref),
        scope.grant_id.as_ref().map_or("", AsRef::as_ref),
    ]
}

fn damaged<E>(_: E) -> Fault {
    Fault::damaged("a connector's state")
}
