//! The HTTP half: one pooled client for every call. Redirects are not followed; nothing but the configured
//! server ever gets the token.

use bytes::Bytes;
use http_body_util::Full;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

pub(crate) type HttpPool = Pool<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// A pool that trusts the system's certificate authorities. Certificates are only read when there is an `https`
/// server to talk to, because reading them takes longer than everything else at start.
pub(crate) fn pool(encrypted: bool) -> std::io::Result<HttpPool> {
    let builder = hyper_rustls::HttpsConnectorBuilder::new();
    let builder = if encrypted {
        builder.with_native_roots()?.https_only()
    } else {
        let nobody = rustls_without_roots();
        builder.with_tls_config(nobody).https_or_http()
    };
    Ok(Pool::builder(TokioExecutor::new()).build(builder.enable_http1().build()))
}

fn rustls_without_roots() -> rustls::ClientConfig {
    rustls::ClientConfig::builder()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}
