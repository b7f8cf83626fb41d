//! A host that starts `pdpp mcp` and speaks the protocol to it, line by line.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

pub(crate) struct McpHost {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: Option<JoinHandle<String>>,
    next_id: u64,
    /// What the server said at the handshake.
    pub(crate) welcome: Value,
}

impl McpHost {
    /// Starts the adapter and shakes hands.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        // The pipe must be drained, or a talkative adapter would stop.
        let stderr = thread::spawn(move || {
            let mut said = Vec::new();
            stderr.read_to_end(&mut said).unwrap();
            String::from_utf8(said).unwrap()
        });
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut host = Self { child, stdin, stdout, stderr: Some(stderr), next_id: 0, welcome: Value::Null };
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"},
        });
        host.welcome = host.request("initialize", &params);
        host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        host
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request; gives its result.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no protocol: {line}"));
        assert_eq!(answer["id"], json!(self.next_id), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool that must fail; gives the error's code.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], json!(true), "{result}");
        super::text(&result["structuredContent"]["error"]["code"])
    }

    /// Closes standard input; gives the exit code, what was left on standard output, and standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, String, String) {
        self.stdin = None;
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code();
        (code, rest, self.stderr.take().unwrap().join().unwrap())
    }
}

impl Drop for McpHost {
    fn drop(&mut self) {
        // Already ended is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
