//! How often the endpoints may be called, per address. Guesses at the owner's secrets are counted in the store, where
//! a restart does not forget them.

use super::{AuthorizationServer, OAuthFault};

/// So often in so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pdpp_access::Limit);

impl Limit {
    /// Registrations.
    pub const REGISTER: Self = Self(pdpp_access::Limit::new("register", 120, 600));
    /// New requests for consent, by any door.
    pub const STAGE: Self = Self(pdpp_access::Limit::new("stage", 120, 60));
    /// Calls of the token, revocation and introspection endpoints.
    pub const TOKEN: Self = Self(pdpp_access::Limit::new("token", 1_200, 60));
}

impl AuthorizationServer {
    /// Counts one more, or says how long to wait.
    pub fn limit(&self, limit: Limit, address: &str) -> Result<(), OAuthFault> {
        let counted = self.throttle.count(limit.0, address, self.now());
        counted.map(drop).map_err(|too_often| OAuthFault::TooOften(too_often.seconds))
    }
}
