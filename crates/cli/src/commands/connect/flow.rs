//! The wait for the owner: in a browser that comes back to this machine, or in any browser with a code.

use std::time::Duration;

use pdpp_access::{Clock as _, Entropy as _};
use pdpp_client::ProviderUrl;
use pdpp_client::authorization::{
    ClientRegistration, CodeRequest, ConnectError, DeviceRequest, Grant, Polled, ServerMetadata,
};
use pdpp_server::{SystemClock, SystemEntropy};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::browser;
use super::callback::Callback;
use crate::terminal;

/// How the owner is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) device: bool,
    pub(super) no_browser: bool,
    pub(super) patience: Duration,
}

/// Asks, and waits for the answer.
pub(super) async fn ask(
    server: &ServerMetadata,
    client: &ClientRegistration,
    url: &ProviderUrl,
    wanted: Option<&Value>,
    way: Way,
) -> Result<Grant, ConnectError> {
    let nowhere = !way.no_browser && !browser::is_here() && server.device_endpoint.is_some();
    if way.device || nowhere || server.authorization_endpoint.is_none() {
        if nowhere && !way.device {
            terminal::note("There is no browser here, so the approval happens in another one.");
        }
        return by_device(server, client, url, wanted, way).await;
    }
    let callback = Callback::open().await?;
    let mut entropy = [0; 64];
    SystemEntropy.fill(&mut entropy);
    let request = CodeRequest::start(server, client, url, wanted, callback.port, &entropy).await?;
    terminal::note("Open this address to approve access:");
    terminal::note(&format!("  {}", request.authorization_url()));
    if !way.no_browser && !browser::open(request.authorization_url()) {
        terminal::note("No browser could be started; open the address yourself, or use --device.");
    }
    terminal::note("Waiting for approval…");
    let code =
        timeout(way.patience, callback.code(server, &request)).await.unwrap_or(Err(ConnectError::Expired))?;
    request.redeem(server, client, &code, SystemClock.now()).await
}

async fn by_device(
    server: &ServerMetadata,
    client: &ClientRegistration,
    url: &ProviderUrl,
    wanted: Option<&Value>,
    way: Way,
) -> Result<Grant, ConnectError> {
    let mut request = DeviceRequest::start(server, client, url, wanted).await?;
    terminal::note(&format!("Open {} in any browser and type the code", request.verification_uri));
    terminal::note(&format!("  {}", request.user_code));
    if let Some(complete) = &request.verification_uri_complete {
        terminal::note(&format!("or open {complete}"));
    }
    terminal::note("Waiting for approval…");
    let patience = way.patience.min(request.expires_in);
    let wait = async {
        loop {
            sleep(request.interval()).await;
            if let Polled::Done(grant) = request.poll(server, client, SystemClock.now()).await? {
                return Ok(*grant);
            }
        }
    };
    timeout(patience, wait).await.unwrap_or(Err(ConnectError::Expired))
}
