//! What the run happens in: a Postgres, an archive in it, and grants over small parts of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use crate::postgres::RunningPostgres;
use crate::process;
use crate::workspace::Workspace;

/// Grants that stay, and are read under all the time.
const KEPT: usize = 12;
/// Grants that are revoked on the way.
const REVOKED: usize = 6;

pub(super) struct World {
    pub(super) pdpp: PathBuf,
    pub(super) scratch: TempDir,
    /// Taken while the database is being ended and started again.
    pub(super) postgres: Mutex<RunningPostgres>,
    database: String,
    pub(super) owner_token: String,
    pub(super) kept: Vec<Granted>,
    pub(super) revoked: Vec<Granted>,
}

/// A grant and what it shows.
#[derive(Clone, Debug)]
pub(super) struct Granted {
    pub(super) grant_id: String,
    pub(super) token: String,
    pub(super) shows: Shows,
}

/// What an answer under a grant may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Only id, text and time of messages.
    Words,
    /// Only channels.
    Channels,
    /// Only messages before this time.
    Before(&'static str),
}

impl Shows {
    const ALL: [Self; 3] = [Self::Words, Self::Channels, Self::Before("2025-12-01T00:00:00Z")];

    fn flags(self) -> Vec<&'static str> {
        match self {
            Self::Words => vec!["--stream", "messages:id,text,sent_at"],
            Self::Channels => vec!["--stream", "channels"],
            Self::Before(until) => vec!["--stream", "messages", "--until", until],
        }
    }
}

impl World {
    pub(super) fn prepare(workspace: &Workspace) -> Result<Self> {
        let pdpp = workspace.build_pdpp()?;
        let postgres = RunningPostgres::start_durable()?;
        let database = postgres.make_database("archive")?;
        let scratch = tempfile::Builder::new().prefix("pdpp-nodes-").tempdir()?;
        std::fs::write(scratch.path().join("events.key"), [7; 32])?;
        let mut world = Self {
            pdpp,
            scratch,
            postgres: Mutex::new(postgres),
            database,
            owner_token: String::new(),
            kept: Vec::new(),
            revoked: Vec::new(),
        };
        world.run(&["migrate"])?;
        let export = workspace.root().join("fixtures/exports/jsonl");
        let file = |name: &str| export.join(name).display().to_string();
        world.run(&["import", "--manifest", &file("manifest.json"), &file("records.jsonl")])?;
        let owner = world.json(&["owner", "token", "--expires", "1d", "--json"])?;
        world.owner_token = member(&owner, "access_token")?;
        for number in 0..KEPT + REVOKED {
            let granted = world.grant(Shows::ALL[number % Shows::ALL.len()])?;
            if number < KEPT { &mut world.kept } else { &mut world.revoked }.push(granted);
        }
        Ok(world)
    }

    fn grant(&self, shows: Shows) -> Result<Granted> {
        let mut args = vec!["grant", "create", "--client", "agent", "--json"];
        args.extend(shows.flags());
        let granted = self.json(&args)?;
        let (grant_id, token) = (member(&granted, "grant_id")?, member(&granted, "access_token")?);
        Ok(Granted { grant_id, token, shows })
    }

    /// A command of the operator's, straight at the database.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        self.over(&self.database, &self.scratch.path().join("operator"), args)
    }

    /// A command over the database as it is reached at this address.
    pub(super) fn over(&self, database: &str, data: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(&self.pdpp);
        command.args(args).env("PDPP_DATABASE_URL", database).env("PDPP_DATA", data);
        command.env("PDPP_SECRETS_KEY_FILE", self.scratch.path().join("events.key"));
        command.env("PDPP_BLOBS_URL", self.scratch.path().join("objects"));
        command
    }

    pub(super) fn run(&self, args: &[&str]) -> Result<String> {
        process::capture(&mut self.command(args))
    }

    fn json(&self, args: &[&str]) -> Result<Value> {
        Ok(serde_json::from_str(&self.run(args)?)?)
    }
}

fn member(value: &Value, name: &str) -> Result<String> {
    Ok(value[name].as_str().with_context(|| format!("there is no `{name}` in {value}"))?.to_owned())
}
