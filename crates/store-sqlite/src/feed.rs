//! Feeds indexes: records as they are, and their neighbours in a thread.
//!
//! A thread's records stand next to each other in the index that starts with its key and goes on with
//! the stream's order, so a neighbour is one step away. A compound key is met by stepping over records
//! of other threads that share its first field, a bounded number of them.

use std::sync::Arc;

use async_trait::async_trait;
use pdpp_store::{FedRecord, Feed, StoreError};
use pdpp_wire::manifest::StreamDeclaration;
use pdpp_wire::{ConnectionId, Instant, RecordKey, StreamName, SubjectId};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use crate::catalogues::CatalogueCache;
use crate::connections::find_scope;
use crate::fault::{Fault, Outcome};
use crate::layout::Layout;
use crate::statement::prepare;
use crate::{SqliteStore, field_table};

/// How many records of other threads are stepped over in search of a neighbour.
const STEPS: i64 = 200;

#[async_trait]
impl Feed for SqliteStore {
    async fn subjects(&self) -> Result<Vec<SubjectId>, StoreError> {
        self.read(|connection| {
            let mut statement = prepare(connection, "SELECT subject_id FROM subjects ORDER BY id")?;
            let mut rows = statement.query([])?;
            let mut subjects = Vec::new();
            while let Some(row) = rows.next()? {
                let subject = SubjectId::parse(row.get::<_, String>(0)?);
                subjects.push(subject.map_err(|_| Fault::damaged("a subject's name"))?);
            }
            Ok(subjects)
        })
        .await
    }

    async fn feed_records(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
        stream: &StreamName,
        keys: &[RecordKey],
    ) -> Result<Vec<FedRecord>, StoreError> {
        let cache = Arc::clone(&self.catalogues);
        let (subject_id, connection_id, stream) = (subject_id.clone(), connection_id.clone(), stream.clone());
        let keys = keys.to_vec();
        self.read(move |connection| {
            let whose = (&subject_id, &connection_id, &stream);
            feed(connection, &cache, whose, keys)
        })
        .await
    }
}

fn feed(
    connection: &Connection,
    cache: &CatalogueCache,
    (subject_id, connection_id, stream): (&SubjectId, &ConnectionId, &StreamName),
    keys: Vec<RecordKey>,
) -> Outcome<Vec<FedRecord>> {
    let catalogue = cache.load(connection, subject_id)?;
    let found = catalogue.find_connection(connection_id.as_str());
    let declared =
        found.and_then(|(source, _)| Some((source, source.manifest.find_stream(stream.as_str())?)));
    let Some((source, declaration)) = declared else {
        return Ok(keys.into_iter().map(gone).collect());
    };
    let Some(scope) = find_scope(connection, subject_id, connection_id, source.key(), stream)? else {
        return Ok(keys.into_iter().map(gone).collect());
    };
    let layout = field_table::find(connection, subject_id, source, declaration)?;
    let threads = Threads::of(connection, scope.id, &layout, declaration);
    let sql = "SELECT id, data, consent_at FROM records
               WHERE scope_id = ? AND key = ? AND deleted_seq IS NULL";
    let mut find = prepare(connection, sql)?;
    let mut fed = Vec::with_capacity(keys.len());
    for key in keys {
        let stored = find
            .query_row(params![scope.id, key.as_str()], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<i64>>(2)?))
            })
            .optional()?;
        let Some((id, data, consent_at)) = stored else {
            fed.push(gone(key));
            continue;
        };
        let (previous, next) = match &threads {
            Some(threads) => threads.neighbours(id, &key)?,
            None => (None, None),
        };
        let consent_at = consent_at.map(Instant::from_micros);
        fed.push(FedRecord { key, data: Some(data), consent_at, previous, next });
    }
    Ok(fed)
}

fn gone(key: RecordKey) -> FedRecord {
    FedRecord { key, data: None, consent_at: None, previous: None, next: None }
}

/// How neighbours are found in one stream of one connection.
struct Threads<'c> {
    connection: &'c Connection,
    scope_id: i64,
    /// Reads a record's thread and place.
    place: String,
    /// Steps back, and forward.
    steps: [String; 2],
    columns: usize,
}

impl<'c> Threads<'c> {
    /// `None` when the stream declares no thread or no order.
    fn of(
        connection: &'c Connection,
        scope_id: i64,
        layout: &Layout,
        declaration: &StreamDeclaration,
    ) -> Option<Self> {
        layout.order_type()?;
        let thread = declaration.fields().iter().filter(|field| field.role() == Some("thread"));
        let columns: Option<Vec<_>> =
            thread.map(|field| layout.column(field.name()).map(|column| column.name)).collect();
        let columns =
            columns.filter(|columns| !columns.is_empty() && !columns.contains(&"ord".to_owned()))?;
        let (table, first) = (layout.table(), &columns[0]);
        let list = columns.join(", ");
        let same: Vec<_> = columns.iter().map(|column| format!("{column} = ?")).collect();
        let same = same.join(" AND ");
        let step = |beyond: &str, direction: &str| {
            format!(
                "SELECT key FROM (
                     SELECT key, {list} FROM {table} INDEXED BY {table}_{first}
                     WHERE scope_id = ? AND {first} = ? AND (ord, key) {beyond} (?, ?)
                     ORDER BY ord {direction}, key {direction} LIMIT {STEPS}
                 ) WHERE {same} LIMIT 1"
            )
        };
        Some(Self {
            connection,
            scope_id,
            place: format!("SELECT ord, {list} FROM {table} WHERE record_id = ?"),
            steps: [step("<", "DESC"), step(">", "ASC")],
            columns: columns.len(),
        })
    }

    fn neighbours(&self, id: i64, key: &RecordKey) -> Outcome<(Option<RecordKey>, Option<RecordKey>)> {
        let place: Vec<SqlValue> = prepare(self.connection, &self.place)?
            .query_row([id], |row| (0..=self.columns).map(|index| row.get(index)).collect())?;
        if place.contains(&SqlValue::Null) {
            return Ok((None, None));
        }
        Ok((self.step(0, &place, key)?, self.step(1, &place, key)?))
    }

    fn step(&self, direction: usize, place: &[SqlValue], key: &RecordKey) -> Outcome<Option<RecordKey>> {
        let (order, thread) = (&place[0], &place[1..]);
        let here = [self.scope_id.into(), thread[0].clone(), order.clone(), key.as_str().to_owned().into()];
        let values = params_from_iter(here.iter().chain(thread));
        let found: Option<String> = prepare(self.connection, &self.steps[direction])?
            .query_row(values, |row| row.get(0))
            .optional()?;
        found.map(|key| RecordKey::parse(key).map_err(|_| Fault::damaged("a record's key"))).transpose()
    }
}
