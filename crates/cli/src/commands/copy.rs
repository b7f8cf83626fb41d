//! `pdpp copy`: a whole store moved to another place, and read back.

mod places;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use pdpp_auth::NOBODY;
use pdpp_server::Personal;
use pdpp_store::Transfer;
use pdpp_store::transfer::{Compared, Progress, compare, copy};
use pdpp_wire::SubjectId;
use serde_json::json;

use self::places::{Places, open};
use crate::args::DataArgs;
use crate::screen::{counted, number};
use crate::terminal;

/// Owners asked for at a time.
const AT_ONCE: u32 = 500;

/// Copy everything from one place to another: a data directory, or a database
///
/// Records, attachments, grants, tokens, subscriptions and the ledger of every owner, in bounded memory, and then both
/// are read whole and compared. Let nobody write to either meanwhile: stop the servers first. One that was interrupted
/// goes on where it was when the same is run again. What is copied stays where it was.
///
/// The place that is left out is the database of --database-url or of the settings.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  pdpp copy --from ~/.local/share/pdpp --to postgres://pdpp:PASSWORD@db.example.org/pdpp
  PDPP_DATABASE_URL=postgres://… pdpp copy --to /srv/pdpp")]
pub(crate) struct CopyArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Where it is: a data directory, or `postgres://USER:PASSWORD@HOST/NAME`
    #[arg(long, value_name = "PLACE")]
    from: Option<String>,
    /// Where it goes; a directory is made, a database must have been prepared with `pdpp migrate`
    #[arg(long, value_name = "PLACE")]
    to: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: CopyArgs) -> anyhow::Result<ExitCode> {
    let places = Places::of(&args.data, args.from.as_deref(), args.to.as_deref())?;
    let (from, to) = open(&places).await?;
    let bar = progress(args.json);
    let owners = owners(&from).await?;
    let (mut rows, mut different) = (0, Vec::new());
    for whose in owners.iter().map(Some).chain([None]) {
        let compared = one(&from, &to, whose, &bar).await?;
        for part in compared {
            rows += part.from.0;
            if !part.is_equal() {
                different.push((whose.cloned(), part));
            }
        }
    }
    bar.finish_and_clear();
    // The last two are nobody's ledger and what belongs to no owner.
    let count = owners.len() as u64 - 1;
    if args.json {
        let names: Vec<_> = different.iter().map(|(whose, part)| said(whose.as_ref(), part)).collect();
        terminal::json(&json!({
            "from": from.place(), "to": to.place(), "owners": count, "rows": rows, "different": names,
        }))?;
    } else {
        let what = format!("{} of {}", counted(rows, "row"), counted(count, "owner"));
        let verdict = if different.is_empty() { "read back and found equal" } else { "not equal" };
        terminal::line(&format!("{} to {}: {what}; {verdict}", from.place(), to.place()))?;
        different.iter().try_for_each(|(whose, part)| terminal::line(&said(whose.as_ref(), part)))?;
        for advice in places::advice(&places) {
            terminal::note(&advice);
        }
    }
    if different.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!("something was written meanwhile, or was there before; copy into an empty place while nothing runs")
}

/// Whoever has anything, and the ledger of what nobody signed for.
async fn owners(from: &Personal) -> anyhow::Result<Vec<SubjectId>> {
    let mut owners = Vec::new();
    loop {
        let more = from.store().list_subjects(owners.last(), AT_ONCE).await?;
        if more.is_empty() {
            break;
        }
        owners.extend(more);
    }
    owners.push(SubjectId::parse(NOBODY)?);
    Ok(owners)
}

/// Copies what is not there yet, and compares.
async fn one(
    from: &Personal,
    to: &Personal,
    whose: Option<&SubjectId>,
    bar: &ProgressBar,
) -> anyhow::Result<Vec<Compared>> {
    let (source, target) = (from.store(), to.store());
    let (source, target): (&dyn Transfer, &dyn Transfer) = (&*source, &*target);
    let name = whose.map_or("everybody", SubjectId::as_str);
    let tell = |doing: &'static str| {
        move |at: Progress| {
            bar.set_message(format!("{doing} {name}: {} ({} rows)", at.part.name(), number(at.rows)));
        }
    };
    // An earlier run that was interrupted left a mark in what it was copying, and none in what it had finished.
    let is_new = match whose {
        Some(owner) if owner.as_str() != NOBODY => !to.store().has_subject(owner).await?,
        _ => false,
    };
    if !is_new && target.find_mark(whose).await?.is_none() {
        let compared = compare(source, target, whose, tell("looking at")).await?;
        if compared.iter().all(Compared::is_equal) || compared.iter().any(|part| part.to.0 > 0) {
            return Ok(compared);
        }
    }
    copy(source, target, whose, &from.place(), tell("copying")).await?;
    Ok(compare(source, target, whose, tell("comparing")).await?)
}

fn said(whose: Option<&SubjectId>, part: &Compared) -> String {
    let whose = whose.map_or("no owner", SubjectId::as_str);
    format!("{} of {whose}: {} and {} rows differ", part.part.name(), part.from.0, part.to.0)
}

fn progress(quiet: bool) -> ProgressBar {
    if quiet || !terminal::is_watched() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
    let bar = ProgressBar::new_spinner();
    let bar = match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
