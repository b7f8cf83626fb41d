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
use pdpp_wire::{ClientId, Code, Instant};

/// The authorization server of one store.
#[derive(Clone)]
pub struct LocalAuthority {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    parsed: Arc<Parsed>,
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
        Self { store, clock, entropy, parsed: Arc::default() }
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
        principal(found, self.clock.now(), &self.parsed)
            .map_err(|denial| AuthError::TurnedAway(Box::new(bearer), denial))
    }
}

fn bearer(token: &StoredToken) -> Bearer {
    let (client_id, grant_ids) = match &token.kind {
        TokenKind::Owner => (None, Vec::new()),
        TokenKind::Client { client_id, grant_ids } => (Some(client_id.clone()), grant_ids.clone()),
    };
    Bearer { subject_id: token.subject_id.clone(), client_id, token_id: token.token_id.clone(), grant_ids }
}

fn principal(token: StoredToken, now: Instant, parsed: &Parsed) -> Result<Principal, Denial> {
    if token.revoked_at.is_some() {
        return Err(refused("The bearer token was revoked."));
    }
    if token.expires_at.is_some_and(|at| at <= now) {
        return Err(refused("The bearer token has expired."));
    }
    match &token.kind {
        TokenKind::Owner => {
            let StoredToken { subject_id, token_id, .. } = token;
            Ok(Principal::Owner(OwnerPrincipal { subject_id, token_id: Some(token_id) }))
        }
        TokenKind::Client { client_id, .. } => {
            let client_id = client_id.clone();
            client(token, client_id, now, parsed).map(Principal::Client)
        }
    }
}

/// A client stands for those of its grants that are active now.
fn client(
    token: StoredToken,
    client_id: ClientId,
    now: Instant,
    parsed: &Parsed,
) -> Result<ClientPrincipal, Denial> {
    let (mut active, mut ended) = (Vec::new(), Vec::new());
    for standing in &token.grants {
        match parsed.active(standing, now) {
            Ok(grant) => active.push(grant),
            Err(denial) => ended.push(denial),
        }
    }
    if active.is_empty() {
        return Err(weightiest(ended));
    }
    ClientPrincipal::try_new(token.subject_id, client_id, Some(token.token_id), active)
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
