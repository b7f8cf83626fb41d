//! `pdpp audit`: who read what, when, through which door, and what was refused.

mod activity;
mod follow;
mod output;

use clap::{Args, ValueEnum};
use pdpp_auth::local_client_id;
use pdpp_server::Personal;
use pdpp_store::DisclosureFilter;
use pdpp_wire::{ClientId, GrantId, StreamName};

use self::output::Printer;
use crate::args::DataArgs;
use crate::exit::Usage;
use crate::{moment, terminal};

pub(crate) use output::print_table;

/// Show who read what, and what was refused
///
/// Every read through any door is entered in the ledger before its answer leaves. Entries name streams, records and
/// fields, never their content. On a terminal, a small calendar shows how much was read on which days.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp audit --client notes-assistant --since 7d
  pdpp audit --follow
  pdpp audit --refused --format csv > refused.csv")]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Only this client: its id, or the name you gave it
    #[arg(long, value_name = "ID")]
    client: Option<String>,
    /// Only this grant
    #[arg(long, value_name = "ID")]
    grant: Option<String>,
    /// Only this stream
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    /// Not before: a date, or how long ago (7d)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Before: a date, or how long ago
    #[arg(long, value_name = "TIME", conflicts_with = "follow")]
    until: Option<String>,
    /// Only what was refused
    #[arg(long)]
    refused: bool,
    /// At most so many entries, newest first
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
    /// Go on and print what is entered from now on, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Short for --format jsonl
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// One JSON object per line
    Jsonl,
    /// For spreadsheets
    Csv,
}

pub(crate) async fn run(args: AuditArgs) -> anyhow::Result<()> {
    let personal = args.data.open_ledger().await?;
    let format = if args.json { Format::Jsonl } else { args.format };
    let mut filter = filter(&args, &personal)?;
    let mut entries = personal.store().list_disclosures(personal.subject(), &filter).await?;
    // A client may be named as it was when its grant was made.
    if let (true, Some(name)) = (entries.is_empty(), &args.client) {
        filter.client_id = Some(local_client_id(name));
        entries = personal.store().list_disclosures(personal.subject(), &filter).await?;
    }
    let mut printer = Printer::new(format);
    if args.follow {
        entries.reverse();
        return follow::run(&personal, filter, entries, &mut printer).await;
    }
    if format == Format::Table && terminal::is_watched() {
        let days = personal.store().count_by_day(personal.subject(), &filter).await?;
        activity::print(&days, personal.clock().now())?;
    }
    printer.print(&entries)
}

fn filter(args: &AuditArgs, personal: &Personal) -> Result<DisclosureFilter, Usage> {
    let now = personal.clock().now();
    let wrong = |fault: pdpp_wire::IdFault| Usage(fault.to_string());
    Ok(DisclosureFilter {
        client_id: args.client.clone().map(ClientId::parse).transpose().map_err(wrong)?,
        grant_id: args.grant.clone().map(GrantId::parse).transpose().map_err(wrong)?,
        stream: args.stream.clone().map(StreamName::parse).transpose().map_err(wrong)?,
        since: args.since.as_deref().map(|text| moment::parse_past(text, now)).transpose()?,
        until: args.until.as_deref().map(|text| moment::parse_past(text, now)).transpose()?,
        refused_only: args.refused,
        limit: args.limit,
    })
}
