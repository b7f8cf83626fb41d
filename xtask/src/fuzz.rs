//! `fuzz`: throws generated requests at a live server and checks every answer.
//!
//! The server describes itself at `/openapi.json`; schemathesis makes requests that fit the
//! description and requests that break it. No answer may be a server error, and every answer must
//! match its schema. The client runs first, because the owner may delete what the client reads.

mod samples;
mod schemathesis;

use anyhow::{Context, Result, bail};

use crate::fuzz::samples::Samples;
use crate::fuzz::schemathesis::Schemathesis;
use crate::server::RunningServer;
use crate::workspace::Workspace;

const DEFAULT_EXAMPLES: u32 = 20;

/// Fuzz the REST surface of a live server, once as a client and once as the owner.
///
/// Installs the pinned schemathesis into `.xtask/venv`, starts `pdpp` on a free loopback port with
/// the sample archive, and stops it again. The settings are in `xtask/schemathesis.toml`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Generated requests per operation and phase; CI uses the default.
    #[arg(long, default_value_t = DEFAULT_EXAMPLES, value_name = "N")]
    max_examples: u32,
    /// Passed to `schemathesis run`, for example `--include-path /v1/streams`.
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { max_examples: DEFAULT_EXAMPLES, arguments: Vec::new() }
    }
}

pub(crate) fn fuzz(workspace: &Workspace, options: &Options) -> Result<()> {
    let schemathesis = Schemathesis::find_or_install(workspace)?;
    let pdpp = workspace.build_pdpp()?;
    let scratch = tempfile::tempdir().context("no temporary directory")?;

    let samples = Samples::load(workspace, &pdpp, &scratch.path().join("data"))?;
    let config = schemathesis::write_config(workspace, scratch.path(), &samples)?;
    let server = RunningServer::start(&pdpp, &scratch.path().join("data"), scratch.path())?;

    let mut failed = Vec::new();
    for (caller, token) in [("client", &samples.client_token), ("owner", &samples.owner_token)] {
        println!("--- fuzzing {} as the {caller}", server.url());
        let run = schemathesis::Run { config: &config, url: server.url(), token, options };
        if let Err(error) = schemathesis.run(&run) {
            println!("{error:#}");
            failed.push(caller);
        }
    }
    if !failed.is_empty() {
        println!("--- the last lines of the server's log\n{}", server.log_tail());
    }
    let stopped = server.stop();
    if !failed.is_empty() {
        bail!("the API fuzz failed as the {}", failed.join(" and as the "));
    }
    stopped
}
