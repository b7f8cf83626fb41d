//! `pdpp disconnect`: give access back, and forget the credential.

use clap::Args;
use pdpp_client::authorization::{ConnectError, revocation_endpoint, revoke};
use pdpp_client::{Kept, forget};
use pdpp_wire::Instant;

use super::connect::ended;
use super::token::no_credential;
use crate::credential::CacheArgs;
use crate::exit::{Ended, Usage};
use crate::terminal;

/// End the access to a server, and remove the credential
///
/// The server is told that the token has ended, and the file is removed. If the server cannot be told, the file is kept
/// unless you say --force: without it nobody on this machine could end the token any more.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp disconnect https://data.example.org")]
pub(crate) struct DisconnectArgs {
    /// The server [env: `PDPP_PROVIDER_URL`] [default: the only one connected]
    #[arg(value_name = "URL")]
    url: Option<String>,
    /// Remove the file even if the server cannot be told
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(crate) async fn run(args: DisconnectArgs) -> anyhow::Result<()> {
    let url = args.cache.provider(args.url.as_deref()).map_err(Usage)?;
    let kept = Kept::find(&args.cache.roots(), &url).map_err(|error| no_credential(&error))?;
    let told = match tell(&kept).await {
        Ok(told) => told,
        Err(error) if args.force => {
            terminal::note(&format!("the server was not told: {error}"));
            false
        }
        Err(error) => {
            let ended = ended(error);
            let message = format!(
                "{}. The credential is kept; --force removes it without telling the server",
                ended.message
            );
            return Err(Ended { message, ..ended }.into());
        }
    };
    forget(&kept)?;
    terminal::line(&format!("Disconnected from {url}; the credential is removed"))?;
    if !told {
        let until = kept.expires_at.map_or_else(|| "its owner revokes it".to_owned(), Instant::to_rfc3339);
        terminal::line(&format!("The server was not told, so the token works there until {until}"))?;
    }
    Ok(())
}

/// Tells the server; false when it has no way of being told.
async fn tell(kept: &Kept) -> Result<bool, ConnectError> {
    let endpoint = match (&kept.revocation_endpoint, &kept.authorization_server) {
        (Some(endpoint), _) => Some(endpoint.clone()),
        (None, Some(issuer)) => revocation_endpoint(issuer).await?,
        (None, None) => None,
    };
    let Some(endpoint) = endpoint else { return Ok(false) };
    match revoke(&endpoint, &kept.token, kept.client_id.as_deref()).await {
        // A client or a token that the server no longer knows has nothing left to end.
        Err(ConnectError::Refused { code, .. }) if code == "invalid_client" => Ok(true),
        told => told.map(|()| true),
    }
}
