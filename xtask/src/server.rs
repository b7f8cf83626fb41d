//! A `pdpp serve` of our own: started on a free loopback port, stopped by its process id.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process;

const READY_WITHIN: Duration = Duration::from_secs(30);
const GONE_WITHIN: Duration = Duration::from_secs(15);
const LOG_LINES_SHOWN: usize = 30;
const LONGEST_ANSWER: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct RunningServer {
    child: Child,
    url: String,
    log: PathBuf,
}

impl RunningServer {
    /// Returns once `/readyz` answers 200.
    pub(crate) fn start(pdpp: &Path, data: &Path, scratch: &Path) -> Result<Self> {
        Self::start_with(pdpp, data, scratch, &[])
    }

    /// The same with more arguments.
    pub(crate) fn start_with(pdpp: &Path, data: &Path, scratch: &Path, more: &[&str]) -> Result<Self> {
        let address = free_address()?;
        let log = scratch.join("server.log");
        let output = File::create(&log).context("the server's log cannot be made")?;
        let mut command = Command::new(pdpp);
        command.arg("serve").arg("--data").arg(data).args(["--listen", &address.to_string()]);
        // Generated requests come faster than any client's; that too many are refused has tests of its own.
        command.args(["--requests-per-minute", "0"]).args(more);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().context("`pdpp serve` could not be started")?;
        let mut server = Self { child, url: format!("http://{address}"), log };
        server.wait_until_ready(address)?;
        Ok(server)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What it has printed so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub(crate) fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
    }

    /// Asks the server to end, as an operator would, and expects it to end well.
    pub(crate) fn stop(mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait().context("the server cannot be watched")? {
            bail!("the server ended by itself ({status}):\n{}", self.log_tail());
        }
        process::run(Command::new("kill").args(["-TERM", &self.child.id().to_string()]))?;
        match self.wait_for_exit(GONE_WITHIN)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => bail!("the server did not end well ({status}):\n{}", self.log_tail()),
            None => bail!("the server ignored SIGTERM for {} s:\n{}", GONE_WITHIN.as_secs(), self.log_tail()),
        }
    }

    fn wait_until_ready(&mut self, address: SocketAddr) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < READY_WITHIN {
            if let Some(status) = self.child.try_wait().context("the server cannot be watched")? {
                bail!("the server ended before it was ready ({status}):\n{}", self.log_tail());
            }
            if status_of(address, "/readyz").is_some_and(|status| status == 200) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        bail!("the server was not ready within {} s:\n{}", READY_WITHIN.as_secs(), self.log_tail())
    }

    fn wait_for_exit(&mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = self.child.try_wait().context("the server cannot be watched")? {
                return Ok(Some(status));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(None)
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of one authenticated GET that must answer 200, as JSON.
pub(crate) fn get_json(url: &str, path: &str, token: &str) -> Result<Value> {
    let address: SocketAddr =
        url.trim_start_matches("http://").parse().context("the server's address is not one")?;
    let mut stream = TcpStream::connect(address).context("the server does not answer")?;
    stream.set_read_timeout(Some(READY_WITHIN))?;
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n");
    write!(stream, "{head}Connection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut answer)?;
    let answer = String::from_utf8(answer).context("the answer is not text")?;
    let (head, body) = answer.split_once("\r\n\r\n").context("the answer has no body")?;
    if parse_status(head) != Some(200) {
        bail!("GET {path} answered {}\n{body}", head.lines().next().unwrap_or_default());
    }
    serde_json::from_str(body).with_context(|| format!("GET {path} did not answer with JSON"))
}

/// A loopback port nobody listens on at the moment.
pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no loopback port is free")?;
    listener.local_addr().context("the loopback port has no address")
}

/// The status of one GET, or nothing while the server does not answer.
fn status_of(address: SocketAddr, path: &str) -> Option<u16> {
    let patience = Duration::from_secs(2);
    let mut stream = TcpStream::connect_timeout(&address, patience).ok()?;
    stream.set_read_timeout(Some(patience)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.take(4096).read_to_string(&mut answer).ok()?;
    parse_status(&answer)
}

fn parse_status(answer: &str) -> Option<u16> {
    answer.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_gives_its_status() {
        assert_eq!(parse_status("HTTP/1.1 503 Service Unavailable\r\n\r\n"), Some(503));
        assert_eq!(parse_status("SSH-2.0-OpenSSH"), None);
    }

    #[test]
    fn a_server_that_ends_at_once_is_reported_with_its_log() {
        let scratch = tempfile::tempdir().unwrap();
        let program = scratch.path().join("pdpp");
        fs::write(&program, "#!/bin/sh\necho the store is locked >&2\nexit 74\n").unwrap();
        process::run(Command::new("chmod").arg("+x").arg(&program)).unwrap();
        let error = RunningServer::start(&program, scratch.path(), scratch.path()).unwrap_err();
        assert!(error.to_string().contains("the store is locked"), "{error}");
    }
}
