//! `pdpp setup`: puts the adapter into the configuration of an assistant's program, and takes it out again.
//!
//! The exact change is shown and agreed to once, the old file is kept beside the new one, and what was written is
//! started and asked for its tools before it counts as done.

mod change;
mod grant;
mod host;
mod json_text;
mod probe;
mod toml_text;

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use pdpp_auth::DEFAULT_PURPOSE;
use pdpp_client::ProviderUrl;

use crate::args::DataArgs;
use crate::exit::Usage;
use crate::passphrase::PassphraseArgs;
use crate::terminal;
use change::Change;
use host::{Entry, Host};

/// What an assistant with a shell can do, which no grant can prevent.
const SHELL_WARNING: &str = "Know this: a grant binds what the assistant reads through pdpp. An assistant that may run \
                             commands under your account can read your data directory itself, grant or no grant.";

/// Offer your data to an assistant's program: change its configuration, after showing the change
///
/// Say what it may read with --stream, as for `pdpp grant create`, or with --grant for a grant you have, or with
/// --provider-url for a server you are connected to. On a terminal, what is not said is asked. --remove undoes it.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  pdpp setup claude-code\n  pdpp setup claude-code --stream messages:author,text,sent_at --since 90d\n  \
                  pdpp setup cursor --grant grt_0123456789abcdef\n  pdpp setup codex --remove"
)]
pub(crate) struct SetupArgs {
    /// The assistant's program
    #[arg(value_enum, value_name = "HOST")]
    host: HostName,
    #[command(flatten)]
    data: DataArgs,
    /// Read under this grant; may be repeated
    #[arg(long, value_name = "ID", conflicts_with_all = ["stream", "provider_url"])]
    grant: Vec<String>,
    /// Make a grant for this: [CONNECTION/]NAME[:FIELD,...]; may be repeated; `*` means every stream
    #[arg(long, value_name = "STREAM", conflicts_with = "provider_url")]
    stream: Vec<String>,
    /// The connection, when a source has several: its id or label
    #[arg(long, value_name = "CONNECTION", requires = "stream")]
    connection: Option<String>,
    /// Only records from this time on: a date, or how long ago (90d)
    #[arg(long, value_name = "TIME", requires = "stream")]
    since: Option<String>,
    /// Only records before this time
    #[arg(long, value_name = "TIME", requires = "stream")]
    until: Option<String>,
    /// When the grant ends: 30d, 12h, a date, or `never` [default: 30d]
    #[arg(long, value_name = "TIME", requires = "stream")]
    expires: Option<String>,
    /// What for, as an absolute URI
    #[arg(long, value_name = "URI", default_value = DEFAULT_PURPOSE)]
    purpose: String,
    /// Read from this server instead, with the credential `pdpp connect` keeps
    #[arg(long, value_name = "URL")]
    provider_url: Option<String>,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "pdpp")]
    name: String,
    /// Agree without being asked
    #[arg(long)]
    yes: bool,
    /// Take the entry out again
    #[arg(long, conflicts_with_all = ["grant", "stream", "provider_url"])]
    remove: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HostName {
    ClaudeCode,
    ClaudeDesktop,
    Codex,
    Cursor,
    Vscode,
}

pub(crate) async fn run(args: SetupArgs) -> anyhow::Result<ExitCode> {
    let host = Host::find(args.host)?;
    if args.name.is_empty() || !args.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
        return Err(Usage("--name takes letters, digits, - and _".to_owned()).into());
    }
    if args.remove { remove(&args, &host) } else { install(&args, &host).await }
}

async fn install(args: &SetupArgs, host: &Host) -> anyhow::Result<ExitCode> {
    let before = change::read(&host.file)?;
    // What cannot be edited is found out before a grant is made.
    host.edit(before.as_deref(), &args.name, Some(&Entry::example()))?;
    let source = grant::choose(args).await?;
    let entry = Entry { command: program()?, args: source.arguments.clone() };
    let after = host.edit(before.as_deref(), &args.name, Some(&entry))?;
    let change = Change::new(host, before, Some(after));
    if change.is_nothing() {
        terminal::line(&format!("{} is already set up in {}", host.title, host.file.display()))?;
    } else {
        change.show()?;
        terminal::note(SHELL_WARNING);
        if !agreed(args, &format!("Write this to {}?", host.file.display()))? {
            source.take_back().await?;
            bail!(nothing_changed(args));
        }
        let has_entry =
            change.before().is_some_and(|text| host.entry(text, &args.name).is_ok_and(|one| one.is_some()));
        if let Err(error) = change.apply(!has_entry) {
            source.take_back().await?;
            return Err(error);
        }
    }
    let written = change::read(&host.file)?.unwrap_or_default();
    let configured =
        host.entry(&written, &args.name)?.context("the entry is not in the file that was written")?;
    match probe::tools(&configured).await {
        Ok(tools) => {
            terminal::line(&format!(
                "{} can use pdpp: it answered with {tools} tools. Restart {} to see them.",
                host.title, host.title
            ))?;
            if let Some(said) = &source.said {
                terminal::line(said)?;
            }
            terminal::line(&format!("Undo it with: pdpp setup {} --remove", host.word))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problem) => {
            change.undo()?;
            source.take_back().await?;
            bail!("the adapter does not start as configured ({problem}); the change was undone")
        }
    }
}

fn remove(args: &SetupArgs, host: &Host) -> anyhow::Result<ExitCode> {
    let before = change::read(&host.file)?;
    let found = before.as_deref().map(|text| host.entry(text, &args.name)).transpose()?.flatten();
    let Some(entry) = found else {
        let place = host.file.display();
        terminal::line(&format!("{} has no entry '{}' in {place}", host.title, args.name))?;
        return Ok(ExitCode::SUCCESS);
    };
    let after = change::original(host, before.as_deref(), &args.name, &entry)?;
    let change = Change::new(host, before, after);
    change.show()?;
    if !agreed(args, &format!("Write this to {}?", host.file.display()))? {
        bail!(nothing_changed(args));
    }
    change.apply(false)?;
    change::forget_backup(&host.file)?;
    terminal::line(&format!("{} no longer has pdpp. Restart it.", host.title))?;
    for id in entry.grants() {
        terminal::line(&format!("The grant is still there; end it with: pdpp grant revoke {id}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn agreed(args: &SetupArgs, question: &str) -> anyhow::Result<bool> {
    Ok(args.yes || terminal::confirm(question)?)
}

fn nothing_changed(args: &SetupArgs) -> Usage {
    let hint = if args.yes { "" } else { "; --yes agrees without being asked" };
    Usage(format!("nothing was changed{hint}"))
}

/// The program that runs, by its whole path: a host started from a desktop knows no search path.
fn program() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("the path of this program is not known")?;
    path.into_os_string().into_string().ok().context("the path of this program cannot be written as text")
}

/// The address of a connected server, checked.
fn provider(text: &str) -> Result<ProviderUrl, Usage> {
    ProviderUrl::parse(text).map_err(|error| Usage(error.to_string()))
}
