//! A running `pdpp import` that reads what the test feeds it, line by line.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Pdpp, fixture};

pub(crate) struct Fed {
    child: Child,
    file: Option<ChildStdin>,
}

impl Fed {
    /// Starts it over the sample's manifest.
    pub(crate) fn start(pdpp: &Pdpp, args: &[&str]) -> Self {
        let manifest = fixture("manifest.json");
        let all = [&["import", "--format", "jsonl", "/dev/stdin", "--manifest", &manifest], args].concat();
        let mut command = pdpp.command(&all);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let file = child.stdin.take();
        Self { child, file }
    }

    pub(crate) fn feed(&mut self, line: &str) {
        writeln!(self.file.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The end of the file.
    pub(crate) fn end(&mut self) {
        self.file = None;
    }

    /// The JSON receipt, once the import has ended well.
    pub(crate) fn receipt(mut self) -> Value {
        self.end();
        let stdout = std::io::read_to_string(self.child.stdout.take().unwrap()).unwrap();
        let stderr = std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap();
        assert!(self.child.wait().unwrap().success(), "{stderr}");
        serde_json::from_str(&stdout).unwrap()
    }

    /// The exit code, if it ends by itself in time; the file stays open.
    pub(crate) fn wait(&mut self, patience: Duration) -> Option<i32> {
        const STEP: Duration = Duration::from_millis(20);
        for _ in 0..patience.as_millis() / STEP.as_millis() {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(STEP);
        }
        None
    }

    /// No goodbye.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Fed {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
