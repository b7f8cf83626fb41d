//! `clients`: public clients against the real thing: MCP on standard streams, OAuth over HTTP.
//!
//! The Python and the TypeScript SDK are what most hosts are built on. Each starts `pdpp mcp` over a loaded data
//! directory and before a server, lists what is offered, calls every tool, provokes errors, and checks the results against
//! the declared output schemas. The calls are in `plan.rs`; the clients are in `xtask/clients`. One more client receives
//! events, checks their signatures with a library that is not ours, and misbehaves; another, an OAuth client, goes through
//! the flows of the authorization server.

mod oauth;
mod plan;
mod receiver;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::clients::receiver::Receiver;
use crate::npm::Npm;
use crate::process;
use crate::server::RunningServer;
use crate::venv::Venv;
use crate::workspace::Workspace;

const MANIFEST: &str = "fixtures/exports/jsonl/manifest.json";
const RECORDS: &str = "fixtures/exports/jsonl/records.jsonl";
/// An export with files.
const FILES: &str = "fixtures/exports/chatgpt";
/// A client takes a few seconds; one that reaches this hangs.
const LONGEST_RUN: Duration = Duration::from_mins(2);

pub(crate) fn clients(workspace: &Workspace) -> Result<()> {
    let (venv, npm) = (Venv::find_or_install(workspace)?, Npm::find_or_install(workspace)?);
    let pdpp = workspace.build_pdpp()?;
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    let archive = Archive::load(workspace, &pdpp, &scratch.path().join("data"))?;
    let served = Served::start(workspace, &pdpp, scratch.path())?;
    let mut sdks = Vec::new();
    for (over, plan) in
        [("a directory", plan::of_directory(&pdpp, &archive)), ("a server", plan::of_server(&pdpp, &served))]
    {
        let path = scratch.path().join(format!("{over}.json"));
        fs::write(&path, plan.to_string()).context("the plan cannot be written")?;
        let mut python = Command::new(venv.program("python"));
        python.arg(workspace.path("xtask/clients/python_client.py")).arg(&path);
        let mut typescript = npm.node(&workspace.path("xtask/clients/typescript_client.mjs"));
        typescript.arg(&path).arg(npm.root());
        sdks.extend([(format!("Python ({over})"), python), (format!("TypeScript ({over})"), typescript)]);
    }
    // The records of the import are its own; the archive of the others stays as it is.
    let receiving = Archive::load(workspace, &pdpp, &scratch.path().join("webhooks"))?;
    let mut webhooks = Command::new(venv.program("python"));
    webhooks.arg(workspace.path("xtask/clients/webhooks.py")).arg(&pdpp).arg(&receiving.data);
    webhooks.arg(workspace.path(MANIFEST));
    let mut failed = Vec::new();
    for (name, mut client) in sdks.into_iter().chain([("webhook".to_owned(), webhooks)]) {
        let status = process::finish_within(client.current_dir(scratch.path()), LONGEST_RUN)?;
        if !status.success() {
            failed.push(name);
        }
    }
    if !oauth::oauth(workspace, &venv, &pdpp, &archive.data, scratch.path())? {
        failed.push("OAuth".to_owned());
    }
    served.server.stop()?;
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

/// A server with files, before which events can be subscribed to, and who receives them.
#[derive(Debug)]
struct Served {
    server: RunningServer,
    url: String,
    token: String,
    callback_host: String,
    /// Listens as long as the server runs.
    _receiver: Receiver,
}

impl Served {
    fn start(workspace: &Workspace, pdpp: &Path, scratch: &Path) -> Result<Self> {
        let (receiver, data) = (Receiver::start()?, scratch.join("served"));
        let mut import = Command::new(pdpp);
        import.args(["import", FILES, "--data"]).arg(&data);
        process::capture(import.current_dir(workspace.root()))?;
        let callback_host = receiver.host();
        let mut grant = Command::new(pdpp);
        grant.args(["grant", "create", "--client", "clients", "--stream", "attachments", "--json"]);
        grant.args(["--callback-host", &callback_host, "--data"]).arg(&data);
        let grant = serde_json::from_str(&process::capture(&mut grant)?).context("no JSON was printed")?;
        let token = text(&grant, "access_token")?;
        let log = scratch.join("serving");
        fs::create_dir_all(&log).context("no place for a log")?;
        let server = RunningServer::start_with(pdpp, &data, &log, &["--allow-loopback-callbacks"])?;
        Ok(Self { url: server.url().to_owned(), server, token, callback_host, _receiver: receiver })
    }
}

fn text(answer: &Value, member: &str) -> Result<String> {
    let value = answer.get(member).and_then(Value::as_str);
    Ok(value.with_context(|| format!("the answer holds no `{member}`:\n{answer}"))?.to_owned())
}
