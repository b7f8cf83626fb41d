//! Where an import goes: a registered manifest, and a connection as soon as there is something for it.

use std::sync::Arc;

use anyhow::{anyhow, bail};
use pdpp_server::{Personal, owner_subject};
use pdpp_store::{Admission, Ensured, ManifestOutcome, OnConflict};
use pdpp_wire::ConnectionId;
use pdpp_wire::manifest::Manifest;

use crate::exit::Usage;

/// Where records go.
#[derive(Debug)]
pub(crate) struct Destination {
    manifest: Arc<Manifest>,
    named: Option<String>,
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
        let outcome = personal.store().put_manifest(&owner_subject(), manifest, on_conflict).await?;
        if outcome == ManifestOutcome::Conflict {
            bail!(
                "another manifest for '{}' is registered; say --replace to put this one in its place",
                manifest.key()
            );
        }
        Ok(Self { manifest: Arc::clone(manifest), named: named.map(str::to_owned), connection_id: None })
    }

    pub(super) fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The connection, found or made the first time; imports that run at the same time share it.
    pub(super) async fn connection_id(&mut self, personal: &Personal) -> anyhow::Result<ConnectionId> {
        if let Some(known) = &self.connection_id {
            return Ok(known.clone());
        }
        let key = self.manifest.key();
        let ensured =
            personal.store().ensure_connection(&owner_subject(), key, self.named.as_deref()).await?;
        match ensured {
            Ensured::One(connection) => Ok(self.connection_id.insert(connection.connection_id).clone()),
            Ensured::Several(_) => {
                let message = format!("'{key}' has several connections; choose one with --connection");
                Err(Usage(message).into())
            }
            Ensured::UnknownConnector => Err(anyhow!("the manifest was removed meanwhile")),
        }
    }
}
