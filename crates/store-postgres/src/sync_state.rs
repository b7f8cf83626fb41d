//! Where connectors left off: one JSON value per stream and scope.

use async_trait::async_trait;
use pdpp_store::{StateScope, StoreError, SyncState, SyncStates};
use pdpp_wire::Instant;
use serde_json::{Map, Value};

use crate::PostgresStore;
use crate::fault::{Fault, Outcome};
use crate::session::Session;
use crate::subject_row::SubjectRow;

#[async_trait]
impl SyncStates for PostgresStore {
    async fn get_state(&self, scope: &StateScope) -> Result<SyncState, StoreError> {
        let session = self.reading(&scope.subject_id).await?;
        let state = get(&session, scope).await;
        Ok(session.end(state).await?)
    }

    async fn put_state(
        &self,
        scope: &StateScope,
        streams: &Map<String, Value>,
    ) -> Result<SyncState, StoreError> {
        let session = self.writing(&scope.subject_id).await?;
        let state = put(&session, scope, streams, self.clock.now()).await;
        Ok(session.end(state).await?)
    }
}

async fn get(session: &Session, scope: &StateScope) -> Outcome<SyncState> {
    let sql = "SELECT stream, value, updated_at FROM sync_state
               WHERE subject_id = $1 AND connector_key = $2 AND connection_id = $3 AND grant_id = $4
               ORDER BY stream";
    let key = key(scope);
    let mut state = SyncState::default();
    for row in session.query(sql, &[&key[0], &key[1], &key[2], &key[3]]).await? {
        let value = serde_json::from_str(row.get(1)).map_err(|_| Fault::damaged("a connector's state"))?;
        state.streams.insert(row.get(0), value);
        state.updated_at = state.updated_at.max(Some(Instant::from_micros(row.get(2))));
    }
    Ok(state)
}

async fn put(
    session: &Session,
    scope: &StateScope,
    streams: &Map<String, Value>,
    now: Instant,
) -> Outcome<SyncState> {
    SubjectRow::lock(session, &scope.subject_id).await?;
    let sql = "INSERT INTO sync_state
                   (subject_id, connector_key, connection_id, grant_id, stream, value, updated_at)
               SELECT $1, $2, $3, $4, u.stream, u.value, $7
               FROM unnest($5::text[], $6::text[]) AS u (stream, value)
               ON CONFLICT (subject_id, connector_key, connection_id, grant_id, stream)
               DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
    let key = key(scope);
    let (names, values): (Vec<_>, Vec<_>) =
        streams.iter().map(|(stream, value)| (stream.as_str(), value.to_string())).unzip();
    session.execute(sql, &[&key[0], &key[1], &key[2], &key[3], &names, &values, &now.micros()]).await?;
    get(session, scope).await
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
