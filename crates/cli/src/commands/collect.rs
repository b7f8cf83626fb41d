//! `pdpp collect`: run a connector and keep what it collects.
//!
//! A connector is any program that speaks the collection protocol on its standard streams: one JSON object per line,
//! `START` to it, records and progress back. It is given no token, no grant and none of our settings; what it emits
//! outside the streams it was asked for is dropped, and where it left off is kept only when it ended well.

mod interaction;
mod message;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use indicatif::ProgressBar;
use pdpp_access::random_hex;
use pdpp_server::{Personal, SystemEntropy};
use pdpp_store::StateScope;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use self::run::{Ending, Run};
use super::import::{Destination, Receipt, index, read_manifest, store};
use crate::args::DataArgs;
use crate::exit::Usage;
use crate::terminal;

/// Run a connector and keep what it collects
///
/// The connector is any program that speaks the collection protocol on its standard streams. Questions it has for you
/// are asked on the terminal. The next run goes on where this one ended.
#[derive(Args, Debug)]
#[command(after_help = "Example: pdpp collect --manifest bank.json -- ./bank-connector --headless")]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    data: DataArgs,
    /// The connector's manifest, which declares its streams
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// The connection to collect into: its id, its label, or a new label
    #[arg(long, value_name = "NAME")]
    connection: Option<String>,
    /// Only this stream; may repeat [default: all]
    #[arg(long, value_name = "NAME")]
    stream: Vec<String>,
    /// Collect everything again instead of what is new
    #[arg(long)]
    full: bool,
    /// Let this manifest take the place of an earlier one with the same key
    #[arg(long)]
    replace: bool,
    /// Print the receipt as JSON
    #[arg(long)]
    json: bool,
    /// The connector's program and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) async fn run(args: CollectArgs) -> anyhow::Result<ExitCode> {
    let manifest = Arc::new(read_manifest(&args.manifest)?);
    for stream in &args.stream {
        if manifest.find_stream(stream).is_none() {
            return Err(Usage(format!("the manifest declares no stream '{stream}'")).into());
        }
    }
    let personal = args.data.open_or_make().await?;
    let mut destination =
        Destination::register(&personal, &manifest, args.connection.as_deref(), args.replace).await?;
    let connection_id = destination.connection_id(&personal).await?;
    let scope = StateScope {
        subject_id: personal.subject().clone(),
        connector_key: manifest.key().clone(),
        connection_id: Some(connection_id),
        grant_id: None,
    };
    let state = if args.full { Map::new() } else { kept_state(&personal, &scope).await? };
    let streams: Vec<String> = match args.stream.as_slice() {
        [] => manifest.streams().iter().map(|stream| stream.name().to_string()).collect(),
        some => some.to_vec(),
    };
    let run = Run {
        command: args.command,
        start: start(&streams, state),
        streams,
        manifest,
        now: personal.clock().now(),
    };
    let (sender, steps) = mpsc::channel(4);
    let bar = progress(args.json);
    let running = tokio::task::spawn_blocking({
        let bar = bar.clone();
        move || run.follow(sender, &bar)
    });
    let mut receipt = Receipt::new("collect");
    store(&personal, &mut destination, steps, "", &mut receipt, &bar).await?;
    let ending = running.await.context("the run stopped")??;
    bar.finish_and_clear();
    let states = ending.states_to_keep();
    if !states.is_empty() {
        personal.store().put_state(&scope, &states).await?;
    }
    index(&personal, args.json).await;
    receipt.print(args.json)?;
    Ok(told(&ending))
}

/// Where the last run ended, by stream; names of our own are left out.
async fn kept_state(personal: &Personal, scope: &StateScope) -> anyhow::Result<Map<String, Value>> {
    let kept = personal.store().get_state(scope).await?.streams;
    Ok(kept.into_iter().filter(|(name, _)| !name.starts_with('@')).collect())
}

fn start(streams: &[String], state: Map<String, Value>) -> Value {
    let scope: Vec<Value> = streams.iter().map(|name| json!({"name": name})).collect();
    let mode = if state.is_empty() { "full_refresh" } else { "incremental" };
    json!({
        "type": "START", "run_id": format!("run_{}", random_hex(&SystemEntropy, 12)), "collection_mode": mode,
        "scope": {"streams": scope}, "state": if state.is_empty() { Value::Null } else { Value::Object(state) },
        "bindings": {"interactive": {}, "filesystem": {}, "network": {}},
    })
}

fn progress(quiet: bool) -> ProgressBar {
    if quiet || !terminal::is_watched() { ProgressBar::hidden() } else { ProgressBar::new_spinner() }
}

fn told(ending: &Ending) -> ExitCode {
    match ending.problem() {
        None => ExitCode::SUCCESS,
        Some(problem) => {
            terminal::note(&format!("the connector did not succeed: {problem}"));
            ExitCode::FAILURE
        }
    }
}
