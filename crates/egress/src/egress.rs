//! The one client that may call an address a stranger chose.
//!
//! No redirects, no proxy from the environment, no cookies, no connection kept. The order of the steps is the
//! guard: settings, lookup, check of every address, connection to a checked one, proof of the host's name.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request};
use http_body_util::Full;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::connect::BoxStream;
use crate::exchange::exchange;
use crate::limits::Deadline;
use crate::{
    Answer, Connector, EgressError, EgressFault, EgressUrl, Limits, PinnedAddress, Resolver, Stage,
    UrlPolicy, resolve,
};

/// What a deployment decides.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which addresses are taken. The client asks again at each call, so an address that was read under a looser
    /// policy is not called under a stricter one.
    pub policy: UrlPolicy,
    /// The most calls at one time; others wait within their deadline.
    pub max_calls: usize,
    /// How the client introduces itself.
    pub user_agent: HeaderValue,
}

impl Default for Settings {
    fn default() -> Self {
        let user_agent = HeaderValue::from_static(concat!("pdpp/", env!("CARGO_PKG_VERSION")));
        Self { policy: UrlPolicy::default(), max_calls: 32, user_agent }
    }
}

/// Calls strangers' addresses.
pub struct Egress {
    settings: Settings,
    resolver: Arc<dyn Resolver>,
    connector: Arc<dyn Connector>,
    calls: Semaphore,
}

/// What belongs to the message or to this client, and is not a caller's to set.
const NOT_THE_CALLERS: [HeaderName; 9] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::COOKIE,
    header::EXPECT,
];

impl Egress {
    /// A client that looks names up and connects as told.
    pub fn new(settings: Settings, resolver: Arc<dyn Resolver>, connector: Arc<dyn Connector>) -> Self {
        let calls = Semaphore::new(settings.max_calls);
        Self { settings, resolver, connector, calls }
    }

    /// Which addresses this client takes: what [`EgressUrl::parse`] should be given.
    pub fn policy(&self) -> UrlPolicy {
        self.settings.policy
    }

    /// Looks the host up and checks its addresses, without calling it. What it resolves to may change: a call
    /// checks again.
    pub async fn check_host(&self, url: &EgressUrl, limits: &Limits) -> Result<(), EgressError> {
        let deadline = Deadline::after(limits.total);
        let _permit = self.admit(url, limits, deadline).await?;
        self.pin(url, limits, deadline).await.map(drop)
    }

    /// Asks for a JSON document.
    pub async fn get(&self, url: &EgressUrl, limits: &Limits) -> Result<Answer, EgressError> {
        let json = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(header::ACCEPT, json)]);
        self.call(Method::GET, url, headers, Bytes::new(), limits).await
    }

    /// Delivers a body. Headers that belong to the message itself are set here, whatever the caller gives.
    pub async fn post(
        &self,
        url: &EgressUrl,
        headers: HeaderMap,
        body: Bytes,
        limits: &Limits,
    ) -> Result<Answer, EgressError> {
        self.call(Method::POST, url, headers, body, limits).await
    }

    async fn call(
        &self,
        method: Method,
        url: &EgressUrl,
        headers: HeaderMap,
        body: Bytes,
        limits: &Limits,
    ) -> Result<Answer, EgressError> {
        let deadline = Deadline::after(limits.total);
        let _permit = self.admit(url, limits, deadline).await?;
        let request = self.request(method, url, headers, body)?;
        let pinned = self.pin(url, limits, deadline).await?;
        let stream = self.open(&pinned, limits, deadline).await?;
        let stream = self.secure(stream, url, limits, deadline).await?;
        exchange(stream, request, limits, deadline).await
    }

    async fn admit(
        &self,
        url: &EgressUrl,
        limits: &Limits,
        deadline: Deadline,
    ) -> Result<SemaphorePermit<'_>, EgressError> {
        url.allowed_by(self.settings.policy).map_err(|fault| EgressFault::Url(fault).because(url))?;
        let permit = deadline.stage(Stage::Queue, limits.total, self.calls.acquire()).await?;
        Ok(permit.expect("the semaphore is never closed"))
    }

    fn request(
        &self,
        method: Method,
        url: &EgressUrl,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, EgressError> {
        for name in NOT_THE_CALLERS {
            headers.remove(name);
        }
        headers.insert(header::USER_AGENT, self.settings.user_agent.clone());
        let mut request = Request::builder()
            .method(method)
            .uri(url.path_and_query())
            .header(header::HOST, url.host_and_port())
            .header(header::CONNECTION, "close")
            .body(Full::new(body))
            .map_err(|error| EgressFault::Broken.because(error))?;
        request.headers_mut().extend(headers);
        Ok(request)
    }

    async fn pin(
        &self,
        url: &EgressUrl,
        limits: &Limits,
        deadline: Deadline,
    ) -> Result<Vec<PinnedAddress>, EgressError> {
        deadline.stage(Stage::Resolve, limits.resolve, resolve::pin(&*self.resolver, url)).await?
    }

    /// Connects to the first address that answers; each gets an equal share of the time.
    async fn open(
        &self,
        pinned: &[PinnedAddress],
        limits: &Limits,
        deadline: Deadline,
    ) -> Result<BoxStream, EgressError> {
        let count = u32::try_from(pinned.len()).unwrap_or(u32::MAX).max(1);
        let share = limits.connect.min(limits.total) / count;
        let mut last = EgressFault::Unreachable.because("no address");
        for address in pinned {
            last = match deadline.stage(Stage::Connect, share, self.connector.open(*address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => {
                    EgressFault::Unreachable.because(format_args!("{}: {error}", address.socket()))
                }
                Err(timed_out) => timed_out,
            };
        }
        Err(last)
    }

    async fn secure(
        &self,
        stream: BoxStream,
        url: &EgressUrl,
        limits: &Limits,
        deadline: Deadline,
    ) -> Result<BoxStream, EgressError> {
        if !url.is_encrypted() {
            return Ok(stream);
        }
        let name = url.server_name().ok_or_else(|| EgressFault::Untrusted.because("no server name"))?;
        let securing = self.connector.secure(stream, name);
        let secured = deadline.stage(Stage::Handshake, limits.handshake, securing).await?;
        secured.map_err(|error| EgressFault::Untrusted.because(format_args!("{}: {error}", url.host())))
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("settings", &self.settings).finish_non_exhaustive()
    }
}
