//! How often one token and one address may ask.
//!
//! An assistant that runs wild should not cost the owner their machine. The owner's own tokens and callers of this very
//! machine are not counted by address: what they could slow down is theirs. A flood of refusals is one ledger entry.

use std::net::IpAddr;

use http::HeaderValue;
use http::header::RETRY_AFTER;
use pdpp_access::{Limit, Principal, TooOften};
use pdpp_wire::Code;

use crate::{ApiError, ApiState};

/// How many tokens of one address may be as busy as one may be.
const TOKENS_PER_ADDRESS: u32 = 4;
/// Requests that no token opened, from one address in one minute.
const STRANGERS: Limit = Limit::new("strangers", 300, 60);

/// The machine a request comes from; set by whoever accepts connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// Too many requests; whether it is worth a ledger entry.
pub(crate) struct Paused {
    pub(crate) error: ApiError,
    pub(crate) is_first: bool,
}

impl ApiState {
    /// Counts a request whose token was recognised.
    pub(crate) fn count(&self, principal: &Principal, peer: Option<Peer>) -> Result<(), Paused> {
        let most = self.settings.limits.requests_per_minute;
        if most == 0 {
            return Ok(());
        }
        if let (Principal::Client(_), Some(token_id)) = (principal, principal.token_id()) {
            self.take(Limit::new("token", most, 60), token_id.as_str(), "token")?;
        }
        match peer.filter(|peer| !peer.0.is_loopback()) {
            None => Ok(()),
            Some(peer) => {
                let limit = Limit::new("address", most.saturating_mul(TOKENS_PER_ADDRESS), 60);
                self.take(limit, &peer.0.to_string(), "address")
            }
        }
    }

    /// Counts a request that no token opened.
    pub(crate) fn count_stranger(&self, peer: Option<Peer>) -> Result<(), ApiError> {
        match peer.filter(|peer| !peer.0.is_loopback()) {
            None => Ok(()),
            Some(peer) => self.take(STRANGERS, &peer.0.to_string(), "address").map_err(|paused| paused.error),
        }
    }

    fn take(&self, limit: Limit, key: &str, whose: &str) -> Result<(), Paused> {
        self.throttle.count(limit, key, self.clock.now()).map_err(|TooOften { seconds, is_first }| {
            let message = format!("This {whose} has asked too often; wait {seconds} s.");
            let wait = HeaderValue::from(seconds);
            let error = ApiError::new(Code::RateLimitExceeded, message).header(RETRY_AFTER, wait);
            Paused { error, is_first }
        })
    }
}
