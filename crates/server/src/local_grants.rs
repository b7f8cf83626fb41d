//! A client in the owner's own process: it reads under named grants, with a secret that never leaves the process.
//!
//! Opening the data directory makes nobody an owner here. The grants decide, as they do for a token, and each
//! grant's standing is read from the store on every call, so that a revocation bites on the next one.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use pdpp_access::{
    ActiveGrant, AuthError, Bearer, Denial, GrantStanding, Principal, Secret, SecretHash, TokenAuthority,
};
use pdpp_api::{ApiLimits, ApiSettings};
use pdpp_auth::LocalAuthority;
use pdpp_store::{Store, StoreError};
use pdpp_wire::{AccessMode, ClientId, Code, Grant, GrantId, SubjectId};

use crate::Personal;

/// The authority over one client's grants.
#[derive(Clone)]
pub struct LocalGrants {
    store: Arc<dyn Store>,
    authority: LocalAuthority,
    hash: SecretHash,
    subject_id: SubjectId,
    client_id: ClientId,
    grant_ids: Vec<GrantId>,
}

impl fmt::Debug for LocalGrants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalGrants").field("grant_ids", &self.grant_ids).finish_non_exhaustive()
    }
}

/// Why grants cannot be read under.
#[derive(Debug, thiserror::Error)]
pub enum LocalGrantsError {
    /// None was named.
    #[error("name at least one grant; `pdpp grant list` shows them")]
    None,
    /// There is no such grant.
    #[error("there is no grant '{0}'; `pdpp grant list` shows them, `pdpp grant create` makes one")]
    Unknown(GrantId),
    /// What is stored cannot be understood.
    #[error("the grant {0} is damaged; make a new one with `pdpp grant create`")]
    Damaged(GrantId),
    /// It gives one token, once, and that is not this.
    #[error("the grant {0} is single-use: its one token was given out when it was made")]
    SingleUse(GrantId),
    /// Two clients do not share a door.
    #[error("the grant {0} is for {1} and {2} for {3}; name grants of one client only")]
    TwoClients(GrantId, ClientId, GrantId, ClientId),
    /// The same records would be read under two sets of rules.
    #[error("the grants {0} and {1} cover the same stream; name one of them")]
    Overlap(GrantId, GrantId),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

impl LocalGrants {
    /// Takes the named grants of a data directory, and mints the secret by which this process knows itself. Grants
    /// that have ended are taken too: whoever calls is told so, with the code that says why.
    pub async fn open(
        personal: &Personal,
        mut grant_ids: Vec<GrantId>,
    ) -> Result<(Self, Secret), LocalGrantsError> {
        let mut named = BTreeSet::new();
        grant_ids.retain(|id| named.insert(id.clone()));
        let store = personal.store();
        let mut grants: Vec<(Grant, GrantStanding)> = Vec::new();
        for id in &grant_ids {
            let standing = store.find_standing(personal.subject(), id).await?;
            let standing = standing.ok_or_else(|| LocalGrantsError::Unknown(id.clone()))?;
            let grant =
                Grant::parse(&standing.document).map_err(|_| LocalGrantsError::Damaged(id.clone()))?;
            if grant.access_mode == AccessMode::SingleUse {
                return Err(LocalGrantsError::SingleUse(id.clone()));
            }
            grants.push((grant, standing));
        }
        let client_id = one_client(&grants)?;
        no_overlap(&grants, personal)?;
        let secret = Secret::mint(personal.entropy());
        let (subject_id, hash) = (personal.subject().clone(), secret.hash());
        let authority = personal.authority();
        Ok((Self { store, authority, hash, subject_id, client_id, grant_ids }, secret))
    }

    /// Whose grants these are.
    pub fn client_id(&self) -> &ClientId {
        &self.client_id
    }

    /// The REST surface for this client alone. The search index is brought up to date beside it.
    pub async fn router(self, personal: &Personal) -> Result<Router, StoreError> {
        Ok(pdpp_api::router(personal.api_state_for(Arc::new(self), local_settings()).await?))
    }

    async fn standings(&self) -> Result<Vec<GrantStanding>, StoreError> {
        let mut standings = Vec::with_capacity(self.grant_ids.len());
        for id in &self.grant_ids {
            standings.extend(self.store.find_standing(&self.subject_id, id).await?);
        }
        Ok(standings)
    }

    fn bearer(&self) -> Bearer {
        Bearer {
            subject_id: self.subject_id.clone(),
            client_id: Some(self.client_id.clone()),
            token_id: None,
            grant_ids: self.grant_ids.clone(),
        }
    }
}

#[async_trait]
impl TokenAuthority for LocalGrants {
    async fn introspect(&self, token: &Secret) -> Result<Principal, AuthError> {
        if token.hash() != self.hash {
            return Err(Denial::new(Code::AuthenticationError, "The token is not this process's own.").into());
        }
        let standings = self.standings().await.map_err(|error| AuthError::Unavailable(Box::new(error)))?;
        let (subject_id, client_id) = (self.subject_id.clone(), self.client_id.clone());
        let client = self.authority.client(subject_id, client_id, None, &standings);
        client.map(Principal::Client).map_err(|denial| AuthError::TurnedAway(Box::new(self.bearer()), denial))
    }
}

/// A surface that nobody outside this process reaches.
pub(crate) fn local_settings() -> ApiSettings {
    ApiSettings {
        public_url: None,
        resource_name: "My Data".to_owned(),
        authorization_servers: Vec::new(),
        allowed_hosts: Vec::new(),
        limits: ApiLimits::default(),
    }
}

fn one_client(grants: &[(Grant, GrantStanding)]) -> Result<ClientId, LocalGrantsError> {
    let (first, _) = grants.first().ok_or(LocalGrantsError::None)?;
    match grants.iter().find(|(grant, _)| grant.client.client_id != first.client.client_id) {
        None => Ok(first.client.client_id.clone()),
        Some((other, _)) => Err(LocalGrantsError::TwoClients(
            first.grant_id.clone(),
            first.client.client_id.clone(),
            other.grant_id.clone(),
            other.client.client_id.clone(),
        )),
    }
}

/// Grants that have ended cover nothing.
fn no_overlap(grants: &[(Grant, GrantStanding)], personal: &Personal) -> Result<(), LocalGrantsError> {
    let now = personal.clock().now();
    let active: Vec<ActiveGrant> =
        grants.iter().filter_map(|(_, standing)| ActiveGrant::try_new(standing, now).ok()).collect();
    for (index, grant) in active.iter().enumerate() {
        if let Some(other) = active[..index].iter().find(|other| grant.overlaps(other)) {
            return Err(LocalGrantsError::Overlap(other.id().clone(), grant.id().clone()));
        }
    }
    Ok(())
}
