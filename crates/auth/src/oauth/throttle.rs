//! How often something may be done, per address. Counts live in memory: they guard the server's work, while
//! guesses at the owner's secrets are counted in the store, where a restart does not forget them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pdpp_wire::Instant;

use super::{AuthorizationServer, OAuthFault};

/// Addresses remembered; when there are more, those whose window is over are forgotten, then all.
const MAX_KEYS: usize = 16_384;

/// So often in so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    name: &'static str,
    most: u32,
    seconds: i64,
}

impl Limit {
    /// Registrations.
    pub const REGISTER: Self = Self { name: "register", most: 120, seconds: 600 };
    /// New requests for consent, by any door.
    pub const STAGE: Self = Self { name: "stage", most: 120, seconds: 60 };
    /// Calls of the token, revocation and introspection endpoints.
    pub const TOKEN: Self = Self { name: "token", most: 1_200, seconds: 60 };
}

/// Counts per limit and address.
#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<HashMap<(&'static str, String), Window>>);

/// When a window ends, and what was counted in it.
type Window = (Instant, u32);

impl AuthorizationServer {
    /// Counts one more, or says how long to wait.
    pub fn limit(&self, limit: Limit, address: &str) -> Result<(), OAuthFault> {
        let now = self.now();
        let mut counts = self.throttle.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MAX_KEYS {
            counts.retain(|_, (ends, _)| *ends > now);
            if counts.len() >= MAX_KEYS {
                counts.clear();
            }
        }
        let fresh = (now.plus_seconds(limit.seconds), 0);
        let entry = counts.entry((limit.name, address.to_owned())).or_insert(fresh);
        if entry.0 <= now {
            *entry = fresh;
        }
        if entry.1 >= limit.most {
            return Err(OAuthFault::TooOften((entry.0.unix_seconds() - now.unix_seconds()).max(1)));
        }
        entry.1 += 1;
        Ok(())
    }
}
