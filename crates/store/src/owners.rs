//! The owners of a store, and how each proves to be the owner beside the passphrase: the link of a first run, and
//! passkeys.

use async_trait::async_trait;
use pdpp_access::SecretHash;
use pdpp_wire::{Instant, SubjectId};

use crate::StoreError;

/// Keeps owners, the link of a first run, and passkeys.
#[async_trait]
pub trait Owners: Send + Sync {
    /// Makes an owner who has nothing yet; says whether there was none of this name. Whoever is written to, or sets a
    /// passphrase, is an owner from then on without being made.
    async fn create_subject(&self, subject_id: &SubjectId) -> Result<bool, StoreError>;

    /// Whether there is an owner of this name.
    async fn has_subject(&self, subject_id: &SubjectId) -> Result<bool, StoreError>;

    /// Owners by name, those after one; there may be millions, so nobody is told them all at once.
    async fn list_subjects(
        &self,
        after: Option<&SubjectId>,
        limit: u32,
    ) -> Result<Vec<SubjectId>, StoreError>;

    /// Keeps the hash of the link that makes its holder the owner, instead of any earlier one. Says whether it was
    /// kept: not when there is an owner already.
    async fn put_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        expires_at: Instant,
    ) -> Result<bool, StoreError>;

    /// Whether this link would make its holder the owner at this time.
    async fn is_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        at: Instant,
    ) -> Result<bool, StoreError>;

    /// Sets the first passphrase for the holder of the link, once; says whether it did.
    async fn claim_first_run(
        &self,
        subject_id: &SubjectId,
        link: &SecretHash,
        phc: &str,
        at: Instant,
    ) -> Result<bool, StoreError>;

    /// Keeps a passkey; not when one of this name is kept already.
    async fn put_passkey(&self, passkey: &StoredPasskey) -> Result<bool, StoreError>;

    /// The owner's passkeys, oldest first.
    async fn list_passkeys(&self, subject_id: &SubjectId) -> Result<Vec<StoredPasskey>, StoreError>;

    /// Notes a use, and puts what is now known of the passkey in place of what the caller saw. Says whether it
    /// did: not when someone else used it in between, or it is gone.
    async fn use_passkey(
        &self,
        seen: &StoredPasskey,
        document: &str,
        at: Instant,
    ) -> Result<bool, StoreError>;

    /// Forgets one passkey, or all of the owner's; says how many.
    async fn remove_passkeys(
        &self,
        subject_id: &SubjectId,
        passkey_id: Option<&str>,
    ) -> Result<u64, StoreError>;
}

/// A passkey as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPasskey {
    /// The authenticator's own name for it.
    pub passkey_id: String,
    /// Whom it proves.
    pub subject_id: SubjectId,
    /// What the owner calls it.
    pub label: String,
    /// The public key and its state, as JSON the authorization server wrote.
    pub document: String,
    /// Since when.
    pub created_at: Instant,
    /// When it was used last.
    pub last_used_at: Option<Instant>,
}
