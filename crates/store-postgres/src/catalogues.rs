//! What a subject has: manifests and connections, as reads and writes need them.

use std::sync::Arc;

use async_trait::async_trait;
use pdpp_access::{Catalogue, Connection};
use pdpp_store::{Catalogues, Ensured, ManifestOutcome, OnConflict, RemovedCounts, StoreError};
use pdpp_wire::manifest::Manifest;
use pdpp_wire::{ConnectionId, ConnectorKey, SubjectId};

use crate::connections::Draft;
use crate::fault::{Fault, Outcome};
use crate::session::{Session, Whose};
use crate::subject_row::SubjectRow;
use crate::{PostgresStore, connections, manifests, purge};

#[async_trait]
impl Catalogues for PostgresStore {
    async fn catalogue(&self, subject_id: &SubjectId) -> Result<Arc<Catalogue>, StoreError> {
        let session = self.reading(subject_id).await?;
        let catalogue = self.catalogues.load(&session, subject_id).await;
        Ok(session.end(catalogue).await?)
    }

    async fn put_manifest(
        &self,
        subject_id: &SubjectId,
        manifest: &Manifest,
        on_conflict: OnConflict,
    ) -> Result<ManifestOutcome, StoreError> {
        let session = self.writing(subject_id).await?;
        let put = manifests::put(&session, self.entropy.as_ref(), subject_id, manifest, on_conflict).await;
        Ok(session.end(put).await?)
    }

    async fn find_snapshot(
        &self,
        subject_id: &SubjectId,
        version: &str,
    ) -> Result<Option<String>, StoreError> {
        let session = self.reading(subject_id).await?;
        let sql = "SELECT document FROM snapshots WHERE subject_id = $1 AND version = $2";
        let found = session.query_opt(sql, &[&subject_id.as_str(), &version]).await;
        Ok(session.end(found).await?.map(|row| row.get(0)))
    }

    async fn create_connection(
        &self,
        subject_id: &SubjectId,
        connector_key: &ConnectorKey,
        display_name: Option<&str>,
    ) -> Result<Option<Connection>, StoreError> {
        let session = self.writing(subject_id).await?;
        let made = self.create(&session, subject_id, connector_key, display_name).await;
        Ok(session.end(made).await?)
    }

    async fn ensure_connection(
        &self,
        subject_id: &SubjectId,
        connector_key: &ConnectorKey,
        name: Option<&str>,
    ) -> Result<Ensured, StoreError> {
        let session = self.writing(subject_id).await?;
        let ensured = self.ensure(&session, subject_id, connector_key, name).await;
        Ok(session.end(ensured).await?)
    }

    async fn rename_connection(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
        display_name: Option<&str>,
    ) -> Result<bool, StoreError> {
        let session = self.writing(subject_id).await?;
        let renamed = rename(&session, subject_id, connection_id, display_name).await;
        Ok(session.end(renamed).await?)
    }

    async fn remove_connection(
        &self,
        subject_id: &SubjectId,
        connection_id: &ConnectionId,
    ) -> Result<Option<RemovedCounts>, StoreError> {
        let session = self.writing(subject_id).await?;
        let removed = purge::remove_connection(&session, subject_id, connection_id).await;
        Ok(session.end(removed).await?)
    }

    async fn sealing_key(&self) -> Result<[u8; 32], StoreError> {
        if let Some(key) = self.sealing_key.get() {
            return Ok(*key);
        }
        let mut fresh = [0; 32];
        self.entropy.fill(&mut fresh);
        let session = self.writing(Whose::Provider).await?;
        let key = ensure_sealing_key(&session, &fresh).await;
        let key = session.end(key).await?;
        Ok(*self.sealing_key.get_or_init(|| key))
    }

    async fn check_ready(&self) -> Result<(), StoreError> {
        let session = self.writing(Whose::Provider).await?;
        // Asking for a row's lock fails where a write would (on a replica, on a full disk), and waits for nobody.
        let sql = "SELECT name FROM meta WHERE name = 'sealing_key' FOR UPDATE SKIP LOCKED";
        let asked = session.query_opt(sql, &[]).await;
        session.end(asked).await?;
        Ok(())
    }
}

impl PostgresStore {
    async fn create(
        &self,
        session: &Session,
        subject_id: &SubjectId,
        connector_key: &ConnectorKey,
        display_name: Option<&str>,
    ) -> Outcome<Option<Connection>> {
        let Some(row) = SubjectRow::lock_known(session, subject_id).await? else { return Ok(None) };
        let catalogue = self.catalogues.load_at(session, subject_id, row).await?;
        let Some(source) = catalogue.sources.iter().find(|source| source.key() == connector_key) else {
            return Ok(None);
        };
        let draft = Draft { entropy: self.entropy.as_ref(), subject_id, now: self.clock.now() };
        draft.make(session, row, source, display_name).await.map(Some)
    }

    async fn ensure(
        &self,
        session: &Session,
        subject_id: &SubjectId,
        connector_key: &ConnectorKey,
        name: Option<&str>,
    ) -> Outcome<Ensured> {
        // Writers who come first together wait here for each other.
        let Some(row) = SubjectRow::lock_known(session, subject_id).await? else {
            return Ok(Ensured::UnknownConnector);
        };
        let catalogue = self.catalogues.load_at(session, subject_id, row).await?;
        let Some(source) = catalogue.sources.iter().find(|source| source.key() == connector_key) else {
            return Ok(Ensured::UnknownConnector);
        };
        let mut meant = connections::meant(source, name);
        if meant.len() > 1 {
            return Ok(Ensured::Several(meant));
        }
        let draft = Draft { entropy: self.entropy.as_ref(), subject_id, now: self.clock.now() };
        Ok(Ensured::One(match meant.pop() {
            Some(found) => found,
            None => draft.make(session, row, source, name).await?,
        }))
    }
}

async fn rename(
    session: &Session,
    subject_id: &SubjectId,
    connection_id: &ConnectionId,
    display_name: Option<&str>,
) -> Outcome<bool> {
    let Some(mut row) = SubjectRow::lock_known(session, subject_id).await? else { return Ok(false) };
    let sql = "UPDATE connections SET display_name = $3 WHERE subject_id = $1 AND connection_id = $2";
    let renamed =
        session.execute(sql, &[&subject_id.as_str(), &connection_id.as_str(), &display_name]).await?;
    if renamed > 0 {
        row.generation += 1;
        row.store(session, subject_id).await?;
    }
    Ok(renamed > 0)
}

/// The first one to ask makes the key; it stays for the life of the store.
async fn ensure_sealing_key(session: &Session, fresh: &[u8; 32]) -> Outcome<[u8; 32]> {
    let sql = "INSERT INTO meta (name, value) VALUES ('sealing_key', $1) ON CONFLICT (name) DO NOTHING";
    session.execute(sql, &[&fresh.as_slice()]).await?;
    let row = session.query_one("SELECT value FROM meta WHERE name = 'sealing_key'", &[]).await?;
    let key: Vec<u8> = row.get(0);
    key.try_into().map_err(|_| Fault::damaged("the sealing key has another length"))
}
