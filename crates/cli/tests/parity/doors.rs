//! The four doors of one running server, all with the same token.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Client, McpHost, Pdpp, Server, text};

/// What a door gave.
#[derive(Debug)]
pub(super) enum Answer {
    /// The server's envelope.
    Given(Value),
    /// A record as a document, which is how the tool for one record answers.
    Document(Value),
    /// A code.
    Refused(String),
}

pub(super) struct Doors {
    pdpp: Pdpp,
    server: Server,
    token: String,
    rest: Client,
    stdio: McpHost,
    connection: String,
    handle: String,
    cursor: String,
    changes: String,
}

impl Doors {
    pub(super) fn open(pdpp: Pdpp, token: &str) -> Self {
        let server = pdpp.serve();
        let url = format!("http://{}", server.address());
        let mut adapter = pdpp.command(&["mcp", "--provider-url", &url]);
        adapter.env("PDPP_CLIENT_TOKEN", token);
        let stdio = McpHost::start(adapter);
        let rest = server.client(token);
        let streams = rest.get("/v1/streams").body;
        // A stranger sees none.
        let connection = streams["data"][0]["connection_id"].as_str().unwrap_or_default().to_owned();
        let handle = format!("{connection}/messages:m_0132");
        let token = token.to_owned();
        Self {
            pdpp,
            server,
            token,
            rest,
            stdio,
            connection,
            handle,
            cursor: String::new(),
            changes: String::new(),
        }
    }

    pub(super) fn pdpp(&self) -> &Pdpp {
        &self.pdpp
    }

    /// The owner empties a stream.
    pub(super) fn empty(&self, stream: &str, owner: &str) {
        let place = format!("connector_id=harbour-chat&connection_id={}", self.connection);
        let answer = self.server.client(owner).delete(&format!("/v1/streams/{stream}/records?{place}"));
        assert!(answer.status < 300, "{}", answer.body);
    }

    /// Keeps what later questions refer to.
    pub(super) fn remember(&mut self, body: &Value) {
        if let Some(cursor) = body["next_cursor"].as_str() {
            cursor.clone_into(&mut self.cursor);
        }
        if let Some(token) = body["next_changes_since"].as_str() {
            token.clone_into(&mut self.changes);
        }
    }

    fn filled(&self, template: &str) -> String {
        template
            .replace("{connection}", &self.connection)
            .replace("{handle}", &self.handle)
            .replace("{cursor}", &self.cursor)
            .replace("{token}", &self.changes)
    }

    pub(super) fn rest(&self, path: &str) -> Answer {
        let answer = self.rest.get(&self.filled(path));
        match answer.status {
            200 => Answer::Given(answer.body),
            _ => Answer::Refused(text(&answer.body["error"]["code"])),
        }
    }

    pub(super) fn mcp_stdio(&mut self, tool: &str, arguments: &str) -> Answer {
        let arguments: Value = serde_json::from_str(&self.filled(arguments)).unwrap();
        let result = self.stdio.call(tool, &arguments);
        of_tool(tool, &result)
    }

    pub(super) fn mcp_http(&self, tool: &str, arguments: &str) -> Answer {
        let arguments: Value = serde_json::from_str(&self.filled(arguments)).unwrap();
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments},
        });
        let answer =
            self.rest.post_accepting("/mcp", "application/json, text/event-stream", message.to_string());
        match answer.status {
            200 => of_tool(tool, &answer.body["result"]),
            _ => Answer::Refused(text(&answer.body["error"]["code"])),
        }
    }

    /// The command as a shell would run it, with JSON asked for by being in a pipe.
    pub(super) fn cli(&self, command: &str) -> Answer {
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_pdpp")).parent().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("pdpp read {}", self.filled(command))]).env_clear();
        shell.env("PATH", format!("{}:/usr/bin:/bin", binary.display())).env("HOME", self.pdpp.path("home"));
        shell.env("PDPP_CLIENT_TOKEN", &self.token);
        shell.env("PDPP_PROVIDER_URL", format!("http://{}", self.server.address()));
        let output = shell.output().unwrap();
        if output.status.success() {
            return Answer::Given(serde_json::from_slice(&output.stdout).unwrap());
        }
        let said = String::from_utf8(output.stderr).unwrap();
        let code = said
            .strip_prefix("pdpp: ")
            .and_then(|rest| rest.split_once(": "))
            .map(|(code, _)| code.to_owned());
        Answer::Refused(code.unwrap_or(said))
    }
}

/// A tool's result as the server's answer it stands for.
fn of_tool(tool: &str, result: &Value) -> Answer {
    let structured = &result["structuredContent"];
    if result["isError"] == json!(true) {
        return Answer::Refused(text(&structured["error"]["code"]));
    }
    match tool {
        "fetch" => Answer::Document(structured.clone()),
        "read_record_field" => Answer::Given(structured.clone()),
        _ => Answer::Given(structured["data"].clone()),
    }
}
