//! `pdpp events allow`: the hosts a client's events may be sent to.

use anyhow::bail;
use clap::Args;
use pdpp_auth::local_client_id;
use pdpp_events::parse_callback_host;
use pdpp_server::Personal;
use pdpp_wire::{ClientId, Grant};

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::passphrase::PassphraseArgs;
use crate::terminal;

/// Let a client's events be sent to a host
///
/// Without this, events go only to hosts the client registered. A host means its usual port for https unless one is
/// given; name a host of this machine only for development.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp events allow hooks.example.org --client notes-assistant")]
pub(super) struct AllowArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The host: HOST or HOST:PORT
    host: Host,
    /// The client: its id, or the name you gave it
    #[arg(long, value_name = "ID")]
    client: String,
    /// Take it back, and switch off what is sent there
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// A host in its normal form.
#[derive(Clone, Debug)]
pub(crate) struct Host(String);

impl std::str::FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            |_| "write a full host name such as hooks.example.org, or hooks.example.org:8443".to_owned();
        parse_callback_host(text).map(Self).map_err(wrong)
    }
}

pub(super) async fn run(args: AllowArgs) -> anyhow::Result<()> {
    let personal = args.data.open().await?;
    let client_id = client(&personal, &args.client).await?;
    let Host(host) = &args.host;
    if args.remove {
        let (store, now) = (personal.store(), personal.clock().now());
        match store.forbid_callback(personal.subject(), &client_id, host, now).await? {
            Some(ended) => {
                terminal::line(&format!(
                    "{client_id} is no longer told at {host}; {ended} subscriptions ended"
                ))?;
            }
            None => bail!("{host} was not allowed for {client_id}"),
        }
        return Ok(());
    }
    args.passphrase.require(&personal).await?;
    allow_hosts(&personal, &client_id, std::slice::from_ref(&args.host)).await?;
    terminal::line(&format!("{client_id} may be told at {host}"))?;
    Ok(())
}

/// Allows hosts for a client.
pub(crate) async fn allow_hosts(
    personal: &Personal,
    client_id: &ClientId,
    hosts: &[Host],
) -> anyhow::Result<()> {
    for Host(host) in hosts {
        let now = personal.clock().now();
        personal.store().allow_callback(personal.subject(), client_id, host, now).await?;
    }
    Ok(())
}

/// The client an id or a name means: one that registered, or has a grant.
async fn client(personal: &Personal, named: &str) -> anyhow::Result<ClientId> {
    let store = personal.store();
    let id = ClientId::parse(named).map_err(|fault| Usage(fault.to_string()))?;
    if store.find_client(&id).await?.is_some() {
        return Ok(id);
    }
    let grants = store.list_grants(personal.subject()).await?;
    let clients: Vec<ClientId> = grants
        .iter()
        .filter_map(|grant| Grant::parse(&grant.standing.document).ok())
        .map(|grant| grant.client.client_id)
        .collect();
    for candidate in [id, local_client_id(named)] {
        if clients.contains(&candidate) {
            return Ok(candidate);
        }
    }
    bail!("no client '{named}' is known; `pdpp grant list` shows those with a grant")
}
