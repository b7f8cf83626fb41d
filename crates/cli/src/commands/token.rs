//! `pdpp token`: the access token of a connected server, for another program.

use clap::Args;
use pdpp_client::CredentialError;

use crate::credential::CacheArgs;
use crate::exit::{EndCode, Ended, Usage};
use crate::terminal;

/// Print the access token kept for a server, renewed if it is about to end
#[derive(Args, Debug)]
#[command(
    after_help = "Example: curl -H \"Authorization: Bearer $(pdpp token https://data.example.org)\" https://data.example.org/v1/streams"
)]
pub(crate) struct TokenArgs {
    /// The server [env: `PDPP_PROVIDER_URL`] [default: the only one connected]
    #[arg(value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(crate) async fn run(args: TokenArgs) -> anyhow::Result<()> {
    let url = args.cache.provider(args.url.as_deref()).map_err(Usage)?;
    let kept = args.cache.open(&url).map_err(|error| no_credential(&error))?;
    let token = kept.fresh_bearer().await.map_err(|error| no_credential(&error))?;
    // The whole point of this command is to say it.
    terminal::line(token.expose())?;
    Ok(())
}

/// How a missing or unusable credential ends a command that is not `read`.
pub(crate) fn no_credential(error: &CredentialError) -> Ended {
    Ended::new(EndCode::Unreachable, format!("{}: {error}", error.code()))
}
