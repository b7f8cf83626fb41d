//! A command that is watched while it runs: how much memory it keeps for itself, and that it ends.

use std::fs::{self, File};
use std::io::Read as _;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::Pdpp;

/// Most anonymous memory an import may keep, in MiB.
const MOST_MIB: u64 = 200;
/// What it may ask the system for at all; more is refused, so that nothing between two looks is missed.
const MOST_ASKED_MIB: u64 = 600;

/// How a watched import ended.
pub(crate) struct Watched {
    pub(crate) status: ExitStatus,
    /// The receipt; null when it printed none.
    pub(crate) receipt: Value,
    pub(crate) said: String,
    pub(crate) peak_mib: u64,
}

impl Pdpp {
    /// Runs `pdpp import PATH... --json` in bounded memory. It must end by itself and must not panic.
    #[track_caller]
    pub(crate) fn watched_import(&self, paths: &[&str]) -> Watched {
        let (out, err) = (self.path("out.log"), self.path("err.log"));
        let ready = self.command(&[&["import", "--json"], paths].concat());
        // The limit is a soft one: the child that reads documents sets its own.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("ulimit -S -d {}; exec \"$0\" \"$@\"", MOST_ASKED_MIB * 1024)]);
        command.arg(ready.get_program()).args(ready.get_args()).env_clear();
        command.envs(ready.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.stdin(std::process::Stdio::null());
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let mut child = command.spawn().unwrap();
        let mut peak = 0;
        let status = loop {
            peak = peak.max(anonymous_kib(child.id()));
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap();
        let (receipt, said) = (serde_json::from_str(&read(out)).unwrap_or_default(), read(err));
        assert!(status.code().is_some(), "{paths:?} ended with {status}: {said}");
        assert!(!said.contains("panicked"), "{paths:?}: {said}");
        let peak_mib = peak / 1024;
        assert!(peak_mib <= MOST_MIB, "{paths:?} kept {peak_mib} MiB");
        Watched { status, receipt, said, peak_mib }
    }

    /// Everything is where it should be, and can be read.
    #[track_caller]
    pub(crate) fn is_well(&self) {
        if self.data().exists() {
            assert!(self.ok(&["verify"]).contains("all is well"));
            self.ok(&["streams"]);
        }
    }
}

impl Watched {
    /// The complaints of all receipts, each as `where: code: message`.
    pub(crate) fn complaints(&self) -> String {
        let all = crate::exports::receipts(&self.receipt);
        let complaints = all.iter().flat_map(|one| one["complaints"].as_array().cloned().unwrap_or_default());
        let told = complaints.map(|one| format!("{}: {}: {}", one["where"], one["code"], one["message"]));
        told.collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn added(&self) -> u64 {
        let all = crate::exports::receipts(&self.receipt);
        let streams = all.iter().flat_map(|one| one["streams"].as_array().cloned().unwrap_or_default());
        streams.map(|stream| stream["added"].as_u64().unwrap()).sum()
    }
}

/// What a process keeps for itself right now; zero where the system does not say.
fn anonymous_kib(id: u32) -> u64 {
    let mut status = String::new();
    let read = File::open(format!("/proc/{id}/status")).and_then(|mut file| file.read_to_string(&mut status));
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    read.ok().and(kib).unwrap_or(0)
}
