//! HTTP for `object_store`: hyper and rustls, as everywhere here; one deadline for every stage and one bound for every
//! part of an answer. No redirect is followed, no proxy asked, no environment read.
//!
//! `object_store` tells a few statuses apart and keeps the others in a private type. They are made visible here, as
//! [`Answered`] inside its transport error, with the kind that makes it try again exactly where it would have.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as Tcp;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use rustls::RootCertStore;

use crate::patient::{Patience, PatientBody, TooSlow};

/// An answer that is a list or a receipt: a thousand names fit many times.
const MAX_DOCUMENT_BYTES: u64 = 16 * 1024 * 1024;
/// The part of an error's text that is looked at.
const MAX_ERROR_BYTES: u64 = 64 * 1024;
/// A request with this much more to send may take as long again.
const BYTES_PER_PATIENCE: usize = 1024 * 1024;

/// What the store said instead of doing it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Answered {
    #[error("the store answered with status {0}")]
    Status(u16),
    #[error("the store has no such bucket")]
    NoBucket,
}

/// One pool of connections.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pool: Client<HttpsConnector<Tcp>, HttpRequestBody>,
    patience: Duration,
}

impl Transport {
    /// Unencrypted connections are only made to an endpoint that was found to be on this machine.
    pub(crate) fn new(
        encrypted: bool,
        roots: Option<RootCertStore>,
        patience: Duration,
    ) -> std::io::Result<Self> {
        let mut tcp = Tcp::new();
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(patience));
        let builder = HttpsConnectorBuilder::new();
        let builder = match (encrypted, roots) {
            (true, None) => {
                builder.with_provider_and_native_roots(rustls::crypto::ring::default_provider())?.https_only()
            }
            (true, Some(roots)) => builder.with_tls_config(believing(roots)).https_only(),
            (false, _) => builder.with_tls_config(believing(RootCertStore::empty())).https_or_http(),
        };
        let pool = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(30))
            .build(builder.enable_http1().wrap_connector(tcp));
        Ok(Self { pool, patience })
    }

    fn deadline(&self, bytes: usize) -> Duration {
        let steps = u32::try_from(bytes / BYTES_PER_PATIENCE).unwrap_or(u32::MAX);
        self.patience.saturating_mul(steps.saturating_add(1))
    }
}

fn believing(roots: RootCertStore) -> rustls::ClientConfig {
    rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring speaks the protocol versions rustls defaults to")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

impl HttpConnector for Transport {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        // An object's bytes are counted where its size is known.
        let document = request.method() != Method::GET || request.uri().query().is_some();
        let deadline = self.deadline(request.body().content_length());
        let answer = match tokio::time::timeout(deadline, self.pool.request(request)).await {
            Ok(answer) => answer.map_err(failed)?,
            Err(_) => return Err(HttpError::new(HttpErrorKind::Timeout, TooSlow)),
        };
        let (parts, body) = answer.into_parts();
        let status = parts.status;
        let (patience, bound) = match (status.is_success(), document) {
            (true, false) => (Patience::Piece(self.patience), u64::MAX),
            (true, true) => (Patience::Whole(self.patience), MAX_DOCUMENT_BYTES),
            (false, _) => (Patience::Whole(self.patience), MAX_ERROR_BYTES),
        };
        let body = HttpResponseBody::new(PatientBody::new(body, patience, bound));
        if status.is_success() {
            return Ok(HttpResponse::from_parts(parts, body));
        }
        Err(match status {
            StatusCode::NOT_FOUND if is_about_the_bucket(body).await => {
                HttpError::new(HttpErrorKind::Unknown, Answered::NoBucket)
            }
            // `object_store` has errors of its own for these; what else the store wrote is dropped.
            StatusCode::NOT_FOUND
            | StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::CONFLICT
            | StatusCode::PRECONDITION_FAILED
            | StatusCode::NOT_MODIFIED => {
                return Ok(HttpResponse::from_parts(parts, bytes::Bytes::new().into()));
            }
            _ if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                HttpError::new(HttpErrorKind::Request, Answered::Status(status.as_u16()))
            }
            _ => HttpError::new(HttpErrorKind::Unknown, Answered::Status(status.as_u16())),
        })
    }
}

/// A bucket that is not there must not look like an object that is lost.
async fn is_about_the_bucket(body: HttpResponseBody) -> bool {
    let Ok(text) = body.collect().await else { return false };
    String::from_utf8_lossy(&text.to_bytes()).contains("<Code>NoSuchBucket</Code>")
}

fn failed(error: hyper_util::client::legacy::Error) -> HttpError {
    let kind = if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Interrupted };
    HttpError::new(kind, error)
}
