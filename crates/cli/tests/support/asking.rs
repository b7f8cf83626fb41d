//! A running `pdpp connect` that waits for the owner.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Command, Stdio};

pub(crate) struct Asking {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Asking {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr, said: String::new() }
    }

    /// Reads on until a line has this in it; gives that line.
    #[track_caller]
    pub(crate) fn until(&mut self, wanted: &str) -> String {
        loop {
            let mut line = String::new();
            let count = self.stderr.read_line(&mut line).unwrap();
            assert!(count > 0, "it ended without saying '{wanted}': {}", self.said);
            self.said.push_str(&line);
            if line.contains(wanted) {
                return line.trim().to_owned();
            }
        }
    }

    /// Waits for the end: exit code, standard output, everything on standard error.
    pub(crate) fn end(mut self) -> (i32, String, String) {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut self.said).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        (code, stdout, std::mem::take(&mut self.said))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
