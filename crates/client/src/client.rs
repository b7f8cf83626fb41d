//! Sending: one bearer, a deadline, a bound, and at most one more try.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RANGE, USER_AGENT};
use http::{HeaderValue, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use tower::util::BoxCloneSyncService;
use tower::{BoxError, ServiceExt as _};

use crate::deadline::Deadlines;
use crate::http_wire::{HttpPool, pool};
use crate::watch::Watch;
use crate::{Answer, Bearer, BearerSource, ClientError, CredentialError, FixedBearer, ProviderUrl, Request};

/// A resource server in the same process.
pub type InProcess =
    BoxCloneSyncService<http::Request<Full<Bytes>>, Response<UnsyncBoxBody<Bytes, std::io::Error>>, BoxError>;

/// What one call may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a call may take, further tries included.
    pub deadline: Duration,
    /// The longest pause the server may ask for before the second try; a longer one is left to the caller.
    pub longest_pause: Duration,
    /// The largest answer that is taken.
    pub max_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            longest_pause: Duration::from_secs(2),
            max_bytes: 16 * 1024 * 1024,
        }
    }
}

/// A connection to one resource server. Clones share connections.
#[derive(Clone)]
pub struct Client {
    wire: Wire,
    provider_url: Arc<str>,
    bearer: Arc<dyn BearerSource>,
    limits: Limits,
    deadlines: Deadlines,
    watch: Watch,
}

#[derive(Clone)]
enum Wire {
    Http(HttpPool),
    InProcess(InProcess),
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("provider_url", &self.provider_url).finish_non_exhaustive()
    }
}

impl Client {
    /// Speaks HTTP.
    pub fn http(
        provider_url: &ProviderUrl,
        bearer: Arc<dyn BearerSource>,
        limits: Limits,
    ) -> std::io::Result<Self> {
        let wire = Wire::Http(pool(provider_url.as_str().starts_with("https"))?);
        let provider_url = provider_url.as_str().into();
        let (deadlines, watch) = (Deadlines::default(), Watch::default());
        Ok(Self { wire, provider_url, bearer, limits, deadlines, watch })
    }

    /// Calls a service of this process; `provider_url` is what results name.
    pub fn in_process(
        service: InProcess,
        provider_url: &str,
        bearer: Arc<dyn BearerSource>,
        limits: Limits,
    ) -> Self {
        let (deadlines, watch) = (Deadlines::default(), Watch::default());
        let wire = Wire::InProcess(service);
        Self { wire, provider_url: provider_url.into(), bearer, limits, deadlines, watch }
    }

    /// The same connections under another bearer.
    #[must_use]
    pub fn with_bearer(&self, bearer: Bearer) -> Self {
        Self { bearer: Arc::new(FixedBearer(bearer)), ..self.clone() }
    }

    /// The public address of the server, without a trailing slash.
    pub fn provider_url(&self) -> &str {
        &self.provider_url
    }

    /// Sends a request. Dropping the future abandons it.
    pub async fn send(&self, request: &Request) -> Result<Answer, ClientError> {
        let seconds = self.limits.deadline.as_secs();
        // Behind a pointer, because every future that may send holds this one, and is moved to where it runs.
        let attempts = Box::pin(self.attempts(request));
        let answer = self.deadlines.within(self.limits.deadline, attempts).await;
        answer.unwrap_or(Err(ClientError::TimedOut { seconds }))
    }

    async fn attempts(&self, request: &Request) -> Result<Answer, ClientError> {
        let mut bearer = self.bearer.bearer().await?;
        let mut answer = self.attempt(request, &bearer).await;
        if matches!(&answer, Ok(answer) if answer.status == 401)
            && let Some(newer) = self.bearer.renewed(&bearer).await
        {
            bearer = newer;
            answer = self.attempt(request, &bearer).await;
        }
        match self.pause_before_retry(request, &answer) {
            Some(pause) => {
                tokio::time::sleep(pause).await;
                self.attempt(request, &bearer).await
            }
            None => answer,
        }
    }

    /// How long to wait before trying again, if trying again is allowed and may help.
    fn pause_before_retry(
        &self,
        request: &Request,
        answer: &Result<Answer, ClientError>,
    ) -> Option<Duration> {
        const SHORT: Duration = Duration::from_millis(100);
        if !request.is_idempotent() {
            return None;
        }
        match answer {
            Err(ClientError::Unreachable(_)) => Some(SHORT),
            Ok(answer) if matches!(answer.status, 429 | 503) => {
                let asked = answer.retry_after_seconds.map_or(SHORT, Duration::from_secs);
                (asked <= self.limits.longest_pause).then_some(asked)
            }
            Ok(answer) if matches!(answer.status, 502 | 504) => Some(SHORT),
            _ => None,
        }
    }

    async fn attempt(&self, request: &Request, bearer: &Bearer) -> Result<Answer, ClientError> {
        let http_request = self.http_request(request, bearer)?;
        let max_bytes = request.max_bytes.unwrap_or(self.limits.max_bytes);
        match &self.wire {
            Wire::Http(pool) => {
                let answer = async {
                    let response = pool.request(http_request).await;
                    let response = response.map_err(|error| ClientError::Unreachable(innermost(&error)))?;
                    let response = response.map(|body| body.map_err(std::io::Error::other).boxed_unsync());
                    collect(response, max_bytes).await
                };
                self.watch.wait_for(answer).await
            }
            Wire::InProcess(service) => {
                let response = service.clone().oneshot(http_request).await;
                collect(response.map_err(|error| ClientError::Unreachable(error.to_string()))?, max_bytes)
                    .await
            }
        }
    }

    fn http_request(
        &self,
        request: &Request,
        bearer: &Bearer,
    ) -> Result<http::Request<Full<Bytes>>, ClientError> {
        let target = match &self.wire {
            Wire::Http(_) => format!("{}{}", self.provider_url, request.path_and_query()),
            Wire::InProcess(_) => request.path_and_query(),
        };
        let malformed = |error: &dyn fmt::Display| ClientError::Malformed(error.to_string());
        let mut token = HeaderValue::try_from(format!("Bearer {}", bearer.expose()))
            .map_err(|_| CredentialError::Unsendable)?;
        token.set_sensitive(true);
        let mut builder = http::Request::builder()
            .method(request.method.clone())
            .uri(target)
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, concat!("pdpp/", env!("CARGO_PKG_VERSION")))
            .header(AUTHORIZATION, token);
        if let Some(range) = &request.range {
            builder = builder.header(RANGE, range.as_str());
        }
        let body = match &request.body {
            Some(body) => {
                builder = builder.header(CONTENT_TYPE, "application/json");
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        builder.body(Full::new(body)).map_err(|error| malformed(&error))
    }
}

async fn collect(
    response: Response<UnsyncBoxBody<Bytes, std::io::Error>>,
    max_bytes: usize,
) -> Result<Answer, ClientError> {
    let (parts, body) = response.into_parts();
    let body = match Limited::new(body, max_bytes).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(ClientError::TooLarge { max_bytes }),
        Err(error) => return Err(ClientError::Unreachable(error.to_string())),
    };
    Ok(Answer::new(parts.status.as_u16(), &parts.headers, body))
}

/// The last cause says what happened; the first only says that something did.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
