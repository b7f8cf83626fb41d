//! The owner in their own process: the data directory is the authority, so no grant and no stored token is needed.
//!
//! The secret lives as long as the process and is written nowhere. What is read is entered in the ledger, as at
//! every other door.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use pdpp_access::{AuthError, Denial, OwnerPrincipal, Principal, Secret, SecretHash, TokenAuthority};
use pdpp_store::StoreError;
use pdpp_wire::{Code, SubjectId};

use crate::Personal;
use crate::local_grants::local_settings;

/// The authority of whoever may open the data directory.
#[derive(Debug)]
pub struct LocalOwner {
    hash: SecretHash,
    subject_id: SubjectId,
}

impl LocalOwner {
    /// Mints the secret by which this process knows its owner.
    pub fn open(personal: &Personal) -> (Self, Secret) {
        let secret = Secret::mint(personal.entropy());
        (Self { hash: secret.hash(), subject_id: personal.subject().clone() }, secret)
    }

    /// The REST surface for the owner alone. The search index is brought up to date beside it.
    pub async fn router(self, personal: &Personal) -> Result<Router, StoreError> {
        Ok(pdpp_api::router(personal.api_state_for(Arc::new(self), local_settings()).await?))
    }
}

#[async_trait]
impl TokenAuthority for LocalOwner {
    async fn introspect(&self, token: &Secret) -> Result<Principal, AuthError> {
        if token.hash() != self.hash {
            return Err(Denial::new(Code::AuthenticationError, "The token is not this process's own.").into());
        }
        Ok(Principal::Owner(OwnerPrincipal { subject_id: self.subject_id.clone(), token_id: None }))
    }
}
