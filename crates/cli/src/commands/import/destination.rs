//! Where an import goes: a registered manifest, and a connection as soon as there is something for it.

use std::sync::Arc;

use anyhow::{anyhow, bail};
use pdpp_access::ConnectionStatus;
use pdpp_server::Personal;
use pdpp_store::{Admission, Ensured, ManifestOutcome, OnConflict, StateScope};
use pdpp_wire::ConnectionId;
use pdpp_wire::manifest::Manifest;
use serde_json::{Map, Value, json};

use crate::exit::Usage;

/// The name the account is kept under among the connection's sync states; no stream can be called so.
const ACCOUNT: &str = "@account";

/// Where records go.
#[derive(Debug)]
pub(crate) struct Destination {
    manifest: Arc<Manifest>,
    named: Option<String>,
    /// Whose export it is, by its own words. Remembered beside the connection, so that a later export finds it again
    /// whatever the owner calls it.
    account: Option<String>,
    connection_id: Option<ConnectionId>,
}

impl Destination {
    /// Registers the manifest. The connection is found or made when it is first needed, so that an
    /// import of which nothing can be used leaves none behind.
    pub(crate) async fn register(
        personal: &Personal,
        manifest: &Arc<Manifest>,
        named: Option<&str>,
        replace: bool,
    ) -> anyhow::Result<Self> {
        Admission::check_manifest(manifest)?;
        let on_conflict = if replace { OnConflict::Replace } else { OnConflict::Refuse };
        let outcome = personal.store().put_manifest(personal.subject(), manifest, on_conflict).await?;
        if outcome == ManifestOutcome::Conflict {
            bail!(
                "another manifest for '{}' is registered; say --replace to put this one in its place",
                manifest.key()
            );
        }
        let named = named.map(str::to_owned);
        Ok(Self { manifest: Arc::clone(manifest), named, account: None, connection_id: None })
    }

    /// The same, for the export of an account.
    pub(super) fn of_account(mut self, account: Option<String>) -> Self {
        self.account = account;
        self
    }

    pub(super) fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The connection, found or made the first time; imports that run at the same time share it.
    pub(crate) async fn connection_id(&mut self, personal: &Personal) -> anyhow::Result<ConnectionId> {
        if let Some(known) = &self.connection_id {
            return Ok(known.clone());
        }
        let key = self.manifest.key();
        if self.named.is_none()
            && let Some(known) = self.find_account(personal).await?
        {
            return Ok(self.connection_id.insert(known).clone());
        }
        let named = self.named.as_deref().or(self.account.as_deref());
        let ensured = personal.store().ensure_connection(personal.subject(), key, named).await?;
        if let (Ensured::One(connection), Some(account)) = (&ensured, &self.account) {
            let mut state = Map::new();
            state.insert(ACCOUNT.to_owned(), json!(account));
            personal.store().put_state(&self.scope(personal, &connection.connection_id), &state).await?;
        }
        match ensured {
            Ensured::One(connection) => Ok(self.connection_id.insert(connection.connection_id).clone()),
            Ensured::Several(_) => {
                let message = format!("'{key}' has several connections; choose one with --connection");
                Err(Usage(message).into())
            }
            Ensured::UnknownConnector => Err(anyhow!("the manifest was removed meanwhile")),
        }
    }

    /// The connection that an earlier export of the same account went into.
    async fn find_account(&self, personal: &Personal) -> anyhow::Result<Option<ConnectionId>> {
        let Some(account) = &self.account else {
            return Ok(None);
        };
        let catalogue = personal.store().catalogue(personal.subject()).await?;
        let source = catalogue.sources.iter().find(|source| source.key() == self.manifest.key());
        let connections = source.map(|source| source.connections.as_slice()).unwrap_or_default();
        for connection in connections {
            let writable = matches!(connection.status, ConnectionStatus::Active | ConnectionStatus::Draft);
            let state = personal.store().get_state(&self.scope(personal, &connection.connection_id)).await?;
            if writable && state.streams.get(ACCOUNT).and_then(Value::as_str) == Some(account) {
                return Ok(Some(connection.connection_id.clone()));
            }
        }
        Ok(None)
    }

    fn scope(&self, personal: &Personal, connection_id: &ConnectionId) -> StateScope {
        StateScope {
            subject_id: personal.subject().clone(),
            connector_key: self.manifest.key().clone(),
            connection_id: Some(connection_id.clone()),
            grant_id: None,
        }
    }
}
