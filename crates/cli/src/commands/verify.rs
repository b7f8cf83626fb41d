//! `pdpp verify`: whether what is kept is whole, and the index says the same as the store.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use pdpp_server::Personal;
use serde_json::json;

use crate::args::DataArgs;
use crate::screen::{counted, number};
use crate::{asking, terminal};

/// What is said of an index that was whole again before it could be compared.
const REPLACED: &str = "search: the index could not be read and was built anew from the records";

/// Check the data directory for damage, and repair what can be
///
/// Reads both databases and the bytes of every attachment, looks for files that belong to no record, and compares the
/// search index with the records it was made from. Nothing is changed without --repair, or your yes on a terminal.
/// Repairing counts anew, fills columns anew, removes files that belong to nobody, and builds the index anew; what only
/// a backup can bring back is said. Ends with 1 when something is wrong and stays so.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Repair what can be made again from the records, and build the search index anew
    #[arg(long)]
    repair: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    args.data.directory("verify")?;
    let personal = args.data.open().await?;
    if args.repair {
        return repair(&personal, args.json).await;
    }
    let mut findings = personal.directory("verify")?.verify().await?;
    let engine = personal.search_engine()?;
    // Whoever opens an index that cannot be read begins it anew; the comparison below makes it whole.
    let replaced = engine.was_replaced();
    if let Some(difference) = personal.compare_index(&engine).await? {
        findings.push(format!("search: {difference}; `pdpp verify --repair` builds the index anew"));
    }
    let passages = engine.passages();
    drop(engine);
    if args.json {
        let repaired: &[&str] = if replaced { &[REPLACED] } else { &[] };
        terminal::json(&json!({"findings": findings, "repaired": repaired, "passages": passages}))?;
        return Ok(code(&findings));
    }
    if replaced {
        terminal::line(REPLACED)?;
    }
    tell(&findings, "checked", passages)?;
    if !findings.is_empty() && asking::is_answered() && terminal::confirm("Repair what can be repaired?")? {
        return repair(&personal, false).await;
    }
    Ok(code(&findings))
}

/// Repairs, and then says what is left.
async fn repair(personal: &Personal, as_json: bool) -> anyhow::Result<ExitCode> {
    let done = personal.directory("verify")?.repair().await?;
    let engine = personal.search_engine()?;
    engine.rebuild().await.context(
        "the search index cannot be built anew; if a server is running on this data, stop it first",
    )?;
    let passages = engine.passages();
    let findings = personal.directory("verify")?.verify().await?;
    if as_json {
        terminal::json(&json!({"findings": findings, "repaired": done, "passages": passages}))?;
        return Ok(code(&findings));
    }
    done.iter().try_for_each(|done| terminal::line(done))?;
    tell(&findings, "built anew", passages)?;
    if !findings.is_empty() {
        terminal::note("What is left can only come from a backup or the export it was loaded from.");
    }
    Ok(code(&findings))
}

fn tell(findings: &[String], index: &str, passages: u64) -> std::io::Result<()> {
    findings.iter().try_for_each(|finding| terminal::line(finding))?;
    let index = format!("search index {index}, {} passages", number(passages));
    match findings.len() {
        0 => terminal::line(&format!("all is well; {index}")),
        count => terminal::line(&format!("{}; {index}", counted(count as u64, "finding"))),
    }
}

fn code(findings: &[String]) -> ExitCode {
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
