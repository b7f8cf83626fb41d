//! The program under measurement: commands, a server, and an adapter that answers.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pdpp");

/// Runs a command on the data directory; gives its output.
pub(crate) fn pdpp(data: &Path, arguments: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(arguments).env("PDPP_DATA", data).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A process that ends with its owner.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server on the data directory, and its address.
pub(crate) fn serve(data: &Path) -> (Running, String) {
    let mut command = Command::new(PROGRAM);
    command.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "error"]).env("PDPP_DATA", data);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(" on http://") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "the server stopped");
    }
    let url = format!("http://{}", line.trim().split_once(" on http://").unwrap().1);
    (Running(child), url)
}

/// A running `pdpp mcp` that has answered its first request.
pub(crate) struct Adapter {
    child: Running,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Adapter {
    pub(crate) fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).envs(variables.iter().copied());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut adapter = Self { child: Running(child), stdin, stdout };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        adapter.request("initialize", &params);
        adapter
    }

    fn request(&mut self, method: &str, params: &Value) -> String {
        // A host writes a message at once. Formatted into the pipe it would go there word by word, a call of the system each.
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the adapter stopped");
        line
    }

    /// Calls a tool. The answer is read and parsed, because a host can do nothing with it before.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) {
        let line = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer["result"]["structuredContent"].is_object(), "{line}");
        assert_ne!(answer["result"]["isError"], true, "{line}");
    }

    /// Memory that no file backs, in MiB.
    pub(crate) fn anonymous_mib(&self) -> f64 {
        let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.child.0.id())).unwrap();
        let line = rollup.lines().find(|line| line.starts_with("Anonymous:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}
