//! From a checked address to a stream on which HTTP can be spoken.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;

use crate::PinnedAddress;

/// Bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A [`Stream`] of whatever kind.
pub type BoxStream = Box<dyn Stream>;

/// Opens connections. Two steps, because each has its own deadline and its own fault.
#[async_trait]
pub trait Connector: Send + Sync {
    /// Connects to exactly this address: no lookup, no proxy.
    async fn open(&self, address: PinnedAddress) -> io::Result<BoxStream>;

    /// Encrypts the stream, with a server that proves to be `name`.
    async fn secure(&self, stream: BoxStream, name: ServerName<'static>) -> io::Result<BoxStream>;
}

/// TCP, and TLS by rustls.
#[derive(Debug)]
pub struct TcpTls {
    roots: Option<RootCertStore>,
    tls: OnceCell<Arc<ClientConfig>>,
}

impl TcpTls {
    /// Trusts the system's certificate authorities. They are read at the first call, because reading them takes
    /// longer than everything else at start.
    pub fn with_native_roots() -> Self {
        Self { roots: None, tls: OnceCell::new() }
    }

    /// Trusts these authorities.
    pub fn with_roots(roots: RootCertStore) -> Self {
        Self { roots: Some(roots), tls: OnceCell::new() }
    }

    async fn config(&self) -> io::Result<Arc<ClientConfig>> {
        let read = async || {
            let roots = match &self.roots {
                Some(roots) => roots.clone(),
                None => tokio::task::spawn_blocking(native_roots).await.map_err(io::Error::other)??,
            };
            tls_config(roots)
        };
        self.tls.get_or_try_init(read).await.cloned()
    }
}

#[async_trait]
impl Connector for TcpTls {
    async fn open(&self, address: PinnedAddress) -> io::Result<BoxStream> {
        let stream = TcpStream::connect(address.socket()).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }

    async fn secure(&self, stream: BoxStream, name: ServerName<'static>) -> io::Result<BoxStream> {
        let connector = TlsConnector::from(self.config().await?);
        Ok(Box::new(connector.connect(name, stream).await?))
    }
}

fn native_roots() -> io::Result<RootCertStore> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Systems carry authorities that rustls cannot read; the others are trusted all the same.
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added > 0 {
        return Ok(roots);
    }
    let reason = found.errors.first().map_or("none found".to_owned(), ToString::to_string);
    Err(io::Error::new(io::ErrorKind::NotFound, format!("no certificate authorities: {reason}")))
}

fn tls_config(roots: RootCertStore) -> io::Result<Arc<ClientConfig>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
