//! `pdpp grant create`: what is asked, what it would open, and then the grant.

use anyhow::bail;
use clap::Args;
use pdpp_access::Catalogue;
use pdpp_auth::{
    DEFAULT_GRANT_SECONDS, DEFAULT_PURPOSE, GrantOrder, SelectionArgs, local_client_id, parse_selections,
};
use pdpp_wire::{AccessMode, Instant};

use super::choose::{self, Said};
use super::issued;
use crate::args::DataArgs;
use crate::commands::events::{Host, allow_hosts};
use crate::exit::Usage;
use crate::holdings::{self, Held};
use crate::passphrase::PassphraseArgs;
use crate::screen::{counted, number};
use crate::{asking, moment, terminal};

/// Hand out a slice of your data, and get the token for it
///
/// A stream is named as NAME, NAME:FIELD,FIELD or CONNECTION/NAME. Fields the stream requires are always included. How
/// much that opens is said before it is made. The token is shown once. On a terminal, what is not said is asked.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp grant create
  pdpp grant create --client notes-assistant --stream messages:text,sent_at --since 90d")]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Who gets it, in your words
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// What it may read: [CONNECTION/]NAME[:FIELD,...]; may be repeated; `*` means every stream
    #[arg(long, value_name = "STREAM")]
    stream: Vec<String>,
    /// The connection, when a source has several: its id or label
    #[arg(long, value_name = "CONNECTION")]
    connection: Option<String>,
    /// Only records from this time on: a date, or how long ago (90d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only records before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// When the grant ends: 30d, 12h, a date, or `never` [default: 30d]
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// The grant gives one token, once
    #[arg(long)]
    single_use: bool,
    /// Let the client's events be sent to this host; may be repeated
    #[arg(long, value_name = "HOST[:PORT]")]
    callback_host: Vec<Host>,
    /// What for, as an absolute URI
    #[arg(long, value_name = "URI", default_value = DEFAULT_PURPOSE)]
    purpose: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

pub(super) async fn run(mut args: CreateArgs) -> anyhow::Result<()> {
    let personal = args.data.open().await?;
    args.passphrase.require(&personal).await?;
    let catalogue = personal.store().catalogue(personal.subject()).await?;
    let asked = args.client.is_none() || args.stream.is_empty();
    if asked {
        if !asking::is_answered() {
            let message = "say who may read with --client NAME and what with --stream STREAM; on a terminal both are asked";
            return Err(Usage(message.to_owned()).into());
        }
        let mut said = Said {
            client: args.client.take(),
            stream: std::mem::take(&mut args.stream),
            since: args.since.take(),
            expires: args.expires.take(),
        };
        choose::missing(&mut said, &personal, &catalogue).await?;
        (args.client, args.stream, args.since, args.expires) =
            (said.client, said.stream, said.since, said.expires);
    }
    let order = order(&args, &catalogue, personal.clock().now())?;
    let preview = personal.authority().preview_grants(personal.subject(), &order).await?;
    let opened = holdings::opened_by(&preview, &personal, &catalogue).await?;
    terminal::note(&opens(&opened));
    if asked && !agreed()? {
        bail!("nothing was made");
    }
    let client_id = order.client_id.clone();
    let made = personal.authority().create_grants(personal.subject(), order).await?;
    allow_hosts(&personal, &client_id, &args.callback_host).await?;
    issued::print(&made, args.json, &args.data.flag())
}

fn order(args: &CreateArgs, catalogue: &Catalogue, now: Instant) -> anyhow::Result<GrantOrder> {
    let past = |text: &Option<String>| text.as_deref().map(|text| moment::parse_past(text, now)).transpose();
    let (since, until) =
        (past(&args.since)?.map(Instant::to_rfc3339), past(&args.until)?.map(Instant::to_rfc3339));
    let selection = SelectionArgs {
        streams: &args.stream,
        connection: args.connection.as_deref(),
        since: since.as_deref(),
        until: until.as_deref(),
        purpose_code: &args.purpose,
        purpose_description: None,
        access_mode: if args.single_use { AccessMode::SingleUse } else { AccessMode::Continuous },
    };
    Ok(GrantOrder {
        client_id: local_client_id(args.client.as_deref().unwrap_or_default()),
        selections: parse_selections(catalogue, &selection)?,
        expires_at: ends(args.expires.as_deref(), now)?,
    })
}

/// When a grant ends, by the owner's words.
pub(crate) fn ends(text: Option<&str>, now: Instant) -> Result<Option<Instant>, Usage> {
    match text {
        None => Ok(Some(now.plus_seconds(DEFAULT_GRANT_SECONDS))),
        Some("never") => Ok(None),
        Some(text) => moment::parse_future(text, now).map(Some),
    }
}

fn agreed() -> anyhow::Result<bool> {
    asking::ask_until("Make this grant? [Y/n]", |answer| match answer.to_lowercase().as_str() {
        "" | "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("answer y or n".to_owned()),
    })
}

/// What a grant opens, in one line: records and fields, stream by stream.
pub(crate) fn opens(opened: &[Held]) -> String {
    let total: u64 = opened.iter().map(|held| held.records).sum();
    let each: Vec<String> = opened
        .iter()
        .map(|held| {
            let fields = held.fields.as_ref().map_or(held.declared_fields, Vec::len);
            let place = format!("{}/{}", held.label(), held.stream);
            format!("{} of {place} ({fields} of {} fields)", number(held.records), held.declared_fields)
        })
        .collect();
    format!("This opens {}: {}", counted(total, "record"), each.join(", "))
}
