//! Authlib, a public OAuth client, against a running `pdpp serve` over the sample archive.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::clients::LONGEST_RUN;
use crate::owner::Owner;
use crate::process;
use crate::server::RunningServer;
use crate::venv::Venv;
use crate::workspace::Workspace;

/// Whether everything was as it should be; each difference is a line of the client's own.
pub(super) fn oauth(
    workspace: &Workspace,
    venv: &Venv,
    pdpp: &Path,
    data: &Path,
    scratch: &Path,
) -> Result<bool> {
    let server = RunningServer::start(pdpp, data, scratch)?;
    let owner = Owner::of(pdpp, data, server.url())?;
    let mut client = Command::new(venv.program("python"));
    client.arg(workspace.path("xtask/clients/oauth_client.py")).arg(server.url());
    client.env("PDPP_OWNER_TOKEN", owner.token()).current_dir(scratch);
    let status = process::finish_within(&mut client, LONGEST_RUN)?;
    if !status.success() {
        println!("--- the last lines of the server's log\n{}", server.log_tail());
    }
    server.stop()?;
    Ok(status.success())
}
