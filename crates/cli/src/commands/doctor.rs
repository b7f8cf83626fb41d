//! `pdpp doctor`: what is wrong, and what to do about it.

mod access;
mod directory;
mod network;
mod state;

use std::process::ExitCode;

use clap::Args;
use pdpp_access::Clock as _;
use pdpp_server::{CONFIG_FILE, ConfigFile, Personal, SystemClock};
use serde::Serialize;
use serde_json::json;

use crate::args::DataArgs;
use crate::credential::CacheArgs;
use crate::screen::{counted, styled};
use crate::terminal::{self, safe};

/// Find out what is wrong, and what to do about it
///
/// Looks at the data directory, the disk, the store and its index, grants that end soon, the clock, the address a server
/// would listen on, and the credentials `pdpp connect` keeps. Changes nothing. Ends with 1 when something is wrong.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    cache: CacheArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What one look found.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    said: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Well,
    /// Worth knowing, not wrong.
    Note,
    Wrong,
}

impl Check {
    fn well(name: &'static str, said: impl Into<String>) -> Self {
        Self { name, state: State::Well, said: said.into(), fix: None }
    }

    fn note(name: &'static str, said: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, state: State::Note, said: said.into(), fix: Some(fix.into()) }
    }

    fn wrong(name: &'static str, said: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, state: State::Wrong, said: said.into(), fix: Some(fix.into()) }
    }
}

pub(crate) async fn run(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let data = args.data.path()?;
    let now = SystemClock.now();
    // Before the store is opened, which would put modes right by itself.
    let mut checks = directory::look(&data);
    let settings = match ConfigFile::read(&data) {
        Ok(settings) => settings,
        Err(error) => {
            checks.push(Check::wrong(
                "settings",
                error.to_string(),
                format!("correct or remove {CONFIG_FILE}"),
            ));
            ConfigFile::default()
        }
    };
    if data.join("store.db").exists() {
        match Personal::open_existing(&data) {
            Ok(personal) => {
                checks.extend(state::look(&personal).await);
                checks.extend(access::look(&personal, now).await);
            }
            Err(error) => checks.push(state::unusable(&anyhow::Error::from(error))),
        }
    }
    checks.extend(network::look(&data, &settings).await);
    checks.extend(access::credentials(&args.cache, now));
    let wrong = checks.iter().filter(|check| check.state == State::Wrong).count() as u64;
    if args.json {
        terminal::json(&json!({"findings": wrong, "checks": checks}))?;
    } else {
        checks.iter().try_for_each(print)?;
        match wrong {
            0 => terminal::line("nothing is wrong")?,
            some => terminal::line(&counted(some, "finding"))?,
        }
    }
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(check: &Check) -> std::io::Result<()> {
    let (mark, style) = match check.state {
        State::Well => ("ok", "32"),
        State::Note => ("note", "33"),
        State::Wrong => ("WRONG", "1;31"),
    };
    let said = format!("{}: {}", check.name, check.said);
    terminal::verbatim(&format!("{}{} {}", styled(style, mark), " ".repeat(6 - mark.len()), safe(&said)))?;
    match &check.fix {
        Some(fix) => terminal::line(&format!("       → {fix}")),
        None => Ok(()),
    }
}
