//! `pdpp owner`: the owner's own authority over this data directory.

use clap::{Args, Subcommand};
use pdpp_access::Secret;
use pdpp_server::Personal;
use pdpp_wire::Instant;
use serde_json::json;

use crate::args::DataArgs;
use crate::passphrase::PassphraseArgs;
use crate::screen::counted;
use crate::{moment, terminal};

/// Owner authority: tokens for your own tools, and the passphrase
#[derive(Args, Debug)]
pub(crate) struct OwnerArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Make an owner token: it opens everything, so keep its life short
    Token {
        #[command(flatten)]
        data: DataArgs,
        /// How long it lives: 30m, 1h, 7d, or a date
        #[arg(long, default_value = "1h", value_name = "TIME")]
        expires: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        passphrase: PassphraseArgs,
    },
    /// Set a new owner passphrase and end every owner token
    ///
    /// Whoever can write to the data directory can do this: on this machine the directory is the
    /// authority. With a passphrase, commands that widen access ask for it.
    Reset {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        passphrase: PassphraseArgs,
    },
}

pub(crate) async fn run(args: OwnerArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Token { data, expires, json, passphrase } => {
            let personal = data.open_or_make().await?;
            passphrase.require(&personal).await?;
            token(&personal, &expires, json).await
        }
        Action::Reset { data, passphrase } => reset(&data.open_or_make().await?, passphrase).await,
    }
}

async fn token(personal: &Personal, expires: &str, as_json: bool) -> anyhow::Result<()> {
    let expires_at = moment::parse_future(expires, personal.clock().now())?;
    let issued = personal.authority().owner_token(personal.subject(), Some(expires_at)).await?;
    if as_json {
        return terminal::json(&json!({
            "access_token": issued.access_token.reveal(), "token_id": issued.token_id,
            "expires_at": issued.expires_at.map(Instant::to_rfc3339),
        }));
    }
    terminal::line(issued.access_token.reveal())?;
    terminal::note(&format!(
        "It opens everything until {} and is shown only this once.",
        expires_at.to_rfc3339()
    ));
    Ok(())
}

async fn reset(personal: &Personal, passphrase: PassphraseArgs) -> anyhow::Result<()> {
    let new = Secret::presented(passphrase.read_new()?);
    let done = personal.authority().reset_owner(personal.subject(), &new).await?;
    let ended = counted(done.revoked_tokens, "owner token");
    terminal::line(&format!("The passphrase is set; {ended} ended."))?;
    Ok(())
}
