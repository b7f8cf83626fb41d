//! A Postgres server of our own: installed by name, started in a temporary directory on a free loopback port,
//! stopped by its process id.
//!
//! Tests find it through one variable and make databases of their own on it. Its disk is not flushed, because
//! nothing on it outlives the run; a server that dies without the machine loses nothing by that.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::workspace::Workspace;
use crate::{debian, process, server};

/// What tests read.
pub(crate) const VARIABLE: &str = "PDPP_TEST_POSTGRES";
const READY_WITHIN: Duration = Duration::from_mins(1);
/// Tests connect as somebody whom row-level security binds: no superuser.
const ROLE: &str = "pdpp";

/// Run a command beside a Postgres server of our own.
///
/// `cargo xtask postgres -- cargo nextest run -p pdpp-store-postgres` runs the tests that need one. The command finds
/// the server in `PDPP_TEST_POSTGRES`; the server ends with the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The command and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

pub(crate) fn postgres(workspace: &Workspace, options: &Options) -> Result<()> {
    let running = RunningPostgres::start()?;
    let (program, arguments) = options.command.split_first().context("there is no command to run")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(workspace.root()).env(VARIABLE, running.url());
    process::run(&mut command)
}

/// A running server.
#[derive(Debug)]
pub(crate) struct RunningPostgres {
    child: Child,
    address: SocketAddr,
    bin: PathBuf,
    home: TempDir,
    settings: &'static [&'static str],
}

/// Nothing on it outlives the run.
const FAST: &[&str] = &["fsync=off", "full_page_writes=off", "max_connections=300", "shared_buffers=256MB"];
/// As an operator runs it, for tests that end it in the middle of its work.
const DURABLE: &[&str] = &["max_connections=300", "shared_buffers=256MB"];

impl RunningPostgres {
    /// Returns once it answers.
    pub(crate) fn start() -> Result<Self> {
        Self::start_with(FAST)
    }

    /// The same with everything it acknowledged on the disk.
    pub(crate) fn start_durable() -> Result<Self> {
        Self::start_with(DURABLE)
    }

    fn start_with(settings: &'static [&'static str]) -> Result<Self> {
        let bin = if let Some(bin) = find_programs() {
            bin
        } else {
            debian::install(&["postgresql"])?;
            find_programs().context("the package `postgresql` brought no `initdb`")?
        };
        let home = tempfile::Builder::new().prefix("pdpp-postgres-").tempdir()?;
        let data = home.path().join("data");
        hand_over(home.path())?;
        let mut initdb = as_server(&bin.join("initdb"));
        initdb.args([
            "--auth=trust",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "-D",
        ]);
        process::capture(initdb.arg(&data))?;
        let address = server::free_address()?;
        let child = spawn(&bin, home.path(), address, settings)?;
        let mut running = Self { child, address, bin, home, settings };
        running.wait_until_ready()?;
        running.make_role()?;
        Ok(running)
    }

    /// Ends it at once, whatever it is doing, as a failing machine would.
    pub(crate) fn pull_the_plug(&mut self) -> Result<()> {
        process::run(Command::new("kill").args(["-QUIT", &self.child.id().to_string()]))?;
        self.child.wait().context("`postgres` does not end")?;
        Ok(())
    }

    /// Starts it again after that; returns once it answers.
    pub(crate) fn start_again(&mut self) -> Result<()> {
        self.child = spawn(&self.bin, self.home.path(), self.address, self.settings)?;
        self.wait_until_ready()
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where tests connect.
    pub(crate) fn url(&self) -> String {
        format!("postgres://{ROLE}@{}/postgres", self.address)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < READY_WITHIN {
            if let Some(status) = self.child.try_wait().context("the server cannot be watched")? {
                bail!("`postgres` ended before it was ready ({status}):\n{}", self.log());
            }
            let mut ready = Command::new(self.bin.join("pg_isready"));
            ready.args(["-q", "-h", "127.0.0.1", "-p", &self.address.port().to_string()]);
            if ready.status().is_ok_and(|status| status.success()) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        bail!("`postgres` was not ready within {} s:\n{}", READY_WITHIN.as_secs(), self.log())
    }

    fn make_role(&self) -> Result<()> {
        self.run_as("postgres", &format!("CREATE ROLE {ROLE} LOGIN CREATEDB"))
    }

    /// An empty database of this name, and where it is.
    pub(crate) fn make_database(&self, name: &str) -> Result<String> {
        self.run_as("postgres", &format!("CREATE DATABASE {name} OWNER {ROLE}"))?;
        Ok(format!("postgres://{ROLE}@{}/{name}", self.address))
    }

    /// What a statement answers in one of its databases, as bare text.
    pub(crate) fn ask(&self, database: &str, sql: &str) -> Result<String> {
        process::capture(self.psql(ROLE).args(["-tA", "-c", sql, database]))
    }

    fn run_as(&self, role: &str, sql: &str) -> Result<()> {
        process::capture(self.psql(role).args(["-c", sql, "postgres"])).map(drop)
    }

    fn psql(&self, role: &str) -> Command {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["-q", "-h", "127.0.0.1", "-U", role, "-p", &self.address.port().to_string()]);
        psql
    }

    fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

impl Drop for RunningPostgres {
    fn drop(&mut self) {
        // `SIGQUIT` ends it and its children at once; the directory goes with it.
        let _ = process::run(Command::new("kill").args(["-QUIT", &self.child.id().to_string()]));
        let _ = self.child.wait();
    }
}

fn spawn(bin: &Path, home: &Path, address: SocketAddr, settings: &[&str]) -> Result<Child> {
    let log = fs::File::options().create(true).append(true).open(home.join("log"));
    let log = log.context("the server's log cannot be made")?;
    let mut command = as_server(&bin.join("postgres"));
    command.arg("-D").arg(home.join("data")).args([
        "-p",
        &address.port().to_string(),
        "-h",
        "127.0.0.1",
        "-k",
    ]);
    command.arg(home);
    for setting in settings {
        command.args(["-c", setting]);
    }
    let child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
    child.context("`postgres` could not be started")
}

/// The newest version's programs, which Debian keeps out of the path.
fn find_programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, bin)| bin.join("initdb").is_file() && bin.join("postgres").is_file())
        .collect();
    found.sort();
    found.pop().map(|(_, bin)| bin)
}

fn is_root() -> bool {
    process::capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// The server refuses to run as root; its package brings a user for it.
fn as_server(program: &Path) -> Command {
    if is_root() {
        // `exec` is what keeps the process id the one we know.
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

fn hand_over(directory: &Path) -> Result<()> {
    if is_root() {
        process::run(Command::new("chown").arg("postgres:postgres").arg(directory))?;
    }
    Ok(())
}
