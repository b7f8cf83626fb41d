//! `objects`: what a place for objects promises, over an S3-compatible server that is not ours.
//!
//! The server is `moto`, a Python package. It lives as long as the task, on a free loopback port, and keeps everything in memory.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ureq::Agent;
use ureq::http::Request;

use crate::server::free_address;
use crate::venv::Venv;
use crate::workspace::Workspace;
use crate::{process, tools};

/// The tests that need the server; every other step leaves them out.
pub(crate) const TESTS: &str = "binary_id(pdpp-objects::s3)";

const BUCKET: &str = "pdpp-tests";
const READY_WITHIN: Duration = Duration::from_mins(1);

pub(crate) fn objects(workspace: &Workspace) -> Result<()> {
    let venv = Venv::find_or_install(workspace)?;
    let scratch = tempfile::tempdir().context("no temporary directory")?;
    let server = ObjectServer::start(&venv.program("moto_server"), scratch.path())?;
    let mut tests = tools::NEXTEST.command(workspace)?;
    // The whole workspace's features, so that nothing is compiled for this alone.
    tests.args(["nextest", "run", "--workspace", "--locked", "--no-fail-fast", "--test", "s3"]);
    tests.args(["--failure-output", "immediate", "-E", TESTS]);
    tests.env("PDPP_TEST_S3_ENDPOINT", format!("http://{}", server.address));
    tests.env("PDPP_TEST_S3_BUCKET", BUCKET);
    process::run(&mut tests).with_context(|| format!("the server's log ends with:\n{}", server.log_tail()))
}

/// The server, ended when it is not needed any more.
#[derive(Debug)]
struct ObjectServer {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl ObjectServer {
    /// Returns once the bucket is there.
    fn start(program: &Path, scratch: &Path) -> Result<Self> {
        let address = free_address()?;
        let log = scratch.join("objects.log");
        let output = File::create(&log).context("the server's log cannot be made")?;
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &address.port().to_string()]).current_dir(scratch);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().with_context(|| format!("{} could not be started", program.display()))?;
        let mut server = Self { child, address, log };
        server.make_bucket()?;
        Ok(server)
    }

    fn make_bucket(&mut self) -> Result<()> {
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(READY_WITHIN))
            .build()
            .into();
        let started = Instant::now();
        while started.elapsed() < READY_WITHIN {
            if let Some(status) = self.child.try_wait().context("the server cannot be watched")? {
                bail!("the server ended before it was ready ({status}):\n{}", self.log_tail());
            }
            let request = Request::put(format!("http://{}/{BUCKET}", self.address)).body(())?;
            match agent.run(request) {
                Ok(answer) if answer.status() == 200 => return Ok(()),
                Ok(answer) => bail!("no bucket could be made ({}):\n{}", answer.status(), self.log_tail()),
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
        bail!("the server was not ready within {} s:\n{}", READY_WITHIN.as_secs(), self.log_tail())
    }

    fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_at_once_is_reported_with_its_log() {
        let scratch = tempfile::tempdir().unwrap();
        let program = scratch.path().join("moto_server");
        fs::write(&program, "#!/bin/sh\necho no module named flask >&2\nexit 1\n").unwrap();
        process::run(Command::new("chmod").arg("+x").arg(&program)).unwrap();
        let error = ObjectServer::start(&program, scratch.path()).unwrap_err();
        assert!(error.to_string().contains("no module named flask"), "{error}");
    }
}
