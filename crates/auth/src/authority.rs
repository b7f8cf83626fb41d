//! Recognises tokens against the store.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pdpp_access::{
    ActiveGrant, AuthError, Bearer, ClientPrincipal, Clock, Denial, Entropy, GrantStanding, OwnerPrincipal,
    Principal, Secret, TokenAuthority,
};
use pdpp_store::{Store, StoreError, StoredToken, TokenKind};
use pdpp_wire::{ClientId, Code, Instant, SubjectId, TokenId};

use crate::Audience;

/// The authorization server of one store.
#[derive(Clone)]
pub struct LocalAuthority {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    parsed: Arc<Parsed>,
    /// The address tokens must be for, when it is known.
    audience: Option<Audience>,
}

/// Grants by their whole document, so that each is parsed once and not with every request. Only the document
/// is remembered: whether a grant was revoked or has expired is looked up each time.
#[derive(Default)]
struct Parsed(Mutex<HashMap<String, ActiveGrant>>);

/// Documents remembered; more start over.
const MAX_PARSED: usize = 1_024;

impl Parsed {
    fn active(&self, standing: &GrantStanding, now: Instant) -> Result<ActiveGrant, Denial> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&standing.document).cloned();
        if let Some(known) = known {
            return known.again(standing, now);
        }
        let grant = ActiveGrant::try_new(standing, now)?;
        let mut parsed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if parsed.len() >= MAX_PARSED {
            parsed.clear();
        }
        parsed.insert(standing.document.clone(), grant.clone());
        Ok(grant)
    }
}

impl LocalAuthority {
    /// An authority over a store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { store, clock, entropy, parsed: Arc::default(), audience: None }
    }

    /// The same authority, which takes no token that was given for another address.
    #[must_use]
    pub fn for_audience(self, audience: Audience) -> Self {
        Self { audience: Some(audience), ..self }
    }
}

impl fmt::Debug for LocalAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalAuthority(..)")
    }
}

#[async_trait]
impl TokenAuthority for LocalAuthority {
    async fn introspect(&self, token: &Secret) -> Result<Principal, AuthError> {
        let found = self.store.find_token(&token.hash()).await.map_err(unavailable)?;
        let found = found.ok_or_else(|| refused("The bearer token is not known here."))?;
        let bearer = bearer(&found);
        self.principal(found).map_err(|denial| AuthError::TurnedAway(Box::new(bearer), denial))
    }
}

fn bearer(token: &StoredToken) -> Bearer {
    let (client_id, grant_ids) = match &token.kind {
        TokenKind::Owner => (None, Vec::new()),
        TokenKind::Client { client_id, grant_ids } => (Some(client_id.clone()), grant_ids.clone()),
    };
    let token_id = Some(token.token_id.clone());
    Bearer { subject_id: token.subject_id.clone(), client_id, token_id, grant_ids }
}

impl LocalAuthority {
    fn principal(&self, token: StoredToken) -> Result<Principal, Denial> {
        let StoredToken { token_id, subject_id, kind, expires_at, revoked_at, grants, resource, .. } = token;
        if revoked_at.is_some() {
            return Err(refused("The bearer token was revoked."));
        }
        if expires_at.is_some_and(|at| at <= self.clock.now()) {
            return Err(refused("The bearer token has expired."));
        }
        if let (Some(audience), Some(resource)) = (&self.audience, &resource)
            && !audience.is(resource)
        {
            return Err(refused("The bearer token is for another server."));
        }
        match kind {
            TokenKind::Owner => Ok(Principal::Owner(OwnerPrincipal { subject_id, token_id: Some(token_id) })),
            TokenKind::Client { client_id, .. } => {
                self.client(subject_id, client_id, Some(token_id), &grants).map(Principal::Client)
            }
        }
    }

    /// A client that stands for those of these grants that are active now.
    pub fn client(
        &self,
        subject_id: SubjectId,
        client_id: ClientId,
        token_id: Option<TokenId>,
        grants: &[GrantStanding],
    ) -> Result<ClientPrincipal, Denial> {
        let now = self.clock.now();
        let (mut active, mut ended) = (Vec::new(), Vec::new());
        for standing in grants {
            match self.parsed.active(standing, now) {
                Ok(grant) => active.push(grant),
                Err(denial) => ended.push(denial),
            }
        }
        if active.is_empty() {
            return Err(weightiest(ended));
        }
        ClientPrincipal::try_new(subject_id, client_id, token_id, active)
    }
}

/// Why nothing is left: a revocation says more than an expiry, and that more than damage.
fn weightiest(mut ended: Vec<Denial>) -> Denial {
    for code in [Code::GrantRevoked, Code::GrantExpired] {
        if let Some(index) = ended.iter().position(|denial| denial.code == code) {
            return ended.swap_remove(index);
        }
    }
    let none = || Denial::new(Code::GrantInvalid, "The token has no grant; fresh consent is needed.");
    ended.pop().unwrap_or_else(none)
}

fn refused(message: &str) -> Denial {
    Denial::new(Code::AuthenticationError, message)
}

fn unavailable(error: StoreError) -> AuthError {
    AuthError::Unavailable(Box::new(error))
}
