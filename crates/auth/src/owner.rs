//! The owner: tokens over everything, and the passphrase that guards the commands that widen access.

use std::sync::Arc;

use pdpp_access::Secret;
use pdpp_store::{NewToken, StoreError, TokenKind};
use pdpp_wire::{Code, Instant, SubjectId, TokenId};

use crate::ids::mint_token_id;
use crate::{AuthFault, LocalAuthority, passphrase};

/// A token that opens everything of its subject.
#[derive(Clone, Debug)]
pub struct IssuedOwnerToken {
    /// The token: shown once, kept only as a hash.
    pub access_token: Secret,
    /// Its public name.
    pub token_id: TokenId,
    /// When it ends.
    pub expires_at: Option<Instant>,
}

/// What a reset did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerReset {
    /// How many owner tokens ended.
    pub revoked_tokens: u64,
}

impl LocalAuthority {
    /// Issues an owner token.
    pub async fn owner_token(
        &self,
        subject_id: &SubjectId,
        expires_at: Option<Instant>,
    ) -> Result<IssuedOwnerToken, AuthFault> {
        let now = self.clock.now();
        if expires_at.is_some_and(|at| at <= now) {
            return Err(AuthFault::denied(Code::InvalidArgument, "The token would end before it begins."));
        }
        let access_token = Secret::mint(&*self.entropy);
        let token_id = mint_token_id(&*self.entropy);
        let token = NewToken {
            hash: access_token.hash(),
            token_id: token_id.clone(),
            subject_id: subject_id.clone(),
            kind: TokenKind::Owner,
            issued_at: now,
            expires_at,
            resource: None,
            family_id: None,
        };
        self.store.issue(&[], &token).await?;
        Ok(IssuedOwnerToken { access_token, token_id, expires_at })
    }

    /// Sets a new passphrase, ends every owner token and every session, and forgets every passkey.
    pub async fn reset_owner(
        &self,
        subject_id: &SubjectId,
        passphrase: &Secret,
    ) -> Result<OwnerReset, AuthFault> {
        self.set_passphrase(subject_id, passphrase).await?;
        let now = self.clock.now();
        let revoked_tokens = self.store.revoke_owner_tokens(subject_id, now).await?;
        self.store.revoke_sessions(subject_id, None, now).await?;
        self.store.remove_passkeys(subject_id, None).await?;
        Ok(OwnerReset { revoked_tokens })
    }

    /// Whether commands that widen access must ask for a passphrase.
    pub async fn has_passphrase(&self, subject_id: &SubjectId) -> Result<bool, AuthFault> {
        Ok(self.store.find_passphrase(subject_id).await?.is_some())
    }

    /// Sets the passphrase.
    pub async fn set_passphrase(&self, subject_id: &SubjectId, passphrase: &Secret) -> Result<(), AuthFault> {
        let phc = self.hash_passphrase(passphrase).await?;
        Ok(self.store.set_passphrase(subject_id, &phc).await?)
    }

    /// A passphrase as it is kept.
    pub(crate) async fn hash_passphrase(&self, passphrase: &Secret) -> Result<String, AuthFault> {
        let (passphrase, entropy) = (passphrase.clone(), Arc::clone(&self.entropy));
        aside(move || passphrase::hash(&passphrase, &*entropy)).await?
    }

    /// Whether this is the passphrase; never when none was set, which takes as long to say, so that nobody learns by
    /// the time which owners there are.
    pub async fn verify_passphrase(
        &self,
        subject_id: &SubjectId,
        passphrase: &Secret,
    ) -> Result<bool, AuthFault> {
        let passphrase = passphrase.clone();
        match self.store.find_passphrase(subject_id).await? {
            Some(phc) => Ok(aside(move || passphrase::verify(&passphrase, &phc)).await??),
            None => aside(move || passphrase::verify_nothing(&passphrase)).await,
        }
    }
}

/// Runs slow arithmetic where it holds up no other request.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, AuthFault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|stopped| StoreError::Backend(Box::new(stopped)).into())
}
