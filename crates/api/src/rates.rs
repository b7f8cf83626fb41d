//! How often one token, one address and one owner's tokens together may ask.
//!
//! An assistant that runs wild should not cost the owner their machine. The owner's own tokens and callers of this very
//! machine are not counted by address: what they could slow down is theirs. A flood of refusals is one ledger entry.
//! Where an operator set a number for an owner, everything that owner's tokens ask counts, their own too.
//!
//! A node counts its own requests. Where several share a store, each tells the store of every portion it counted, and all
//! refuse once the portions of all are as many as may be: exact to one portion a node, for one write in every portion.

use std::net::IpAddr;

use http::HeaderValue;
use http::header::RETRY_AFTER;
use pdpp_access::{Limit, Principal, TooOften};
use pdpp_store::StoreError;
use pdpp_wire::{Code, SubjectId};

use crate::subject_rates::SubjectRate;
use crate::{ApiError, ApiState};

/// How many tokens of one address may be as busy as one may be.
const TOKENS_PER_ADDRESS: u32 = 4;
/// Requests that no token opened, from one address in one minute.
const STRANGERS: Limit = Limit::new("strangers", 300, 60);

/// Into how many portions a limit is divided that nodes count together.
const PORTIONS: u32 = 20;

/// Who asked too often.
const TOKEN: &str = "This token has";
const ADDRESS: &str = "This address has";
const OWNER: &str = "All tokens for this owner's data together have";

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
    pub(crate) async fn count(&self, principal: &Principal, peer: Option<Peer>) -> Result<(), Paused> {
        self.count_caller(principal, peer).await?;
        let subject_id = principal.subject_id();
        match self.rate_of(subject_id).await.map_err(unlisted)? {
            None => Ok(()),
            Some(most) => self.take_together(Limit::new("owner", most, 60), subject_id.as_str(), OWNER).await,
        }
    }

    /// What an operator set for the owner.
    async fn rate_of(&self, subject_id: &SubjectId) -> Result<Option<u32>, StoreError> {
        let now = self.clock.now();
        if let Some(SubjectRate(rate)) = self.subject_rates.find(subject_id, now) {
            return Ok(rate);
        }
        let rate = self.store.find_quota(subject_id).await?.requests_per_minute;
        self.subject_rates.put(subject_id, rate, now);
        Ok(rate)
    }

    async fn count_caller(&self, principal: &Principal, peer: Option<Peer>) -> Result<(), Paused> {
        let most = self.settings.limits.requests_per_minute;
        if most == 0 {
            return Ok(());
        }
        if let (Principal::Client(_), Some(token_id)) = (principal, principal.token_id()) {
            self.take_together(Limit::new("token", most, 60), token_id.as_str(), TOKEN).await?;
        }
        match peer.filter(|peer| !peer.0.is_loopback()) {
            None => Ok(()),
            Some(peer) => {
                let limit = Limit::new("address", most.saturating_mul(TOKENS_PER_ADDRESS), 60);
                self.take_together(limit, &peer.0.to_string(), ADDRESS).await
            }
        }
    }

    /// Counts here, and now and then together with the other nodes.
    async fn take_together(&self, limit: Limit, key: &str, who: &str) -> Result<(), Paused> {
        let counted = self.take(limit, key, who)?;
        let portion = (limit.most() / PORTIONS).max(1);
        if !self.settings.limits.shared || counted % portion != 0 {
            return Ok(());
        }
        let kept = format!("rate {} {key}", limit.name());
        let told =
            self.store.count_attempt(&kept, limit.seconds(), self.clock.now()).await.map_err(unlisted)?;
        if told.count <= limit.most() / portion {
            return Ok(());
        }
        self.throttle.close(limit, key, told.window_ends);
        self.take(limit, key, who).map(drop)
    }

    /// Counts a request that no token opened.
    pub(crate) fn count_stranger(&self, peer: Option<Peer>) -> Result<(), ApiError> {
        match peer.filter(|peer| !peer.0.is_loopback()) {
            None => Ok(()),
            Some(peer) => {
                let counted = self.take(STRANGERS, &peer.0.to_string(), ADDRESS);
                counted.map(drop).map_err(|paused| paused.error)
            }
        }
    }

    fn take(&self, limit: Limit, key: &str, who: &str) -> Result<u32, Paused> {
        self.throttle.count(limit, key, self.clock.now()).map_err(|TooOften { seconds, is_first }| {
            let message = format!("{who} asked too often; wait {seconds} s.");
            let wait = HeaderValue::from(seconds);
            let error = ApiError::new(Code::RateLimitExceeded, message).header(RETRY_AFTER, wait);
            Paused { error, is_first }
        })
    }
}

/// A store that cannot say whether it is too often says so itself; that is no refusal.
fn unlisted(error: StoreError) -> Paused {
    Paused { error: error.into(), is_first: false }
}
