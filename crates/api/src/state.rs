//! What every handler shares: the store, the authority, time, randomness and the settings.

use std::sync::Arc;
use std::time::Duration;

use pdpp_access::{Clock, Entropy, Sealer, Throttle, TokenAuthority};
use pdpp_store::{EventService, Ledger, Store};
use tokio::sync::Semaphore;

use crate::search::{Rankings, SearchModes};
use crate::subject_rates::SubjectRates;

/// Everything the routes need; made once by whoever assembles the server.
pub struct ApiState {
    /// The records, grants and ledger.
    pub store: Arc<dyn Store>,
    /// Where disclosures are written: the store itself, unless another ledger is put in its place.
    pub ledger: Arc<dyn Ledger>,
    /// Recognises tokens.
    pub authority: Arc<dyn TokenAuthority>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Unguessable bytes.
    pub entropy: Arc<dyn Entropy>,
    /// Seals cursors.
    pub sealer: Sealer,
    /// The ways of searching.
    pub search: SearchModes,
    /// Who makes event subscriptions, if anybody does.
    pub events: Option<Arc<dyn EventService>>,
    /// The settings.
    pub settings: ApiSettings,
    pub(crate) rankings: Rankings,
    pub(crate) permits: Semaphore,
    pub(crate) throttle: Throttle,
    pub(crate) subject_rates: SubjectRates,
    pub(crate) resource_metadata: Option<String>,
}

/// What an operator may set.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// The address clients use, without a trailing slash.
    pub public_url: Option<String>,
    /// What the owner calls this server.
    pub resource_name: String,
    /// Issuers of tokens, when there is an authorization server.
    pub authorization_servers: Vec<String>,
    /// Hosts this server answers for, with or without a port; empty means any.
    pub allowed_hosts: Vec<String>,
    /// The bounds.
    pub limits: ApiLimits,
}

/// The bounds of the REST surface.
#[derive(Clone, Copy, Debug)]
pub struct ApiLimits {
    /// Requests served at the same time; more wait within their deadline.
    pub concurrent_requests: usize,
    /// Requests one client's token may make in a minute; an address may make four times as many. 0 means any number.
    pub requests_per_minute: u32,
    /// Whether other nodes over the same store count with this one.
    pub shared: bool,
    /// How long a read may take.
    pub read_deadline: Duration,
    /// How long an upload may take.
    pub upload_deadline: Duration,
    /// Largest ingest or blob body, and largest ingest line, in bytes.
    pub body_bytes: usize,
}

impl Default for ApiLimits {
    fn default() -> Self {
        Self {
            concurrent_requests: 256,
            requests_per_minute: 6_000,
            shared: false,
            read_deadline: Duration::from_secs(30),
            upload_deadline: Duration::from_mins(5),
            body_bytes: 50 * 1024 * 1024,
        }
    }
}

impl ApiState {
    /// Puts the parts together.
    pub fn new(
        store: Arc<dyn Store>,
        authority: Arc<dyn TokenAuthority>,
        (clock, entropy): (Arc<dyn Clock>, Arc<dyn Entropy>),
        sealer: Sealer,
        settings: ApiSettings,
    ) -> Self {
        let resource_metadata =
            settings.public_url.as_ref().map(|url| format!("{url}/.well-known/oauth-protected-resource"));
        let permits = Semaphore::new(settings.limits.concurrent_requests.clamp(1, Semaphore::MAX_PERMITS));
        Self {
            ledger: store.clone(),
            store,
            authority,
            clock,
            entropy,
            sealer,
            search: SearchModes::default(),
            events: None,
            settings,
            rankings: Rankings::default(),
            permits,
            throttle: Throttle::default(),
            subject_rates: SubjectRates::default(),
            resource_metadata,
        }
    }
}

impl ApiState {
    /// Searches with these indexes.
    #[must_use]
    pub fn with_search(self, search: SearchModes) -> Self {
        Self { search, ..self }
    }

    /// Lets clients subscribe to events.
    #[must_use]
    pub fn with_events(self, events: Arc<dyn EventService>) -> Self {
        Self { events: Some(events), ..self }
    }
}

impl std::fmt::Debug for ApiState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiState").field("settings", &self.settings).finish_non_exhaustive()
    }
}
