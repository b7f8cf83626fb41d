//! `pdpp events`: who is told of changes, where, and how that went.

mod allow;
mod listen;
mod show;

pub(crate) use allow::{Host, allow_hosts};

use anyhow::bail;
use clap::{Args, Subcommand};
use pdpp_server::Personal;
use pdpp_store::{Changed, SubscriptionChange, Switch};
use pdpp_wire::{DisabledReason, SubscriptionId};

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::terminal;

/// See and stop the events that clients are sent, and say where they may be sent
///
/// A client with a grant may ask to be told when something in it changes. Events go to hosts it registered or
/// you allowed, and never hold a record.
#[derive(Args, Debug)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// List all subscriptions, and the hosts you allowed
    List {
        #[command(flatten)]
        data: DataArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one subscription with its last deliveries
    Show {
        #[command(flatten)]
        data: DataArgs,
        /// The subscription's id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch a subscription off; its client cannot switch it on again
    Disable {
        #[command(flatten)]
        data: DataArgs,
        /// The subscription's id
        id: String,
    },
    Allow(allow::AllowArgs),
    Listen(listen::ListenArgs),
}

pub(crate) async fn run(args: EventsArgs) -> anyhow::Result<()> {
    match args.action {
        Action::List { data, json } => show::list(&data.open().await?, json).await,
        Action::Show { data, id, json } => show::one(&data.open().await?, &subscription_id(&id)?, json).await,
        Action::Disable { data, id } => disable(&data.open().await?, &subscription_id(&id)?).await,
        Action::Allow(args) => allow::run(args).await,
        Action::Listen(args) => listen::run(args).await,
    }
}

async fn disable(personal: &Personal, id: &SubscriptionId) -> anyhow::Result<()> {
    let change =
        SubscriptionChange { switch: Some(Switch::Off(DisabledReason::OwnerDisabled)), sealed_secret: None };
    let (store, now) = (personal.store(), personal.clock().now());
    match store.change_subscription(personal.subject(), id, &change, now).await? {
        Changed::Done(_) => terminal::line(&format!("{id} is switched off; nothing more is sent"))?,
        Changed::Refused(status, _) => bail!("{id} is already {}", status.as_str()),
        Changed::Absent => bail!("{}", unknown(id)),
    }
    Ok(())
}

fn unknown(id: &SubscriptionId) -> String {
    format!("there is no subscription '{id}'; `pdpp events list` shows all")
}

fn subscription_id(text: &str) -> Result<SubscriptionId, Usage> {
    SubscriptionId::parse(text).map_err(|fault| Usage(fault.to_string()))
}
