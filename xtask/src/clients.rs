//! `clients`: public clients against the real thing: MCP on standard streams, OAuth over HTTP.
//!
//! The Python and the TypeScript SDK are what most hosts are built on. Each starts `pdpp mcp` over a loaded data
//! directory, lists what is offered, calls every tool that reads, provokes errors, and checks the results against the
//! declared output schemas. The calls are in `plan.rs`; the clients are in `xtask/clients`. One more client receives
//! events, checks their signatures with a library that is not ours, and misbehaves; another, an OAuth client, goes through
//! the flows of the authorization server.

mod oauth;
mod plan;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::npm::Npm;
use crate::process;
use crate::venv::Venv;
use crate::workspace::Workspace;

const MANIFEST: &str = "fixtures/exports/jsonl/manifest.json";
const RECORDS: &str = "fixtures/exports/jsonl/records.jsonl";
/// A client takes a few seconds; one that reaches this hangs.
const LONGEST_RUN: Duration = Duration::from_mins(2);

pub(crate) fn clients(workspace: &Workspace) -> Result<()> {
    let (venv, npm) = (Venv::find_or_install(workspace)?, Npm::find_or_install(workspace)?);
    let pdpp = workspace.build_pdpp()?;
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    let archive = Archive::load(workspace, &pdpp, &scratch.path().join("data"))?;
    let plan = scratch.path().join("plan.json");
    fs::write(&plan, plan::plan(&pdpp, &archive).to_string()).context("the plan cannot be written")?;

    let mut python = Command::new(venv.program("python"));
    python.arg(workspace.path("xtask/clients/python_client.py")).arg(&plan);
    let mut typescript = npm.node(&workspace.path("xtask/clients/typescript_client.mjs"));
    typescript.arg(&plan).arg(npm.root());
    // The records of the import are its own; the archive of the others stays as it is.
    let receiving = Archive::load(workspace, &pdpp, &scratch.path().join("webhooks"))?;
    let mut webhooks = Command::new(venv.program("python"));
    webhooks.arg(workspace.path("xtask/clients/webhooks.py")).arg(&pdpp).arg(&receiving.data);
    webhooks.arg(workspace.path(MANIFEST));
    let mut failed = Vec::new();
    for (name, mut client) in [("Python", python), ("TypeScript", typescript), ("webhook", webhooks)] {
        let status = process::finish_within(client.current_dir(scratch.path()), LONGEST_RUN)?;
        if !status.success() {
            failed.push(name);
        }
    }
    if !oauth::oauth(workspace, &venv, &pdpp, &archive.data, scratch.path())? {
        failed.push("OAuth");
    }
    if !failed.is_empty() {
        bail!("the {} client found mismatches; each line marked FAIL is one", failed.join(" and the "));
    }
    Ok(())
}

/// A loaded data directory with a grant that leaves something out.
#[derive(Debug)]
struct Archive {
    data: PathBuf,
    grant: String,
    connection: String,
}

impl Archive {
    /// Loads the samples through the commands an owner would type. `private_note` is not granted, nor is the
    /// stream of attachments.
    fn load(workspace: &Workspace, pdpp: &Path, data: &Path) -> Result<Self> {
        let owner = |arguments: &[&str]| -> Result<Value> {
            let mut command = Command::new(pdpp);
            command.args(arguments).arg("--data").arg(data).arg("--json").current_dir(workspace.root());
            let answer = process::capture(&mut command)?;
            serde_json::from_str(&answer).with_context(|| format!("no JSON was printed:\n{answer}"))
        };
        let receipt = owner(&["import", "--format", "jsonl", "--manifest", MANIFEST, RECORDS])?;
        let messages = "messages:id,channel_id,author,text,sent_at,stars";
        let grant =
            owner(&["grant", "create", "--client", "clients", "--stream", "channels", "--stream", messages])?;
        Ok(Self {
            data: data.to_owned(),
            grant: text(&grant, "grant_id")?,
            connection: text(&receipt, "connection_id")?,
        })
    }
}

fn text(answer: &Value, member: &str) -> Result<String> {
    let value = answer.get(member).and_then(Value::as_str);
    Ok(value.with_context(|| format!("the answer holds no `{member}`:\n{answer}"))?.to_owned())
}
