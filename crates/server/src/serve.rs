//! The running server: listeners, the safety of its address, and an orderly end.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use pdpp_api::{ApiLimits, ApiSettings, router_with};
use pdpp_auth::Audience;
use pdpp_egress::Loopback;
use pdpp_events::{Delivering, EventWorker};
use pdpp_store::StoreError;
use pdpp_web::Pages;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::events::{self, Serving};
use crate::hosts::Hosts;
use crate::listener::{self, Bounds};
use crate::metrics::Metrics;
use crate::peer::Network;
use crate::secrets_key::SecretsKeyError;
use crate::upkeep::{keep_blobs_swept, keep_ledgers_short, keep_oauth_short};
use crate::{Personal, ServeConfig};
use crate::{mcp_mount, oauth_mount, pages_mount};

/// A node does not wait longer at its start for the place of attachments to say whose it is.
const PLACE_KNOWN_WITHIN: Duration = Duration::from_secs(5);

/// A server that is bound but not yet answering.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    router: Router,
    personal: Personal,
    ledger_days: u32,
    address: SocketAddr,
    metrics: Option<Metrics>,
    proxies: Arc<[Network]>,
    first_run: Option<String>,
    worker: EventWorker,
    /// Says to other processes that events are delivered.
    serving: Serving,
}

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is reachable from other machines and nothing guards it.
    #[error(
        "refusing to listen on {0}, which other machines can reach: {1}. \
         Listen on 127.0.0.1, or give --public-url and set an owner passphrase with `pdpp owner reset`"
    )]
    Exposed(SocketAddr, &'static str),
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {source}; choose another with {flag}")]
    Bind {
        /// Which address.
        address: SocketAddr,
        /// What sets it.
        flag: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// There is no key for webhook secrets.
    #[error(transparent)]
    SecretsKey(#[from] SecretsKeyError),
    /// Attachments are elsewhere.
    #[error(transparent)]
    Misplaced(StoreError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

impl Server {
    /// Binds the listeners. Nothing is answered before [`Server::run`].
    pub async fn bind(personal: Personal, config: ServeConfig) -> Result<Self, ServeError> {
        for address in config.metrics_listen.into_iter().chain([config.listen]) {
            refuse_exposure(&personal, &config, address).await?;
        }
        refuse_wrong_place(&personal).await?;
        let metrics = match config.metrics_listen {
            None => None,
            Some(address) => {
                let bound = Metrics::bind(address, &config).await;
                bound.map_err(|source| ServeError::Bind { address, flag: "--metrics-listen", source })?
            }
        };
        let bind_error = |source| ServeError::Bind { address: config.listen, flag: "--listen", source };
        let listener = TcpListener::bind(config.listen).await.map_err(bind_error)?;
        let address = listener.local_addr().map_err(bind_error)?;
        let settings = api_settings(&personal, &config, address);
        let public_url = settings.public_url.clone().unwrap_or_default();
        let authority = personal.authority().for_audience(Audience::of(&public_url));
        let oauth =
            oauth_mount::authorization_server(&personal, authority.clone(), &public_url, &config).await?;
        let loopback = if config.allow_loopback_callbacks { Loopback::Allowed } else { Loopback::Refused };
        let here = Delivering::Here(Arc::new(Notify::new()));
        // Said in its own words, before it would be a store that fails.
        personal.webhook_secrets()?;
        let parts = events::parts(&personal, here, loopback).await?;
        let worker = EventWorker::new(parts.clone());
        let state = personal.api_state_with(Arc::new(authority), settings, Some(parts)).await?;
        let mcp = mcp_mount::endpoint(&state, &public_url, &personal, &oauth);
        let first_run = if is_own(&personal).await? {
            oauth.first_run_link(personal.subject()).await.map_err(oauth_mount::unmade)?
        } else {
            None
        };
        let pages = Pages::new(oauth.clone(), personal.store(), &config.resource_name);
        let with_page = pages_mount::paths();
        let oauth = oauth_mount::endpoints(&oauth).into_iter().filter(|(path, _)| !with_page.contains(path));
        let beside = oauth.chain(pages_mount::endpoints(&pages)).chain([("/mcp", mcp)]);
        let router = router_with(state, beside);
        let serving = Serving::announce(personal.data())?;
        Ok(Self {
            listener,
            router,
            personal,
            ledger_days: config.ledger_days,
            address,
            metrics,
            proxies: config.trusted_proxy.into(),
            first_run,
            worker,
            serving,
        })
    }

    /// The link that makes its holder the owner, while there is none: for the terminal, and nowhere else.
    pub fn first_run_link(&self) -> Option<&str> {
        self.first_run.as_deref()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where metrics are served, if anywhere.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(Metrics::address)
    }

    /// The router itself, for calls without a socket.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Answers until told to stop, then lets open requests finish for a while.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) {
        // Dropped, and so ended, with the main listener.
        let mut beside = JoinSet::new();
        beside.spawn(keep_oauth_short(self.personal.clone()));
        beside.spawn(keep_blobs_swept(self.personal.clone()));
        beside.spawn(keep_ledgers_short(self.personal, self.ledger_days));
        beside.spawn(self.worker.run());
        if let Some(metrics) = self.metrics {
            beside.spawn(metrics.run());
        }
        listener::serve(self.listener, self.router, (Bounds::default(), self.proxies), stop).await;
        drop(self.serving);
    }
}

/// Whether the server's own owner is one of the store's, or may become the first. Where an operator made other owners,
/// nobody else becomes one by starting a server.
async fn is_own(personal: &Personal) -> Result<bool, StoreError> {
    let store = personal.store();
    Ok(store.has_subject(personal.subject()).await? || store.list_subjects(None, 1).await?.is_empty())
}

/// A node that would look for attachments where they are not must not start. One that cannot ask yet may: whether they
/// can be reached is part of its health.
async fn refuse_wrong_place(personal: &Personal) -> Result<(), ServeError> {
    let store = personal.store();
    match tokio::time::timeout(PLACE_KNOWN_WITHIN, store.check_blobs()).await {
        Ok(Err(error @ StoreError::Misplaced(_))) => Err(ServeError::Misplaced(error)),
        _ => Ok(()),
    }
}

/// A server that others can reach needs its public name and an owner who can prove to be the owner. Owners whom an
/// operator made cannot be anyone before they opened their own link.
async fn refuse_exposure(
    personal: &Personal,
    config: &ServeConfig,
    address: SocketAddr,
) -> Result<(), ServeError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    if config.public_url.is_none() {
        return Err(ServeError::Exposed(address, "there is no --public-url"));
    }
    match personal.store().find_passphrase(personal.subject()).await? {
        Some(_) => Ok(()),
        None if !is_own(personal).await? => Ok(()),
        None => Err(ServeError::Exposed(address, "there is no owner passphrase")),
    }
}

fn api_settings(personal: &Personal, config: &ServeConfig, address: SocketAddr) -> ApiSettings {
    let public_url = config.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
    let allowed_hosts = Hosts::of(config, address).into_list();
    ApiSettings {
        authorization_servers: vec![public_url.clone()],
        public_url: Some(public_url),
        resource_name: config.resource_name.clone(),
        allowed_hosts,
        limits: ApiLimits {
            concurrent_requests: config.concurrent_requests,
            requests_per_minute: config.requests_per_minute,
            shared: personal.directory("serve").is_err(),
            read_deadline: Duration::from_secs(config.read_deadline),
            ..ApiLimits::default()
        },
    }
}
