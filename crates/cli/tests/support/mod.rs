//! A data directory and the binary over it.

mod asking;
mod fed;
mod http;
mod mcp;
mod owner_desk;
mod pty;
mod receiver;
mod server;
mod watched;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pdpp_testkit::FreshDatabase;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) use asking::Asking;
pub(crate) use fed::Fed;
pub(crate) use http::{Answer, Client, raw};
pub(crate) use mcp::McpHost;
pub(crate) use owner_desk::{OwnerDesk, back, query};
pub(crate) use pty::Terminal;
pub(crate) use receiver::{Hook, Receiver};
pub(crate) use server::Server;

/// A fresh home for one test.
pub(crate) struct Pdpp {
    home: TempDir,
    database_url: Option<String>,
}

impl Pdpp {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), database_url: None }
    }

    /// A machine whose data is in a database that was prepared for it; it has the key all nodes share.
    pub(crate) fn over(database: &FreshDatabase) -> Self {
        let pdpp = Self { database_url: Some(database.url()), ..Self::new() };
        let private = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::create_dir_all(pdpp.data()).unwrap();
        std::fs::set_permissions(pdpp.data(), private(0o700)).unwrap();
        let key = pdpp.data().join("events.key");
        std::fs::write(&key, [7; 32]).unwrap();
        std::fs::set_permissions(&key, private(0o600)).unwrap();
        pdpp.ok(&["migrate"]);
        pdpp
    }

    /// With the sample archive loaded.
    pub(crate) fn with_sample() -> Self {
        let pdpp = Self::new();
        pdpp.ok(&["import", "--manifest", &fixture("manifest.json"), &fixture("records.jsonl")]);
        pdpp
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The command, ready to run; nothing of the caller's surroundings reaches it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdpp"));
        command.args(args).env_clear().env("PDPP_DATA", self.data()).env("HOME", self.home.path());
        command.envs(self.database_url.iter().map(|url| ("PDPP_DATABASE_URL", url)));
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that must succeed; gives its standard output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "pdpp {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must succeed and print JSON.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// Runs a command that must fail; gives its exit code and what it said.
    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str]) -> (i32, String) {
        let output = self.run(args);
        assert!(!output.status.success(), "pdpp {args:?} succeeded");
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    pub(crate) fn owner_token(&self) -> String {
        text(&self.json(&["owner", "token", "--expires", "1d", "--json"])["access_token"])
    }

    /// A client's token and its grant.
    pub(crate) fn grant(&self, args: &[&str]) -> (String, String) {
        let all = [&["grant", "create", "--client", "assistant", "--json"], args].concat();
        let issued = self.json(&all);
        (text(&issued["access_token"]), text(&issued["grant_id"]))
    }

    pub(crate) fn serve(&self) -> Server {
        Server::start(self.command(&["serve", "--listen", "127.0.0.1:0"]))
    }
}

pub(crate) fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/exports/jsonl")
        .join(name)
        .display()
        .to_string()
}

/// Puts one of the sample exports, a folder with everything in it, where a test wants it.
pub(crate) fn copy_export(name: &str, to: &Path) {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if from.is_dir() {
                copy(&from, &to);
            } else {
                std::fs::copy(from, to).unwrap();
            }
        }
    }
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/exports").join(name), to);
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not text")).to_owned()
}
