//! `pdpp doctor`: what is wrong, and what to do about it.

mod access;
mod directory;
mod network;
mod state;

use std::process::ExitCode;

use clap::Args;
use pdpp_access::Clock as _;
use pdpp_server::{CONFIG_FILE, ConfigFile, Personal, StoreConfig, SystemClock};
use pdpp_wire::Instant;
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
    let (settings, wrong) = match ConfigFile::read(&data) {
        Ok(settings) => (settings, None),
        Err(error) => {
            let fix = format!("correct or remove {CONFIG_FILE}");
            (ConfigFile::default(), Some(Check::wrong("settings", error.to_string(), fix)))
        }
    };
    let settings = args.data.kept.settings().over(settings);
    let config = settings.store(&data);
    let database = config.as_ref().ok().and_then(|config| config.database.as_ref());
    let mut checks = directory::look(&data, database.is_some());
    checks.extend(wrong);
    checks.extend(database.map(|database| Check::well("database", database.url.to_string())));
    match &config {
        Ok(config) if config.database.is_some() || data.join("store.db").exists() => {
            checks.extend(look_inside(config, now).await);
        }
        Ok(_) => {}
        Err(error) => checks.push(Check::wrong("settings", error.to_string(), "correct the setting")),
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

async fn look_inside(config: &StoreConfig, now: Instant) -> Vec<Check> {
    let opened = async {
        let opened = Personal::open_existing_home(config).await?;
        opened.for_local_command(config.subject.as_ref()).await
    };
    match opened.await {
        Ok(personal) => {
            let mut checks = state::look(&personal).await;
            checks.extend(access::look(&personal, now).await);
            checks
        }
        Err(error) => vec![state::unusable(&anyhow::Error::from(error))],
    }
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
