//! `pdpp grant`: hand out a narrow slice, look at it, take it back.

pub(crate) mod choose;
pub(crate) mod create;
mod issued;
mod shown;

use anyhow::bail;
use clap::{Args, Subcommand};
use pdpp_auth::{AuthFault, Revocation, TokenOrder};
use pdpp_server::Personal;
use pdpp_wire::{Code, GrantId};
use serde_json::json;

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::passphrase::PassphraseArgs;
use crate::{moment, terminal};

/// Create, list, show and revoke grants
#[derive(Args, Debug)]
pub(crate) struct GrantArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    Create(create::CreateArgs),
    /// List all grants, newest first
    List {
        #[command(flatten)]
        data: DataArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one grant whole
    Show {
        #[command(flatten)]
        data: DataArgs,
        /// The grant's id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make another token for a grant
    Token {
        #[command(flatten)]
        data: DataArgs,
        /// The grant's id
        id: String,
        /// How long the token lives; never longer than its grant
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        passphrase: PassphraseArgs,
    },
    /// Take a grant back; it bites on the next request
    Revoke {
        #[command(flatten)]
        data: DataArgs,
        /// The grant's id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) async fn run(args: GrantArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Create(args) => create::run(args).await,
        Action::List { data, json } => shown::list(&data.open().await?, json).await,
        Action::Show { data, id, json } => shown::show(&data.open().await?, &id, json).await,
        Action::Token { data, id, expires, json, passphrase } => {
            let personal = data.open().await?;
            passphrase.require(&personal).await?;
            let now = personal.clock().now();
            let expires_at = expires.map(|text| moment::parse_future(&text, now)).transpose()?;
            let order = TokenOrder { grant_ids: vec![grant_id(&id)?], expires_at };
            let made = personal.authority().reissue_token(personal.subject(), order).await;
            let made = made.map_err(|fault| named(fault, &id))?;
            issued::print(&made, json, &data.flag())
        }
        Action::Revoke { data, id, json } => revoke(&data.open().await?, &id, json).await,
    }
}

async fn revoke(personal: &Personal, id: &str, as_json: bool) -> anyhow::Result<()> {
    let revoked = personal.authority().revoke(personal.subject(), &grant_id(id)?).await;
    match revoked.map_err(|fault| named(fault, id))? {
        Revocation::Now if as_json => terminal::json(&json!({"grant_id": id, "state": "revoked"})),
        Revocation::Now => Ok(terminal::line(&format!("{id} is revoked; its next request is refused"))?),
        Revocation::Before(at) => bail!("{id} was already revoked on {}", at.to_rfc3339()),
    }
}

/// A grant that is not there is named, with the way to those that are.
fn named(fault: AuthFault, id: &str) -> anyhow::Error {
    match fault {
        AuthFault::Denied(denial) if denial.code == Code::NotFound => {
            anyhow::anyhow!("there is no grant '{id}'; `pdpp grant list` shows all")
        }
        fault => fault.into(),
    }
}

fn grant_id(text: &str) -> Result<GrantId, Usage> {
    GrantId::parse(text).map_err(|fault| Usage(fault.to_string()))
}
