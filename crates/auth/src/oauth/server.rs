//! What every step works with.

use std::fmt;
use std::sync::Arc;

use pdpp_access::{Clock, Entropy, Secret, SecretHash, Throttle};
use pdpp_store::{Store, StoreError};
use pdpp_wire::{Instant, OAuthCode, SubjectId};

use super::keyed::keyed;
use super::passkey::Ceremonies;
use super::{MetadataDocuments, OAuthFault, handles};
use crate::{Audience, LocalAuthority};

/// What an operator may set.
#[derive(Clone, Debug)]
pub struct OAuthSettings {
    /// The public address, without a trailing slash; it is also the issuer.
    pub issuer: String,
    /// The owner of a store that knows none yet.
    pub subject_id: SubjectId,
    /// Whether clients may register themselves.
    pub dynamic_registration: bool,
    /// Name and secret by which a separate resource server introspects; random when nothing is said.
    pub introspection: Option<(String, Secret)>,
}

/// The authorization server of one store.
#[derive(Clone)]
pub struct AuthorizationServer {
    pub(crate) authority: LocalAuthority,
    pub(crate) settings: OAuthSettings,
    pub(crate) audience: Audience,
    pub(crate) documents: Arc<dyn MetadataDocuments>,
    pub(crate) throttle: Arc<Throttle>,
    pub(super) introspector: (String, SecretHash),
    refresh_key: [u8; 32],
    pub(super) form_key: [u8; 32],
    pub(super) ceremonies: Option<Arc<Ceremonies>>,
}

impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationServer").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl AuthorizationServer {
    /// An authorization server over an authority's store. The key of refresh tokens is derived from the store's
    /// own, so every process over the same store makes the same successors.
    pub async fn open(
        authority: LocalAuthority,
        settings: OAuthSettings,
        documents: Arc<dyn MetadataDocuments>,
    ) -> Result<Self, StoreError> {
        let sealing_key = authority.store.sealing_key().await?;
        let refresh_key = keyed(&sealing_key, &[b"pdpp refresh tokens"]);
        let form_key = keyed(&sealing_key, &[b"pdpp owner forms"]);
        let (name, secret) = settings
            .introspection
            .clone()
            .unwrap_or_else(|| ("resource-server".to_owned(), handles::secret(&*authority.entropy, "rs_")));
        let audience = Audience::of(&settings.issuer);
        Ok(Self {
            authority,
            audience,
            documents,
            throttle: Arc::default(),
            introspector: (name, secret.hash()),
            refresh_key,
            form_key,
            ceremonies: Ceremonies::of(&settings.issuer, &sealing_key).map(Arc::new),
            settings,
        })
    }

    /// The issuer, which is the public address.
    pub fn issuer(&self) -> &str {
        &self.settings.issuer
    }

    /// The settings.
    pub fn settings(&self) -> &OAuthSettings {
        &self.settings
    }

    /// Whether clients may be described at their own address.
    pub fn fetches_documents(&self) -> bool {
        self.documents.is_open()
    }

    /// The authority that recognises the tokens given here.
    pub fn authority(&self) -> &LocalAuthority {
        &self.authority
    }

    pub(crate) fn store(&self) -> &dyn Store {
        self.authority.store.as_ref()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.authority.clock.as_ref()
    }

    /// The randomness everything here draws from.
    pub fn entropy(&self) -> &dyn Entropy {
        self.authority.entropy.as_ref()
    }

    /// The time everything here goes by.
    pub fn now(&self) -> Instant {
        self.clock().now()
    }

    /// The next refresh token after this one, the same whenever it is asked for.
    pub(super) fn successor(&self, presented: &Secret, generation: u64) -> Secret {
        let parts: [&[u8]; 2] = [presented.reveal().as_bytes(), &generation.to_be_bytes()];
        handles::refresh_token(&keyed(&self.refresh_key, &parts))
    }

    /// The audience these resource indicators mean: this server, or nothing is given.
    pub(super) fn bound_resource(&self, named: &[String]) -> Result<String, OAuthFault> {
        match named.iter().find(|resource| !self.audience.is(resource)) {
            None => Ok(self.audience.as_str().to_owned()),
            Some(foreign) => Err(OAuthFault::refused(
                OAuthCode::InvalidTarget,
                format!("The resource '{}' is not this server.", shown(foreign)),
            )),
        }
    }
}

/// A stranger's words, cut to what fits in a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}
