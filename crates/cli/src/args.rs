//! The command line, said once: help, completions and the reference pages come from here.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use directories::ProjectDirs;
use pdpp_auth::NOBODY;
use pdpp_server::{NeedsDirectory, Personal};

use crate::commands::{
    audit, backup, collect, completions, connect, connections, copy, demo, disconnect, doctor, events,
    export, extract_text, grant, import, man, mcp, migrate, owner, read, reference, restore, serve, setup,
    streams, subjects, token, verify,
};
use crate::kept::KeptArgs;
use crate::screen::quoted;

/// Keep your data in one place, and let assistants read small, provable pieces of it.
///
/// Load an export with `pdpp import`, hand out a narrow grant with `pdpp grant create`, serve it
/// with `pdpp serve`, and see what was read with `pdpp audit`. `pdpp demo` shows all of it on
/// invented data.
#[derive(Parser, Debug)]
#[command(name = "pdpp", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Demo(demo::DemoArgs),
    Serve(serve::ServeArgs),
    Import(import::ImportArgs),
    Collect(collect::CollectArgs),
    Export(export::ExportArgs),
    Connections(connections::ConnectionsArgs),
    Streams(streams::StreamsArgs),
    Grant(grant::GrantArgs),
    Owner(owner::OwnerArgs),
    Subjects(subjects::SubjectsArgs),
    Audit(audit::AuditArgs),
    Events(events::EventsArgs),
    Mcp(mcp::McpArgs),
    Setup(setup::SetupArgs),
    Connect(connect::ConnectArgs),
    Token(token::TokenArgs),
    Disconnect(disconnect::DisconnectArgs),
    Read(read::ReadArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Copy(copy::CopyArgs),
    Migrate(migrate::MigrateArgs),
    Verify(verify::VerifyArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    #[command(hide = true)]
    ExtractText(extract_text::ExtractTextArgs),
    #[command(hide = true)]
    Reference(reference::ReferenceArgs),
}

/// Which data directory, and whose data.
#[derive(Args, Clone, Debug)]
pub(crate) struct DataArgs {
    /// The data directory [default: the platform's data directory for pdpp]
    #[arg(long, value_name = "DIR", env = "PDPP_DATA")]
    data: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) kept: KeptArgs,
}

impl DataArgs {
    /// The directory given, or the platform's.
    pub(crate) fn path(&self) -> anyhow::Result<PathBuf> {
        match &self.data {
            Some(path) => Ok(path.clone()),
            None => usual_data()
                .context("this account has no home directory; say where the data is with --data DIR"),
        }
    }

    /// Opens what is there, for the owner who is meant.
    pub(crate) async fn open(&self) -> anyhow::Result<Personal> {
        self.kept.open(&self.path()?).await
    }

    /// The same for whoever reads a ledger, which may also be the one of what nobody signed for.
    pub(crate) async fn open_ledger(&self) -> anyhow::Result<Personal> {
        let config = self.kept.config(&self.path()?)?;
        match &config.subject {
            Some(name) if name.as_str() == NOBODY => Ok(Personal::open_existing_home(&config).await?),
            _ => self.open().await,
        }
    }

    /// The same, making a data directory that is not there.
    pub(crate) async fn open_or_make(&self) -> anyhow::Result<Personal> {
        self.kept.open_or_make(&self.path()?).await
    }

    /// The directory, for a command that works on its files; not where the data is in a database.
    pub(crate) fn directory(&self, command: &'static str) -> anyhow::Result<PathBuf> {
        let path = self.path()?;
        match self.kept.config(&path)?.database {
            None => Ok(path),
            Some(_) => Err(NeedsDirectory(command).into()),
        }
    }

    /// A directory that is open already, for the owner who is meant.
    pub(crate) async fn meant(&self, opened: Personal) -> anyhow::Result<Personal> {
        let named = self.kept.config(&self.path()?)?.subject;
        let opened = match named.clone() {
            Some(name) => opened.for_subject(name),
            None => opened,
        };
        Ok(opened.for_local_command(named.as_ref()).await?)
    }

    /// What must follow a command that somebody else will run on the same data: nothing where it lies in its usual
    /// place, because the variable that says otherwise may be unknown there.
    pub(crate) fn flag(&self) -> String {
        let data = match &self.data {
            Some(path) if Some(path) != usual_data().as_ref() => {
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                format!(" --data {}", quoted(&whole.display().to_string()))
            }
            _ => String::new(),
        };
        let subject = self.kept.subject().map(|name| format!(" --subject {name}"));
        format!("{data}{}{}", subject.unwrap_or_default(), self.kept.database_flag())
    }
}

fn usual_data() -> Option<PathBuf> {
    ProjectDirs::from("", "", "pdpp").map(|dirs| dirs.data_dir().to_owned())
}
