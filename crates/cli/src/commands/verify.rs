//! `pdpp verify`: whether what is kept is whole, and the index says the same as the store.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use pdpp_server::Personal;
use serde_json::json;

use crate::args::DataArgs;
use crate::terminal;

/// Check the data directory for damage, and repair what can be
///
/// Reads both databases, looks for the bytes of every blob, and compares the search index with the records it
/// was made from. Nothing is changed without --repair, which builds the index anew. Ends with 1 when
/// something is wrong.
#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Build the search index anew from the records
    #[arg(long)]
    repair: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let personal = Personal::open_existing(&args.data.path()?)?;
    let mut findings = personal.verify().await?;
    let engine = personal.search_engine()?;
    if args.repair {
        engine.rebuild().await.context(
            "the search index cannot be built anew; if a server is running on this data, stop it first",
        )?;
    } else if let Some(difference) = personal.compare_index(&engine).await? {
        findings.push(format!("search: {difference}; `pdpp verify --repair` builds the index anew"));
    }
    let passages = engine.passages();
    if args.json {
        terminal::json(&json!({"findings": findings, "repaired": args.repair, "passages": passages}))?;
    } else {
        for finding in &findings {
            terminal::line(finding)?;
        }
        let index = if args.repair { "built anew" } else { "checked" };
        match findings.len() {
            0 => terminal::line(&format!("all is well; search index {index}, {passages} passages"))?,
            count => terminal::line(&format!("{count} findings; search index {index}, {passages} passages"))?,
        }
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
