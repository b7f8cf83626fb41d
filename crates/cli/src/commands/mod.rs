//! One command, one file.

pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod collect;
pub(crate) mod completions;
pub(crate) mod connect;
pub(crate) mod connections;
pub(crate) mod copy;
pub(crate) mod demo;
pub(crate) mod disconnect;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod extract_text;
pub(crate) mod grant;
pub(crate) mod import;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod owner;
pub(crate) mod read;
pub(crate) mod reference;
pub(crate) mod restore;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod streams;
pub(crate) mod subjects;
pub(crate) mod token;
pub(crate) mod verify;

use std::process::ExitCode;

use crate::args::{Cli, Command};

/// Runs the command.
pub(crate) async fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Demo(args) => demo::run(args).await?,
        Command::Serve(args) => serve::run(args).await?,
        Command::Import(args) => return import::run(args).await,
        Command::Collect(args) => return collect::run(args).await,
        Command::Export(args) => return export::run(args).await,
        Command::ExtractText(args) => extract_text::run(&args)?,
        Command::Connections(args) => connections::run(args).await?,
        Command::Streams(args) => streams::run(args).await?,
        Command::Grant(args) => grant::run(args).await?,
        Command::Owner(args) => owner::run(args).await?,
        Command::Subjects(args) => subjects::run(args).await?,
        Command::Audit(args) => audit::run(args).await?,
        Command::Events(args) => events::run(args).await?,
        Command::Backup(args) => backup::run(args).await?,
        Command::Restore(args) => restore::run(args).await?,
        Command::Copy(args) => return copy::run(args).await,
        Command::Migrate(args) => migrate::run(args).await?,
        Command::Mcp(args) => mcp::run(args).await?,
        Command::Read(args) => read::run(args).await?,
        Command::Connect(args) => connect::run(args).await?,
        Command::Token(args) => token::run(args).await?,
        Command::Disconnect(args) => disconnect::run(args).await?,
        Command::Setup(args) => return setup::run(args).await,
        Command::Verify(args) => return verify::run(args).await,
        Command::Doctor(args) => return doctor::run(args).await,
        Command::Completions(args) => completions::run(&args)?,
        Command::Man(args) => man::run(&args)?,
        Command::Reference(args) => reference::run(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}
