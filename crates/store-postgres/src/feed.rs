//! Feeds indexes: records as they are, and their neighbours in a thread.

mod neighbours;

use std::collections::HashMap;

use async_trait::async_trait;
use pdpp_store::{FedRecord, Feed, StoreError};
use pdpp_wire::{ConnectionId, Instant, RecordKey, StreamName, SubjectId};

use crate::PostgresStore;
use crate::fault::{Fault, Outcome};
use crate::layout::Layout;
use crate::scope::Scope;
use crate::session::{Session, Whose};
use neighbours::Threads;

#[async_trait]
impl Feed for PostgresStore {
    async fn subjects(&self) -> Result<Vec<SubjectId>, StoreError> {
        let session = self.reading(Whose::Everybody).await?;
        // The provider's own row is nobody's archive.
        let sql = "SELECT subject_id FROM subjects WHERE subject_id <> '' ORDER BY subject_id";
        let rows = session.query(sql, &[]).await;
        let rows = session.end(rows).await?;
        let read = |row: &tokio_postgres::Row| {
            SubjectId::parse(row.get::<_, &str>(0)).map_err(|_| Fault::damaged("a subject's name"))
        };
        Ok(rows.iter().map(read).collect::<Outcome<_>>()?)
    }

    async fn feed_records(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
        stream: &StreamName,
        keys: &[RecordKey],
    ) -> Result<Vec<FedRecord>, StoreError> {
        let session = self.reading(subject_id).await?;
        let fed = self.feed(&session, (subject_id, connection_id, stream), keys).await;
        Ok(session.end(fed).await?)
    }
}

impl PostgresStore {
    async fn feed(
        &self,
        session: &Session,
        (subject_id, connection_id, stream): (&SubjectId, &ConnectionId, &StreamName),
        keys: &[RecordKey],
    ) -> Outcome<Vec<FedRecord>> {
        let none = || keys.iter().cloned().map(gone).collect();
        let catalogue = self.catalogues.load(session, subject_id).await?;
        let found = catalogue.find_connection(connection_id.as_str());
        let declared =
            found.and_then(|(source, _)| Some((source, source.manifest.find_stream(stream.as_str())?)));
        let Some((source, declaration)) = declared else { return Ok(none()) };
        let (scope, layout) = tokio::try_join!(
            Scope::find(session, subject_id, connection_id, source.key(), stream),
            Layout::find(session, subject_id, source, declaration)
        )?;
        let Some(scope) = scope else { return Ok(none()) };
        let mut fed = find(session, subject_id, scope, keys).await?;
        if let Some(threads) = Threads::of(&layout, declaration) {
            threads.join(session, subject_id, scope, &layout, &mut fed).await?;
        }
        Ok(fed)
    }
}

/// The records of these keys, in their order, without their neighbours.
async fn find(
    session: &Session,
    subject_id: &SubjectId,
    scope: Scope,
    keys: &[RecordKey],
) -> Outcome<Vec<FedRecord>> {
    // A subquery that stands for itself is run once for each key: a step in the primary key.
    let sql = "SELECT r.* FROM unnest($3::text[]) AS u (key) CROSS JOIN LATERAL (
                   SELECT key, data, consent_at FROM records
                   WHERE subject_id = $1 AND scope_id = $2 AND key = u.key OFFSET 0
               ) AS r";
    let wanted: Vec<_> = keys.iter().map(RecordKey::as_str).collect();
    let rows = session.query(sql, &[&subject_id.as_str(), &scope.id, &wanted]).await?;
    let found: HashMap<&str, (Option<&str>, Option<i64>)> =
        rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect();
    let feed = |key: &RecordKey| match found.get(key.as_str()) {
        Some((Some(data), consent_at)) => {
            let consent_at = consent_at.map(Instant::from_micros);
            FedRecord { data: Some((*data).to_owned()), consent_at, ..gone(key.clone()) }
        }
        _ => gone(key.clone()),
    };
    Ok(keys.iter().map(feed).collect())
}

fn gone(key: RecordKey) -> FedRecord {
    FedRecord { key, data: None, consent_at: None, previous: None, next: None }
}
