//! What a subject has: manifests and connections, as reads and writes need them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pdpp_access::{Catalogue, Connection, Source};
use pdpp_store::{Catalogues, Ensured, ManifestOutcome, OnConflict, RemovedCounts, StoreError};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, ConnectorKey, SubjectId};
use rusqlite::{Connection as Sqlite, OptionalExtension as _, params};

use crate::connections::Draft;
use crate::fault::{Fault, Outcome};
use crate::sequence::SubjectRow;
use crate::{SqliteStore, connections, manifests, purge};

/// Subjects whose catalogue is remembered.
const REMEMBERED: usize = 1_024;

/// Remembers parsed catalogues by the generation they were read at. The generation is asked for
/// each time, so another process's change is seen at once.
#[derive(Debug, Default)]
pub(crate) struct CatalogueCache {
    known: Mutex<HashMap<SubjectId, (i64, Arc<Catalogue>)>>,
}

impl CatalogueCache {
    /// The catalogue of this generation, if it is remembered.
    fn known(&self, subject_id: &SubjectId, generation: i64) -> Option<Arc<Catalogue>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(subject_id).filter(|(at, _)| *at == generation).map(|(_, catalogue)| Arc::clone(catalogue))
    }

    /// The catalogue as this connection sees it. Not to be asked for inside a transaction that has
    /// changed it: what is rolled back must not be remembered.
    pub(crate) fn load(&self, connection: &Sqlite, subject_id: &SubjectId) -> Outcome<Arc<Catalogue>> {
        let generation = SubjectRow::find(connection, subject_id)?.generation;
        if let Some(catalogue) = self.known(subject_id, generation) {
            return Ok(catalogue);
        }
        let catalogue = Arc::new(load(connection, subject_id)?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(subject_id.clone(), (generation, Arc::clone(&catalogue)));
        Ok(catalogue)
    }
}

fn load(connection: &Sqlite, subject_id: &SubjectId) -> Outcome<Catalogue> {
    let sql = "SELECT c.connector_key, c.version, s.document FROM connectors AS c
               JOIN snapshots AS s ON s.subject_id = c.subject_id AND s.version = c.version
               WHERE c.subject_id = ? ORDER BY c.connector_key";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([subject_id.as_str()])?;
    let mut sources = Vec::new();
    while let Some(row) = rows.next()? {
        let (key, declaration_version, document): (String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let manifest = Manifest::parse(&document).map_err(|fault| {
            Fault::damaged(format!("the manifest of connector {key} does not parse: {fault}"))
        })?;
        let connections = connections::of_connector(connection, subject_id, &key)?;
        sources.push(Arc::new(Source { manifest: Arc::new(manifest), declaration_version, connections }));
    }
    Ok(Catalogue { subject_id: subject_id.clone(), sources })
}

#[async_trait]
impl Catalogues for SqliteStore {
    async fn catalogue(&self, subject_id: &SubjectId) -> Result<Arc<Catalogue>, StoreError> {
        let asked = subject_id.clone();
        let generation = self.peek(move |connection| SubjectRow::find_generation(connection, &asked)).await?;
        if let Some(catalogue) = self.catalogues.known(subject_id, generation) {
            return Ok(catalogue);
        }
        let (cache, subject_id) = (Arc::clone(&self.catalogues), subject_id.clone());
        self.glance(move |connection| cache.load(connection, &subject_id)).await
    }

    async fn put_manifest(
        &self,
        subject_id: &SubjectId,
        manifest: &Manifest,
        on_conflict: OnConflict,
    ) -> Result<ManifestOutcome, StoreError> {
        let (entropy, subject_id, manifest) =
            (Arc::clone(&self.entropy), subject_id.clone(), manifest.clone());
        self.write(move |connection| {
            manifests::put(connection, entropy.as_ref(), &subject_id, &manifest, on_conflict)
        })
        .await
    }

    async fn find_snapshot(
        &self,
        subject_id: &SubjectId,
        version: &str,
    ) -> Result<Option<String>, StoreError> {
        let (subject_id, version) = (subject_id.clone(), version.to_owned());
        self.read(move |connection| {
            let sql = "SELECT document FROM snapshots WHERE subject_id = ? AND version = ?";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row(params![subject_id.as_str(), version], |row| row.get(0)).optional()?)
        })
        .await
    }

    async fn create_connection(
        &self,
        subject_id: &SubjectId,
        connector_key: &ConnectorKey,
        display_name: Option<&str>,
    ) -> Result<Option<Connection>, StoreError> {
        let (cache, entropy, now) =
            (Arc::clone(&self.catalogues), Arc::clone(&self.entropy), self.clock.now());
        let (subject_id, connector_key) = (subject_id.clone(), connector_key.clone());
        let display_name = display_name.map(str::to_owned);
        self.write(move |connection| {
            let catalogue = cache.load(connection, &subject_id)?;
            let source = catalogue.sources.iter().find(|source| *source.key() == connector_key);
            let draft = Draft { entropy: entropy.as_ref(), subject_id: &subject_id, now };
            source.map(|source| draft.make(connection, source, display_name)).transpose()
        })
        .await
    }

    async fn ensure_connection(
        &self,
        subject_id: &SubjectId,
        connector_key: &ConnectorKey,
        name: Option<&str>,
    ) -> Result<Ensured, StoreError> {
        let (cache, entropy, now) =
            (Arc::clone(&self.catalogues), Arc::clone(&self.entropy), self.clock.now());
        let (subject_id, connector_key) = (subject_id.clone(), connector_key.clone());
        let name = name.map(str::to_owned);
        self.write(move |connection| {
            let catalogue = cache.load(connection, &subject_id)?;
            let Some(source) = catalogue.sources.iter().find(|source| *source.key() == connector_key) else {
                return Ok(Ensured::UnknownConnector);
            };
            let mut meant = connections::meant(source, name.as_deref());
            if meant.len() > 1 {
                return Ok(Ensured::Several(meant));
            }
            let draft = Draft { entropy: entropy.as_ref(), subject_id: &subject_id, now };
            Ok(Ensured::One(match meant.pop() {
                Some(found) => found,
                None => draft.make(connection, source, name)?,
            }))
        })
        .await
    }

    async fn rename_connection(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
        display_name: Option<&str>,
    ) -> Result<bool, StoreError> {
        let (subject_id, connection_id) = (subject_id.clone(), connection_id.clone());
        let display_name = display_name.map(str::to_owned);
        self.write(move |connection| {
            let sql = "UPDATE connections SET display_name = ? WHERE subject_id = ? AND connection_id = ?";
            let renamed = connection.prepare_cached(sql)?.execute(params![
                display_name,
                subject_id.as_str(),
                connection_id.as_str()
            ])?;
            if renamed > 0 {
                bump_generation(connection, &subject_id)?;
            }
            Ok(renamed > 0)
        })
        .await
    }

    async fn remove_connection(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
    ) -> Result<Option<RemovedCounts>, StoreError> {
        let (subject_id, connection_id) = (subject_id.clone(), connection_id.clone());
        let removed = self
            .write(move |connection| purge::remove_connection(connection, &subject_id, &connection_id))
            .await?;
        if removed.is_some() {
            self.remove_orphaned_files().await;
            self.checkpoint().await?;
        }
        Ok(removed)
    }

    async fn sealing_key(&self) -> Result<[u8; 32], StoreError> {
        if let Some(key) = self.sealing_key.get() {
            return Ok(*key);
        }
        let mut fresh = [0; 32];
        self.entropy.fill(&mut fresh);
        let key = self.write(move |connection| ensure_sealing_key(connection, &fresh)).await?;
        Ok(*self.sealing_key.get_or_init(|| key))
    }

    async fn check_ready(&self) -> Result<(), StoreError> {
        self.read(|connection| Ok(connection.query_row("SELECT COUNT(*) FROM meta", [], |_| Ok(()))?))
            .await?;
        // Asking for the write lock fails where a write would: on a read-only or busy store.
        self.write(|_| Ok(())).await?;
        self.ledger().write(|_| Ok(())).await
    }
}

/// Tells every reader that its catalogue is old.
pub(crate) fn bump_generation(connection: &Sqlite, subject_id: &SubjectId) -> Outcome<()> {
    let mut subject = SubjectRow::ensure(connection, subject_id)?;
    subject.generation += 1;
    subject.store(connection)
}

/// The first one to ask makes the key; it stays for the life of the store.
fn ensure_sealing_key(connection: &Sqlite, fresh: &[u8; 32]) -> Outcome<[u8; 32]> {
    connection.execute("INSERT OR IGNORE INTO meta (name, value) VALUES ('sealing_key', ?)", [fresh])?;
    let sql = "SELECT value FROM meta WHERE name = 'sealing_key'";
    let key: Vec<u8> = connection.query_row(sql, [], |row| row.get(0))?;
    key.try_into().map_err(|_| Fault::damaged("the sealing key has another length"))
}
