//! `pdpp audit`: who read what, when, and what was refused.

use clap::Args;
use pdpp_auth::local_client_id;
use pdpp_server::{Personal, owner_subject};
use pdpp_store::{Disclosure, DisclosureFilter};
use pdpp_wire::{ClientId, GrantId, StreamName};
use serde_json::{Value, json};

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::{moment, terminal};

/// Show who read what, and what was refused
///
/// Every read through any door is entered in the ledger before its answer leaves. Entries name
/// streams, records and fields, never their content.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp audit --client notes-assistant --since 7d")]
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
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only what was refused
    #[arg(long)]
    refused: bool,
    /// At most so many entries, newest first
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
    /// Print JSON, one entry a line
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: AuditArgs) -> anyhow::Result<()> {
    let personal = Personal::open_existing(&args.data.path()?)?;
    let mut filter = filter(&args, &personal)?;
    let mut entries = personal.store().list_disclosures(&owner_subject(), &filter).await?;
    // A client may be named as it was when its grant was made.
    if let (true, Some(name)) = (entries.is_empty(), &args.client) {
        filter.client_id = Some(local_client_id(name));
        entries = personal.store().list_disclosures(&owner_subject(), &filter).await?;
    }
    if args.json {
        return entries.iter().try_for_each(|entry| terminal::json_line(&shown(entry)));
    }
    let rows: Vec<[String; 6]> = entries.iter().map(row).collect();
    terminal::table(["WHEN", "WHO", "DOOR", "READ", "RECORDS", "OUTCOME"], &rows)?;
    Ok(())
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

/// An entry as JSON, with its time as people write it.
fn shown(entry: &Disclosure) -> Value {
    let mut value = json!(entry);
    value["at"] = json!(entry.at.to_rfc3339());
    value
}

fn row(entry: &Disclosure) -> [String; 6] {
    let who = entry.client_id.as_ref().map_or_else(|| "owner".to_owned(), ToString::to_string);
    let door = json!(entry.door).as_str().unwrap_or_default().to_owned();
    let mut read = entry.action.clone();
    if let Some(stream) = &entry.stream {
        read = format!("{read} {stream}");
    }
    if let [key] = entry.record_keys.as_slice() {
        read = format!("{read} {key}");
    }
    if let Some((start, end)) = entry.char_range {
        read = format!("{read} chars {start}–{end}");
    }
    let outcome = entry.refused.map_or_else(|| "served".to_owned(), |code| format!("refused: {code}"));
    [entry.at.to_rfc3339(), who, door, read, entry.record_count.to_string(), outcome]
}
