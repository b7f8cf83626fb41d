//! Client ID metadata documents for the authorization server, fetched through the guarded client.

use std::sync::Arc;

use async_trait::async_trait;
use pdpp_access::Clock;
use pdpp_auth::{Document, MetadataDocuments};
use pdpp_egress::metadata_document::{ClientIdUrl, MetadataDocuments as Fetcher};
use pdpp_egress::{Egress, Settings, SystemResolver, TcpTls};

/// Fetches documents from anywhere in the world, and nothing from this machine or its network.
#[derive(Debug)]
pub(crate) struct ClientDocuments {
    egress: Arc<Egress>,
    fetcher: Fetcher,
}

impl ClientDocuments {
    /// Looks names up and connects as this machine does.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let (resolver, connector) = (SystemResolver::default(), TcpTls::with_native_roots());
        Self::through(Egress::new(Settings::default(), Arc::new(resolver), Arc::new(connector)), clock)
    }

    fn through(egress: Egress, clock: Arc<dyn Clock>) -> Self {
        let egress = Arc::new(egress);
        Self { fetcher: Fetcher::new(Arc::clone(&egress), clock), egress }
    }
}

#[async_trait]
impl MetadataDocuments for ClientDocuments {
    async fn fetch(&self, url: &str) -> Result<Document, String> {
        let url = ClientIdUrl::parse(url, self.egress.policy()).map_err(|fault| fault.to_string())?;
        match self.fetcher.get(&url).await {
            Ok(document) => Ok(Document { members: document.content.members().clone() }),
            Err(error) => {
                tracing::info!(cause = error.internal(), "a client's metadata document is not to be had");
                Err(error.to_string())
            }
        }
    }
}
